"""A scan of one tree by many machines, with Dask (`pip install dents[dask]`).

    coordinator ── claim, submit ──► tasks on workers: scan --part DIR --task ID
         ▲                                │ a shard of rows, and the directories left over
         └────────── finished ◄───────────┴──► DIR, which all machines share

The coordinator claims directories that wait in DIR as tasks, and gives them to the workers of Dask. A task walks its directories until a
budget is used up; what it leaves over waits again. All state is in DIR: a task that a dead worker left is given to another, and a coordinator
that was killed continues when it is started again. A task counts when its shard has its name, so a task that ran twice counts once.

    python -m dents.cluster scan -o DIR ROOT                          workers on this machine
    python -m dents.cluster scan --scheduler tcp://head:8786 -o DIR ROOT
"""

import argparse
import contextlib
import dataclasses
import fcntl
import os
import signal
import sys
import time

from . import _dents
from ._scan import _words

__all__ = ["Busy", "Progress", "Summary", "scan"]

# A task never has more entries, nor does it run longer: so a worker that dies loses little.
BUDGET = 2_000_000
TIME_BUDGET = 20.0
# While workers are idle, tasks are smaller, so that there soon are enough directories for all.
FIRST_BUDGET = 4_000
# Directories of one task; fewer than the smallest only where each worker gets two tasks.
SMALLEST_BUNDLE = 16
LARGEST_BUNDLE = 4_096
# Attempts of one task that end with the death of its worker, or with an error.
ATTEMPTS = 20
# Messages that the summary keeps.
MESSAGES = 1_000


class Busy(Exception):
    """Another coordinator works in this directory."""


@dataclasses.dataclass
class Progress:
    """How far a scan is."""

    entries: int
    """Rows of committed tasks, by the count of this coordinator."""
    tasks: int
    """Committed tasks, by the same count."""
    running: int
    """Tasks that workers have."""
    waiting: int
    """Directories that wait: the frontier. Each may have any number of directories below it."""
    seconds: float
    """Time since this coordinator began."""
    directories: int = 0
    """Directories that committed tasks read."""

    @property
    def rate(self):
        """Entries a second."""
        return self.entries / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta(self):
        """Seconds for the frontier, if its directories are like those before, with nothing below them: the least that is left. None if unknown."""
        if not self.directories or not self.entries:
            return None
        return self.waiting * (self.entries / self.directories) / self.rate

    def __str__(self):
        eta = "" if self.eta is None else f", at least {_duration(self.eta)} to go"
        return (
            f"{self.entries:,} entries, {self.rate:,.0f}/s; {self.running} tasks running, {self.waiting:,} directories waiting{eta}"
        )


@dataclasses.dataclass
class Summary:
    """The result of a scan."""

    complete: bool
    """Whether all roots could be read: then the manifest says that the scan is complete."""
    entries: int
    """Rows of the tasks that this coordinator saw."""
    tasks: int
    messages: list
    """Texts about entries that could not be read: at most 1,000."""
    seconds: float


def _duration(seconds):
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes}m" if hours else f"{minutes}m {seconds}s" if minutes else f"{seconds}s"


def _task(directory, task, words):
    """On a worker: walks the directories of a task, and commits its shard. It needs no client of Dask."""
    began = time.monotonic()
    run = _dents.Run()
    run.command(["scan", "--part", directory, "--task", task, *words], None)
    told = [text for text, _, _ in run.messages()[0]]
    if not os.path.exists(os.path.join(directory, task + ".parquet")):
        raise RuntimeError(told[-1] if told else f"task {task} ended without a result")
    directories, entries = run.seen()
    return {
        "task": task, "entries": entries, "directories": directories, "messages": told, "seconds": time.monotonic() - began,
    }


class _Directory:
    """The directory of a scan in parts, and the lock of its coordinator."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self._lock = None

    def start(self, roots, options):
        run = _dents.Run()
        words = ["parts", "start", *_words(options), "--", self.path, *map(os.fspath, roots)]
        if not run.command(words, None):
            raise OSError(_last(run))

    def lock(self):
        """The lock ends with this process, however it ends."""
        name = os.path.join(self.path, "coordinator")
        self._lock = open(name, "a+")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.seek(0)
            whose = self._lock.read().strip()
            self._lock.close()
            raise Busy(f"{self.path}: another coordinator works here ({whose}): wait for its end, or stop it") from None
        self._lock.truncate(0)
        self._lock.write(f"process {os.getpid()} on {os.uname().nodename}\n")
        self._lock.flush()

    def unlock(self):
        if self._lock is not None:
            self._lock.close()

    def open_tasks(self):
        """Tasks that were claimed and are not committed."""
        return [row["task"] for row in _table("parts", "status", self.path) if row["state"] == "claimed"]

    def claim(self, directories):
        """A new task of at most so many directories, and how many wait after it; None if none waits."""
        rows = _table("parts", "claim", f"--directories={directories}", self.path)
        return (rows[0]["task"], rows[0]["waiting"]) if rows else None

    def merge(self):
        """Writes the manifest. Whether the scan is complete."""
        run = _dents.Run()
        return run.command(["parts", "merge", self.path], None)


def _table(*words):
    """The rows of a report, by column."""
    batch = _dents.Run().table(list(words), None)
    return [dict(zip(batch.column_names, row)) for row in batch.rows()]


def _last(run):
    told = run.messages()[0]
    return told[-1][0] if told else "the command ended without a result"


class _Coordinator:
    """Keeps about twice as many tasks in flight as there are slots."""

    def __init__(self, client, directory, options, report):
        self.client = client
        self.directory = directory
        self.options = options
        self.report = report
        self.began = time.monotonic()
        self.progress = Progress(0, 0, 0, 0, 0.0)
        self.messages = []
        self.attempts = {}
        self.claimed = list(directory.open_tasks())
        self.may_wait = True
        self.reported = 0.0

    def run(self):
        from distributed import as_completed

        running = {}
        finished = as_completed()
        self.fill(running, finished)
        while running:
            future = next(finished)
            self.take(future, running.pop(future))
            # What is committed may have left directories over.
            self.may_wait = True
            self.fill(running, finished)
            self.tell(len(running))
        self.tell(0, last=True)

    def slots(self):
        """Tasks that can run at once: one for each thread of Dask. Workers come and go."""
        return max(1, sum(self.client.nthreads().values()))

    def fill(self, running, finished):
        slots = self.slots()
        while len(running) < 2 * slots:
            task = self.claimed.pop() if self.claimed else self.claim(slots, len(running))
            if task is None:
                return
            self.attempts[task] = self.attempts.get(task, 0) + 1
            # A key of its own for each attempt: Dask keeps what it knows of a key.
            key = f"dents-{os.getpid()}-{task}-{self.attempts[task]}"
            words = self.words(slots, len(running))
            future = self.client.submit(_task, self.directory.path, task, words, key=key, pure=False)
            running[future] = task
            finished.add(future)

    def claim(self, slots, running):
        """A task of the directories that wait: small bundles while there are few, so that each worker gets some."""
        if not self.may_wait:
            return None
        waiting = self.progress.waiting
        share = max(waiting // (4 * slots), min(waiting // (2 * slots), SMALLEST_BUNDLE), 1)
        claimed = self.directory.claim(min(share, LARGEST_BUNDLE))
        if claimed is None:
            self.may_wait, self.progress.waiting = False, 0
            return None
        task, self.progress.waiting = claimed
        return task

    def words(self, slots, running):
        """The budget of a task: small where it is one of few, as the others are idle until it leaves something over."""
        idle = running < slots and self.progress.waiting < slots
        budget = min(FIRST_BUDGET, self.options.budget) if idle else self.options.budget
        words = [f"--budget={budget}", f"--time-budget={self.options.time_budget}s"]
        if self.options.rate:
            words.append(f"--rate={max(1, int(self.options.rate / slots))}")
        if self.options.threads:
            words.append(f"--threads={self.options.threads}")
        return words

    def take(self, future, task):
        error = future.exception()
        if error is None:
            result = future.result()
            self.progress.entries += result["entries"]
            self.progress.directories += result["directories"]
            self.progress.tasks += 1
            self.messages.extend(result["messages"][: MESSAGES - len(self.messages)])
        elif self.attempts[task] < ATTEMPTS and _is_of_worker(error):
            self.claimed.append(task)
        else:
            raise RuntimeError(f"task {task}: {error}") from error

    def tell(self, running, last=False):
        now = time.monotonic()
        self.progress.running, self.progress.seconds = running, now - self.began
        if self.report is not None and (last or now - self.reported >= 0.5):
            self.reported = now
            self.report(self.progress)


def _is_of_worker(error):
    """Whether the error is the death of a worker, not a failure of the task."""
    from distributed.scheduler import KilledWorker

    return isinstance(error, KilledWorker) or type(error).__name__ in ("CancelledError", "FutureCancelledError", "CommClosedError")


@dataclasses.dataclass
class _Options:
    budget: int
    time_budget: float
    rate: int | None
    threads: int | None


def scan(*roots, output, client=None, workers=None, budget=BUDGET, time_budget=TIME_BUDGET, rate=None, threads=None, progress=None, **options):
    """Scans trees with the workers of Dask, into the directory `output`, which all machines share; `--from DIR` and dents.scan read it.

    `client` is a dask.distributed.Client; without one, `workers` processes run on this machine (default: one for each core). A scan that was
    interrupted continues if it is started again with the same roots and options. `rate` limits the requests a second of all workers together;
    `threads` are those of each task. progress(Progress) is called about twice a second. Other arguments are those options of `dents scan`
    that decide which rows there are: one_file_system=True, exclude=["*.tmp"].

    Raises Busy if another coordinator works in this directory, ValueError for a wrong option or for a directory with another scan.
    """
    directory = _Directory(output)
    directory.start(roots, options)
    directory.lock()
    with contextlib.ExitStack() as stack:
        stack.callback(directory.unlock)
        if client is None:
            from distributed import Client, LocalCluster

            threads = threads or 1
            cluster = LocalCluster(
                n_workers=workers or os.cpu_count(), threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0,
            )
            client = stack.enter_context(Client(stack.enter_context(cluster)))
        coordinator = _Coordinator(client, directory, _Options(budget, time_budget, rate, threads), progress)
        coordinator.run()
        complete = directory.merge()
    done = coordinator.progress
    return Summary(complete, done.entries, done.tasks, coordinator.messages, time.monotonic() - coordinator.began)


def _parser():
    parser = argparse.ArgumentParser(prog="python -m dents.cluster", description="Scans of one tree by many machines, with Dask")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser(
        "scan", help="scan trees into a directory that all machines share",
        description="Other options are those of `dents scan` that decide which rows there are, as --one-file-system and --exclude=GLOB.",
    )
    command.add_argument("roots", nargs="+", metavar="ROOT")
    command.add_argument("-o", "--output", required=True, metavar="DIR", help="the directory of the scan; all machines see it under this path")
    command.add_argument("--scheduler", metavar="ADDRESS", help="the scheduler of Dask, as tcp://head:8786 [default: workers on this machine]")
    command.add_argument("--workers", type=int, metavar="N", help="workers on this machine [default: one for each core]")
    command.add_argument("--rate", type=int, metavar="N", help="requests a second of all workers together")
    command.add_argument("--budget", type=int, default=BUDGET, metavar="N", help="entries of a task, at most [default: %(default)s]")
    command.add_argument("--time-budget", type=float, default=TIME_BUDGET, metavar="SECONDS", help="time of a task [default: %(default)s]")
    command.add_argument("--threads", type=int, metavar="N", help="threads of each task")
    command.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    return parser


def _options(words):
    """The other options, as `dents scan` takes them."""
    options = {}
    for word in words:
        if not word.startswith("--"):
            raise ValueError(f"{word}: write an option as --name or --name=value")
        name, equals, value = word[2:].partition("=")
        options.setdefault(name, []).append(value if equals else True)
    return options


def main(words=None):
    """The program: python -m dents.cluster."""
    given, others = _parser().parse_known_args(words)
    terminal = sys.stderr.isatty()
    shown = 0.0

    def show(progress):
        nonlocal shown
        if terminal:
            print(f"\r{progress}\033[K", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - shown >= 10:
            shown = time.monotonic()
            print(f"dents: {progress}", file=sys.stderr, flush=True)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as stack:
        client = None
        try:
            if given.scheduler:
                from distributed import Client

                client = stack.enter_context(Client(given.scheduler, timeout=30))
            summary = scan(
                *given.roots, output=given.output, client=client, workers=given.workers, budget=given.budget, time_budget=given.time_budget,
                rate=given.rate, threads=given.threads, progress=None if given.quiet else show, **_options(others),
            )
        except ModuleNotFoundError as error:
            return _fail(f"{error.name} is not installed: pip install dents[dask]", 2)
        except (Busy, ValueError) as error:
            return _fail(error, 2)
        except (OSError, RuntimeError) as error:
            return _fail(error, 1)
        except KeyboardInterrupt:
            return _fail("interrupted: run the same command again to continue", 130)
        finally:
            if terminal and not given.quiet:
                print("\r\033[K", end="", file=sys.stderr, flush=True)
    for text in summary.messages:
        print(f"dents: {text}", file=sys.stderr)
    print(f"{summary.entries:,} entries by {summary.tasks:,} tasks in {summary.seconds:.1f} s", file=sys.stderr)
    return 0 if summary.complete and not summary.messages else 1


def _fail(text, status):
    print(f"dents: {text}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
