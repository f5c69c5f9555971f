#!/usr/bin/env python3
"""Writes ../listing.ld anew: the functions that listings of a few files run, to be linked side by side.

The kernel maps a program's code 64 KiB at a time, 1 to 2 us each. Where linked as they come, the functions of a short listing
lie in a dozen such pieces; side by side, in four. Needs valgrind. From the top of the repository:

    CARGO_PROFILE_RELEASE_STRIP=false cargo build --release --target-dir target/symbols
    crates/dls/tools/listing_ld.py target/symbols/release/dls > crates/dls/listing.ld
"""

import os
import re
import subprocess
import sys
import tempfile

LISTINGS = [[], ["-al"], ["-l", "--color=always"], ["-C", "--color=always"], ["-A"], ["-F"]]


def functions(program, options):
    """The names of the functions that a listing of ten files runs."""
    with tempfile.TemporaryDirectory() as directory:
        for number in range(10):
            open(os.path.join(directory, f"file{number}"), "w").close()
        profile = os.path.join(directory, ".profile")
        valgrind = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile}"]
        command = valgrind + [program, *options, directory]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(profile, encoding="utf-8", errors="replace") as lines:
            found = (re.match(r"c?fn=\(\d+\) (\S+)$", line.rstrip()) for line in lines)
            return {match.group(1) for match in found if match}


def pattern(name):
    """A name without what each compiler and each machine makes differently: hashes."""
    name = re.sub(r"17h[0-9a-f]{16}E.*$", "17h*", name)
    return re.sub(r"Cs[0-9A-Za-z]+_", "Cs*_", name)


def main():
    names = set().union(*(functions(sys.argv[1], options) for options in LISTINGS))
    patterns = sorted({pattern(name) for name in names if name.startswith(("_ZN", "_RNv"))})
    print("/* Functions that short listings run, side by side: fewer pages are touched. Made by tools/listing_ld.py; a name")
    print(" * that no longer fits does no harm. */")
    print("SECTIONS {\n    .text.listing : {")
    for one in patterns:
        print(f"        *(.text*.{one})")
    print("    }\n}\nINSERT BEFORE .text;")


main()
