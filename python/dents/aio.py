"""Directories for asyncio and uvloop: threads of the library make the requests, and the event loop never blocks.

Results become Python objects a few thousand names at a time, so that a large directory does not stall the loop either. A task that is cancelled
gets no result; its request ends by itself.
"""

import asyncio
import os
import weakref

from . import _dents
from ._scan import _line

__all__ = ["DENTS", "DIRS_FIRST", "FOUND_UNKNOWN", "STAT_ORDER", "readdirx", "scan", "scandir"]

#: readdirx: return types and inode numbers.
DENTS = 1
#: readdirx: likely directories first.
DIRS_FIRST = 2
#: readdirx: in the best order to stat all names.
STAT_ORDER = 4
#: In the result of readdirx: the file system did not return all types.
FOUND_UNKNOWN = 128

# Bounds of one callback of the event loop, like max_poll_reqs and max_poll_time of IO::AIO.
_NAMES = 4096
_SECONDS = 0.001


class _Client:
    """The requests of one event loop. While there are any, the loop has a reader for them."""

    def __init__(self):
        self.port = _dents.Port()
        self.futures = {}

    async def result(self, submit, as_bytes=False, path=None):
        loop = asyncio.get_running_loop()
        number = submit(self.port)
        future = loop.create_future()
        if not self.futures:
            loop.add_reader(self.port.fileno(), self.drain, loop)
        self.futures[number] = (future, as_bytes)
        try:
            error, result = await future
        except asyncio.CancelledError:
            self.port.cancel(number)
            raise
        finally:
            self.forget(number, loop)
        if error is None:
            return result
        errno, text = error
        raise RuntimeError(text) if errno == 0 else OSError(errno, os.strerror(errno), path)

    def forget(self, number, loop):
        if self.futures.pop(number, None) and not self.futures and not loop.is_closed():
            loop.remove_reader(self.port.fileno())

    def is_bytes(self, number):
        return self.futures.get(number, (None, False))[1]

    def drain(self, loop):
        for number, error, result in self.port.drain(_NAMES, _SECONDS, self.is_bytes):
            future, _ = self.futures.get(number, (None, False))
            if future is not None and not future.done():
                future.set_result((error, result))


_clients = weakref.WeakKeyDictionary()


def _client():
    loop = asyncio.get_running_loop()
    client = _clients.get(loop)
    if client is None:
        client = _clients[loop] = _Client()
    return client


def _after_fork():
    global _clients
    _clients = weakref.WeakKeyDictionary()


os.register_at_fork(after_in_child=_after_fork)


async def scandir(path, max_requests=4):
    """The names of the subdirectories of a directory, and those of its other entries: two lists, with the fewest system calls.
    
    Where the file system returns types, no entry costs a request; elsewhere at most max_requests are in flight. Symbolic links are among the
    others. Like aio_scandir of IO::AIO.
    """
    path = os.fspath(path)
    return await _client().result(lambda port: port.scandir(path, max_requests), isinstance(path, bytes), path)


async def readdirx(path, flags=DENTS):
    """All names of a directory in a chosen order: a list of (name, type, inode number), and flags of the result.

    flags: DENTS, DIRS_FIRST, STAT_ORDER. Types are those of d_type in readdir(3); without DENTS they are 0. Like aio_readdirx of IO::AIO.
    """
    path = os.fspath(path)
    return await _client().result(lambda port: port.readdirx(path, flags), isinstance(path, bytes), path)


def scan(*roots, needs=None, **options):
    """Yields the batches of dents.scan(...). Leaving the loop, or cancelling its task, stops the scan."""
    query = _dents.Query(_line("scan", roots, options), None if needs is None else list(needs))
    return _batches(query)


async def _batches(query):
    run = _dents.Run()
    stream = run.stream(query)
    client = _client()
    try:
        while (batch := await client.result(lambda port: port.next_batch(stream))) is not None:
            yield batch
    finally:
        run.cancel()
