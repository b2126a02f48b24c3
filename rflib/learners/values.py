"""Labels, targets and weights of any container as arrays; a value that cannot be one is named with its row."""

from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import column_or_1d

from rflib.kernels.namespaces import Array, is_foreign, namespace, to_numpy, widest
from rflib.kernels.row_faults import RowError, is_missing, shown
from rflib.warn import of_the_user

_TEXT, _NUMBER = "text", "number"
_OTHERS = {"c": "complex numbers", "M": "dates", "m": "time differences", "V": "records"}


def as_labels(owner: object, values: Any, name: str = "y") -> NDArray:
    """Return labels as an array of texts, numbers or booleans, in the order of the rows.

    Raises
    ------
    ValueError
        If a label is missing, not finite or of another kind, or if texts and numbers are mixed.
    """
    labels = as_array(to_numpy(values) if is_foreign(values) else values)
    _refuse_others(owner, labels, f"{name} must hold texts, numbers or booleans")
    with of_the_user():
        labels = column_or_1d(labels, warn=True)
    if labels.dtype.kind == "f":
        _check_finite(owner, labels, name)
    if labels.dtype.kind != "O" or not labels.size or set(map(type, labels.flat)) <= {str, np.str_}:
        return labels
    first = labels.flat[0]
    kind = _kind(first)
    remedy = "Labels must be texts, numbers or booleans."
    _check_each(owner, labels, name, lambda label: _kind(label) in (_TEXT, _NUMBER), remedy)
    remedy = f"Row 0 has {first!r}: make all of them texts, or all of them numbers."
    _check_each(owner, labels, name, lambda label: _kind(label) == kind, remedy)
    if kind == _TEXT:
        return labels
    numbers = np.array(labels.tolist())
    are_whole = all(isinstance(label, Integral | np.bool_) for label in labels.flat)
    if numbers.dtype.kind not in ("biu" if are_whole else "f"):
        raise ValueError(
            f"{type(owner).__name__}: {name} holds numbers of more than 64 bits. Make them texts."
        )
    return numbers


def as_numbers(owner: object, values: Any, name: str = "y") -> Array:
    """Return targets or weights as an array of finite numbers, in the order of the rows.

    Arrays of other libraries than numpy are returned as they are.

    Raises
    ------
    ValueError
        If a value is missing, not finite, or no number.
    """
    if is_foreign(values) or issparse(values):
        return values
    given = as_array(values)
    _refuse_others(owner, given, f"{name} must hold numbers")
    if given.dtype.kind in "OSU":
        _check_each(owner, given, name, _is_number, "It must be a number.")
        given = given.astype(np.float64)
    _check_finite(owner, given, name)
    return given


def check_weights(
    owner: object, sample_weight: ArrayLike | None, n_samples: int, *, only_zeros: bool = False
) -> Array | None:
    """Return the weights of the rows, (n_samples,), or None where there are none.

    Raises
    ------
    ValueError
        Unless they are one finite number of at least 0 a row, not all of them 0 (unless ``only_zeros``).
    """
    if sample_weight is None:
        return None
    weights = as_numbers(owner, sample_weight, "sample_weight")
    weights = widest(weights) if is_foreign(weights) else np.array(weights, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise ValueError(
            f"{type(owner).__name__}: sample_weight must have a number for each of the {n_samples} rows, got an "
            f"array of shape {tuple(weights.shape)}."
        )
    xp = namespace(weights)
    if not xp.all((weights >= 0) & xp.isfinite(weights)):
        known = to_numpy(weights)
        row = int(np.argmin((known >= 0) & np.isfinite(known)))
        raise RowError(type(owner).__name__, row, f"sample_weight is {known[row]:g}. It must be at least 0.")
    if not (only_zeros or xp.any(weights > 0)):
        refuse_zeros(owner)
    return weights


def labels_with_weight(owner: object, values: Any, sample_weight: ArrayLike | None) -> NDArray:
    """Return the different labels of the rows whose weights are above 0."""
    labels = as_labels(owner, values)
    weights = check_weights(owner, sample_weight, len(labels), only_zeros=True)
    return np.unique(labels if weights is None else labels[weights > 0])


def refuse_extremes(owner: object, numbers: NDArray, what: str) -> None:
    """Raise RowError if the largest of some numbers (n, ...) is so large or small that squares leave its type.

    Missing numbers are not counted; ``what`` are words for the numbers.
    """
    sizes = np.abs(np.atleast_1d(numbers).astype(np.result_type(numbers, np.float32), copy=False))
    largest, about = np.nan_to_num(sizes).max(initial=0), np.finfo(sizes.dtype)
    if not (largest == 0 or about.tiny**0.4 < largest < about.max**0.4):
        place = int(np.nanargmax(sizes))
        raise RowError(
            type(owner).__name__,
            place // (sizes.size // len(sizes)),
            f"the largest number of {what} is {numbers.flat[place]:g}, whose square is no {sizes.dtype}. Divide "
            f"{what} by {largest:.0e}.",
        )


def refuse_zeros(owner: object, rows: str = "all rows") -> NoReturn:
    """Raise ValueError, because no row has a weight."""
    raise ValueError(f"{type(owner).__name__}: {rows} have the weight zero. Give rows with a weight above 0.")


def joined_labels(owner: object, parts: Iterable[NDArray]) -> NDArray:
    """Return the sorted labels of parts of the rows; ValueError if some are texts and others numbers."""
    parts = [part for part in parts if len(part)]
    if len({_kind(part.flat[0]) for part in parts}) > 1:
        examples = " and ".join(repr(part[:1].tolist()[0]) for part in (parts[0], parts[-1]))
        raise ValueError(
            f"{type(owner).__name__}: labels must be texts or numbers alone, but y has {examples}."
        )
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0)


def refuse_missing(owner: object, values: NDArray, name: str) -> None:
    """Raise RowError for the first value that is missing, or that cannot be ordered beside the first one."""
    _check_each(
        owner, values, name, lambda value: _kind(value) == _kind(values.flat[0]), "All must be of one kind."
    )


def as_array(values: Any) -> NDArray:
    """Return an array of the values, of objects if they are sequences of several lengths.

    Numbers that a list holds beside texts stay numbers.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(len(values), dtype=object)
        array[:] = values
    if array.dtype.kind in "SU" and not hasattr(values, "dtype"):
        objects = np.array(values, dtype=object)
        return array if set(map(type, objects.flat)) <= {str, bytes, np.str_} else objects
    return array.astype(object) if array.dtype.kind == "T" else array


def _kind(value: object) -> str:
    if isinstance(value, str):
        return _TEXT
    return _NUMBER if isinstance(value, Real | np.bool_) else type(value).__name__


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, np.datetime64 | np.timedelta64) and float(value) == float(value)
    except (TypeError, ValueError):
        return False


def _refuse_others(owner: object, values: NDArray, what: str) -> None:
    if (others := _OTHERS.get(values.dtype.kind)) is not None:
        raise ValueError(
            f"{type(owner).__name__}: {what}, got {others} ({values.dtype}). Convert them first."
        )


def _check_finite(owner: object, numbers: NDArray, name: str) -> None:
    if not np.isfinite(numbers).all():
        _check_each(owner, numbers, name, np.isfinite, "It must be finite.")


def _check_each(
    owner: object, values: NDArray, name: str, is_right: Callable[[Any], Any], remedy: str
) -> None:
    """Raise RowError for the first value that is missing or not right."""
    width = values.size // max(len(values), 1)
    for i, value in enumerate(values.flat):
        if is_missing(value):
            remedy = "Complete it or leave the row out."
        if is_missing(value) or not is_right(value):
            raise RowError(
                type(owner).__name__, i // width, f"Input {name} contains {shown(value)}. {remedy}"
            )
