import os
from collections.abc import AsyncIterator, Iterable
from typing import Any, AnyStr

from . import Batch, _Option, _Path

__all__ = ["DENTS", "DIRS_FIRST", "FOUND_UNKNOWN", "STAT_ORDER", "readdirx", "scan", "scandir"]

DENTS: int
DIRS_FIRST: int
STAT_ORDER: int
FOUND_UNKNOWN: int

async def scandir(path: AnyStr | os.PathLike[AnyStr], max_requests: int = 4) -> tuple[list[AnyStr], list[AnyStr]]: ...
async def readdirx(
    path: AnyStr | os.PathLike[AnyStr], flags: int = 1
) -> tuple[list[tuple[AnyStr, int, int]], int]: ...
def scan(*roots: _Path, needs: Iterable[str] | None = None, **options: _Option) -> AsyncIterator[Batch]: ...
