"""CPython's own tests of os.scandir and os.walk, with dents in their place, in each Python that has them.

Each class runs in a process of its own, because functions of `os` are replaced.
"""

import os
import subprocess
import sys
import unittest

import dents

# Tests that are left out, each with its reason. The same table is in docs/PYTHON.md.
LEFT_OUT = {}

CLASSES = [
    ("test_os", "TestScandir"),
    ("test_os", "WalkTests"),
    ("test_os", "BytesWalkTests"),
    ("test_glob", "GlobTests"),
]

# `os.DirEntry` is replaced too: see test_differences.
PROGRAM = """
import importlib, os, sys, unittest
import dents
os.scandir, os.walk, os.DirEntry = dents.scandir, dents.walk, dents.DirEntry
os.supports_fd.add(dents.scandir)
module = importlib.import_module("test." + sys.argv[1])
suite = unittest.defaultTestLoader.loadTestsFromName(sys.argv[2], module)
def flat(suite):
    for test in suite:
        yield from flat(test) if isinstance(test, unittest.TestSuite) else [test]
left_out = sys.argv[3].split(",")
tests = [test for test in flat(suite) if test.id().split(".", 2)[-1] not in left_out]
result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(tests))
sys.exit(not (result.wasSuccessful() and result.testsRun > 5))
"""


class CPythonTests(unittest.TestCase):
    def test_classes(self):
        try:
            import test.test_os  # noqa: F401
        except ImportError:
            self.skipTest("this Python comes without its tests")
        for module, name in CLASSES:
            with self.subTest(name):
                words = [sys.executable, "-c", PROGRAM, module, name, ",".join(LEFT_OUT)]
                run = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=600)
                self.assertEqual(run.returncode, 0, run.stderr)

    def test_differences(self):
        """The type of entries, which no test of CPython needs."""
        with dents.scandir("/") as entries:
            entry = next(entries)
        self.assertNotIsInstance(entry, os.DirEntry)
        self.assertIsInstance(entry, os.PathLike)


if __name__ == "__main__":
    unittest.main()
