"""Sets that the mirror does not hold, from generated files of their format and size; memory of preparation."""

import bz2
import gzip
import subprocess
import sys

import numpy as np
import pytest

from rflib.datasets import readers
from rflib.datasets.readers import READERS

MEASURE = """
import resource, sys
from pathlib import Path
import rflib.datasets.prepare as module
module.verified = lambda path, file: True
module.prepare(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.fixture(scope="module")
def covtype(tmp_path_factory):
    """581,012 rows of 54 integers and a class from 1 to 7, without header."""
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        [rng.integers(0, 4000, (2000, 10)), rng.integers(0, 2, (2000, 44)), rng.integers(1, 8, 2000)]
    )
    text = "\n".join(",".join(map(str, row)) for row in rows) + "\n"
    path = tmp_path_factory.mktemp("covtype") / "covtype.data.gz"
    lines = text.splitlines(keepends=True)
    with gzip.open(path, "wt", compresslevel=1) as file:
        for _ in range(581_012 // 2000):
            file.write(text)
        file.writelines(lines[: 581_012 % 2000])
    return path


def test_covtype(covtype, tmp_path):
    """Peak memory stays below three times the array in single precision (125 MB) and the interpreter."""
    peak = subprocess.run(
        [sys.executable, "-c", MEASURE, "covtype", str(covtype.parent), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    X = np.load(tmp_path / "out/X.npy", mmap_mode="r")
    y = np.load(tmp_path / "out/y.npy")
    assert X.shape == (581_012, 54)
    assert set(np.unique(y)) == {-1, 1}
    assert int(peak) < 1500
    print(f"peak memory of preparing covtype: {int(peak)} MiB")


def test_gisette(tmp_path):
    """6,000 rows of 5,000 columns in LIBSVM format."""
    row = " ".join(f"{j}:{(j % 7) / 7:.6g}" for j in range(1, 5001, 2))
    path = tmp_path / "gisette_scale.bz2"
    with bz2.open(path, "wt", compresslevel=1) as file:
        for i in range(600):
            file.write(f"{'+1' if i % 2 else '-1'} {row}\n")
    arrays = READERS["gisette"]([path])
    assert arrays["X"].shape == (600, 5000)
    assert set(np.unique(arrays["y"])) == {-1, 1}


def test_california_housing(tmp_path):
    import io
    import tarfile

    path = tmp_path / "cal_housing.tgz"
    line = b"-122.23,37.88,41,880,129,322,126,8.3252,452600\n"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
        member.size = 3 * len(line)
        archive.addfile(member, io.BytesIO(3 * line))
    arrays = readers.READERS["california_housing"]([path])
    assert arrays["X"].shape == (3, 8)
    assert arrays["X"][0, 0] == pytest.approx(8.3252)
    assert arrays["X"][0, 2] == pytest.approx(880 / 126)
    assert arrays["y"][0] == pytest.approx(4.526)
