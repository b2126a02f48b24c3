"""A warm interpreter for the jobs of a run on one machine: it has imported what steps need, and forks for each.

Importing scikit-learn, pandas and scipy costs a job more than most cells do. `start` is called where a run begins;
``python -m rflib`` then hands its command, environment and open files over (`ask`) and exits as the fork does. The
interpreter ends with the run, and kills the fork of a command that was killed. Without it, as where RFLIB_WARM is
empty, commands run as ever.
"""

import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NoReturn

from rflib.threads import variables

VARIABLE = "RFLIB_WARM"
_PACKAGES = ("rflib.kernels", "rflib.measures", "rflib.maps", "rflib.learners", "rflib.experiment")
_LONGEST = 1 << 20


def start() -> None:
    """Start the interpreter and tell commands of it in the environment, where the system has what it takes."""
    import atexit
    import shutil
    import subprocess
    import tempfile

    if VARIABLE in os.environ or not hasattr(os, "pidfd_open"):
        return
    folder = tempfile.mkdtemp(prefix="rflib-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[VARIABLE] = f"{folder}/socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(os.environ[VARIABLE])
        listener.listen(64)
        # The pipe to its standard input closes when this process ends, however it does.
        subprocess.Popen(
            [sys.executable, "-m", "rflib.warm", str(listener.fileno())],
            stdin=subprocess.PIPE,
            env=os.environ | variables(1),
            pass_fds=[listener.fileno()],
        )


def ask(arguments: Sequence[str]) -> int | None:
    """Have the warm interpreter run a command, and return its exit status; None if there is no interpreter."""
    address = os.environ.get(VARIABLE)
    if not address:
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
        try:
            server.connect(address)
        except OSError:
            return None
        command = {"arguments": list(arguments), "folder": os.getcwd(), "environment": dict(os.environ)}
        socket.send_fds(server, [json.dumps(command).encode()], [0, 1, 2])
        status = server.recv(16)
    if not status:
        sys.exit("error: the interpreter that ran this command is gone: killed, perhaps for want of memory.")
    return int(status)


def serve(listener: socket.socket) -> None:
    """Fork for each command that comes, until standard input ends."""
    import gc
    import selectors

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _import_all()
    gc.freeze()  # else each fork's collector would visit, and so copy, all that was imported
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ, "end")
    selector.register(listener, selectors.EVENT_READ, "command")
    commands: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for key, _ in selector.select():
            if selector.get_map().get(key.fd) is not key:
                continue  # ended by an event before it
            if key.data == "end":
                for pid, _ in commands.values():
                    os.kill(pid, signal.SIGKILL)
                return
            if key.data == "command":
                client, _ = listener.accept()
                command, files, *_ = socket.recv_fds(client, _LONGEST, 3)
                if not command:
                    client.close()
                    continue
                if (pid := os.fork()) == 0:
                    listener.close()
                    _run(json.loads(command), files)
                for file in files:
                    os.close(file)
                process = os.pidfd_open(pid)
                commands[process] = pid, client
                selector.register(process, selectors.EVENT_READ, "done")
                selector.register(client, selectors.EVENT_READ, pid)
            elif key.data == "done":
                pid, client = commands.pop(key.fd)
                status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                selector.unregister(key.fd)
                os.close(key.fd)
                with suppress(KeyError):
                    selector.unregister(client)
                with suppress(OSError), client:
                    client.send(str(status if status >= 0 else 128 - status).encode())
            else:  # the command was killed
                selector.unregister(key.fd)
                os.kill(key.data, signal.SIGKILL)


def _run(command: dict[str, Any], files: Sequence[int]) -> NoReturn:
    """Run a command as the process of its own that this is."""
    status: Any = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.environ.clear()
        os.environ.update(command["environment"])
        os.chdir(command["folder"])
        from rflib.cli import main

        main(command["arguments"])
        status = 0
    except SystemExit as error:
        status = error.code
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):  # a full disk
                stream.flush()
        os._exit(status or 0)


def _import_all() -> None:
    """Import what steps need, so that forks find it there."""
    for name in ("rflib.cli", "pandas", "pyarrow.parquet"):
        import_module(name)
    for package in _PACKAGES:
        for module in iter_modules(import_module(package).__path__):
            import_module(f"{package}.{module.name}")


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
