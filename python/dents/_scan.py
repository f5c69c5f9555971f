"""Scans and reports: options in, Arrow data out. The options are those of the program, and the program's parser reads them."""

import os

from . import _dents


def _words(options):
    """max_depth=2 as --max-depth=2, directories=True as --directories, type_="f" as --type=f; a list repeats the option."""
    words = []
    for name, value in options.items():
        word = "--" + name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(word)
            elif one is not None and one is not False:
                words.append(word + "=" + os.fsdecode(one) if isinstance(one, (bytes, os.PathLike)) else f"{word}={one}")
    return words


def _line(command, roots, options):
    return [command, *_words(options), "--", *map(os.fspath, roots)]


class Scan:
    """A scan of trees. Each time its result is taken, a scan begins, when the first batch is. See dents.scan."""

    def __init__(self, roots, needs, progress, options):
        self._progress = progress
        self._roots = roots
        self._needs = None if needs is None else list(needs)
        self._options = options
        self._run = _dents.Run()
        try:
            self._query = self._parsed()
        except ValueError:
            # Options about a file, such as journal, are for to_parquet alone.
            if self._needs is not None or not _dents.Run.understands(self._parquet("-.parquet")):
                raise
            self._query = None

    def _parsed(self):
        return _dents.Query(_line("scan", self._roots, self._options), self._needs)

    def _parquet(self, path):
        return _line("scan", self._roots, {"format": "parquet", "output": path, **self._options})

    def _stream(self):
        return self._run.stream(self._query or self._parsed(), self._progress)

    def batches(self):
        """Yields the result as batches, in no order, while the scan runs."""
        stream = self._stream()
        try:
            while (batch := stream.next()) is not None:
                yield batch
        finally:
            stream.close()

    __iter__ = batches

    def rows(self):
        """Yields the result as tuples with the columns of `needs`; times are nanoseconds since 1970."""
        for batch in self.batches():
            yield from batch.rows()

    def __arrow_c_stream__(self, requested_schema=None):
        """The Arrow PyCapsule interface: each stream is a scan of its own, which begins when its first batch is taken."""
        return self._stream().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self):
        return (self._query or self._parsed()).__arrow_c_schema__()

    def __array__(self, *_given, **_named):
        # numpy, and with it the constructor of pandas.DataFrame, would make an array of batches.
        raise TypeError("a scan is a table, not an array: use pandas.DataFrame.from_arrow(scan); before pandas 3, pyarrow.table(scan).to_pandas()")

    def to_parquet(self, path, *, progress=None):
        """Writes the file that `dents scan -o` writes, with all columns. Returns whether everything could be read; messages() has the errors.

        progress(directories, entries) is called about 20 times a second; the default is the progress function of the scan.
        """
        if self._needs is not None:
            raise ValueError("to_parquet writes the columns of dents scan -o: leave needs out")
        return self._run.command(self._parquet(os.fspath(path)), progress or self._progress)

    def cancel(self):
        """Stops the scan, from any thread. Its results then raise dents.Cancelled, also those that are taken later."""
        self._run.cancel()

    def seen(self):
        """The numbers of directories and of entries so far, of the scan that began last."""
        return self._run.seen()

    def messages(self):
        """Takes the messages of the scan that began last, about files that could not be read: (text, path or None, error number or None). At most 1,000 are kept."""
        return self._run.messages()[0]


def scan(*roots, needs=None, progress=None, **options):
    """Scans trees. `needs` names columns (default: all); other arguments are options of `dents scan`: type="f", size="+1M", max_depth=3.

    A scan requests from the kernel only the facts that the columns and filters need: path and type cost no stat. The result is Arrow data: pass it
    to pyarrow.table(), polars.DataFrame(), pandas.DataFrame.from_arrow() or duckdb, or take batches() or rows(). Each of them begins a scan. A wrong
    option raises ValueError at once.

    progress(directories, entries) is called about 20 times a second while the result is taken; an exception in it ends the scan.
    """
    return Scan(roots, needs, progress, options)


def _report(command):
    def report(*roots, progress=None, **options):
        return _dents.Run().table(_line(command, roots, options), progress)

    report.__name__ = report.__qualname__ = command
    report.__doc__ = f"""The table of `dents {command}`, as dents.Batch: Arrow data. Arguments are its paths and options.

    progress(directories, entries) is called about 20 times a second.
    """
    return report


du = _report("du")
top = _report("top")
stats = _report("stats")
count = _report("count")
diff = _report("diff")
