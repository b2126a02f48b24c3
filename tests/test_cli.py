"""The command line's errors: one line for what rflib says of its input, a traceback for what comes from elsewhere."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rflib import cli
from rflib.maps.rff import RFF

OWN = """
import numpy as np
from rflib.maps.rff import RFF

def by_numpy(modules):
    np.ones(3) + np.ones(4)

def by_themselves(modules):
    raise ValueError("mine")

def by_rflib(modules):
    RFF(sigma_of="x").fit([[1.0]])
"""


def run(step: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> str:
    """What a step prints when it ends with an error, the command itself left out."""
    monkeypatch.setattr(cli, "_fingerprint", step)
    with pytest.raises(SystemExit) as ended:
        cli.main(["fingerprint", "any"])
    return capsys.readouterr().err.partition("\n")[2] + str(ended.value)


def refused(modules: list[str]) -> None:
    RFF(n_components=-1).fit(np.ones((2, 2)))


def missing(modules: list[str]) -> None:
    from rflib.files import read_table

    read_table("/nowhere/cells.parquet")


