"""Runs the tests of this directory, or those of the files named: prints the line that `cargo xtask test` adds up."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).parent

if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("test_*.py"))
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    word = "ok" if result.wasSuccessful() else "FAILED"
    print(f"test result: {word}. {result.testsRun - failed} passed; {failed} failed", flush=True)
    sys.exit(not result.wasSuccessful())
