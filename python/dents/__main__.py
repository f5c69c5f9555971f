"""The program dents: python -m dents scan ..."""

import signal
import sys

from . import _dents

if __name__ == "__main__":
    # The program has signal handlers of its own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(_dents._program(["dents", *sys.argv[1:]]))
