"""Array namespaces: the library whose functions compute with rows, and how arrays of numpy come to their device.

numpy computes with its own arrays and with sparse rows. While scikit-learn's ``array_api_dispatch`` is on, rows of
another library with the array API standard, such as torch or CuPy, stay on their device, and this library computes
with them. A fitted estimator holds arrays of numpy, which the functions below bring to the rows.

The array API has neither ``out=`` nor views, but all libraries whose arrays can be written to have slices that are
views. Code for all namespaces uses that, and `multiply_into` where a library needs no temporary array.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn import get_config

from rflib.extras import need

# An array of any library. There are no stubs for what all of them have in common.
Array = Any
Namespace = Any

# By array of numpy, library, type and device: a reference that forgets the copy when the array ends, and the copy.
_COPIES: dict[Any, tuple[weakref.ref[NDArray], Array]] = {}


def is_foreign(X: object) -> bool:
    """Return whether X is an array of another library than numpy that scikit-learn is told to leave as it is.

    Raises
    ------
    ImportError
        If array-api-compat is missing, which is needed then.
    """
    if (
        isinstance(X, np.ndarray)
        or not hasattr(X, "__dlpack__")
        or not get_config().get("array_api_dispatch")
    ):
        return False
    return bool(_compat().is_array_api_obj(X))


def namespace(X: Array) -> Namespace:
    """Return the library that computes with checked rows: numpy itself for its arrays and for sparse rows."""
    if isinstance(X, np.ndarray | np.generic) or issparse(X):
        return np
    return _compat().array_namespace(X)


def as_array(values: ArrayLike) -> tuple[Namespace, Array]:
    """Return a library and its array of the values: numpy's, unless they are an array of another library."""
    return (namespace(values), values) if is_foreign(values) else (np, np.asarray(values))


def float_types(X: Array) -> list[Any]:
    """Return the types that rows may have, the widest first: float64, where the device has it, and float32."""
    if not is_foreign(X):
        return [np.float64, np.float32]
    xp = namespace(X)
    names = xp.__array_namespace_info__().dtypes(device=_device(X), kind="real floating")
    return [xp.float64, xp.float32] if "float64" in names else [xp.float32]


def widest(X: Array) -> Array:
    """Return an array in the widest type of its device: float64, but float32 where there is no float64."""
    xp = namespace(X)
    if xp is np:
        return X.astype(np.float64, copy=False)
    names = xp.__array_namespace_info__().dtypes(device=_device(X), kind="real floating")
    return xp.astype(X, xp.float64 if "float64" in names else xp.float32, copy=False)


def narrowest(X: Array) -> Array:
    """Return an array in float32."""
    xp = namespace(X)
    return X.astype(np.float32, copy=False) if xp is np else xp.astype(X, xp.float32, copy=False)


def in_type_of(values: Array, X: Array) -> Array:
    """Return numbers in the type of X, without a copy where they have it."""
    xp = namespace(values)
    return values.astype(X.dtype, copy=False) if xp is np else xp.astype(values, X.dtype, copy=False)


def is_single(X: Array) -> bool:
    """Return whether numbers are in single precision."""
    return bool(X.dtype == namespace(X).float32)


def beside(values: NDArray, X: Array) -> Array:
    """Return an array of numpy where the rows X are: in their library, on their device.

    Integers keep their type, other numbers get that of X.
    """
    is_index = values.dtype.kind == "i" and values.dtype.itemsize > 1
    xp = namespace(X)
    if xp is np:
        return values if is_index else values.astype(X.dtype, copy=False)
    device, values = _device(X), _writeable(values)
    if is_index:
        return xp.asarray(values, device=device)
    if values.dtype.itemsize > 1:
        values = values.astype(np.float32 if X.dtype == xp.float32 else np.float64, copy=False)
    return xp.astype(xp.asarray(np.ascontiguousarray(values), device=device), X.dtype, copy=False)


def held_beside(values: NDArray, X: Array) -> Array:
    """Return what `beside` does for an array of a fitted estimator, which is copied once while it lives.

    The array becomes read-only, so that it and the copy stay equal.
    """
    if namespace(X) is np:
        return beside(values, X)
    key = id(values), namespace(X).__name__, str(X.dtype), str(_device(X))
    if key not in _COPIES:
        copy = beside(values.copy(), X)  # not a view, by which the array would live as long as it
        values.flags.writeable = False
        _COPIES[key] = weakref.ref(values, lambda _: _COPIES.pop(key, None)), copy
        return copy
    return _COPIES[key][1]


def follow(values: Array, X: Array) -> Array:
    """Return values of any library where the rows X are: unchanged if they are there, else as `beside` does it."""
    xp = namespace(X)
    if namespace(values) is xp and (xp is np or _device(values) == _device(X)):
        return values
    return beside(to_numpy(values), X)


def on_torch(values: NDArray, device: Any) -> Array:
    """Return an array of numpy as a tensor on a device of torch, in float32 where this has no float64.

    Raises
    ------
    ImportError
        If torch or array-api-compat is missing.
    """
    need("array", "A device", "array_api_compat", "torch")
    import torch

    names = namespace(torch.empty(0)).__array_namespace_info__().dtypes(device=torch.device(device))
    if values.dtype == np.float64 and "float64" not in names:
        values = values.astype(np.float32)
    return torch.asarray(_writeable(values), device=device)


def to_numpy(values: Array) -> NDArray:
    """Return an array of any library as an array of numpy, in the memory of the host."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack__"):
        return np.asarray(values)
    try:
        return np.array(np.from_dlpack(values, device="cpu"))
    except (TypeError, ValueError, RuntimeError, BufferError, NotImplementedError):
        return np.asarray(_compat().to_device(values, "cpu"))


def empty(shape: tuple[int, ...], X: Array) -> Array:
    """Return an array to be filled, in the library, on the device and of the type of X."""
    xp = namespace(X)
    return np.empty(shape, X.dtype) if xp is np else xp.empty(shape, dtype=X.dtype, device=_device(X))


def zeros(shape: tuple[int, ...], X: Array) -> Array:
    """Return an array of zeros, in the library, on the device and of the type of X."""
    xp = namespace(X)
    return np.zeros(shape, X.dtype) if xp is np else xp.zeros(shape, dtype=X.dtype, device=_device(X))


def ones(shape: tuple[int, ...], X: Array) -> Array:
    """Return an array of ones, in the library, on the device and of the type of X."""
    xp = namespace(X)
    return np.ones(shape, X.dtype) if xp is np else xp.ones(shape, dtype=X.dtype, device=_device(X))


def some_rows(X: Array, rows: slice) -> Array:
    """Return consecutive rows of an array of any number of dimensions."""
    return X[rows] if namespace(X) is np else X[rows, ...]


def take_columns(X: Array, places: Array) -> Array:
    """Return the columns of X (n, d) at some places, an array of numpy or beside X, as a new array."""
    return np.take(X, places, axis=1) if isinstance(X, np.ndarray) else _taken(X, places, 1)


def products_of_columns(X: Array, factors: Iterable[NDArray]) -> Array:
    """Return products of columns of X. Each factor is an array of places, with one for every product."""
    first, *others = factors
    products = take_columns(X, first)
    for places in others:
        products *= take_columns(X, places)
    return products


def take_rows(X: Array, places: Array) -> Array:
    """Return the rows of X, dense or sparse, at some places, an array of numpy or beside X, as a new array."""
    return X[places] if namespace(X) is np else _taken(X, places, 0)


def multiply_into(out: Array, left: Array, right: Array) -> None:
    """Write a product into an array or a slice of one."""
    if isinstance(out, np.ndarray):
        np.multiply(left, right, out=out)
    elif _compat().is_torch_array(out) or _compat().is_cupy_array(out):
        namespace(out).multiply(left, right, out=out)
    else:
        out[...] = left * right


def complex_numbers(real: Array, imaginary: Array) -> Array:
    """Return complex numbers in the precision of their parts."""
    xp = namespace(real)
    if xp is np:
        return real + 1j * imaginary
    dtype = xp.complex64 if is_single(real) else xp.complex128
    return xp.astype(real, dtype) + 1j * xp.astype(imaginary, dtype)


def pairs_as_complex(X: Array) -> Array:
    """Return complex numbers (n, m) whose real and imaginary parts are in turn the columns of X (n, 2 m).

    They are a view of X where its library has views of another type.
    """
    xp = namespace(X)
    if hasattr(X, "view"):
        return X.view(xp.complex64 if is_single(X) else xp.complex128)
    return complex_numbers(X[:, 0::2], X[:, 1::2])


def complex_as_pairs(Z: Array) -> Array:
    """Return the real and imaginary parts of Z (n, m), in turn, as columns (n, 2 m): the inverse of the above."""
    xp = namespace(Z)
    if hasattr(Z, "view"):
        return Z.view(xp.float32 if Z.dtype == xp.complex64 else xp.float64)
    return xp.reshape(xp.stack([xp.real(Z), xp.imag(Z)], axis=2), (Z.shape[0], -1))


def _taken(X: Array, places: Array, axis: int) -> Array:
    xp = namespace(X)
    return xp.take(X, xp.asarray(places, device=_device(X)), axis=axis)


def _writeable(values: NDArray) -> NDArray:
    """Return an array of numpy, or its copy if it is read-only, of which torch warns."""
    return values if values.flags.writeable else values.copy()


def _device(X: Array) -> Any:
    return _compat().device(X)


def _compat() -> ModuleType:
    try:
        import array_api_compat
    except ImportError:
        need("array", "An array of another library than numpy", "array_api_compat")
        raise
    return array_api_compat
