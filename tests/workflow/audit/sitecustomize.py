"""Notes what a step of rflib reads; Python imports this at its start where the folder is on PYTHONPATH.

Seen are files that are opened by Python, which the readers of Parquet, npz and YAML do; not those that a library
opens by itself in C, such as a shared object.
"""

import atexit
import json
import os
import sys
from pathlib import Path

if sys.orig_argv[1:3] == ["-m", "rflib"]:
    # Each job compares all source files with those of the run's beginning, which would hide what else it reads.
    os.environ.pop("RFLIB_SOURCES", None)
    opened: set[str] = set()

    def note(event: str, arguments: tuple) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes) and not arguments[2] & os.O_CREAT:
            opened.add(os.path.abspath(os.fsdecode(arguments[0])))

    def write() -> None:
        modules = sorted(name for name in sys.modules if name.split(".")[0] == "rflib")
        found = {"command": sys.orig_argv[3:], "opened": sorted(opened), "modules": modules}
        Path(os.environ["RFLIB_AUDIT"], f"{os.getpid()}.json").write_text(json.dumps(found))

    sys.addaudithook(note)
    atexit.register(write)
