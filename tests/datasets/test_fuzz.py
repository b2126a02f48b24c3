"""Fuzzing of what reads data files: a mutated file gives data or a ValueError that names it, and runs no code.

RFLIB_FUZZ_SECONDS is the time for each format; `make fuzz` takes 100, so ten minutes in all.
"""

import gzip
import os
import pickle
import time
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rflib.datasets.user import read_user_file

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]
SECONDS = float(os.environ.get("RFLIB_FUZZ_SECONDS", "1"))
SETTINGS = settings(
    max_examples=200,
    database=None,
    derandomize="RFLIB_FUZZ_SECONDS" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
TABLE = pd.DataFrame({"a": np.arange(8.0), "b": np.arange(8.0) ** 2, "y": np.arange(8) % 2})
TEXT = TABLE.to_csv(index=False).encode()
LIBSVM = b"".join(b"%d 1:%d 3:%.1f\n" % (i % 2, i, i / 2) for i in range(8))


class Bomb:
    """An object whose unpickling ends the process."""

    def __reduce__(self):
        return os._exit, (1,)


def _npz(**arrays):
    buffer = BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


SEEDS = {
    ".csv": [TEXT, b'\xef\xbb\xbfa,y\r\n1.5,"x, 1"\r\n\r\n-2,"a ""b"" c"\r\n+3e2,NA\r\n'],
    ".csv.gz": [gzip.compress(TEXT, mtime=0)],
    ".parquet": [TABLE.to_parquet(), TABLE.to_parquet(compression=None)],
    ".npz": [
        _npz(X=TABLE[["a", "b"]].to_numpy(), y=TABLE["y"].to_numpy()),
        _npz(X=np.array([[Bomb()]]), y=np.zeros(1)),
        pickle.dumps(Bomb()),
    ],
    ".libsvm": [LIBSVM],
    ".svm.gz": [gzip.compress(LIBSVM, mtime=0)],
}


@st.composite
def mutated(draw, seeds):
    """A file with some bytes replaced, removed or inserted at some places."""
    content = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(content)))
        content[at : at + draw(st.integers(0, 8))] = draw(st.binary(max_size=8))
    return bytes(content)


@pytest.mark.parametrize("suffix", SEEDS)
def test_fuzzed_data_file(suffix, tmp_path, record_property):
    path = tmp_path / f"fuzzed{suffix}"
    spec = {"file": path, "task": "classification"} | ({"target": "y"} if suffix[1] in "cp" else {})
    inputs = 0

    def read(content):
        nonlocal inputs
        inputs += 1
        path.write_bytes(content)
        try:
            blocks, _ = read_user_file(spec)
            for _ in blocks:
                pass
        except ValueError as error:
            assert str(path) in str(error)

    until = time.monotonic() + SECONDS
    check = SETTINGS(given(mutated(SEEDS[suffix]))(read))
    check()
    while time.monotonic() < until:
        check()
    record_property("inputs", inputs)
