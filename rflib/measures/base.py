"""Spectral measures, from which frequencies are drawn: radial and signed, or a product over coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh_tridiagonal
from scipy.special import expit, gammaincinv, ndtri

from rflib.measures.omega import omega


class RadialPart(ABC):
    """A finite positive measure over the norm of a frequency: a mass and a distribution."""

    mass: float

    @abstractmethod
    def quantile(self, u: NDArray) -> NDArray:
        """Return the norms at the probabilities u in (0, 1)."""

    def quadrature(self) -> tuple[NDArray, NDArray]:
        """Return the norms and probabilities of a discrete distribution that integrates smooth functions well.

        It is the trapezoidal rule in logit(u) with 801 nodes. For quantiles in closed form the integrand decays
        exponentially at both ends, so that the rule is exact to rounding.
        """
        logit = np.linspace(-35, 35, 801)
        u = expit(logit)
        weights = u * expit(-logit)
        return self.quantile(u), weights / weights.sum()

    def transform(self, dimension: int, z: NDArray) -> NDArray:
        """Return E Omega_d(r z), the characteristic function of the normalised part, at the distances z (n,)."""
        radii, probabilities = self.quadrature()
        return omega(dimension, np.multiply.outer(z, radii)) @ probabilities


def chi_quantile(dimension: int, u: NDArray) -> NDArray:
    """Return the quantiles of the norm of a standard normal vector at the probabilities u in (0, 1)."""
    return np.sqrt(2 * gammaincinv(dimension / 2, u))


def chi_squared_nodes(dimension: int, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return n nodes and weights of Gauss's quadrature for the squared norm of a standard normal vector."""
    i = np.arange(n)
    off_diagonal = np.sqrt(i[1:] * (4.0 * i[1:] + 2 * dimension - 4))
    nodes, vectors = eigh_tridiagonal(4 * i + dimension, off_diagonal)
    return nodes, vectors[0] ** 2


@dataclass(frozen=True)
class ChiPart(RadialPart):
    """The norm of a vector with the distribution N(0, I_d / sigma^2), which is chi_d / sigma."""

    mass: float
    dimension: int
    sigma: float

    def quantile(self, u: NDArray) -> NDArray:
        """Return the norms at the probabilities u in (0, 1)."""
        return chi_quantile(self.dimension, u) / self.sigma


@dataclass(frozen=True, eq=False)
class TablePart(RadialPart):
    """A distribution function that is tabulated at increasing norms and linear in between."""

    mass: float
    radii: NDArray
    cdf: NDArray

    @classmethod
    def of_masses(cls, radii: NDArray, masses: NDArray) -> TablePart | None:
        """Return the part whose intervals between the norms have these masses, or None if there is no mass."""
        cdf = np.append(0.0, np.cumsum(masses))
        return cls(float(masses.sum()), radii, cdf / cdf[-1]) if masses.any() else None

    def quantile(self, u: NDArray) -> NDArray:
        """Return the norms at the probabilities u in (0, 1)."""
        return np.interp(u, self.cdf, self.radii)

    def quadrature(self) -> tuple[NDArray, NDArray]:
        """Return the midpoints of the intervals and their probabilities."""
        probabilities = np.diff(self.cdf)
        inside = probabilities > 0
        return ((self.radii[1:] + self.radii[:-1]) / 2)[inside], probabilities[inside]


@dataclass(frozen=True, eq=False)
class DiscretePart(RadialPart):
    """A distribution with finitely many norms."""

    mass: float
    radii: NDArray
    probabilities: NDArray

    @classmethod
    def of_masses(cls, radii: NDArray, masses: NDArray) -> DiscretePart | None:
        """Return the part whose norms have these masses, or None if there is no mass."""
        total, has_mass = float(masses.sum()), masses > 0
        return cls(total, radii[has_mass], masses[has_mass] / total) if total else None

    def quantile(self, u: NDArray) -> NDArray:
        """Return the norms at the probabilities u in (0, 1)."""
        cdf = np.cumsum(self.probabilities)
        return self.radii[np.minimum(np.searchsorted(cdf, u), len(cdf) - 1)]

    def quadrature(self) -> tuple[NDArray, NDArray]:
        """Return the norms and their probabilities."""
        return self.radii, self.probabilities


@dataclass(frozen=True)
class Sampling:
    """A plan for drawing n frequencies by rules for their directions and norms (`rflib.frequencies.draw`)."""

    n: int
    directions: str = "iid"
    radii: str = "iid"


class SpectralMeasure(ABC):
    """Base class of the measures from which the frequencies of a kernel on R^d are drawn.

    Attributes
    ----------
    dimension : int
        Number of input columns d.
    zmax : float
        Largest distance at which the measure represents the kernel, in units of the inputs.
    """

    dimension: int
    zmax: float = np.inf

    def for_sampling(self, sampling: Sampling) -> SpectralMeasure:
        """Return the measure for frequencies drawn by this plan: itself, or one of `CandidateMeasures`."""
        return self


@dataclass(frozen=True)
class ProductMeasure(SpectralMeasure):
    """A probability measure with independent coordinates that have the same distribution.

    The ``family`` of their standard distribution is "normal", "cauchy" or "laplace", and ``scale`` its factor in
    inverse units of the inputs.
    """

    dimension: int
    family: str
    scale: float

    def quantile(self, u: NDArray) -> NDArray:
        """Return the coordinates at the probabilities u in (0, 1), in the shape of u."""
        return self.scale * _COORDINATE_QUANTILES[self.family](u)


_COORDINATE_QUANTILES: dict[str, Callable[[NDArray], NDArray]] = {
    "normal": ndtri,
    "cauchy": lambda u: np.tan(np.pi * (u - 0.5)),
    "laplace": lambda u: np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u))),
}


@dataclass(frozen=True, eq=False)
class RadialMeasure(SpectralMeasure):
    """A signed measure whose directions are uniform, given by its positive and its negative Jordan part.

    The kernel that it represents is k(z) = sum over the parts of sign * mass * E Omega_d(r z), where r is the norm
    of a frequency of the part and Omega_d(t) is the mean of cos(t <u, e>) over unit vectors u
    (`rflib.measures.omega`).

    Parameters
    ----------
    dimension : int
        Number of input columns d.
    positive, negative : RadialPart or None
        The Jordan parts: a mass and the distribution of the norm. None means that the part is empty.
    coordinates : ProductMeasure or None, default=None
        The same measure as one with independent coordinates, which exists for the Gaussian kernel only.
    zmax : float, default=inf
        Largest distance at which the measure represents the kernel, in units of the inputs.
    """

    dimension: int
    positive: RadialPart | None
    negative: RadialPart | None = None
    coordinates: ProductMeasure | None = None
    zmax: float = np.inf

    @staticmethod
    def of_masses(
        kind: type[TablePart | DiscretePart], dimension: int, radii: NDArray, masses: NDArray
    ) -> RadialMeasure:
        """Return the measure whose parts, of this kind, have the positive and the negative masses at the norms."""
        positive, negative = (kind.of_masses(radii, np.maximum(sign * masses, 0)) for sign in (1, -1))
        return RadialMeasure(dimension, positive, negative)

    def parts(self) -> list[tuple[int, RadialPart]]:
        """Return the sign and the part, the positive one first; empty parts are left out."""
        return [(sign, part) for sign, part in ((1, self.positive), (-1, self.negative)) if part is not None]

    def shares(self, n: int) -> list[tuple[int, RadialPart, int]]:
        """Divide n frequencies equally among the parts, as luo2021 does; return sign, part and number for each.

        Raises
        ------
        ValueError
            If there are fewer frequencies than parts.
        """
        parts = self.parts()
        if n < len(parts):
            raise ValueError(
                f"A signed measure needs a frequency for each of its 2 parts, but {n} are to be drawn. Raise "
                "n_components."
            )
        return [(sign, part, (n + len(parts) - 1 - i) // len(parts)) for i, (sign, part) in enumerate(parts)]

    @property
    def total_mass(self) -> float:
        """The sum of the masses of both parts; the variance of signed features grows with its square."""
        return sum(part.mass for _, part in self.parts())

    def profile(self, z: ArrayLike) -> NDArray[np.float64]:
        """Return the kernel that the measure represents at the distances z (n,), shape (n,)."""
        z = np.atleast_1d(np.asarray(z, dtype=np.float64))
        terms = (sign * part.mass * part.transform(self.dimension, z) for sign, part in self.parts())
        return sum(terms, start=np.zeros_like(z))
