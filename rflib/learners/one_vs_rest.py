"""Classes as targets +1 and -1, one against the rest: one column for two classes, otherwise one for each class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets

from rflib.kernels.namespaces import Array, follow, namespace, take_rows, to_numpy
from rflib.learners.class_weight import check_labels_with_weights
from rflib.learners.values import as_labels
from rflib.maps.dask_rows import takes_dask_rows
from rflib.sklearn_bases import ClassifierMixin
from rflib.warn import of_the_user


def encode_labels(
    owner: object, y: Any, weights: NDArray | None = None, *, name: str = "y"
) -> tuple[NDArray, NDArray[np.intp]]:
    """Return the sorted labels of the rows with weight, and the index of each row's label.

    Rows without weight have any index.

    Raises
    ------
    ValueError
        For fewer than two classes.
    """
    y = as_labels(owner, y, name)
    with of_the_user():
        check_classification_targets(y)
    classes = np.unique(y if weights is None else y[weights > 0])
    check_labels_with_weights(owner, classes)
    codes = np.searchsorted(classes, y)
    if len(classes) < 2:
        raise ValueError(
            f"{type(owner).__name__} needs two classes or more, got one class: {classes.tolist()[0]!r}. Check y."
        )
    return classes, codes


def stream_codes(
    owner: Any, y: NDArray, classes: ArrayLike | None, *, first: bool, weights: NDArray | None = None
) -> NDArray[np.intp]:
    """Return the label indices of a block of rows; the first call sets the owner's ``classes_``.

    Rows whose ``weights`` are zero get any index.

    Raises
    ------
    ValueError
        If the first call has no classes or fewer than two, a later one has others, or y has a label beside them.
    """
    name = type(owner).__name__
    with of_the_user():
        check_classification_targets(y)
    if first:
        if classes is None:
            raise ValueError(
                f"{name}: the first call of partial_fit needs classes, all labels that will occur."
            )
        owner.classes_, _ = encode_labels(owner, classes, name="classes")
    elif classes is not None and not np.array_equal(
        np.unique(as_labels(owner, classes, "classes")), owner.classes_
    ):
        raise ValueError(
            f"{name}: classes are not those of the first call of partial_fit. Leave them out, or pass the same."
        )
    known = set(owner.classes_.tolist())
    counts = np.full(len(y), True) if weights is None else weights > 0
    if strange := [label for label in np.unique(y[counts]).tolist() if label not in known]:
        raise ValueError(
            f"{name}: y holds {strange[0]!r}, which is not in classes. Pass all labels as classes."
        )
    codes = np.zeros(len(y), dtype=np.intp)
    codes[counts] = np.searchsorted(owner.classes_, y[counts])
    return codes


def codes_to_targets(codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Return the +1 / -1 targets of label indices: (n, 1) for two classes, else (n, n_classes)."""
    own = codes[:, None] == (1 if n_classes == 2 else np.arange(n_classes))
    targets: NDArray[np.float64] = np.where(own, 1.0, -1.0)
    return targets


def values_to_codes(values: Array) -> Array:
    """Return the label indices that values (n, 1) or (n, n_classes) stand for."""
    xp = namespace(values)
    if values.shape[1] == 1:
        above = values[:, 0] > 0
        return above.astype(np.intp) if xp is np else xp.astype(above, xp.int64)
    return xp.argmax(values, axis=1)


class OneVsRestClassifier(ClassifierMixin):
    """Mixin of a classifier whose ``_values`` of rows are predictions of their `codes_to_targets`."""

    classes_: NDArray
    _values: Callable[[ArrayLike], NDArray]

    @takes_dask_rows
    def decision_function(self, X: ArrayLike) -> NDArray:
        """Return the values on which the predictions are based.

        For two classes the shape is (n_samples,), and a value above 0 means the second class. For more classes the
        shape is (n_samples, n_classes), and the largest value decides.
        """
        values = self._values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    @takes_dask_rows
    def predict(self, X: ArrayLike) -> NDArray:
        """Return the predicted labels of the rows X (n_samples, n_features), shape (n_samples,).

        For rows on a device these are an array on the device, unless labels are text, which is numpy's.
        """
        codes = values_to_codes(self._values(X))
        if self.classes_.dtype.kind in "OSU":
            codes = to_numpy(codes)
        return take_rows(follow(self.classes_, codes), codes)
