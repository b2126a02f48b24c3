"""Keyword arguments that a class does not have: the error says what they are called here, and how they relate."""

from __future__ import annotations

import inspect
from numbers import Real
from reprlib import repr as shortened
from typing import Any, Self

from rflib.validation import hint

# Other libraries' words for parameters. Those of kernels stand in the kernels' own classes.
_WORDS = {
    "n_components": ("n_features", "n_dims", "n_columns", "num_features", "n_rff", "D"),
    "random_state": ("seed", "random_seed", "rng"),
    "alphas": ("alpha", "lam", "lambda_", "reg", "l2", "C"),
    "C": ("c", "cost", "alpha", "lam", "lambda_", "reg"),
    "epsilon": ("eps",),
    "tol": ("eps", "tolerance"),
    "cv": ("n_splits", "n_folds", "folds"),
    "max_iter": ("n_iter", "max_iterations", "n_epochs", "epochs"),
    "n_jobs": ("n_threads", "threads", "n_workers"),
    "block_size": ("batch_size", "chunk_size"),
    "feature_map": ("map", "features", "transformer"),
    "degree": ("p", "power"),
    "p": ("degree", "power"),
    "order": ("degree", "n", "p"),
    "depth": ("n_layers", "layers"),
    "coef0": ("c", "c0", "coef", "bias", "offset", "constant"),
    "nu": ("smoothness", "p"),
    "sigmas": ("sigma", "length_scale", "bandwidth", "gamma"),
    "coefficients": ("coefs", "weights", "alphas"),
    "profile": ("function", "func", "kernel"),
    "function": ("func", "metric", "kernel", "similarity"),
}
_INVERSES = {("alphas", "C"), ("C", "alpha"), ("C", "lam"), ("C", "lambda_"), ("C", "reg")}
_OF_KERNELS = {
    "sigma": "Gaussian(sigma={})",
    "bandwidth": "Gaussian(sigma={})",
    "length_scale": "Gaussian(sigma={})",
    "lengthscale": "Gaussian(sigma={})",
    "degree": "Polynomial(degree={})",
    "coef0": "Polynomial(coef0={})",
    "nu": "Matern(nu={})",
    "kernel": "Gaussian()",
}


class Keywords:
    """Mixin of kernels and estimators: an unknown keyword argument is a TypeError that names the right one.

    As the check is in ``__new__``, the signature of a class stays that of its ``__init__``.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:  # noqa: D102
        if cls.__init__ is object.__init__ and (args or kwargs):
            raise TypeError(f"{cls.__name__} has no parameters.")
        known = parameters(cls) if kwargs else ()
        if wrong := [name for name in kwargs if known and name not in known]:
            raise TypeError(unknown(cls, wrong[0], kwargs[wrong[0]]))
        return super().__new__(cls)

    @classmethod
    def _called_here(cls, name: str, value: object) -> str | None:
        """Return a sentence about another library's parameter, for what is special to the class."""
        return None

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of what the estimator holds (``kernel__sigma``), and return the estimator.

        Raises
        ------
        ValueError
            If a parameter is unknown or not valid.
        """
        known = self.get_params(deep=False)  # type: ignore[attr-defined]
        for name in params:
            if name.partition("__")[0] not in known:
                raise ValueError(unknown(type(self), name, params[name]))
        super().set_params(**params)  # type: ignore[misc]
        return self


def parameters(cls: Any) -> tuple[str, ...]:
    """Return the names of the parameters of a class; none if it takes any keyword."""
    found = list(inspect.signature(cls.__init__).parameters.values())[1:]
    return () if any(p.kind is p.VAR_KEYWORD for p in found) else tuple(p.name for p in found)


def unknown(cls: type[Keywords], name: str, value: object) -> str:
    """Return the message of the error that the class has no parameter of this name."""
    known = parameters(cls)
    has = f"It has {', '.join(known)}." if known else "It has none."
    return f"{cls.__name__} has no parameter {name!r}. {_explained(cls, name, value, known)}{has}"


def _explained(cls: type[Keywords], name: str, value: object, known: tuple[str, ...]) -> str:
    if (special := cls._called_here(name, value)) is not None:
        return special + " "
    if (kernel := _kernel_with(name, value)) and "kernel" in known:
        return f"Its kernel has it: {cls.__name__}(kernel={kernel}). "
    if kernel and "feature_map" in known:
        return f"The kernel of its feature_map has it: {cls.__name__}(feature_map=ORF({kernel})). "
    for ours, words in _WORDS.items():
        if name in words and ours in known:
            inverse = f", which acts as 1 / {name} does" if (ours, name) in _INVERSES else ""
            return f"Here it is {ours}{inverse}. "
    return f"{hint(name, known)} ".lstrip()


def _kernel_with(name: str, value: object) -> str | None:
    """Return the kernel to which a parameter of this name belongs, written with it."""
    if name == "gamma":
        return f"Gaussian(sigma={sigma_of(value)})"
    return _OF_KERNELS[name].format(shortened(value)) if name in _OF_KERNELS else None


def sigma_of(gamma: object) -> str:
    """Return the sigma of a Gaussian for scikit-learn's gamma = 1 / (2 sigma^2), in words if it is no number."""
    if isinstance(gamma, Real) and not isinstance(gamma, bool) and float(gamma) > 0:
        return f"{(2 * float(gamma)) ** -0.5:.6g}"
    return {"scale": "'scale'", "auto": "(n_features / 2) ** 0.5"}.get(str(gamma), "(2 * gamma) ** -0.5")
