"""MVORF: minimum-variance orthogonal random features, a method that was introduced in rflib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from rflib.frequencies.axial_harmonics import axial_harmonics
from rflib.frequencies.axial_pairs import AxialPairs
from rflib.frequencies.composition import Composition
from rflib.frequencies.leading_harmonics import LeadingHarmonics, lead
from rflib.frequencies.rings import rings
from rflib.kernels.base import RadialKernel
from rflib.kernels.namespaces import Array, zeros
from rflib.kernels.radial_function import KernelLike
from rflib.kernels.sparse_rows import Rows
from rflib.maps.axial_columns import NO_AXIAL_COLUMNS, AxialColumns
from rflib.maps.base import Seed
from rflib.maps.fourier import FourierFeatures, Harmonics
from rflib.maps.kernel_requirements import not_radial
from rflib.measures.atomic import AtomicMeasure
from rflib.measures.construct import MeasureLike
from rflib.measures.domain import Domain
from rflib.measures.exact_measures import is_positive_definite
from rflib.measures.row_pairs import RowPairs
from rflib.validation import check_choice

OBJECTIVES = ("kernel", "learner")
_AXIAL = tuple(field.name for field in fields(AxialColumns))


class MVORF(FourierFeatures):
    """Approximate any kernel of the distance with exact low harmonics and frequencies of least variance.

    These minimum-variance orthogonal random features (MVORF) were introduced in rflib; docs/mvorf.md derives them.
    Linear programs choose a few signed atoms that represent the kernel at the distances of the data. The lowest
    spherical harmonics of the kernel, as seen from the mean of the training rows, have exact columns. The rest of
    the kernel is sampled by cosines and sines of different frequencies, whose directions are whole orthogonal
    bases that are as far apart as possible. The columns are divided among these parts so that the predicted error
    is least, and parts that are not worth their columns are left out (`rflib.frequencies.composition`). If
    harmonics alone have a lower error, all columns are harmonics, in the order of the eigenvalues of the kernel
    (`rflib.frequencies.leading_harmonics`). Two more choices are rings of equispaced directions, with two input
    columns (`rflib.frequencies.rings`), and harmonics about the axis through the mean of the rows, for a kernel
    that is positive definite on the unit sphere only (`rflib.frequencies.axial_harmonics`). The kernel may be
    indefinite; for a kernel that is known to be positive definite, all signs are +1.

    With ``harmonics=None, parity=False, coupled=False`` the map is the plain one: all columns are drawn, from the
    atoms that have the least variance without exact columns (`rflib.measures.minimum_variance`). The map is also
    the plain one if ``layout``, ``directions`` or ``radii`` differ from their defaults.

    Parameters
    ----------
    kernel : Kernel, callable or None, default=None
        Kernel to approximate; None means Gaussian(sigma=1), and a function of one array is the profile of a
        kernel.
    n_components : int, default=100
        Number of columns D.
    measure : str, dict or SpectralMeasure, optional
        What the frequencies are drawn from; see `rflib.measures.construct`. It must be atomic. By default it is
        "minimum_residual", and "minimum_variance" for the plain map.
    directions : {"iid", "orthogonal", "frame", "halton", "sobol"}, default="orthogonal"
        How the directions of the frequencies are drawn; see `rflib.frequencies.directions`.
    radii : {"iid", "stratified", "halton"}, default="stratified"
        How the norms of the frequencies are drawn; see `rflib.frequencies.draw`.
    layout : {"cos_sin", "phase"}, default="cos_sin"
        Whether each frequency has a cosine and a sine as columns, or one cosine with a random phase; see
        `FourierFeatures`.
    harmonics : None, "auto", int or tuple of 3 or 4 int, default="auto"
        The spherical harmonics of the kernel that have exact columns; see `FourierFeatures`.
    parity : bool or "auto", default="auto"
        Whether cosines and sines have different frequencies; see `FourierFeatures`.
    coupled : bool or "auto", default="auto"
        Whether orthogonal bases share one random rotation and are as far apart as possible; see `FourierFeatures`.
    objective : {"kernel", "learner"}, default="kernel"
        What the columns are chosen for. "kernel" makes the error of the kernel small. "learner" spans the leading
        eigenfunctions of the kernel, which is best for ridge regression and support vector machines, even if the
        error of the kernel is larger. Use "learner" if the features go into a learner and the kernel itself is of
        no interest, above all for narrow kernels.
    random_state : int, Generator, SeedSequence, RandomState or None, default=None
        Seed of the random draws. An integer gives the same features on every machine.

    Attributes
    ----------
    frequencies_, weights_, phases_, measure_, centre_, radius_
        As for `FourierFeatures`.
    bias_bound_ : float
        Bound on |E k_hat(x, y) - k(x, y)| for rows within radius_ of centre_. The bias of the atoms is its largest
        value on a fine grid of distances. The bias of shrunk parts is bounded; where harmonics replace parts of
        both signs, the whole bias is its largest value on a grid of rows. The bias of harmonics about an axis is
        largest on the diagonal, and is looked for on a grid of the axis.
    predicted_error_ : float
        Predicted root mean square error of one kernel value over all n^2 pairs of n training rows, n of which pair
        a row with itself. For the plain map, pairs of a row with itself are not counted, though the bias may be
        largest there, and low-discrepancy directions are treated as independent ones.
    composition_ : Composition or LeadingHarmonics
        The chosen columns (`rflib.frequencies.composition`), of which `Rings` and `AxialHarmonics` are kinds. It
        is set by `fit`, not by `restore`, and not for the plain map.
    """

    frequencies_per_s = 2
    unsupported = staticmethod(not_radial)
    _state = (*FourierFeatures._state, *(f"axial_{name}_" for name in _AXIAL))

    def __init__(
        self,
        kernel: KernelLike = None,
        n_components: int = 100,
        *,
        measure: MeasureLike | None = None,
        directions: str = "orthogonal",
        radii: str = "stratified",
        layout: str = "cos_sin",
        harmonics: Harmonics = "auto",
        parity: bool | str = "auto",
        coupled: bool | str = "auto",
        objective: str = "kernel",
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernel,
            n_components,
            measure=measure,  # type: ignore[arg-type]
            directions=directions,
            radii=radii,
            layout=layout,
            harmonics=harmonics,
            parity=parity,
            coupled=coupled,
            random_state=random_state,
        )
        self.objective = objective

    def construction(self) -> MeasureLike:
        """Return the parameter ``measure``, or by default the measure that suits the other parameters."""
        if self.measure is not None:
            return self.measure
        return "minimum_residual" if self._has_options() else "minimum_variance"

    def _has_options(self) -> bool:
        """Return whether harmonics, parity or coupled applies; "auto", the default, does not for the plain map."""
        given = (self.harmonics, self.parity, self.coupled)
        if any(option == "auto" for option in given) and self._is_composed():
            return True
        return self.harmonics not in (None, "auto") or True in (self.parity, self.coupled)

    def _composition(
        self, rungs: Sequence[AtomicMeasure], pairs: RowPairs, *, positive: bool
    ) -> Composition | LeadingHarmonics | None:
        if self.objective == "learner":
            exact, coupled = self._exact_at(pairs), bool(self.coupled)
            return lead(rungs, exact, pairs, self.n_components, coupled=coupled, positive=positive)
        best = super()._composition(rungs, pairs, positive=positive)
        if len(pairs.centre) == 2 and (self.harmonics, self.parity, self.coupled) == ("auto", "auto", "auto"):
            allowed = [rung for rung in rungs if not positive or rung.negative is None]
            ringed = rings(allowed, self._exact_at(pairs), pairs, self.n_components)
            if ringed and (best is None or ringed.mean_squared_error < best.mean_squared_error):
                return ringed
        return best

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self, "objective", OBJECTIVES)
        if self._has_options() and not self._is_composed():
            raise ValueError(
                "MVORF: harmonics, parity and coupled need layout='cos_sin', directions='orthogonal' and "
                "radii='stratified'. For other directions and norms use GORF."
            )
        if self.objective == "learner" and (self.harmonics, self.parity) != ("auto", "auto"):
            raise ValueError(
                "MVORF: objective='learner' chooses the harmonics itself. Leave harmonics='auto' and "
                "parity='auto'."
            )

    def _draw(self, X: Rows, y: ArrayLike | None, rng: Generator) -> None:
        self._keep_axial(NO_AXIAL_COLUMNS)
        super()._draw(X, y, rng)
        if not isinstance(self.measure_, AtomicMeasure):
            raise ValueError(
                f"MVORF: measure must be an atomic measure, got {self.measure!r}. Use GORF for other measures."
            )
        if self._has_options():
            assert isinstance(self.kernel_, RadialKernel)
            offset = float(np.linalg.norm(self.centre_ - self.exact_pole_))
            nearest = max(0.0, 1 - offset) if self.kernel_.unit_norm else 0.0
            farthest = float(self.radius_) + offset
            self.bias_bound_ = _bias_bound(self.composition_, self.kernel_, nearest, farthest)
        else:
            self.bias_bound_ = self.measure_.bias_bound
            self.predicted_error_ = self.measure_.predicted_error(self._sampling())

    def _draw_with_options(self, X: Rows, rng: Generator) -> None:
        super()._draw_with_options(X, rng)
        if not self._may_be_axial():
            return
        assert isinstance(self.kernel_, RadialKernel)
        rows, every = AxialPairs.of(X), Domain.of(X).all_pairs
        found = axial_harmonics(self.kernel_, rows, self.n_components, self.composition_.measure)
        if found and np.sqrt(found.error_over(self._exact_at(every), every)) < self.predicted_error_:
            # The sample of rows along the axis has more rows that lie far from the others.
            self.predicted_error_ = float(np.sqrt(found.error_over(self._exact_at(rows.pairs), rows.pairs)))
            self._draw_composition(found, rng)
            self.signature_ = np.ones(self.n_components)
            self._keep_exact(rows.pairs.centre, ())
            axis = rows.pairs.centre / rows.length
            self._keep_axial(AxialColumns.of(axis, found.functions, found.samples(rng)))

    def _may_be_axial(self) -> bool:
        """Return whether the kernel is positive definite on the unit sphere only, and the columns are free."""
        free = (self.harmonics, self.parity, self.coupled) == ("auto", "auto", "auto")
        if not (free and self.objective == "kernel" and isinstance(self.measure_, AtomicMeasure)):
            return False
        return self.kernel_.unit_norm and is_positive_definite(self.kernel_)

    def _keep_axial(self, columns: AxialColumns) -> None:
        for name in _AXIAL:
            setattr(self, f"axial_{name}_", getattr(columns, name))

    def _columns(self, X: Rows) -> Array:
        columns = AxialColumns(*(getattr(self, f"axial_{name}_") for name in _AXIAL))
        if not len(columns.degrees):
            return super()._columns(X)
        features = zeros((X.shape[0], self.n_components_), X.data if issparse(X) else X)
        columns.fill(X, features)
        return features


@lru_cache(maxsize=32)
def _bias_bound(
    composition: Composition | LeadingHarmonics, kernel: RadialKernel, nearest: float, farthest: float
) -> float:
    return composition.bias_bound(kernel, nearest, farthest)
