"""The lock that tells whether a run is alive, and the layout of Snakemake's own locks, which it relies on."""

from __future__ import annotations

from pathlib import Path

import pytest
import snakemake
from snakemake.persistence.file import FilePersistence

from rflib.experiment.alive import hold


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".snakemake/locks").mkdir(parents=True)
    (tmp_path / ".snakemake/locks/0.input.lock").touch()
    return tmp_path / ".snakemake"


def test_locks_of_the_dead_are_cleared_and_those_of_the_living_kept(folder: Path) -> None:
    first, alone = hold(folder)
    assert first is not None
    assert alone
    assert not list((folder / "locks").iterdir())
    (folder / "locks/0.input.lock").touch()
    second, alone = hold(folder)
    assert second is not None
    assert not alone
    assert list((folder / "locks").iterdir())
    first.close()
    second.close()
    third, alone = hold(folder)
    assert third is not None
    assert alone
    assert not list((folder / "locks").iterdir())
    third.close()


def test_snakemake_still_keeps_its_locks_there(tmp_path: Path) -> None:
    """Seen in Snakemake 9.27: with one where this fails, `hold` does not clear the locks of the dead."""
    dead = FilePersistence(path=tmp_path / ".snakemake")
    for kind in ("input", "output"):
        dead._write_locks(kind, ["a file"])
    successor = FilePersistence(path=tmp_path / ".snakemake")
    assert len(list(successor._read_locks())) == 2, snakemake.__version__
    file, _ = hold(tmp_path / ".snakemake")
    assert list(successor._read_locks()) == [], snakemake.__version__
    assert file is not None
    file.close()
