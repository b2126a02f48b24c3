"""Signed features, K_hat = Z diag(e) Z^T: where a learner finds the signs, and how it treats negative columns."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from rflib.kernels.namespaces import Array, float_types, take_columns
from rflib.keywords import Keywords
from rflib.maps.base import RandomFeatureMap
from rflib.validation import check_choice, refuse

Signed = Literal["associated", "positive"]
COLUMN_TREATMENTS = get_args(Signed)
FLOATS = [np.float64, np.float32]


def check_feature_map(learner: Any) -> None:
    """Raise ValueError unless ``feature_map`` is a transformer or None."""
    feature_map = learner.feature_map
    is_map = all(hasattr(feature_map, name) for name in ("fit", "transform", "get_params"))
    if feature_map is not None and (isinstance(feature_map, type) or not is_map):
        refuse(learner, "feature_map", "a transformer (an object with fit, transform and get_params) or None")


def features_of(feature_map: Any, X: ArrayLike) -> Array:
    """Return the features that a fitted map computes as a finite float array, whatever container it returns."""
    features = feature_map.transform(X)
    return check_array(features, dtype=float_types(features), input_name="feature_map.transform(X)")


def check_signature(signature: ArrayLike, n_columns: int) -> NDArray[np.float64]:
    """Return the signature as an array of +1.0 and -1.0, one entry for each column.

    Raises
    ------
    ValueError
        If it has another length than n_columns, or an entry that is not +1 or -1.
    """
    signs = np.asarray(signature)
    if signs.shape != (n_columns,):
        raise ValueError(
            f"signature must have one entry for each of the {n_columns} feature columns, "
            f"got an array of shape {signs.shape}."
        )
    if not np.isin(signs, (1, -1)).all():
        raise ValueError(
            "signature must hold +1 and -1 only. Use the signature_ of the map that made the features."
        )
    return signs.astype(np.float64)


def signature_of(feature_map: Any) -> NDArray | None:
    """Return the signs of a fitted transformer's columns, or None if it does not have them.

    They are its ``signature_``; a Pipeline has those of its last step.
    """
    if isinstance(feature_map, Pipeline):
        steps = [step for _, step in feature_map.steps if step not in (None, "passthrough")]
        return signature_of(steps[-1]) if steps else None
    signature = getattr(feature_map, "signature_", None)
    return None if signature is None else np.asarray(signature)


def lack_of(feature_map: Any, X: Any, Z: Array) -> Array | None:
    """Return what the features Z of rows X lack of k(x, x), (n,), or None if a transformer does not know it.

    That of a Pipeline is what its last step knows.
    """
    if isinstance(feature_map, FrozenEstimator):
        return lack_of(feature_map.estimator, X, Z)
    if isinstance(feature_map, Pipeline) and len(feature_map) > 1:
        *_, (_, last) = feature_map.steps
        before = feature_map[:-1]
        return (
            lack_of(before, X, Z) if last in (None, "passthrough") else lack_of(last, before.transform(X), Z)
        )
    if isinstance(feature_map, Pipeline):
        return lack_of(feature_map[0], X, Z)
    return feature_map._missing(X, Z) if isinstance(feature_map, RandomFeatureMap) else None


def begins_with_a_map(feature_map: Any) -> bool:
    """Return whether a transformer is a map of rflib, or a Pipeline or frozen estimator that begins with one."""
    if isinstance(feature_map, Pipeline):
        steps = [step for _, step in feature_map.steps if step not in (None, "passthrough")]
        return not steps or begins_with_a_map(steps[0])
    if isinstance(feature_map, FrozenEstimator):
        return begins_with_a_map(feature_map.estimator)
    return isinstance(feature_map, RandomFeatureMap)


def signed_columns(Z: Array, signature: ArrayLike, how: Signed) -> Array:
    """Return the columns of signed features that a convex learner uses.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_components)
        Features.
    signature : array-like of shape (n_components,)
        Their signs, +1 or -1.
    how : {"associated", "positive"}
        ``"associated"``: all columns, which is the positive definite kernel k_+ + k_-. ``"positive"``: the +1
        columns only, the kernel k_+; what the code released with luo2021 does in effect, where the -1 columns
        are imaginary and their imaginary part is discarded.

    Raises
    ------
    ValueError
        If the signature does not fit Z, no column is left, or ``how`` is unknown. ``"krein"`` is one of the
        unknown: with the indefinite kernel k_+ - k_- an SVM is not convex; `KRR` has it.
    """
    signs = check_signature(signature, Z.shape[1])
    if how == "associated":
        return Z
    if how == "positive":
        if not np.any(signs > 0):
            raise ValueError(
                "signed='positive' leaves no column, because every entry of the signature is -1. Use "
                "signed='associated'."
            )
        return Z if np.all(signs > 0) else take_columns(Z, np.flatnonzero(signs > 0))
    hint = " ('krein' is for KRR only, because an SVM with it is not convex)" if how == "krein" else ""
    raise ValueError(f"signed must be one of {list(COLUMN_TREATMENTS)}, got {how!r}{hint}.")


def used_columns(signature: NDArray, how: str) -> slice | NDArray[np.bool_]:
    """Return the index of the columns that `signed_columns` keeps; krein keeps all."""
    return signature > 0 if how == "positive" else slice(None)


def check_signed(learner: Any, *, krein: bool = False) -> None:
    """Raise ValueError unless ``signed`` is a treatment that the learner has."""
    if learner.signed == "krein" and not krein:
        refuse(
            learner,
            "signed",
            "'associated' or 'positive' (with the indefinite kernel k_+ - k_- the problem is not convex; only "
            "KRR has 'krein')",
        )
    check_choice(learner, "signed", (*COLUMN_TREATMENTS, *["krein"] * krein))


def find_signs(learner: Any, n_columns: int, feature_map: Any = None) -> NDArray[np.float64]:
    """Return the signs of the columns: those of the fitted map if there is one, else the learner's ``signature``.

    They are all +1 where nothing tells them and ``signed="associated"`` does not ask.

    Raises
    ------
    ValueError
        If the signature does not fit the columns, or there is none and ``signed`` needs it.
    """
    given = learner.signature if feature_map is None else signature_of(feature_map)
    name = type(learner).__name__
    if given is not None:
        try:
            return check_signature(given, n_columns)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    if learner.signed == "associated":
        return np.ones(n_columns)
    needs = f"{name}: signed={learner.signed!r} needs the signs of the features"
    if feature_map is not None:
        raise ValueError(
            f"{needs}, but the feature_map, a {type(feature_map).__name__}, has no signature_ (a Pipeline has "
            "that of its last step). Use a map that has one, or signed='associated'."
        )
    or_map = f" or {name}(feature_map=map)" if hasattr(learner, "feature_map") else ""
    raise ValueError(
        f"{needs}, but features have no signs with them, not even those from the previous step of a Pipeline. Use "
        f"{name}(signature=map.signature_){or_map}, or signed='associated' if all signs are +1."
    )


class SignedFeatures(Keywords):
    """Mixin of a learner on features with ``signed`` and ``signature_``: the columns that it uses."""

    signed: Any
    signature_: NDArray[np.float64]

    def _used(self, Z: Array) -> Array:
        """Return the columns that are used, of features or of weights (n, n_components)."""
        return signed_columns(Z, self.signature_, "associated" if self.signed == "krein" else self.signed)

    @property
    def _columns(self) -> slice | NDArray[np.bool_]:
        return used_columns(self.signature_, self.signed)
