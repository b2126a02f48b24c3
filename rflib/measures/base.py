"""Spectral measures: what frequencies are drawn from. Radial and signed, or a product over coordinates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, gammaincinv, ndtri

from rflib.measures.omega import omega


class RadialPart(ABC):
    """A finite positive measure over the frequency norm: a mass and the distribution of the radius."""

    mass: float

    @abstractmethod
    def quantile(self, u: NDArray) -> NDArray:
        """Radii at the probabilities u in (0, 1)."""

    @abstractmethod
    def quadrature(self) -> tuple[NDArray, NDArray]:
        """Radii and probabilities of a discrete distribution that integrates smooth functions accurately."""

    def transform(self, dimension: int, z: NDArray) -> NDArray:
        """E Omega_d(r z), the characteristic function of the normalised part, at the distances z (1-d)."""
        radii, probabilities = self.quadrature()
        return omega(dimension, np.multiply.outer(z, radii)) @ probabilities


class ClosedFormPart(RadialPart):
    """A part with a closed-form quantile function, integrated by the trapezoidal rule in logit(u)."""

    def quadrature(self) -> tuple[NDArray, NDArray]:
        """801 nodes; the integrand decays exponentially at both ends, where the rule is exact to rounding."""
        logit = np.linspace(-35, 35, 801)
        u = expit(logit)
        weights = u * expit(-logit)
        return self.quantile(u), weights / weights.sum()


def chi_quantile(dimension: int, u: NDArray) -> NDArray:
    """Return the norm of a standard normal vector at the probabilities u in (0, 1)."""
    return np.sqrt(2 * gammaincinv(dimension / 2, u))


@dataclass(frozen=True)
class ChiPart(ClosedFormPart):
    """Norm of N(0, I_d / sigma^2): chi_d / sigma."""

    mass: float
    dimension: int
    sigma: float

    def quantile(self, u: NDArray) -> NDArray:
        """Radii at the probabilities u in (0, 1)."""
        return chi_quantile(self.dimension, u) / self.sigma


@dataclass(frozen=True, eq=False)
class TablePart(RadialPart):
    """A distribution function tabulated at increasing radii, linear in between."""

    mass: float
    radii: NDArray
    cdf: NDArray

    @classmethod
    def of_increments(cls, mass: float, radii: NDArray, increments: NDArray) -> TablePart:
        """Build the part from what each interval between radii has, in any unit."""
        cdf = np.concatenate([[0.0], np.cumsum(increments)])
        return cls(mass, radii, cdf / cdf[-1])

    def quantile(self, u: NDArray) -> NDArray:
        """Radii at the probabilities u in (0, 1)."""
        return np.interp(u, self.cdf, self.radii)

    def quadrature(self) -> tuple[NDArray, NDArray]:
        """The midpoints of the table's intervals and their probabilities."""
        probabilities = np.diff(self.cdf)
        inside = probabilities > 0
        return ((self.radii[1:] + self.radii[:-1]) / 2)[inside], probabilities[inside]


@dataclass(frozen=True, eq=False)
class DiscretePart(RadialPart):
    """Finitely many radii."""

    mass: float
    radii: NDArray
    probabilities: NDArray

    @classmethod
    def of_masses(cls, radii: NDArray, masses: NDArray) -> DiscretePart | None:
        """Build the part from the masses of its radii; None if there is no mass."""
        total = float(masses.sum())
        return cls(total, radii, masses / total) if total else None

    def quantile(self, u: NDArray) -> NDArray:
        """Radii at the probabilities u in (0, 1)."""
        cdf = np.cumsum(self.probabilities)
        return self.radii[np.minimum(np.searchsorted(cdf, u), len(cdf) - 1)]

    def quadrature(self) -> tuple[NDArray, NDArray]:
        """The atoms themselves."""
        return self.radii, self.probabilities


@dataclass(frozen=True)
class Sampling:
    """How frequencies will be drawn and used: with the measure, all that the variance depends on.

    Attributes
    ----------
    n : int
        Number of frequencies.
    directions, radii : str
        The rules of `rflib.frequencies.draw.sample_frequencies`.
    phases : int
        How many of them, the last ones, have one column with a random phase in place of a cosine and a sine.
    """

    n: int
    directions: str = "iid"
    radii: str = "iid"
    phases: int = 0


class SpectralMeasure(ABC):
    """What the frequencies of a kernel on R^dimension are drawn from.

    Attributes
    ----------
    dimension : int
        Input dimension d.
    zmax : float
        Largest distance at which the measure represents the kernel.
    """

    dimension: int
    zmax: float = np.inf

    def for_sampling(self, sampling: Sampling) -> SpectralMeasure:
        """Return the measure to use for frequencies that are drawn so.

        Only the minimum-variance measures depend on it (`rflib.measures.atomic.AtomicLadder`).
        """
        return self


@dataclass(frozen=True)
class ProductMeasure(SpectralMeasure):
    """Probability measure with independent coordinates, each ``scale`` times a standard distribution."""

    dimension: int
    family: str
    scale: float

    def quantile(self, u: NDArray) -> NDArray:
        """Coordinates at the probabilities u in (0, 1)."""
        return self.scale * _COORDINATE_QUANTILES[self.family](u)


def _cauchy_quantile(u: NDArray) -> NDArray:
    return np.tan(np.pi * (u - 0.5))


def _laplace_quantile(u: NDArray) -> NDArray:
    return np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u)))


_COORDINATE_QUANTILES: dict[str, Callable[[NDArray], NDArray]] = {
    "normal": ndtri,
    "cauchy": _cauchy_quantile,
    "laplace": _laplace_quantile,
}


@dataclass(frozen=True, eq=False)
class RadialMeasure(SpectralMeasure):
    """Signed radial measure by its Jordan parts: k(z) = sum over parts of sign * mass * E Omega_d(r z).

    Attributes
    ----------
    positive, negative : RadialPart or None
        Jordan parts; None where the part is empty.
    coordinates : ProductMeasure or None
        The same measure with independent coordinates, where there is one (Gaussian).
    """

    dimension: int
    positive: RadialPart | None
    negative: RadialPart | None = None
    coordinates: ProductMeasure | None = None
    zmax: float = np.inf

    def parts(self) -> Iterator[tuple[int, RadialPart]]:
        """Sign and part, positive first."""
        for sign, part in ((1, self.positive), (-1, self.negative)):
            if part is not None:
                yield sign, part

    def shares(self, n: int) -> Iterator[tuple[int, RadialPart, int]]:
        """Divide n frequencies equally among the parts, as luo2021 does: sign, part and number of each.

        Raises
        ------
        ValueError
            If there are fewer frequencies than parts.
        """
        parts = list(self.parts())
        if n < len(parts):
            raise ValueError(
                f"A signed measure needs a frequency for each of its 2 parts, but {n} were asked for."
            )
        for i, (sign, part) in enumerate(parts):
            yield sign, part, (n + len(parts) - 1 - i) // len(parts)

    @property
    def total_mass(self) -> float:
        """Mass of both parts; the variance of signed features grows with its square."""
        return sum(part.mass for _, part in self.parts())

    def profile(self, z: ArrayLike) -> NDArray[np.float64]:
        """Return the kernel that the measure represents, at the distances z (1-d)."""
        z = np.atleast_1d(np.asarray(z, dtype=np.float64))
        terms = (sign * part.mass * part.transform(self.dimension, z) for sign, part in self.parts())
        return sum(terms, start=np.zeros_like(z))
