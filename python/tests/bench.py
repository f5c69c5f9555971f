"""Prints the tables of docs/PYTHON.md: dents compared with os and scandir-rs, in turns, medians.

    python bench.py DIRECTORY [TREE] [SLOW]

DIRECTORY has 100,000 files, TREE 12,001 directories and 400,000 files:

    cargo run --release -p dents-lab --bin hierarchy -- TREE 12000 400000 2

SLOW is a directory of 10,000 files on a slow file system (`slowfs --entries 10000 --latency 1.2ms`). What is not installed is left out.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time

import dents
import dents.aio

ROUNDS = int(os.environ.get("ROUNDS", "7"))

try:
    import pyarrow
except ImportError:
    pyarrow = None
try:
    import scandir_rs
except ImportError:
    scandir_rs = None


def in_turns(works):
    """The median of each, run one after the other, round after round."""
    times = {name: [] for name in works}
    for nth in range(ROUNDS + 1):
        for name, work in works.items():
            begin = time.perf_counter()
            work()
            if nth:  # The first round fills caches.
                times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(all) for name, all in times.items()}


def row(title, ours, peer, aim, works):
    medians = in_turns(works)
    ratio = medians[ours] / medians[peer]
    told = "yes" if ratio <= aim else "no"
    print(f"| {title} | {ours}: {medians[ours]*1000:.0f} ms | {peer}: {medians[peer]*1000:.0f} ms | {ratio:.2f} | {aim} | {told} |")


def directory(path):
    def os_stat():
        with os.scandir(path) as entries:
            return sum(entry.stat().st_size for entry in entries)

    def dents_stat():
        with dents.scandir(path, stat=True) as entries:
            return sum(entry.stat().st_size for entry in entries)

    works = {"os.scandir": os_stat, "dents.scandir": dents_stat}
    assert os_stat() == dents_stat()
    row("entries of one directory with stat", "dents.scandir", "os.scandir", 0.35, works)
    if pyarrow:
        needs = ["name", "size", "mtime", "mode", "uid", "gid", "ino", "nlink"]
        arrow = lambda: pyarrow.table(dents.scan(path, needs=needs, max_depth=1, min_depth=1))
        assert arrow().num_rows == len(os.listdir(path))
        row("the same as Arrow", "dents.scan", "os.scandir", 0.2, {"os.scandir": os_stat, "dents.scan": arrow})


def small():
    """Directories of some entries: what a call costs. Of many short runs in turns the tenth percentile counts, which other programs do not disturb."""
    with tempfile.TemporaryDirectory() as top:
        for nth in range(10):
            os.mkdir(f"{top}/directory{nth}")
            for file in range(12):
                os.mknod(f"{top}/directory{nth}/file{file}")
        names = lambda scandir: sum(len(entry.name) for entry in closing(scandir(f"{top}/directory0")))
        types = lambda scandir: sum(entry.is_dir() for entry in closing(scandir(f"{top}/directory0")))

        def below(scandir, path=top):
            found = 0
            for entry in closing(scandir(path)):
                found += below(scandir, entry.path) if entry.is_dir(follow_symlinks=False) else len(entry.name)
            return found

        for title, work in [("names of 12 entries", names), ("types of 12 entries", types), ("a tree of 11 small directories", below)]:
            assert work(os.scandir) == work(dents.scandir)
            times = {os.scandir: [], dents.scandir: []}
            for _ in range(2000):
                for scandir in times:
                    begin = time.perf_counter()
                    for _ in range(5):
                        work(scandir)
                    times[scandir].append(time.perf_counter() - begin)
            theirs, ours = (statistics.quantiles(all, n=10)[0] / 5 for all in times.values())
            told = "yes" if ours <= theirs else "no"
            print(f"| {title} | dents.scandir: {ours*1e6:.1f} µs | os.scandir: {theirs*1e6:.1f} µs | {ours/theirs:.2f} | 1.0 | {told} |")


def closing(iterator):
    with iterator as entries:
        yield from entries


def tree(path):
    def names(walk):
        return lambda: sum(len(files) for _, _, files in walk(path))

    assert names(os.walk)() == names(dents.walk)()
    row("walk: names", "dents.walk", "os.walk", 0.35, {"os.walk": names(os.walk), "dents.walk": names(dents.walk)})

    def lstat():
        found = []
        for root, dirs, files in os.walk(path):
            for name in dirs + files:
                one = os.path.join(root, name)
                found.append((one, os.lstat(one).st_size))
        return found

    if pyarrow:
        arrow = lambda: pyarrow.table(dents.scan(path, needs=["path", "size"], min_depth=1))
        assert arrow().num_rows == len(lstat())
        row("names and sizes as a table", "dents.scan", "os.walk", 0.15, {"os.walk": lstat, "dents.scan": arrow})
        if scandir_rs:
            rs = lambda: scandir_rs.Scandir(path, return_type=scandir_rs.ReturnType.Base).collect()
            row("names and sizes as a table", "dents.scan", "scandir_rs", 0.7, {"scandir_rs": rs, "dents.scan": arrow})
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.join(scratch, "scan.parquet")
        program = os.environ.get("DENTS", "dents")
        words = [program, "scan", "--output", output, path]
        try:
            subprocess.run(words, check=True)
        except OSError:
            return
        works = {
            "dents scan -o": lambda: subprocess.run(words, check=True),
            "to_parquet": lambda: dents.scan(path).to_parquet(output),
        }
        row("a Parquet file", "to_parquet", "dents scan -o", 1.1, works)


def slow(path):
    """The longest stall of an event loop while a slow directory is listed."""

    async def names(max_requests=4):
        directories, others = await dents.aio.scandir(path, max_requests)
        return len(directories) + len(others)

    def sizes():
        with dents.scandir(path, stat=True) as entries:
            return sum(1 for entry in entries if entry.stat().st_size >= 0)

    stalls("aio.scandir", names)
    stalls("aio.scandir, max_requests=64", lambda: names(64))
    async def scan():
        return sum([len(batch) async for batch in dents.aio.scan(path, needs=["name", "size"], files=True)])

    stalls("aio.scan with sizes", scan)
    stalls("scandir(stat=True) in a thread", lambda: asyncio.to_thread(sizes))


def stalls(title, work):
    async def main():
        stall, done = 0.0, False

        async def watch():
            nonlocal stall
            while not done:
                begin = time.perf_counter()
                await asyncio.sleep(0)
                stall = max(stall, time.perf_counter() - begin)

        watcher = asyncio.create_task(watch())
        await asyncio.sleep(0)
        begin = time.perf_counter()
        rows = await work()
        elapsed = time.perf_counter() - begin
        done = True
        await watcher
        return rows, elapsed, stall

    results = [asyncio.run(main()) for _ in range(ROUNDS)]
    elapsed, stall = (statistics.median(one[nth] for one in results) for nth in [1, 2])
    print(f"| asyncio: {results[0][0]} files of a slow file system, {title} | all in {elapsed:.2f} s | longest stall {stall*1000:.1f} ms | | 0.6 s, 5 ms | "
          f"{'yes' if elapsed <= 0.6 and stall <= 0.005 else 'no'} |")


if __name__ == "__main__":
    print("| work | dents | peer | ratio | aim | reached |\n|---|---|---|---|---|---|")
    small()
    for measure, path in zip([directory, tree, slow], sys.argv[1:]):
        if path:
            measure(path)
