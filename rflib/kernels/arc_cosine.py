"""Arc-cosine and neural tangent kernels of networks with ReLU-like units, on the unit sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from numpy import pi
from numpy.typing import ArrayLike, NDArray

from rflib.kernels.base import RadialKernel
from rflib.kernels.namespaces import Array, as_array, namespace, widest
from rflib.validation import check_choice, check_integer


def _kappa0(t: Array) -> Array:
    return 1 - namespace(t).acos(t) / pi


def _kappa1(t: Array) -> Array:
    xp = namespace(t)
    return (xp.sqrt(1 - t**2) + t * (pi - xp.acos(t))) / pi


def _cosine(z: ArrayLike) -> Array:
    """Return the inner product of two unit vectors at the distance z."""
    xp, distances = as_array(z)
    return xp.clip(1 - widest(distances) ** 2 / 2, -1, 1)


@dataclass(frozen=True)
class ArcCosine(RadialKernel):
    """The arc-cosine kernel is that of one infinitely wide random layer, on rows of unit norm.

    It is scaled so that k(x, x) = 1.

    Parameters
    ----------
    order : {0, 1}, default=1
        Activation of the layer: 0 is the step function, 1 the rectified linear unit (ReLU).

    Raises
    ------
    ValueError
        If ``order`` is neither 0 nor 1.

    See Also
    --------
    NeuralTangent : That of a trained network.

    References
    ----------
    Cho, Saul: Kernel methods for deep learning, NIPS 2009, equation 3.

    Examples
    --------
    >>> from rflib.kernels import ArcCosine
    >>> ArcCosine(order=1)([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[1.    , 0.3183]])
    """

    unit_norm = True
    definite_on = "sphere"

    order: Literal[0, 1] = 1

    def __post_init__(self) -> None:
        check_choice(self, "order", (0, 1))

    def at_distance(self, z: ArrayLike) -> NDArray:
        """Return the kernel at the distances z in [0, 2], in the shape of z."""
        return (_kappa0, _kappa1)[self.order](_cosine(z))


@dataclass(frozen=True)
class NeuralTangent(RadialKernel):
    """The neural tangent kernel is that of an infinitely wide ReLU network, on rows of unit norm.

    It is scaled so that k(x, x) = 1. With Sigma = Theta = <x, y> at the start, each hidden layer replaces Theta by
    Theta kappa_0(Sigma) + kappa_1(Sigma), and then Sigma by kappa_1(Sigma); kappa_0 and kappa_1 are the arc-cosine
    kernels of order 0 and 1 (`ArcCosine`).

    Parameters
    ----------
    depth : int, default=1
        Number of hidden layers, at least 1.

    Raises
    ------
    ValueError
        If ``depth`` is not an integer of at least 1.

    See Also
    --------
    ArcCosine : That of one random layer.

    References
    ----------
    Bietti, Mairal: On the inductive bias of neural tangent kernels, NeurIPS 2019, equation 4.

    Examples
    --------
    >>> from rflib.kernels import NeuralTangent
    >>> NeuralTangent(depth=2)([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[1.    , 0.2286]])
    """

    unit_norm = True
    definite_on = "sphere"

    depth: int = 1

    def __post_init__(self) -> None:
        check_integer(self, "depth", at_least=1)

    def at_distance(self, z: ArrayLike) -> NDArray:
        """Return the kernel at the distances z in [0, 2], in the shape of z."""
        sigma = theta = _cosine(z)
        for _ in range(self.depth):
            slope = _kappa0(sigma)
            sigma = namespace(sigma).clip(_kappa1(sigma), -1, 1)
            theta = theta * slope + sigma
        return theta / (self.depth + 1)
