"""dents.aio."""

import asyncio
import os
import threading
import unittest
import warnings

import dents
import dents.aio
from common import Tree, descriptors

try:
    import uvloop
except ImportError:
    uvloop = None


class Asyncio(Tree):
    def run_loop(self, coroutine):
        return asyncio.run(coroutine)

    def test_scandir(self):
        self.tree()
        self.file("file")
        os.symlink("d1", self.path("link"))

        async def main():
            dirs, others = await dents.aio.scandir(self.dir)
            self.assertEqual(sorted(dirs), [f"d{nth}" for nth in range(6)])
            self.assertEqual(sorted(others), ["file", "link"])
            dirs, others = await dents.aio.scandir(os.fsencode(self.dir), max_requests=1)
            self.assertEqual(sorted(others), [b"file", b"link"])
            many = await asyncio.gather(*(dents.aio.scandir(self.dir) for _ in range(200)))
            self.assertTrue(all(sorted(dirs) == [f"d{nth}" for nth in range(6)] for dirs, _ in many))
            with self.assertRaises(FileNotFoundError) as raised:
                await dents.aio.scandir(self.path("missing"))
            self.assertEqual(raised.exception.filename, self.path("missing"))
            with self.assertRaises(ValueError):
                await dents.aio.scandir(self.dir, max_requests=0)

        self.run_loop(main())

    def test_readdirx(self):
        self.tree()
        self.file("file")

        async def main():
            flags = dents.aio.DENTS | dents.aio.DIRS_FIRST
            names, told = await dents.aio.readdirx(self.dir, flags)
            self.assertEqual(sorted(name for name, _, _ in names), sorted(os.listdir(self.dir)))
            if not told & dents.aio.FOUND_UNKNOWN:
                self.assertEqual([kind for _, kind, _ in names], [4] * 6 + [8])
            inodes = {entry.name: entry.inode() for entry in os.scandir(self.dir)}
            self.assertEqual({name: ino for name, _, ino in names}, inodes)
            names, _ = await dents.aio.readdirx(self.dir, dents.aio.STAT_ORDER)
            self.assertEqual({kind for _, kind, _ in names}, {0})
            with self.assertRaises(ValueError):
                await dents.aio.readdirx(self.dir, 64)

        self.run_loop(main())

    def test_a_large_result_comes_in_pieces(self):
        for nth in range(20_000):
            self.file(f"file{nth}")

        async def main():
            turns = 0

            async def count():
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            counter = asyncio.create_task(count())
            _, others = await dents.aio.scandir(self.dir)
            counter.cancel()
            self.assertEqual(len(others), 20_000)
            # 4,096 names are converted between two turns of the loop.
            self.assertGreaterEqual(turns, 4)

        self.run_loop(main())

    def test_scan(self):
        self.tree()

        async def main():
            paths = [path async for batch in dents.aio.scan(self.dir, needs=["path"]) for (path,) in batch.rows()]
            self.assertEqual(sorted(paths), sorted(path for (path,) in dents.scan(self.dir, needs=["path"]).rows()))
            async for _ in dents.aio.scan("/", needs=["path"], one_file_system=True):
                break
            with self.assertRaises(ValueError):
                async for _ in dents.aio.scan(self.dir, nope=1):
                    pass

        self.run_loop(main())

    def test_cancelled_tasks(self):
        self.tree()

        async def main():
            for _ in range(20):
                tasks = [asyncio.create_task(dents.aio.scandir(self.dir)) for _ in range(50)]
                await asyncio.sleep(0)
                for task in tasks[::2]:
                    task.cancel()
                results = await asyncio.gather(*tasks, return_exceptions=True)
                self.assertTrue(all(isinstance(result, asyncio.CancelledError) for result in results[::2]))
                self.assertTrue(all(isinstance(result, tuple) for result in results[1::2]))

            async def scan():
                async for _ in dents.aio.scan("/", needs=["path", "size"], one_file_system=True):
                    await asyncio.sleep(0)

            task = asyncio.create_task(scan())
            await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        self.run_loop(main())

    def test_names_that_are_not_utf8(self):
        os.mkdir(os.fsencode(self.dir) + b"/d\xff\xfe")
        with open(os.fsencode(self.dir) + b"/f\x80", "wb"):
            pass

        async def main():
            self.assertEqual(await dents.aio.scandir(self.dir), (["d\udcff\udcfe"], ["f\udc80"]))
            self.assertEqual(await dents.aio.scandir(os.fsencode(self.dir)), ([b"d\xff\xfe"], [b"f\x80"]))
            names, _ = await dents.aio.readdirx(self.dir)
            self.assertEqual(sorted(name for name, _, _ in names), ["d\udcff\udcfe", "f\udc80"])
            self.assertEqual(await dents.aio.scandir(self.path("d\udcff\udcfe")), ([], []))

        self.run_loop(main())

    def test_directories_vanish(self):
        """Each request has a result or FileNotFoundError, never part of a directory."""
        paths = [self.path(f"d{nth}") for nth in range(200)]
        for path in paths:
            os.mkdir(path)
            for name in "abc":
                os.mkdir(os.path.join(path, name))

        async def main():
            requests = [asyncio.create_task(dents.aio.scandir(path)) for path in paths]
            await asyncio.sleep(0)
            remover = threading.Thread(target=lambda: [os.rename(path, path + "-gone") for path in paths])
            remover.start()
            results = await asyncio.gather(*requests, return_exceptions=True)
            remover.join()
            for path, result in zip(paths, results):
                if isinstance(result, FileNotFoundError):
                    self.assertEqual(result.filename, path)
                else:
                    self.assertEqual((sorted(result[0]), result[1]), (["a", "b", "c"], []))

        self.run_loop(main())

    def test_a_fork_during_requests(self):
        """The child's loop is its own; the parent's requests go on."""
        self.tree(60)

        async def names():
            return sorted((await dents.aio.scandir(self.dir))[0])

        async def main():
            requests = [asyncio.create_task(names()) for _ in range(100)]
            await asyncio.sleep(0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if not child:
                found = []
                worker = threading.Thread(target=lambda: found.append(self.run_loop(names())))
                worker.start()
                worker.join()
                os._exit(0 if found == [[f"d{nth}" for nth in range(6)]] else 1)
            results = await asyncio.gather(*requests)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual({tuple(result) for result in results}, {tuple(f"d{nth}" for nth in range(6))})

        self.run_loop(main())

    def test_the_interpreter_exits_with_requests(self):
        program = """
            import asyncio, os, sys, dents.aio
            async def main():
                for _ in range(50):
                    asyncio.create_task(dents.aio.readdirx("/usr/bin"))
                asyncio.create_task(anext(dents.aio.scan("/", needs=["path"])))
                await asyncio.sleep(0)
            asyncio.run(main())
            """
        self.run_python(program)

    def test_loops_come_and_go(self):
        self.tree()

        async def main():
            return await dents.aio.scandir(self.dir)

        self.run_loop(main())
        before = descriptors()
        for _ in range(30):
            self.run_loop(main())
        self.assertLessEqual(descriptors(), before + 5)

        results = []
        loops = [threading.Thread(target=lambda: results.append(self.run_loop(main()))) for _ in range(8)]
        [loop.start() for loop in loops]
        [loop.join() for loop in loops]
        self.assertEqual(len(results), 8)


@unittest.skipUnless(uvloop, "no uvloop")
class Uvloop(Asyncio):
    def run_loop(self, coroutine):
        loop = uvloop.new_event_loop()
        try:
            return loop.run_until_complete(coroutine)
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()


if __name__ == "__main__":
    unittest.main()
