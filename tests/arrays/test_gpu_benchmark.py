"""The benchmark of a GPU: small sizes on the CPU write its page; without a CUDA device nothing is written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess:
    pytest.importorskip("torch")
    command = [sys.executable, str(ROOT / "benchmarks/gpu.py"), *arguments]
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": paths}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_small_sizes_write_the_page(tmp_path):
    done = run("--smoke", "--out", "gpu.md", folder=tmp_path)
    assert not done.returncode, done.stderr
    page = (tmp_path / "gpu.md").read_text()
    for heading in ("## Transforms", "## Ridge regression", "## Agreement with the CPU"):
        assert heading in page
    differences = page.split("## Agreement")[1].splitlines()[6:]
    assert len(differences) == 5
    assert all(float(line.split("|")[2]) < 1e-4 for line in differences)


def test_without_a_device_nothing_is_written(tmp_path):
    if pytest.importorskip("torch").cuda.is_available():
        pytest.skip("there is a CUDA device")
    done = run(folder=tmp_path)
    assert done.returncode and "no CUDA device" in done.stderr
    assert not list(tmp_path.iterdir())
