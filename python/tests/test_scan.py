"""Scans and reports."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import dents
import dents.aio
from common import Tree

def installed(name):
    try:
        return __import__(name)
    except ImportError:
        return None


pyarrow, pandas, polars, duckdb = map(installed, ["pyarrow", "pandas", "polars", "duckdb"])


class Scans(Tree):
    def test_rows_are_those_of_walk(self):
        self.tree()
        rows = set(dents.scan(self.dir, needs=["path", "type", "size"]).rows())
        expected = {(self.dir, "directory", os.lstat(self.dir).st_size)}
        for path, dirs, files in os.walk(self.dir):
            for name, kind in [*((name, "directory") for name in dirs), *((name, "file") for name in files)]:
                one = os.path.join(path, name)
                expected.add((one, kind, os.lstat(one).st_size))
        self.assertEqual(rows, expected)

    def test_options_are_those_of_the_program(self):
        self.tree()
        names = lambda **options: sorted(name for (name,) in dents.scan(self.dir, needs=["name"], **options).rows())
        self.assertEqual(set(names(type="f", size="+2c")), {"file3", "file4"})
        self.assertEqual(names(directories=True, max_depth=1, min_depth=1), [f"d{nth}" for nth in range(6)])
        self.assertEqual(set(names(include=["file1", "file2"], files=True)), {"file1", "file2"})
        self.assertEqual(names(type_="l", empty=False, newer=None), [])

    def test_what_is_wrong_fails_when_the_function_is_called(self):
        for scan in [dents.scan, dents.aio.scan]:
            with self.assertRaisesRegex(ValueError, "tyype"):
                scan(self.dir, tyype="f")
            with self.assertRaisesRegex(ValueError, "no column"):
                scan(self.dir, needs=["sise"])
            with self.assertRaisesRegex(ValueError, "many"):
                scan(self.dir, max_depth="many")
            with self.assertRaisesRegex(ValueError, "--timestamps is for output to a file"):
                scan(self.dir, needs=["path"], timestamps="ns")
        with self.assertRaisesRegex(ValueError, "nope"):
            dents.du(self.dir, nope=True)
        with self.assertRaises(TypeError):
            dents.walk(self.dir, top_down=False)
        # Options about the file are right for to_parquet.
        scan = dents.scan(self.dir, timestamps="ns", journal=self.path("journal"))
        with self.assertRaisesRegex(ValueError, "journal|--output"):
            next(scan.rows())

    def test_messages_tell_what_cannot_be_read(self):
        scan = dents.scan(self.path("missing"), needs=["path", "errno"])
        list(scan.rows())
        ((text, path, errno),) = scan.messages()
        self.assertEqual((path, errno), (self.path("missing"), 2))
        self.assertIn("No such file", text)

    def test_reports(self):
        self.tree()
        du = dents.du(self.dir, max_depth=1)
        self.assertEqual(len(du), 7)
        paths = [row[du.column_names.index("path")] for row in du.rows()]
        self.assertIn(self.path("d1"), paths)
        self.assertGreater(len(dents.top(self.dir)), 0)
        self.assertGreater(len(dents.count(self.dir)), 0)
        self.assertGreater(len(dents.stats(self.dir)), 0)
        seen = []
        dents.du(self.dir, progress=lambda directories, entries: seen.append((directories, entries)))
        self.assertGreater(seen[-1][0], 30)

    def test_progress_of_a_scan(self):
        self.tree()
        seen = []
        scan = lambda **options: dents.scan(self.dir, progress=lambda *counts: seen.append(counts), **options)
        for take in [
            lambda: list(scan(needs=["path"]).rows()),
            lambda: scan().to_parquet(self.path("x.parquet")),
            lambda: pyarrow.table(scan(needs=["size"])) if pyarrow else list(scan().batches()),
        ]:
            seen.clear()
            take()
            self.assertGreater(seen[-1][0], 30)
            self.assertEqual(seen, sorted(seen))

    def test_an_exception_of_progress_ends_the_scan(self):
        def fail(directories, entries):
            raise LookupError("enough")

        scan = dents.scan("/", needs=["size"], one_file_system=True, progress=fail)
        with self.assertRaisesRegex(LookupError, "enough"):
            for _ in scan.batches():
                pass
        if pyarrow:
            with self.assertRaisesRegex(Exception, "enough"):
                pyarrow.table(dents.scan(self.dir, needs=["size"], progress=fail))

    def test_diff(self):
        self.tree()
        before, after = self.path("before.parquet"), self.path("after.parquet")
        inner = self.path("d1")
        self.assertTrue(dents.scan(inner).to_parquet(before))
        self.file("d1", "new", size=5)
        self.assertTrue(dents.scan(inner).to_parquet(after))
        diff = dents.diff(before, after)
        self.assertTrue(any("new" in row[1:] for row in diff.rows()), diff.rows())

    def test_each_result_is_a_scan_of_its_own(self):
        self.tree()
        scan = dents.scan(self.dir, needs=["path"], files=True)
        before = sorted(scan.rows())
        self.assertEqual((len(before), sum(map(len, scan))), (150, 150))
        new = self.file("new")
        self.assertEqual(sorted(scan.rows()), sorted([*before, (new,)]))
        first, second = scan.rows(), scan.rows()
        self.assertEqual({next(first), *second}, {(new,), *before})
        # One that is left early stops no other.
        first.close()
        self.assertEqual(len(list(scan.rows())), 151)

    def test_messages_and_numbers_are_those_of_the_last_scan(self):
        scan = dents.scan(self.path("missing"), needs=["path"])
        for _ in range(3):
            list(scan.rows())
            if pyarrow:
                # Only its schema is looked at.
                pyarrow.schema(scan)
            self.assertEqual([errno for _, _, errno in scan.messages()], [2])
            self.assertEqual(scan.messages(), [])
        self.tree()
        scan = dents.scan(self.dir, needs=["path"])
        list(scan.rows())
        seen = scan.seen()
        list(scan.rows())
        self.assertEqual(scan.seen(), seen)
        self.assertGreater(seen[0], 30)

    def frames(self):
        self.tree()
        for nth in range(3):
            self.file(f"of-{nth}", size=100)
        return dents.scan(self.dir, needs=["name", "size", "mtime"], files=True)

    @unittest.skipUnless(duckdb, "no duckdb")
    def test_duckdb(self):
        scan = self.frames()
        total = 30 * (0 + 1 + 2 + 3 + 4) + 300
        for _ in range(2):
            self.assertEqual(duckdb.sql("SELECT count(*), sum(size) FROM scan").fetchall(), [(153, total)])
        self.assertEqual(len(duckdb.sql("SELECT * FROM scan LIMIT 3").fetchall()), 3)
        joined = "SELECT count(*) FROM scan JOIN scan AS other USING (name) WHERE name LIKE 'of-%'"
        self.assertEqual(duckdb.sql(joined).fetchall(), [(3,)])
        self.assertEqual(len(duckdb.from_arrow(scan).fetchall()), 153)
        report = dents.du(self.dir, max_depth=1)
        self.assertEqual(duckdb.sql("SELECT count(*) FROM report").fetchall(), [(len(report),)])

    @unittest.skipUnless(polars, "no polars")
    def test_polars(self):
        scan = self.frames()
        for _ in range(2):
            frame = polars.DataFrame(scan)
            self.assertEqual((frame.shape, frame["size"].max()), ((153, 3), 100))
        self.assertEqual(polars.from_arrow(dents.du(self.dir, max_depth=0)).shape[0], 1)

    @unittest.skipUnless(pyarrow, "no pyarrow")
    def test_pyarrow_takes_a_scan_many_times(self):
        scan = self.frames()
        for _ in range(2):
            self.assertEqual(pyarrow.table(scan).num_rows, 153)
            reader = pyarrow.RecordBatchReader.from_stream(scan)
            self.assertEqual(reader.schema.names, ["name", "size", "mtime"])
            self.assertEqual(sum(batch.num_rows for batch in reader), 153)
        self.assertEqual(pyarrow.schema(scan), pyarrow.table(scan).schema)

    @unittest.skipUnless(pandas, "no pandas")
    def test_pandas(self):
        scan = self.frames()
        report = dents.du(self.dir)
        # The constructor would make one column of batches; the message names what makes columns.
        with self.assertRaisesRegex(TypeError, r"pandas\.DataFrame\.from_arrow"):
            pandas.DataFrame(scan)
        with self.assertRaises(ValueError):
            pandas.DataFrame(report)
        if not hasattr(pandas.DataFrame, "from_arrow"):
            self.skipTest("no pandas.DataFrame.from_arrow before pandas 3")
        frame = pandas.DataFrame.from_arrow(scan)
        self.assertEqual((frame.shape, int(frame["size"].max())), ((153, 3), 100))
        self.assertEqual(frame["mtime"].dtype.kind, "M")
        self.assertEqual(len(pandas.DataFrame.from_arrow(report)), len(report))

    def test_a_parquet_file_has_all_columns(self):
        with self.assertRaises(ValueError):
            dents.scan(self.dir, needs=["path"]).to_parquet(self.path("x"))

    def test_cancel(self):
        scan = dents.scan("/", needs=["path", "size"], one_file_system=True)
        batches = scan.batches()
        scan.cancel()
        with self.assertRaises(dents.Cancelled):
            for _ in batches:
                pass
        with self.assertRaises(dents.Cancelled):
            list(scan.rows())

    @unittest.skipUnless(pyarrow, "no pyarrow")
    def test_arrow(self):
        self.tree()
        table = pyarrow.table(dents.scan(self.dir, needs=["path", "size", "mtime"], files=True))
        self.assertEqual(table.num_rows, 150)
        self.assertEqual(table.column("size").type, pyarrow.uint64())
        du = dents.du(self.dir)
        self.assertEqual(pyarrow.table(du).num_rows, len(du))
        self.assertEqual(pyarrow.record_batch(du).num_rows, len(du))
        batch = next(dents.scan(self.dir).batches())
        self.assertEqual(pyarrow.record_batch(batch).schema.names, batch.column_names)
        import pyarrow.compute as compute

        self.assertEqual(compute.sum(table.column("size")).as_py(), 30 * (0 + 1 + 2 + 3 + 4))

    def test_an_interrupt_is_served_at_once(self):
        for body in ["dents.du('/')", "list(dents.scan('/').batches())", "[None for _ in dents.walk('/')]"]:
            program = f"import dents, sys\nprint('go', flush=True)\nwhile True: {body}"
            child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            child.stdout.readline()
            time.sleep(0.3)
            begin = time.monotonic()
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=60)
            self.assertIn(b"KeyboardInterrupt", errors)
            self.assertLess(time.monotonic() - begin, 10, "seconds: what takes long is the end of the interpreter")

    def test_threads_scan_at_once(self):
        self.tree()
        results = []

        def work():
            results.append(sorted(dents.scan(self.dir, needs=["path"]).rows()))

        workers = [threading.Thread(target=work) for _ in range(10)]
        [worker.start() for worker in workers]
        [worker.join() for worker in workers]
        self.assertEqual(len(results), 10)
        self.assertTrue(all(result == results[0] for result in results))

    def test_the_program(self):
        self.tree()
        words = [sys.executable, "-m", "dents", "scan", "--files", self.dir]
        run = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr, len(run.stdout.splitlines())), (0, "", 150))
        run = subprocess.run([*words, "--nope"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--nope", run.stderr)


if __name__ == "__main__":
    unittest.main()
