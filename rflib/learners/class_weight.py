"""Weights of classes, which multiply the weights of their rows."""

from collections.abc import Mapping
from math import inf
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.namespaces import to_numpy
from rflib.learners.values import check_weights, refuse_zeros
from rflib.validation import refuse

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None


def check_class_weight(owner: Any, streaming: str | None = None) -> None:
    """Raise ValueError unless ``class_weight`` is None, "balanced" or a dict of numbers of at least 0.

    ``streaming`` names the method, of those that do not know how many rows a class will have, that is called.
    """
    given = owner.class_weight
    if isinstance(given, Mapping):
        right = all(isinstance(value, Real) and 0 <= float(value) < inf for value in given.values())
    else:
        right = given is None or (isinstance(given, str) and given == "balanced")
    if not right:
        refuse(owner, "class_weight", "None, 'balanced' or a dict from labels to numbers of at least 0")
    if given == "balanced" and streaming:
        raise ValueError(
            f"{type(owner).__name__}: {streaming} cannot balance classes, whose numbers of rows it does not know. "
            "Give a dict from labels to weights, such as {label: n_rows / (n_classes * n_rows_of_the_label), ...}."
        )


def check_labels_with_weights(owner: Any, classes: NDArray) -> None:
    """Raise ValueError if a label of ``class_weight`` is no label of y, and a label of y has no weight."""
    given = getattr(owner, "class_weight", None)
    if not isinstance(given, Mapping):
        return
    labels = classes.tolist()
    strange = [label for label, weight in given.items() if weight and label not in labels]
    left = [label for label in labels if label not in given]
    if strange and left:
        raise ValueError(
            f"{type(owner).__name__}: class_weight has {strange[0]!r}, which is not among the labels, and not "
            f"{left[0]!r}. Labels are {labels}."
        )


def class_weights(
    owner: Any, labels: NDArray, sample_weight: ArrayLike | None, *, only_zeros: bool = False
) -> Any:
    """Return the weights of rows times those of their classes, (n_samples,), on the host; None for neither.

    A row with the weight w is counted as w rows. Errors are those of `check_weights`.
    """
    weights = check_weights(owner, sample_weight, len(labels), only_zeros=only_zeros)
    weights = None if weights is None else to_numpy(weights)
    given = owner.class_weight
    if given is None:
        return weights
    weights = np.ones(len(labels)) if weights is None else weights
    classes, codes = np.unique(labels, return_inverse=True)
    if given == "balanced":
        counts = np.bincount(codes, weights)
        factors = counts.sum() / (np.count_nonzero(counts) * np.where(counts > 0, counts, np.inf))
    else:
        factors = np.array([float(given.get(label, 1.0)) for label in classes.tolist()])
    weights = weights * factors[codes]
    if not (only_zeros or weights.any()):
        refuse_zeros(owner)
    return weights
