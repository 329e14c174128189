"""Ctrl-C, SIGTERM and SIGHUP end the command within a second, whatever the core is doing.

Python raises KeyboardInterrupt only between two of its own steps, so a long call of compiled code would hold
it back. The signal's wake-up socket is written at once; a watcher thread reads it, gives the program
`PATIENCE` seconds to end by itself, and then ends it. Files are written all or nothing, so nothing half
done stays behind; temporary folders are removed by the usual exit functions. An error that comes up
meanwhile, such as a pool that the exit functions closed under its user, is the interrupt's doing: see
:func:`noticed`.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import sys
import threading
from types import FrameType

PATIENCE = 0.5  # seconds that the program has to end by itself
_CLEANING = 0.2  # seconds that exit functions have
EXIT_CODE = 130
_SIGNALS = {int(signal.SIGINT)}
_ended = threading.Lock()
_noticed = threading.Event()


def watch() -> None:
    """Start the watcher; from the main thread, once."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(reader, writer), daemon=True, name="interrupts").start()
    signal.signal(signal.SIGINT, _raise)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # as nohup sets it
            signal.signal(number, _raise)
            _SIGNALS.add(int(number))


def noticed() -> bool:
    """Whether Ctrl-C came; from then on the command ends as interrupted, whatever its work raises."""
    return _noticed.is_set()


def _raise(number: int, frame: FrameType | None) -> None:
    _noticed.set()
    signal.default_int_handler(number, frame)


def _wait(reader: socket.socket, writer: socket.socket) -> None:
    while True:
        if _SIGNALS & set(reader.recv(64)):
            _noticed.set()
            threading.Event().wait(PATIENCE)
            end()


def end(said: bool = False) -> None:
    """Report it in one line, unless the command did, and end the process without waiting for its threads."""
    if not _ended.acquire(blocking=False):
        threading.Event().wait()  # the other thread is ending the process
    cleaning = threading.Thread(target=atexit._run_exitfuncs, daemon=True)
    cleaning.start()
    cleaning.join(_CLEANING)
    # A live display leaves its line and a hidden cursor behind where it could not close itself.
    restore = "\r\x1b[2K\x1b[?25h" if sys.stderr.isatty() else ""
    with contextlib.suppress(OSError):  # after SIGHUP the terminal may be gone
        os.write(2, (restore if said else f"{restore}surewood: interrupted.\n").encode())
    os._exit(EXIT_CODE)
