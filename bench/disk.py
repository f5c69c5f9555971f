"""Prints the table of docs/DISK.md: walks of ext4 and XFS on a rotating disk in miniature, with nothing in memory.

    sudo python3 bench/disk.py [DIRECTORY]

It makes images of both file systems in DIRECTORY ($TMPDIR by default; 16 GB sparse, 1 GB written each), with 200,000 inodes in 15,000
directories, or uses those that are there. The programs are in target/release:

    cargo build --release -p dents-lab --bin disk && cargo build --release -p dents-cli

The times are those of a real disk. The disk in miniature is 20 times as fast, but only twice as fast where `dents` must find out that it
rotates, because it measures how long directories take. The tables take four minutes. $KINDS is "ext4 XFS".
"""

import os
import random
import re
import subprocess
import sys
import tempfile

DIRECTORIES, FILES = int(os.environ.get("DIRECTORIES", "15000")), int(os.environ.get("FILES", "185000"))
KINDS = [("ext4", ["mkfs.ext4", "-q", "-F"]), ("XFS", ["mkfs.xfs", "-q", "-f"])]


def make(command, image):
    with tempfile.TemporaryDirectory() as root:
        with open(image + ".new", "wb") as file:
            file.truncate(16 << 30)
        subprocess.run([*command, image + ".new"], check=True)
        subprocess.run(["mount", "-o", "loop", image + ".new", root], check=True)
        try:
            fill(root, random.Random(1))
        finally:
            subprocess.run(["umount", root], check=True)
    os.rename(image + ".new", image)


def fill(root, rng):
    """A file system that has aged: files come and go in all directories, in ten periods, and directories come in each of them. Every
    file has 4 to 150 KB of space; nothing is written there."""
    directories, files = [root], []
    for period in range(10):
        for number in range(DIRECTORIES // 10):
            # Half of them below directories of this period, in which they are siblings.
            recent = rng.random() < 0.5
            parent = rng.choice(directories[-(number // 10 + 1):] if recent else directories)
            directories.append(os.path.join(parent, name(rng)))
            os.mkdir(directories[-1])
        for number in range(FILES // 10 * 3 // 2):
            files.append(os.path.join(rng.choice(directories), name(rng)))
            file = os.open(files[-1], os.O_CREAT | os.O_WRONLY)
            os.posix_fallocate(file, 0, int(4096 * 1.5 ** rng.randrange(10)))
            os.close(file)
        rng.shuffle(files)
        while len(files) > (FILES // 10) * (period + 1):
            os.unlink(files.pop())


def name(rng):
    return "%x" % rng.getrandbits(rng.randrange(32, 64))


COUNTS = re.compile(
    r"disk: ([\d.]+) s busy at real speed, .*; (\d+) reads of ([\d.]+) MB, (\d+) seeks over ([\d.]+) GB"
)


def measure(image, speed, command):
    done = subprocess.run(
        ["target/release/disk", image, "--speed", speed, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    return [float(number) for number in COUNTS.search(done.stderr.decode()).groups()]


def table(kind, image):
    dents = "target/release/dents"
    commands = [
        ("`find -printf %s`", "20", ["find", "{}", "-printf", "%s\n"]),
        ("`du -s`", "20", ["du", "-s", "{}"]),
        ("`dents du -s --threads=1`: reading order", "20", [dents, "du", "-s", "--threads=1", "{}"]),
        ("`--threads=2`", "20", [dents, "du", "-s", "--threads=2", "{}"]),
        ("`--threads=32`", "20", [dents, "du", "-s", "--threads=32", "{}"]),
        ("`--bulk=never`: the order of the disk", "2", [dents, "du", "-s", "--bulk=never", "{}"]),
    ]
    if kind == "XFS":
        commands.append(("`dents du -s`: in bulk, without names", "2", [dents, "du", "-s", "{}"]))
        commands.append(("`dents du -sl`: in bulk, then the order of the disk", "2", [dents, "du", "-sl", "{}"]))
        commands.append(("`dents stats`", "2", [dents, "stats", "{}"]))
    print(f"| {kind} | reads | seeks | distance | time | ratio |\n|---|---|---|---|---|---|", flush=True)
    first = None
    for shown, speed, command in commands:
        busy, reads, _, seeks, distance = measure(image, speed, command)
        first = first or busy
        print(
            f"| {shown} | {reads:,.0f} | {seeks:,.0f} | {distance:,.0f} GB | {busy:.1f} s | {busy / first:.2f} |",
            flush=True,
        )
    print()


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TMPDIR", "/tmp")
    wanted = os.environ.get("KINDS", "ext4 XFS").split()
    for kind, command in [pair for pair in KINDS if pair[0] in wanted]:
        image = os.path.join(directory, f"disk-{kind}.img")
        if not os.path.exists(image):
            make(command, image)
        table(kind, image)


main()
