"""Class labels as regression targets: +1 and -1, one column for two classes, else one for each class."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets


def encode_labels(owner: object, y: ArrayLike) -> tuple[NDArray, NDArray[np.intp]]:
    """Return the sorted labels and the index of each row's label; ValueError for fewer than two classes."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{type(owner).__name__} needs two classes or more, got one class: {classes.tolist()[0]!r}."
        )
    return classes, codes


def codes_to_targets(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Return the +1 / -1 targets of label indices: (n, 1) for two classes, else (n, n_classes)."""
    own = codes[:, None] == (1 if n_classes == 2 else np.arange(n_classes))
    targets: NDArray[np.float64] = np.where(own, 1.0, -1.0)
    return targets


def targets_to_labels(values: NDArray) -> NDArray[np.intp]:
    """Return the label indices that values (n, 1) or (n, n_classes) stand for."""
    return (values[:, 0] > 0).astype(np.intp) if values.shape[1] == 1 else values.argmax(axis=1)
