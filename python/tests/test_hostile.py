"""Forks, exits, threads, and rounds that must not leak memory. DENTS_ROUNDS sets their number: `cargo xtask wheel` runs 10,000."""

import asyncio
import gc
import os
import threading
import time
import unittest

import dents
import dents.aio
from common import Tree, descriptors, threads

ROUNDS = int(os.environ.get("DENTS_ROUNDS", "300"))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Hostile(Tree):
    def test_a_child_goes_on_with_what_the_parent_began(self):
        self.tree(120)
        program = """
            import asyncio, os, sys, dents, dents.aio
            top = sys.argv[1]
            async def names():
                return sorted((await dents.aio.scandir(top))[0])
            walk, scandir, scan = dents.walk(top), dents.scandir(top, stat=True), dents.scan(top, needs=["path"])
            expected = list(os.walk(top))
            first, entry, names_before = next(walk), next(scandir), asyncio.run(names())
            rows = sorted(dents.scan(top, needs=["path"]).rows())
            children = []
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    good = [first, *walk] == expected
                    good &= len({entry.name, *(one.name for one in scandir)}) == 6
                    good &= list(dents.walk(top)) == expected
                    good &= asyncio.run(names()) == names_before
                    good &= sorted(dents.scan(top, needs=["path"]).rows()) == rows
                    sys.stdout.flush()
                    os._exit(0 if good else 1)
                children.append(child)
            for child in children:
                assert os.waitpid(child, 0)[1] == 0
            assert [first, *walk] == expected
            scandir.close()
            """
        # From 3.12 on, Python itself warns about forks in processes with threads.
        environment = {**os.environ, "PYTHONWARNINGS": "ignore::DeprecationWarning"}
        self.run_python(program, self.dir, env=environment)

    def test_the_interpreter_exits_during_a_scan(self):
        self.tree(120)
        programs = [
            "walk = dents.walk('/'); next(walk)",
            "batches = dents.scan('/').batches(); next(batches)",
            "stream = dents.scan('/', needs=['path'])._stream()",
            "threading.Thread(target=lambda: [None for _ in dents.walk('/')], daemon=True).start(); time.sleep(0.2)",
            "threading.Thread(target=lambda: list(dents.scan('/').batches()), daemon=True).start(); time.sleep(0.2)",
            "threading.Thread(target=lambda: dents.du('/'), daemon=True).start(); time.sleep(0.2)",
            "entries = dents.scandir('/usr/bin', stat=True); next(entries); entries.close()",
        ]
        for program in programs:
            with self.subTest(program):
                self.run_python("import dents, threading, time\n" + program)

    def test_a_second_interpreter(self):
        """Up to Python 3.11 it has the module too; later ones refuse the import with a message."""
        self.tree()
        program = """
            import sys, dents
            try:
                import _interpreters as interpreters
            except ImportError:
                import _xxsubinterpreters as interpreters
            work = f"import dents; [entry.stat() for entry in dents.scandir({sys.argv[1]!r}, stat=True)]; list(dents.walk({sys.argv[1]!r}))"
            other = interpreters.create()
            try:
                told = interpreters.run_string(other, work)
            except Exception as error:
                told = error
            interpreters.destroy(other)
            print(getattr(told, "msg", told), len(list(dents.walk(sys.argv[1]))) > 30)
            """
        told = self.run_python(program, self.dir).split()
        self.assertEqual(told[-1], "True")
        self.assertIn(told[-2], ["None", "subinterpreters"])

    def test_fifty_threads_at_once(self):
        self.tree(60)
        expected = list(os.walk(self.dir))
        walk = dents.walk(self.dir)
        shared, failures = [], []

        def work():
            try:
                assert list(dents.walk(self.dir)) == expected
                assert len(list(dents.scandir(self.dir, stat=True))) == 6
                assert asyncio.run(dents.aio.scandir(self.dir))[1] == []
                # One walk for all threads: none fails, and no directory comes twice.
                shared.extend(path for path, _, _ in walk)
            except BaseException as error:
                failures.append(error)

        workers = [threading.Thread(target=work) for _ in range(50)]
        [worker.start() for worker in workers]
        [worker.join() for worker in workers]
        self.assertEqual(failures, [])
        self.assertEqual(len(shared), len(set(shared)))

    def test_rounds_leak_nothing(self):
        self.tree(40)
        self.file("file")

        async def asynchronous():
            await dents.aio.scandir(self.dir)
            task = asyncio.create_task(dents.aio.readdirx(self.dir))
            await asyncio.sleep(0)
            task.cancel()
            async for _ in dents.aio.scan(self.dir, needs=["path"]):
                break

        def round():
            with dents.scandir(self.dir, stat=True) as entries:
                [entry.stat() for entry in entries]
            with dents.scandir(self.dir) as entries:
                next(entries)
            for _, dirs, _ in dents.walk(self.dir):
                del dirs[2:]
            next(dents.walk(self.dir))
            for _ in dents.scan(self.dir, needs=["path", "size"]).batches():
                break
            try:
                dents.scandir(self.path("missing"))
            except FileNotFoundError:
                pass
            asyncio.run(asynchronous())

        def settled(measure, most):
            """Threads end a moment after their work."""
            for _ in range(200):
                gc.collect()
                if measure() <= most:
                    break
                time.sleep(0.05)
            return measure()

        for _ in range(30):
            round()
        before = settled(descriptors, 0), settled(threads, 0), resident()
        for _ in range(ROUNDS):
            round()
        self.assertLessEqual(settled(descriptors, before[0]), before[0])
        self.assertLessEqual(settled(threads, before[1]), before[1])
        # The allocator keeps some memory. A leak of 100 bytes in each round would be larger after 10,000 rounds than after 300.
        self.assertLess(resident() - before[2], 24 << 20)


if __name__ == "__main__":
    unittest.main()
