"""Cells: their random numbers, and the rows of data that they use."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from rflib.datasets.load import Dataset, load
from rflib.experiment.specs import build_kernel, build_map
from rflib.experiment.warned import COLUMN, FitWarning
from rflib.files import read_arrays
from rflib.kernels.base import Kernel
from rflib.maps.base import RandomFeatureMap

if TYPE_CHECKING:
    from rflib.experiment.jobs import Data, SampleJob


def read_rows(results: Path, data: Data, seed: int) -> Dataset:
    """Return the data of one repetition."""
    return load(
        results / "data" / data.folder,
        preprocess=data.preprocess,
        repetition=seed,
        dtype=data.precision,
        max_train=data.max_train,
        max_test=data.max_test,
    )


def seed_of(*identity: object) -> SeedSequence:
    """Return a seed sequence from an identity. It is the same on every machine and in every block."""
    digest = hashlib.sha256("\x1f".join(map(str, identity)).encode()).digest()
    return SeedSequence(np.frombuffer(digest, dtype="<u4").tolist())


def maps_of(results: Path, job: SampleJob) -> Iterator[tuple[int, int, RandomFeatureMap, float]]:
    """Yield n_components, seed, the fitted map and the seconds of its fit, for each cell of a block."""
    arrays = read_arrays(results / job.path)
    for cell in sorted(
        {name.rsplit("/", 1)[0] for name in arrays}, key=lambda c: [*map(int, c.split("/"))][::-1]
    ):
        n_components, seed = map(int, cell.split("/"))
        state: dict[str, NDArray] = {
            name.rsplit("/", 1)[1]: array for name, array in arrays.items() if name.startswith(f"{cell}/")
        }
        seconds = float(state.pop("seconds"))
        for text in state.pop(COLUMN):
            warnings.warn(FitWarning(text), stacklevel=2)
        kernel = build_kernel(job.unit.kernel)
        fitted = build_map(job.unit.method, kernel, n_components=n_components).restore(state)
        yield n_components, seed, fitted, seconds


def exact_matrix(kernel: Kernel, X: NDArray) -> NDArray[np.float64]:
    """Return the exact kernel matrix in double precision."""
    return np.asarray(kernel(X.astype(np.float64)), dtype=np.float64)
