"""The examples in docstrings, and all Python in docs/PYTHON.md."""

import doctest
import importlib.util
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


TYPED = """
import asyncio
import dents
import dents.aio

with dents.scandir("/usr", stat=True) as entries:
    sizes: dict[str, int] = {entry.name: entry.stat().st_size for entry in entries}
for path, names, others in dents.walk(b"/usr/bin"):
    joined: list[bytes] = [path + b"/" + name for name in others]
    break
rows: list[tuple[object, ...]] = list(dents.scan("/usr", needs=["path"], max_depth=1).rows())
columns: list[str] = dents.du("/usr", max_depth=0).column_names

async def main() -> list[str]:
    dirs, nondirs = await dents.aio.scandir("/usr")
    async for batch in dents.aio.scan("/usr", max_depth=1):
        assert len(batch) > 0
    return dirs

assert set(asyncio.run(main())) <= set(sizes)
"""


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

    def mypy(self, *words):
        words = [sys.executable, "-m", *words]
        environment = dict(os.environ)
        if "PYTHONPATH" in environment:
            # Not installed: mypy must be told.
            where = str(pathlib.Path(dents.__file__).resolve().parents[1])
            environment.update(PYTHONPATH=where, MYPYPATH=where)
        run = subprocess.run(words, capture_output=True, text=True, cwd=self.dir, env=environment)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy")
    def test_stubs_are_those_of_the_modules(self):
        self.mypy("mypy.stubtest", "dents")

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy")
    def test_a_typed_program(self):
        with open(self.path("program.py"), "w") as file:
            file.write(TYPED)
        self.mypy("mypy", "--strict", "program.py")
        exec(compile(TYPED, "program.py", "exec"), {})

    def test_the_module_says_what_it_is(self):
        words = [sys.executable, "-m", "dents", "--version"]
        run = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(run.stdout.strip(), f"dents {dents.__version__}")


if __name__ == "__main__":
    unittest.main()
