"""The mirror with the real files, where there is one, and the data sets that it holds, prepared once."""

import os
from functools import cache
from pathlib import Path

import pytest

from rflib.datasets.fetch import fetch
from rflib.datasets.prepare import prepare
from rflib.datasets.registry import files

MIRROR = Path(os.environ.get("RFLIB_TEST_MIRROR", Path(__file__).parents[3] / "shared" / "data"))


@pytest.fixture(scope="session")
def mirror():
    if not MIRROR.is_dir():
        pytest.skip(f"no mirror of the data sets at {MIRROR}; set RFLIB_TEST_MIRROR")
    return MIRROR


@pytest.fixture(scope="session")
def raw(tmp_path_factory):
    return tmp_path_factory.mktemp("raw")


@pytest.fixture(scope="session")
def prepared(raw, tmp_path_factory, request):
    """Return the folder of a data set, prepared; fetched from the mirror if it has files."""
    out = tmp_path_factory.mktemp("prepared")

    @cache
    def folder(name: str) -> Path:
        fetch(name, raw, [request.getfixturevalue("mirror")] if files(name) else [])
        prepare(name, raw, out / name)
        return out / name

    return folder
