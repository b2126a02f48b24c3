"""The mirror with the real files, where there is one."""

import os
from pathlib import Path

import pytest

MIRROR = Path(os.environ.get("RFLIB_TEST_MIRROR", Path(__file__).parents[3] / "shared" / "data"))


@pytest.fixture(scope="session")
def mirror():
    if not MIRROR.is_dir():
        pytest.skip(f"no mirror of the data sets at {MIRROR}; set RFLIB_TEST_MIRROR")
    return MIRROR


@pytest.fixture(scope="session")
def raw(tmp_path_factory):
    return tmp_path_factory.mktemp("raw")
