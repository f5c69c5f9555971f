"""dents.cluster: scans by the workers of Dask. Skipped where Dask is not installed."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

import dents
from common import Tree

try:
    import distributed
    from dents import cluster
except ImportError:
    distributed = None

# Attributes that a scan itself changes.
COLUMNS = ["path_bytes", "depth", "type", "ino", "nlink", "mode", "uid", "gid", "size", "allocated", "mtime", "target_bytes", "asked", "errno"]


def rows(**source):
    return sorted(map(repr, dents.scan(needs=COLUMNS, **source).rows()))


@unittest.skipIf(distributed is None, "dask.distributed is not installed")
class Cluster(Tree):
    def setUp(self):
        super().setUp()
        self.top = self.path("top")
        os.mkdir(self.top)

    def grow(self, directories, files=20):
        """A skewed tree: names of any bytes, a deep branch, a large directory, links."""
        rng = random.Random(7)
        paths = [os.fsencode(self.top)]
        for nth in range(directories):
            above = paths[-1] if nth % 5 == 0 else rng.choice(paths)
            name = rng.choice([b"d%d", b"\xff%d", b"d\n%d", b"- %d"]) % nth
            path = os.path.join(above, name)
            if len(path) > 3000:
                path = os.path.join(paths[0], name)
            os.mkdir(path)
            paths.append(path)
            for each in range(rng.choice([0, files, files, 40 * files if nth == 3 else files])):
                open(os.path.join(path, b"f%d" % each), "wb").close()
        os.symlink("nowhere", os.path.join(self.top, "link"))
        with open(os.path.join(self.top, "file"), "wb"):
            os.link(os.path.join(self.top, "file"), os.path.join(os.fsdecode(paths[4]), "hard"))

    def single(self):
        self.assertTrue(dents.scan(self.top).to_parquet(self.path("one.parquet")))
        return rows(from_=self.path("one.parquet"))

    def local(self, workers):
        local = distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0, silence_logs=50
        )
        self.addCleanup(local.close)
        client = distributed.Client(local)
        self.addCleanup(client.close)
        return client

    def test_rows_are_those_of_one_process(self):
        self.grow(400)
        expected = self.single()
        client = self.local(2)
        seen = []
        summary = cluster.scan(self.top, output=self.path("a"), client=client, budget=300, progress=seen.append)
        self.assertTrue(summary.complete)
        self.assertGreater(summary.tasks, 10)
        self.assertEqual(seen[-1].waiting, 0)
        self.assertRegex(str(seen[-1]), "entries, .*/s; 0 tasks running, 0 directories waiting")
        self.assertEqual(rows(from_=self.path("a")), expected)
        # It is whole: nothing is left to do.
        again = cluster.scan(self.top, output=self.path("a"), client=client)
        self.assertEqual((again.complete, again.tasks), (True, 0))
        with self.assertRaisesRegex(ValueError, "another"):
            cluster.scan(self.dir, output=self.path("a"), client=client)

    def test_dead_workers_lose_nothing(self):
        self.grow(400)
        expected = self.single()
        client = self.local(3)
        stop = threading.Event()
        killed = []

        def kill():
            rng = random.Random(1)
            while not stop.wait(0.7):
                pids = list(client.run(os.getpid, on_error="ignore").values())
                if pids:
                    victim = rng.choice(pids)
                    if isinstance(victim, int):
                        os.kill(victim, signal.SIGKILL)
                        killed.append(victim)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            # Slow enough that workers die in the middle of tasks.
            summary = cluster.scan(self.top, output=self.path("a"), client=client, budget=400, rate=4000, threads=1)
        finally:
            stop.set()
            killer.join()
        self.assertTrue(summary.complete)
        self.assertGreater(len(killed), 0)
        self.assertEqual(rows(from_=self.path("a")), expected)

    def start(self, *words):
        command = [sys.executable, "-m", "dents.cluster", "scan", "--workers=2", "-o", self.path("a"), *words, self.top]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def test_a_coordinator_that_was_killed_continues(self):
        self.grow(300)
        expected = self.single()
        for nth in range(3):
            coordinator = self.start("--budget=200", "--rate=2000", "-q")
            deadline = time.monotonic() + 30
            while len(self.shards()) < 3 * (nth + 1) and coordinator.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            os.killpg(coordinator.pid, signal.SIGKILL)
            coordinator.communicate()
        before = self.shards()
        self.assertGreater(len(before), 2)
        last = self.start("--budget=200", "-q")
        _, told = last.communicate(timeout=120)
        self.assertEqual(last.returncode, 0, told)
        self.assertEqual(rows(from_=self.path("a")), expected)
        self.assertLessEqual(before, self.shards())

    def shards(self):
        try:
            return {name for name in os.listdir(self.path("a")) if name.endswith(".parquet")}
        except FileNotFoundError:
            return set()

    def test_a_second_coordinator_is_refused(self):
        self.grow(50)
        directory = cluster._Directory(self.path("a"))
        directory.start([self.top], {})
        directory.lock()
        self.addCleanup(directory.unlock)
        second = self.start()
        _, told = second.communicate(timeout=60)
        self.assertEqual(second.returncode, 2)
        self.assertRegex(told, "another coordinator works here .process [0-9]+ on ")

    def test_a_rate_holds_for_all_workers(self):
        self.grow(60, files=10)
        entries = len(self.single())
        client = self.local(2)
        began = time.monotonic()
        cluster.scan(self.top, output=self.path("a"), client=client, rate=500, budget=100)
        # One statx for each entry, and more for each directory. A task may make a few requests before it waits.
        self.assertGreater(time.monotonic() - began, 0.5 * entries / 500)

    def test_wrong_options_change_nothing(self):
        with self.assertRaises(ValueError):
            cluster.scan(self.top, output=self.path("a"), nonsense=True)
        self.assertFalse(os.path.exists(self.path("a", "plan")))

    def test_without_dask_it_says_what_to_install(self):
        program = """
            import sys
            sys.modules["distributed"] = None
            from dents.cluster import main
            sys.stderr = sys.stdout
            print(main(["scan", "-q", "-o", sys.argv[1], sys.argv[2]]))
        """
        told = self.run_python(program, self.path("a"), self.top)
        self.assertEqual(told, "dents: distributed is not installed: pip install dents[dask]\n2\n")
