"""HilbertSpaceFeatures: the sine functions of a box around the rows."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from rflib.kernels.base import Kernel
from rflib.kernels.namespaces import Array, beside, in_type_of, namespace, take_rows, widest
from rflib.kernels.sparse_rows import Rows
from rflib.maps.product_features import ProductFeatures

# Exponents of the sizes by which frequencies are ordered, so that these do not underflow.
_SMALLEST = 500.0
# The half-width of the box in multiples of the half-range of the rows, and in multiples of the kernel's width.
_OF_RANGE, _GAUSSIAN, _ROUGH, _SMOOTH = 1.2, 3.2, 4.5, 4.1


class HilbertSpaceFeatures(ProductFeatures):
    """Approximate a kernel by the eigenfunctions of the Laplace operator on a box around the rows.

    With the half-widths L_i and the centre c of the box, the eigenfunctions are prod_i L_i^(-1/2) sin(w_i (x_i -
    c_i + L_i)), where w_i is a multiple of pi / (2 L_i). The kernel is nearly the sum of their products times the
    spectral density S(w), a falling function of |w|. The columns are the D eigenfunctions with the largest S(w).
    The error falls fast with the number of functions of each input column, down to what the walls of the box cost:
    rows near them lose a part of k(x, x). But the number of columns is a power of it, so the map suits up to three
    or four input columns. Features are zero outside the box, of which `transform` warns. Nothing is random.

    Parameters
    ----------
    kernel, n_components, random_state
        As for `RandomFeatureMap`; the kernel is Gaussian or Matern.

    Attributes
    ----------
    centre_, half_widths_ : ndarrays of shape (n_features_in_,)
        Centre and half-widths L_i of the box, in units of the inputs. L_i is the half-range of the training rows
        times 1.2, and at least 3.2 widths of a Gaussian kernel, 4.5 of a Matern kernel with nu up to 3/2, and 4.1
        of a smoother one, as Riutort-Mayol et al. recommend.
    scales_ : ndarray of shape (n_products,)
        sqrt(S(w) / prod_i L_i) for each column.
    tree_ : ProductTree
        Which frequencies the columns have.

    See Also
    --------
    MercerFeatures : Eigenfunctions for the law of the rows, and many input columns.
    QuadratureFeatures : Quadrature, for few input columns too.

    References
    ----------
    Solin, Sarkka: Hilbert space methods for reduced-rank Gaussian process regression, Statistics and Computing
    2020. Riutort-Mayol, Buerkner, Andersen, Solin, Vehtari: Practical Hilbert space approximate Bayesian Gaussian
    processes for probabilistic programming, Statistics and Computing 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from rflib.kernels import Matern
    >>> from rflib.maps import HilbertSpaceFeatures
    >>> X = np.linspace(0, 5, 50)[:, None]
    >>> features = HilbertSpaceFeatures(Matern(2.5, 1.0), 40).fit(X)
    >>> bool(abs(features.kernel_matrix(X) - features.kernel_(X)).max() < 0.02)
    True
    """

    _kernels = (lambda kernel: kernel.matern_order is not None, "neither Gaussian nor Matern")

    def _draw(self, kernel: Kernel, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        assert kernel.matern_order is not None
        least = _GAUSSIAN if kernel.is_gaussian else _ROUGH if kernel.matern_order <= 1.5 else _SMOOTH
        lowest, highest = widest(X.min(axis=0)), widest(X.max(axis=0))
        self.centre_ = (lowest + highest) / 2
        self.half_widths_ = np.maximum(_OF_RANGE * (highest - lowest) / 2, least * kernel.single_width)
        multiples = np.arange(1.0, 1 + self._n_functions(X.shape[1]))
        squares = (kernel.single_width * np.pi / 2 * multiples / self.half_widths_[:, None]) ** 2
        excess = squares - squares[:, :1]
        self._keep_largest(np.exp(-excess * min(1.0, _SMALLEST / max(excess.max(), 1.0))))
        totals = np.full(len(self.tree_), squares[:, 0].sum())
        for number in range(1, len(self.tree_)):
            more = excess[self.tree_.axes[number], self.tree_.powers[number]]
            totals[number] = totals[self.tree_.parents[number]] + more
        log_volume = np.log(self.half_widths_ / kernel.single_width).sum()
        self.scales_ = np.exp((log_spectral_density(kernel, totals, X.shape[1]) - log_volume) / 2)

    def _factors(self, X: Rows, axes: NDArray, powers: NDArray) -> tuple[Array, Array]:
        xp, rows = namespace(X), widest(X)
        places = (rows - beside(self.centre_, rows)) / beside(self.half_widths_, rows)
        along = xp.clip(places, -1.0, 1.0).T * (np.pi / 2)
        used, which = np.unique(axes, return_inverse=True)
        cosines = take_rows(-xp.sin(along), used)
        values = [xp.ones_like(cosines), 2 * cosines]  # sin((p + 1) t) / sin(t) for p = 0, 1, ...
        for _ in range(2, powers.max(initial=0) + 1):
            values.append(2 * cosines * values[-1] - values[-2])
        ratios = take_rows(xp.concat(values, axis=0), powers * len(used) + which)
        return in_type_of(xp.prod(xp.cos(along), axis=0), X), in_type_of(ratios, X)

    def _columns(self, X: Rows) -> Array:
        features = super()._columns(X)
        features[:, : len(self.scales_)] *= beside(self.scales_, features)
        return features


def log_spectral_density(kernel: Kernel, squares: NDArray, d: int) -> NDArray[np.float64]:
    """Return the logarithm of the spectral density in R^d for the width 1, at squared norms of frequencies."""
    nu = kernel.matern_order
    if nu is None or kernel.is_gaussian:
        return np.asarray(d / 2 * np.log(2 * np.pi) - squares / 2)
    constant = d / 2 * np.log(4 * np.pi) + gammaln(nu + d / 2) - gammaln(nu) + nu * np.log(2 * nu)
    return np.asarray(constant - (nu + d / 2) * np.log(2 * nu + squares))
