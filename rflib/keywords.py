"""Keyword arguments that a class does not have: the error says what they are called here, and how they relate."""

from __future__ import annotations

import inspect
from numbers import Real
from reprlib import repr as shortened
from typing import Any, Self, cast

from rflib.validation import hint

# Other libraries' words for parameters. Those of kernels stand in the kernels' own classes.
_WORDS = {
    "n_components": (
        "n_features",
        "n_dims",
        "n_columns",
        "num_features",
        "num_samples",
        "n_rff",
        "n_landmarks",
        "D",
        "M",
    ),
    "random_state": ("seed", "random_seed", "rng"),
    "alphas": ("alpha", "lam", "lambda_", "reg", "penalty", "l2", "C"),
    "C": ("c", "cost", "alpha", "lam", "lambda_", "reg"),
    "epsilon": ("eps",),
    "tol": ("eps", "tolerance"),
    "cv": ("n_splits", "n_folds", "folds"),
    "n_rounds": ("n_iter", "max_iter", "iters", "rounds", "n_iterations", "n_steps"),
    "seconds": ("time_budget", "time_limit", "time_limit_s", "max_time", "timeout", "budget"),
    "class_weight": ("class_weights", "weights"),
    "verbose": ("verbosity",),
    "max_iter": ("n_iter", "maxiter", "max_iterations", "n_epochs", "epochs"),
    "n_jobs": ("n_threads", "threads", "n_workers"),
    "block_size": ("batch_size", "chunk_size"),
    "step_size": ("learning_rate", "lr", "eta0"),
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
    **dict.fromkeys(("sigma", "bandwidth", "length_scale", "lengthscale"), "Gaussian(sigma={})"),
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
        code = getattr(cls.__init__, "__code__", None)
        if code and len(args) >= code.co_argcount and not code.co_flags & inspect.CO_VARARGS:
            raise TypeError(_unnamed(cls, args, code.co_argcount - 1))
        known = parameters(cls) if kwargs else ()
        if wrong := [name for name in kwargs if known and name not in known]:
            raise TypeError(unknown(cls, wrong[0], kwargs[wrong[0]]))
        return super().__new__(cls)

    @classmethod
    def _called_here(cls, name: str, value: object) -> str | None:
        """Return a sentence about another library's parameter, for what is special to the class."""
        return None

    @classmethod
    def _takes_kernel(cls, name: str) -> bool:
        """Return whether the ``kernel`` of the class may be the one of this name."""
        return True

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of what the estimator holds (``kernel__sigma``), and return the estimator.

        Raises
        ------
        ValueError
            If a parameter is unknown or not valid.
        """
        estimator = cast(Any, super())
        known = estimator.get_params(deep=False)
        for name in params:
            if name.partition("__")[0] not in known:
                raise ValueError(unknown(type(self), name, params[name]))
        estimator.set_params(**params)
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


def _unnamed(cls: type[Keywords], args: tuple[Any, ...], n: int) -> str:
    """Return the message of the error that more than n arguments have no name."""
    may = f"Only {', '.join(parameters(cls)[:n])} may be given without a name" if n else "Give names to all"
    return f"{cls.__name__}: {shortened(args[n])} has no name. {may}. It has {', '.join(parameters(cls))}."


def _explained(cls: type[Keywords], name: str, value: object, known: tuple[str, ...]) -> str:
    if (special := cls._called_here(name, value)) is not None:
        return special + " "
    for kernel in _kernels_with(name, value):
        kind = kernel.partition("(")[0]
        if "kernel" in known and cls._takes_kernel(kind):
            return f"Its kernel has it: {cls.__name__}(kernel={kernel}). "
        if "feature_map" in known:
            inner = f"{'OptimizedMaclaurin' if kind == 'Polynomial' else 'ORF'}({kernel})"
            return f"The kernel of its feature_map has it: {cls.__name__}(feature_map={inner}). "
    for ours, words in _WORDS.items():
        if name in words and ours in known:
            inverse = f", which acts as 1 / {name} does" if (ours, name) in _INVERSES else ""
            return f"Here it is {ours}{inverse}. "
    return f"{hint(name, known)} ".lstrip()


def _kernels_with(name: str, value: object) -> list[str]:
    """Return the kernels to which a parameter of this name belongs, written with it."""
    if name == "gamma":
        return [f"Gaussian(sigma={sigma_of(value)})", f"Polynomial(gamma={shortened(value)})"]
    return [_OF_KERNELS[name].format(shortened(value))] if name in _OF_KERNELS else []


def sigma_of(gamma: object) -> str:
    """Return the sigma of a Gaussian for scikit-learn's gamma = 1 / (2 sigma^2), in words if it is no number."""
    if isinstance(gamma, Real) and not isinstance(gamma, bool) and float(gamma) > 0:
        return f"{(2 * float(gamma)) ** -0.5:.6g}"
    return {"scale": "'scale'", "auto": "(n_features / 2) ** 0.5"}.get(str(gamma), "(2 * gamma) ** -0.5")
