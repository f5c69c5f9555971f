"""dents.scandir with stat=True, and what CPython's tests leave out."""

import gc
import os
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
import unittest
import warnings

import dents
from common import Tree, descriptors, threads

FIELDS = [name for name in dir(os.stat_result) if name.startswith("st_")]


class Scandir(Tree):
    def zoo(self):
        self.file("file", size=70_000)
        os.mkdir(self.path("directory"))
        os.symlink("file", self.path("link"))
        os.symlink("directory", self.path("to-directory"))
        os.symlink("missing", self.path("dangling"))
        os.mkfifo(self.path("fifo"))
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(self.path("socket"))
        os.link(self.path("file"), self.path("hard"))
        os.utime(self.path("hard"), ns=(-1_500_000_001, 4_102_444_800_123_456_789))

    def check(self, directory):
        """All fields of all entries equal those of os."""
        ours = {entry.name: entry for entry in dents.scandir(directory, stat=True)}
        theirs = {entry.name: entry for entry in os.scandir(directory)}
        self.assertEqual(ours.keys(), theirs.keys())
        for name, entry in ours.items():
            other = theirs[name]
            for follow in [False, True]:
                try:
                    expected = os.stat(os.path.join(directory, name), follow_symlinks=follow)
                except OSError as error:
                    with self.assertRaises(type(error)) as raised:
                        entry.stat(follow_symlinks=follow)
                    self.assertEqual((raised.exception.errno, raised.exception.filename), (error.errno, error.filename))
                    continue
                found = entry.stat(follow_symlinks=follow)
                self.assertIs(type(found), os.stat_result)
                self.assertEqual(len(found), len(expected))
                for field in FIELDS:
                    if "time" not in field or not directory.startswith("/dev"):
                        self.assertEqual(getattr(found, field), getattr(expected, field), (name, field))
                self.assertIs(type(found.st_mtime), float)
                self.assertEqual(entry.is_dir(follow_symlinks=follow), other.is_dir(follow_symlinks=follow))
                self.assertEqual(entry.is_file(follow_symlinks=follow), other.is_file(follow_symlinks=follow))
            self.assertEqual((entry.is_symlink(), entry.inode()), (other.is_symlink(), other.inode()))
            self.assertEqual((entry.path, repr(entry)), (other.path, repr(other)))
            self.assertFalse(entry.is_junction())
            self.assertIs(entry.stat(follow_symlinks=False), entry.stat(follow_symlinks=False))

    def test_all_fields_are_those_of_os(self):
        self.zoo()
        self.check(self.dir)
        with self.subTest("many"):
            for nth in range(3000):
                self.file("many", f"file{nth}", size=nth % 9)
            self.check(self.path("many"))

    @unittest.skipUnless(os.access("/dev", os.R_OK), "no /dev")
    def test_devices(self):
        entries = {entry.name: entry.stat(follow_symlinks=False) for entry in dents.scandir("/dev", stat=True)}
        for name, found in entries.items():
            try:
                expected = os.lstat(f"/dev/{name}")
            except FileNotFoundError:
                continue
            self.assertEqual((found.st_rdev, found.st_mode), (expected.st_rdev, expected.st_mode), name)

    def test_vanished_entries(self):
        for nth in range(4):
            self.file(f"file{nth}")
        entries = list(dents.scandir(self.dir))
        shutil.rmtree(self.dir)
        for entry in entries:
            with self.assertRaises(FileNotFoundError) as raised:
                entry.stat()
            self.assertEqual(raised.exception.filename, entry.path)
            self.assertTrue(entry.is_file())

    def test_errors(self):
        self.file("file")
        for path in [self.path("missing"), self.path("file"), os.fsencode(self.path("missing")), "", 987_654]:
            errors = []
            for scandir in [os.scandir, dents.scandir]:
                with self.assertRaises(OSError) as raised:
                    scandir(path)
                errors.append(raised.exception)
            self.assertEqual(type(errors[0]), type(errors[1]), path)
            self.assertEqual(errors[0].errno, errors[1].errno, path)
            self.assertEqual(errors[0].strerror, errors[1].strerror, path)
            if path != 987_654:
                self.assertEqual(errors[0].filename, errors[1].filename, path)
        with self.assertRaises(ValueError):
            dents.scandir("a\0b")
        with self.assertRaises(TypeError):
            dents.scandir(self.dir, True)

    def test_names_that_are_not_utf8(self):
        name = b"caf\xe9 \xff\n"
        with open(os.path.join(os.fsencode(self.dir), name), "w"):
            pass
        for stat in [False, True]:
            (entry,) = dents.scandir(self.dir, stat=stat)
            self.assertEqual(entry.name, os.fsdecode(name))
            self.assertEqual(os.fsencode(entry.path), os.path.join(os.fsencode(self.dir), name))
            self.assertEqual(entry.stat().st_size, 0)
            (entry,) = dents.scandir(os.fsencode(self.dir), stat=stat)
            self.assertEqual(entry.name, name)
        self.assertEqual(list(dents.walk(self.dir)), list(os.walk(self.dir)))
        self.assertEqual(list(dents.walk(os.fsencode(self.dir))), list(os.walk(os.fsencode(self.dir))))
        rows = list(dents.scan(self.dir, needs=["name", "name_bytes"], files=True).rows())
        self.assertEqual(rows, [(None, name)])

    def test_names_in_other_encodings(self):
        with open(os.path.join(os.fsencode(self.dir), b"caf\xe9"), "w"):
            pass
        program = """
            import dents, os, sys
            print(ascii([entry.name for entry in dents.scandir(sys.argv[1])] == os.listdir(sys.argv[1])))
            """
        environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        self.assertEqual(self.run_python(program, self.dir, env=environment), "True\n")

    def test_unclosed_iterators_warn_also_while_an_exception_is_on_its_way(self):
        self.tree()
        with self.assertWarns(ResourceWarning):
            iterator = dents.scandir(self.dir, stat=True)
            next(iterator)
            del iterator
            gc.collect()
        with warnings.catch_warnings(record=True) as caught, self.assertRaises(ZeroDivisionError):
            warnings.simplefilter("always")
            next(dents.scandir(self.dir)).stat(follow_symlinks=1 // 0)
        self.assertEqual([one.category for one in caught], [ResourceWarning])

    @unittest.skipUnless(shutil.which("strace"), "no strace")
    def large(self, count=6_000):
        """A directory of several buffers of names."""
        for nth in range(count):
            os.close(os.open(self.path(f"{nth}-a-name-of-forty-bytes-fills-buffers"), os.O_CREAT | os.O_WRONLY))
            if nth % 500 == 0:
                os.truncate(self.path(f"{nth}-a-name-of-forty-bytes-fills-buffers"), nth)
        with os.scandir(self.dir) as entries:
            return [(entry.name, entry.stat()) for entry in entries]

    def test_a_large_directory(self):
        """The parts come in the order of the directory, on any number of cores."""
        expected, cores = self.large(), os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        for some in (cores, set(list(cores)[:1])):
            os.sched_setaffinity(0, some)
            found = [(entry.name, entry.stat()) for entry in dents.scandir(self.dir, stat=True)]
            self.assertEqual(found, expected)

    def test_a_large_directory_that_is_left_early(self):
        self.large()
        before = descriptors(), threads()
        for _ in range(20):
            with dents.scandir(self.dir, stat=True) as entries:
                next(entries)
        for _ in range(200):
            if (descriptors(), threads()) <= before:
                break
            time.sleep(0.02)
        self.assertLessEqual((descriptors(), threads()), before)

    def test_a_large_directory_that_changes(self):
        """What vanished before its turn has no metadata; nothing comes twice, nothing is left out."""
        expected = [name for name, _ in self.large()]
        # With one core no thread is ahead of the caller.
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, set(list(cores)[:1]))
        entries = dents.scandir(self.dir, stat=True)
        found = [next(entries)]
        for name in expected:
            os.unlink(self.path(name))
        found += entries
        self.assertEqual([entry.name for entry in found], expected)
        self.assertEqual(found[0].stat().st_nlink, 1)
        gone = 0
        for entry in found:
            try:
                entry.stat()
            except FileNotFoundError as error:
                gone += error.filename == entry.path
        self.assertGreater(gone, 0)

    def test_a_child_goes_on_with_a_large_directory(self):
        expected = self.large()
        entries = dents.scandir(self.dir, stat=True)
        found = [next(entries)]
        with warnings.catch_warnings():
            # From 3.12 on, Python itself warns about forks in processes with threads.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            good = [(entry.name, entry.stat()) for entry in [*found, *entries]] == expected
            os._exit(0 if good else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual([(entry.name, entry.stat()) for entry in [*found, *entries]], expected)

    def test_an_interrupt_is_served_within_50_ms(self):
        """In each phase: names are read, metadata is requested, objects are made. The best of some rounds: other programs run."""
        # Of such names a first buffer has only some hundred.
        for nth in range(200_000):
            os.mknod(self.path(f"a-longer-name-of-a-file-as-programs-make-them-{nth:08}.data"), 0o100600)

        def interrupt(signum, frame):
            raise InterruptedError

        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)

        def latency(delay):
            with self.assertRaises(InterruptedError):
                begin = time.monotonic()
                signal.setitimer(signal.ITIMER_REAL, delay)
                while True:
                    with dents.scandir(self.dir, stat=True) as entries:
                        for entry in entries:
                            pass
            return time.monotonic() - begin - delay

        for delay in [0.002, 0.01, 0.02, 0.04, 0.08, 0.16]:
            self.assertLess(min(latency(delay) for _ in range(5)), 0.05, f"seconds, after {delay} s")

    def test_stat_ahead_makes_no_system_call(self):
        for nth in range(500):
            self.file(f"file{nth}")
        program = """
            import dents, os, sys
            entries = list(dents.scandir(sys.argv[1], stat=True))
            os.path.lexists("/begin-here")
            sizes = [entry.stat(follow_symlinks=False).st_size for entry in entries]
            sizes += [entry.stat().st_size for entry in entries]
            os.path.lexists("/end-here")
            """
        log = self.path("log")
        words = ["strace", "-f", "-o", log, sys.executable, "-c", textwrap.dedent(program), self.dir]
        run = subprocess.run(words, capture_output=True, text=True)
        if run.returncode != 0 and "ptrace" in run.stderr.lower():
            self.skipTest("strace may not trace here")
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(log) as file:
            lines = file.read().splitlines()
        begin = next(nth for nth, line in enumerate(lines) if "/begin-here" in line)
        end = next(nth for nth, line in enumerate(lines) if "/end-here" in line)
        # If another thread interrupts a call in the log, the call is at the line where it began.
        between = [line for line in lines[begin + 1 : end] if "resumed" not in line]
        asked = [line for line in between if "stat" in line or "open" in line or "getdents" in line]
        self.assertEqual(asked, [])
        self.assertGreaterEqual(sum("statx(" in line for line in lines[:begin]), 500)


if __name__ == "__main__":
    unittest.main()
