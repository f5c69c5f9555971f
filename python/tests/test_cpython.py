"""CPython's own tests of os.scandir and os.walk, with dents in their place.

Each class runs in a process of its own, because it replaces functions of `os`.
"""

import subprocess
import sys
import unittest

# What differs, and why. The same table is in docs/PYTHON.md.
DIFFERENCES = {
    "TestScandir.test_attributes_junctions": "of Windows",
}

# Tests of test_os that go through scandir or walk.
CLASSES = ["TestScandir", "WalkTests", "BytesWalkTests"]

PROGRAM = """
import os, sys, unittest
import dents
from test import test_os
os.scandir, os.walk, os.DirEntry = dents.scandir, dents.walk, dents.DirEntry
os.supports_fd.add(dents.scandir)
suite = unittest.defaultTestLoader.loadTestsFromName(sys.argv[1], test_os)
def flat(suite):
    for test in suite:
        yield from flat(test) if isinstance(test, unittest.TestSuite) else [test]
left_out = sys.argv[2].split(",")
tests = [test for test in flat(suite) if test.id().split(".", 2)[-1] not in left_out]
result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(tests))
sys.exit(not (result.wasSuccessful() and result.testsRun > 5))
"""


class CPythonTests(unittest.TestCase):
    def test_classes(self):
        try:
            from test import test_os  # noqa: F401
        except ImportError:
            self.skipTest("this Python comes without its tests")
        for name in CLASSES:
            with self.subTest(name):
                words = [sys.executable, "-c", PROGRAM, name, ",".join(DIFFERENCES)]
                run = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=600)
                self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
