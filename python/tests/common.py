"""Shared by the tests."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import traceback
import unittest


class Tree(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="dents-python-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def file(self, *parts, size=0):
        path = self.path(*parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(b"x" * size)
        return path

    def tree(self, directories=30, files=5):
        for nth in range(directories):
            for each in range(files):
                self.file(f"d{nth % 6}", f"e{nth % 5}", f"f{nth}", f"file{each}", size=each)

    def run_python(self, program, *words, check=True, **options):
        """Runs a program in a process of its own. Fails if it writes to standard error."""
        words = [sys.executable, "-X", "dev", "-c", textwrap.dedent(program), *words]
        run = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=120, **options)
        if check:
            self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        return run.stdout


def without_privileges(work):
    """Runs a function in a child that may not read everything. Returns the child's traceback, or an empty string."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        told = ""
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            work()
        except BaseException:
            told = traceback.format_exc()
        os.write(writer, told.encode(errors="replace")[:60_000])
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def threads():
    return len(os.listdir("/proc/self/task"))
