"""Errors on the command line: one line for what rflib says of its input, a traceback for all else."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rflib import cli
from rflib.experiment.data import Data
from rflib.files import read_table
from rflib.maps.rff import RFF
from rflib.report.export import export


def test_an_error_of_the_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--study", "none.yaml", "--results", str(tmp_path), "--out", str(tmp_path))
    with pytest.raises(SystemExit, match=r"^1$"):
        cli.main(["export", *words])
    command, error, rest = capsys.readouterr().err.split("\n")
    assert command == f"rflib export {' '.join(words)}"
    assert error == "error: There is no study file none.yaml."
    assert rest == ""


def test_an_error_of_a_users_is_shown_where_it_was_raised(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_fingerprint", by_themselves)
    with pytest.raises(SystemExit, match=r"^1$"):
        cli.main(["fingerprint", "any"])
    said = capsys.readouterr().err
    assert f'test_cli.py", line {by_themselves.__code__.co_firstlineno + 1}' in said
    assert said.endswith("\nerror: mine\n")


def by_themselves(modules: Any = None) -> None:
    raise ValueError("mine")


def through_rflib() -> None:
    RFF(n_components=-1).fit(np.ones((2, 2)))


@pytest.mark.parametrize(
    ("raising", "explains_itself"),
    [
        (partial(export, Path("none.yaml"), Path("none"), Path("none")), True),
        (partial(read_table, "/nowhere/cells.parquet"), True),
        (partial(Data.of, {"folder": "digits", "preproces": "raw"}), True),
        (partial(np.stack, []), False),
        (by_themselves, False),
        (through_rflib, False),
    ],
)
def test_who_raised_it(raising: Callable[[], Any], explains_itself: bool) -> None:
    with pytest.raises((ValueError, OSError)) as caught:
        raising()
    error = caught.value
    assert error.__traceback__ is not None
    error.__traceback__ = error.__traceback__.tb_next  # the frame of this test
    assert cli._explains_itself(error) == explains_itself


def test_the_help_has_what_people_type_first_and_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=r"^0$"):
        cli.main(["--help"])
    typed, called = capsys.readouterr().out.split("what the workflow calls")
    listed = re.findall(r"^    ([a-z-]+)(?:  |$)", typed, re.M)
    assert listed == ["new-method", "estimate", "compare-reports", "export"]
    assert {"fetch", "prepare", "train", "report", "fingerprint"} <= set(
        re.findall(r"^  ([a-z]+) ", called, re.M)
    )
    assert not set(listed) & set(called.split())
