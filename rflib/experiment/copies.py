"""Work in a copy of this process, so that measurements of time and memory do not affect each other."""

from __future__ import annotations

import gc
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from ctypes import CDLL
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Found = TypeVar("Found")


def in_a_copy(work: Callable[[], Found]) -> Found:
    """Return what a function returns in a copy of this process, and raise what it raises there.

    The copy shows the traceback of an error that is not of rflib. It shows no warnings.
    """
    # Memory that is free but still held would hide as much of what the copy takes.
    gc.collect()
    with suppress(AttributeError):  # of glibc
        CDLL(None).malloc_trim(0)
    context = get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    copy = context.Process(target=_send, args=(theirs, work))
    copy.start()
    theirs.close()
    try:
        answer = ours.recv()
    except EOFError:
        copy.join()
        raise ValueError(
            f"A measurement ended without a result (exit status {copy.exitcode}). The process may have been "
            "killed because the machine's memory was full."
        ) from None
    finally:
        ours.close()
    copy.join()
    if isinstance(answer, Exception):
        raise answer
    found: Found = answer
    return found


def import_what_is_imported(work: Callable[[], Any]) -> None:
    """Call a function in a copy of this process, and import here what was imported there."""

    def imported() -> list[str]:
        work()
        return list(sys.modules)

    for name in in_a_copy(imported):
        with suppress(ImportError):
            import_module(name)


def _send(to: Connection, work: Callable[[], Any]) -> None:
    """Send what a function returns or raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            to.send(work())
    except Exception as error:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        if not frames[-1].f_globals.get("__name__", "").startswith("rflib."):
            traceback.print_exc()
        to.send(_that_can_be_sent(error))


def _that_can_be_sent(error: Exception) -> Exception:
    """Return an error as it is, or one that says the same, if it cannot be read back."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # what a class of errors does when it is written and read is its own
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
