"""Prints the table of docs/BROWSE.md: dents browse beside dents du, ncdu and gdu, in turns, medians.

    python3 bench/browse.py TREE [DENTS]

A tree as in the docs: cargo run --release -p dents-lab --bin hierarchy -- TREE 12000 400000 2
DENTS is target/release/dents if it is absent. Programs that are not installed are left out. ncdu and gdu wait for a key after
their scan, so its end is the last moment at which the process used CPU time, known to 10 ms.
"""

import fcntl
import os
import pty
import select
import shutil
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time

ROUNDS = int(os.environ.get("ROUNDS", "5"))
IDLE = 0.6  # seconds without CPU time after which a scan has ended


def start(argv):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(argv[0], argv)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    return pid, terminal


def drain(terminal, begin, first):
    """Reads until the program ends; `first` receives the time of the first screen."""
    try:
        while data := os.read(terminal, 65536):
            if not first and len(data) > 200:
                first.append(time.perf_counter() - begin)
    except OSError:
        pass


def scan(argv):
    """Seconds until the scan has ended, seconds until the first screen, peak memory in bytes."""
    begin, first = time.perf_counter(), []
    pid, terminal = start(argv)
    reader = threading.Thread(target=drain, args=(terminal, begin, first))
    reader.start()
    used, since = 0, begin
    while time.perf_counter() - since < IDLE:
        time.sleep(0.005)
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        if (cpu := int(fields[11]) + int(fields[12])) != used:
            used, since = cpu, time.perf_counter()
    with open(f"/proc/{pid}/status") as file:
        memory = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    reader.join()
    os.close(terminal)
    return since - begin, first[0] if first else 0.0, memory


def keys(argv, seconds):
    """Times from the key `?` to the help that it shows, while the scan runs."""
    pid, terminal = start(argv)
    time.sleep(0.05)
    begin, times = time.perf_counter(), []
    while time.perf_counter() - begin < seconds:
        pressed, seen = time.perf_counter(), b""
        os.write(terminal, b"?")
        while b"Backspace" not in seen and select.select([terminal], [], [], 5)[0]:
            seen += os.read(terminal, 65536)
        times.append(time.perf_counter() - pressed)
        os.write(terminal, b"x")
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(terminal)
    return times


def main():
    tree, dents = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "target/release/dents"
    entries = int(subprocess.run([dents, "count", tree], capture_output=True, text=True, check=True).stdout.split()[-2])
    browsers = {"dents browse": [dents, "browse", tree], "ncdu": ["ncdu", "-x", tree], "gdu": ["gdu", "-c", tree]}
    browsers = {name: argv for name, argv in browsers.items() if shutil.which(argv[0])}
    rows, du = {name: [] for name in browsers}, []
    for nth in range(ROUNDS + 1):
        begin = time.perf_counter()
        subprocess.run([dents, "du", "-s", tree], stdout=subprocess.DEVNULL, check=True)
        took = time.perf_counter() - begin
        found = {name: scan(argv) for name, argv in browsers.items()}
        if nth:  # the first round warms the cache
            du.append(took)
            for name, row in found.items():
                rows[name].append(row)
    base = statistics.median(du)
    print(f"{entries} entries; dents du -s {base:.2f} s")
    for name, found in rows.items():
        took, first = (statistics.median(row[nth] for row in found) for nth in (0, 1))
        memory = max(row[2] for row in found)
        print(
            f"{name}: {took:.2f} s = {took / base:.2f} x, first screen {first * 1000:.0f} ms,"
            f" {memory / 1048576:.1f} MiB = {memory / entries:.0f} bytes an entry"
        )
    times = keys(browsers["dents browse"], base)
    print(f"{len(times)} keys: median {statistics.median(times) * 1000:.1f} ms, longest {max(times) * 1000:.1f} ms")


main()
