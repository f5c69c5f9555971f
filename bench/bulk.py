"""Prints the tables of docs/BULK.md: metadata in bulk beside the walk and GNU du, and what changed since a scan, in turns, medians.

    sudo python3 bench/bulk.py [HIERARCHY [DENTS]]

It makes XFS and btrfs of 412,000 inodes in files of $TMPDIR (6 GB sparse, 1 GB written), mounts them on loop devices, and removes
them. HIERARCHY and DENTS are target/release/hierarchy and target/release/dents if they are absent:

    cargo build --release -p dents-lab --bin hierarchy && cargo build --release -p dents-cli
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("ROUNDS", "9"))


def run(argv):
    os.sync()  # if much data waits to be written, --bulk=auto walks
    start = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def in_turns(commands):
    times = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, (argv, made) in commands.items():
            if made and os.path.exists(made):
                os.unlink(made)
            times[name].append(run(argv))
    return {name: statistics.median(times[name]) for name in times}


def measure(dents, root, scratch):
    print("| command | walk | in bulk | ratio | GNU du |\n|---|---|---|---|---|")
    scan = os.path.join(scratch, "scan.parquet")
    for words, made in [(["du", "-s"], None), (["du", "-sl"], None), (["stats"], None), (["scan", "-o", scan], scan), (["count"], None)]:
        commands = {bulk: ([dents, *words, f"--bulk={bulk}", root], made) for bulk in ["never", "auto"]}
        if words[0] == "du":
            commands["gnu"] = ([*words, root], None)
        found = in_turns(commands)
        gnu = f"{found['gnu']:.3f} s" if "gnu" in found else ""
        ratio = found["auto"] / found["never"]
        shown = "names: dents count" if words == ["count"] else "dents " + " ".join(words[:2])
        print(f"| {shown} | {found['never']:.3f} s | {found['auto']:.3f} s | {ratio:.2f} | {gnu} |", flush=True)


def changed(dents, root, scratch):
    """What changed since a scan: nothing, and 100 files of 100 directories."""
    old = os.path.join(scratch, "old.parquet")
    run([dents, "scan", "-o", old, root])
    files = []
    for path, dirs, names in os.walk(root):
        dirs.sort()
        if names:
            files.append(os.path.join(path, min(names)))
    print("| changed files | --changed-since | GNU find -newerct | dents scan --newer, --bulk=never | dents diff |\n|---|---|---|---|---|")
    begun = subprocess.run([dents, "scan", "-o", "-", "--format", "ndjson", "--max-depth", "0", "--from", old, root],
                           check=True, capture_output=True, text=True).stdout
    begun = begun.split('"begun":"')[1].split('"')[0]
    for count in [0, 100]:
        for file in files[:: len(files) // count][:count] if count else []:
            os.chmod(file, 0o600)
        commands = {
            "since": ([dents, "scan", "--changed-since", old, root], None),
            "find": (["find", root, "-newerct", begun], None),
            "newer": ([dents, "scan", "--newer", begun, "--time", "ctime", "--bulk=never", root], None),
            "diff": (["sh", "-c", f"{dents} diff -s {old} {root}; test $? -lt 2"], None),
        }
        found = in_turns(commands)
        print(f"| {count} | " + " | ".join(f"{found[name]:.3f} s" for name in commands) + " |", flush=True)


def cold(dents, root, image):
    """du -s of a file system that was just mounted, with nothing of it or of its image in memory."""
    times = {"walk": [], "bulk": [], "gnu": []}
    for _ in range(3):
        for name in times:
            subprocess.run(["umount", root], check=True)
            os.sync()
            with open("/proc/sys/vm/drop_caches", "w") as file:
                file.write("3")
            mount(image, root)
            argv = ["du", "-s", root]
            bulk = {"walk": ["--bulk=never"], "bulk": ["--bulk=always"]}.get(name)
            times[name].append(run([dents, *argv, *bulk] if bulk else argv))
    walk, bulk, gnu = (statistics.median(some) for some in times.values())
    print(f"| cold: dents du -s | {walk:.2f} s | {bulk:.2f} s | {bulk / walk:.2f} | {gnu:.2f} s |", flush=True)


def mount(image, root):
    subprocess.run(["mount", "-o", "loop", image, root], check=True)


def main():
    words = sys.argv[1:]
    hierarchy, dents = words + ["target/release/hierarchy", "target/release/dents"][len(words):]
    for kind, make in [("XFS", ["mkfs.xfs", "-q", "-f"]), ("btrfs", ["mkfs.btrfs", "-q", "-f"])]:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as scratch:
            image, root = os.path.join(scratch, "image"), os.path.join(scratch, "root")
            os.mkdir(root)
            with open(image, "wb") as file:
                file.truncate(6 << 30)
            subprocess.run([*make, image], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            mount(image, root)
            try:
                run([hierarchy, os.path.join(root, "t"), "12000", "400000", "2"])
                os.sync()
                time.sleep(1)
                print(f"\n{kind}")
                measure(dents, root, scratch)
                if kind == "btrfs":
                    changed(dents, root, scratch)
                cold(dents, root, image)
            finally:
                subprocess.run(["umount", "-l", root], check=True)


main()
