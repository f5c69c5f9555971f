"""The examples in docstrings, and all Python in docs/PYTHON.md."""

import doctest
import os
import pathlib
import re
import subprocess
import sys
import unittest

import dents
import dents.aio
from common import Tree

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "PYTHON.md"


class Docs(Tree):
    def test_docstrings(self):
        for module in [dents, dents.aio]:
            self.assertEqual(doctest.testmod(module).failed, 0, module)

    @unittest.skipUnless(PAGE.exists(), "not in the repository")
    def test_the_page(self):
        """Each block of Python runs in a tree, with the names of the blocks before it."""
        self.tree()
        self.file("file.iso", size=2000)
        names = {}
        blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        self.assertGreater(len(blocks), 5)
        before = os.getcwd()
        os.chdir(self.dir)
        self.addCleanup(os.chdir, before)
        for block in blocks:
            wanted = re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE)
            try:
                [__import__(module) for module in wanted]
            except ImportError as error:
                print(f"an example needs {error.name}, which is not installed")
                continue
            with self.subTest(block):
                exec(compile(block, str(PAGE), "exec"), names)

    def test_stubs_and_modules_have_the_same_names(self):
        for module in [dents, dents.aio]:
            stub = pathlib.Path(module.__file__).with_suffix(".pyi").read_text()
            for name in module.__all__:
                self.assertRegex(stub, rf"(?m)^(async def|def|class|\w+:)? ?{name}\b|^{name}:", name)
            compile(stub, "stub", "exec")

    def test_the_module_says_what_it_is(self):
        words = [sys.executable, "-m", "dents", "--version"]
        run = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(run.stdout.strip(), f"dents {dents.__version__}")


if __name__ == "__main__":
    unittest.main()
