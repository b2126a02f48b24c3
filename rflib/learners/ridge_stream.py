"""The state of a stream of rows: the moments of each fold."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rflib.learners.folds import folds_by_content
from rflib.learners.moments import Moments


@dataclass
class Stream:
    """The rows seen so far: the moments of each fold, of targets less ``centre``; fit leaves those of all rows.

    ``alphas`` are those to choose from: after fit with cross-validation the one that it chose.
    """

    moments: list[Moments]
    centre: NDArray[np.float64]
    alphas: NDArray[np.float64]
    n_folds: int = 1
    seed: int = 0
    solved: bool = False

    def folds(self, X: Any) -> NDArray[np.intp]:
        """Return the fold of each row."""
        if self.n_folds == 1:
            return np.zeros(X.shape[0], dtype=int)
        return folds_by_content(X, self.n_folds, self.seed)

    def state(self) -> dict[str, NDArray]:
        """Return what the rows have changed, for `restore`."""
        found = {"centre": self.centre}
        for i, fold in enumerate(self.moments):
            found |= {f"{name} {i}": array for name, array in fold.state().items()}
        return found

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Go on from the rows that `state` knew."""
        self.centre = state["centre"]
        by_fold: list[dict[str, NDArray]] = [{} for _ in range(self.n_folds)]
        for key in state.keys() - {"centre"}:
            name, fold = key.split()
            by_fold[int(fold)][name] = state[key]
        self.moments[:] = map(Moments.restored, by_fold)
