"""The benchmark of large data runs the parts that are named, all if none is, and keeps the rest of its page."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def write(monkeypatch, tmp_path):
    """A call of the benchmark with parts that only say which run it is; it returns the page."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    large = import_module("large")
    page = tmp_path / "large.md"
    runs = []

    def call(*parts):
        runs.append(parts)
        for name in ("memory", "parquet", "dask"):
            text = f"{name} by run {len(runs)}\n"
            monkeypatch.setattr(large, f"{name}_part", lambda _, text=text: text)
        monkeypatch.setattr(sys, "argv", ["large.py", *parts, "--out", str(page)])
        large.main()
        return [line for line in page.read_text().splitlines() if " by run " in line]

    return call


def test_all_parts_run_if_none_is_named_and_a_named_part_leaves_the_others(write):
    assert write() == ["memory by run 1", "parquet by run 1", "dask by run 1"]
    assert write("parquet") == ["memory by run 1", "parquet by run 2", "dask by run 1"]


def test_an_unknown_part_is_named_beside_the_known_ones(write, capsys):
    with pytest.raises(SystemExit):
        write("memry")
    assert "no part is called memry; the parts are memory, parquet, dask" in capsys.readouterr().err
