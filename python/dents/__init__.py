"""Directories and file trees on Linux, at the speed of the Rust library dents.

scandir and walk replace os.scandir and os.walk:

>>> import dents
>>> with dents.scandir("/usr", stat=True) as entries:
...     sizes = {entry.name: entry.stat().st_size for entry in entries}
>>> "bin" in sizes
True

scan, and the reports du, top, stats, count and diff, return Arrow data:

>>> sorted(name for name, kind in dents.scan("/usr", needs=["name", "type"], max_depth=1).rows() if name == "bin")
['bin']

dents.aio is for asyncio. `python -m dents` is the program dents.
"""

import os as _os
import sys as _sys

from . import _dents
from ._dents import Batch, Cancelled, DirEntry, __version__, scandir
from ._scan import Scan, count, diff, du, scan, stats, top

__all__ = [
    "Batch", "Cancelled", "DirEntry", "Scan", "count", "diff", "du", "scan", "scandir", "stats", "top", "walk",
]

# Threads of the parent do not exist in the child of a fork.
_os.register_at_fork(after_in_child=_dents._forked)


def walk(top, topdown=True, onerror=None, followlinks=False):
    """Yields (dirpath, dirnames, filenames) for each directory below top, as os.walk.

    Arguments, order and the treatment of errors are those of os.walk; with topdown, dirnames may be edited in place before the next step.

    Threads prefetch directories without the GIL, in the order in which they will be yielded: at most 512 directories, with at most 16,384 names
    each. So up to that many directories may be read although they are pruned from dirnames afterwards. A directory that changed after the
    prefetch is read again before it is yielded, but not on a network file system.
    """
    _sys.audit("os.walk", top, topdown, onerror, followlinks)
    return _dents.Walk(top, bool(topdown), onerror, bool(followlinks))
