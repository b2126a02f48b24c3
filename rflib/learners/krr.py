"""Kernel ridge regression on random features."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.kernels.namespaces import (
    Array,
    beside,
    follow,
    in_type_of,
    is_foreign,
    namespace,
    to_numpy,
    widest,
)
from rflib.learners.feature_ridge import FeatureRidge, RidgeParameters
from rflib.learners.passes import PassOptions
from rflib.learners.values import check_weights
from rflib.learners.weight_posterior import WeightPosterior
from rflib.maps.dask_rows import takes_dask_rows
from rflib.sklearn_bases import MultiOutputMixin, RegressorMixin


@dataclass(kw_only=True, eq=False, repr=False)
class _Parameters(RidgeParameters):
    criterion: Literal["squared_error", "marginal_likelihood"] = "squared_error"


class KRR(MultiOutputMixin, RegressorMixin, _Parameters, FeatureRidge):
    """Fit kernel ridge regression on random features, with the ridge chosen by cross-validation.

    beta = (Z^T Z + c I)^-1 Z^T (y - mean(y)) and f(x) = mean(y) + <z(x), beta> (liu2020, section 2.1).

    The ridge of rows in memory is chosen by leave-one-out, which is exact: one eigendecomposition of the Gram
    matrix, or of the kernel matrix (n, n) if there are fewer rows than columns, gives the error of each row for
    each alpha. The features are used twice: those of more than 4 D rows are made again. Memory: about 6 D^2
    numbers for D columns (up to 10 D^2 where features are kept), block_size * D, and n_alphas * n * n_targets.
    Work: 3 n D^2 and the decomposition.

    With folds the rows are seen once: Gram matrices and moments are accumulated for each fold, and both the
    training systems of all folds and their held-out errors follow from these. Memory: (K + 2) D^2 numbers for K
    folds (3 D^2 for a single alpha) and block_size * D, whatever n is. Work: n D^2, and a factorisation for each
    fold and alpha (one reduction to tridiagonal form for each fold, if there are more than 8 alphas). D^2 numbers
    stay after `fit`.

    The same solution is the posterior mean of Bayesian linear regression, f(x) = intercept + <z(x), w> with
    w ~ N(0, (noise_variance / c) I): a Gaussian process with the kernel noise_variance / c * <z(x), z(y)>.
    `predict` and `sample_y` give its standard deviations and draws, which hold as far as this model does: choose
    the ridge for them by marginal likelihood, from a fine grid of alphas.

    Parameters
    ----------
    alphas : array-like of float or float, default=(1e-8, 3e-8, 1e-7, ..., 3, 10)
        Ridges to choose from, positive. A single one is used as it is. The default ones suit features z(x) of
        about unit norm, as all maps make them; those that a Gram matrix of single precision does not resolve are
        left out. If the best of other alphas is at an edge, a `GridEdgeWarning` says so. scikit-learn's
        ``Ridge(alpha)`` is ``alphas=alpha, ridge="lambda"``.
    ridge : {"n_lambda", "lambda"}, default="n_lambda"
        Unit of the alphas. ``"n_lambda"``: c = n * alpha, as printed in liu2020; n counts the rows trained on,
        also within cross-validation. ``"lambda"``: c = alpha, as in the code released with it.
    cv : int, splitter or iterable, optional
        None: leave-one-out for rows in memory, where a row with a weight is left out as a whole; but 5 folds for
        blocks, streams, Dask rows, rows on a device, ``signed="krein"`` and ``solver="cg"``. A number means
        shuffled folds, drawn from random_state. Every row must be held out once.
    criterion : {"squared_error", "marginal_likelihood"}, default="squared_error"
        What chooses among several alphas: the least squared error of cross-validation, or the largest marginal
        likelihood, which needs no folds (hence 3 D^2 numbers) and one factorisation an alpha.
    feature_map : transformer, optional
        Map from X to features; cloned and fitted on (X, y), then applied to blocks of rows. None: X holds the
        features already. X may be a numpy.memmap: only blocks of it are read. A map that does not begin with one
        of rflib's, such as a Pipeline of a ColumnTransformer and a map, gets DataFrames and missing values as they
        are.
    signature : array-like of shape (n_components,), optional
        Signs +1 and -1 of the features where X holds these, ``map.signature_``. With a feature_map its own are
        used, those of the last step if it is a Pipeline. ``"positive"`` and ``"krein"`` need one or the other: as
        the last step of a Pipeline a learner gets features without their signs.
    signed : {"associated", "positive", "krein"}, default="associated"
        What to do with -1 columns. ``"associated"``: use all columns without their signs, which is the positive
        definite kernel k_+ + k_-: right where only the score counts. ``"positive"``: only the +1 columns, k_+.
        ``"krein"``: the indefinite kernel k = k_+ - k_- itself, f = K_hat (K_hat + c I)^-1 y, whose
        features solve (Z^T Z + c E) beta = Z^T y with E = diag(signature). That is a stationary point, not a
        minimum, and it does not exist where -c is an eigenvalue of K_hat; near such c the solution is large and
        depends on the noise. Singular systems count as infinite error in cross-validation.
    solver : {"direct", "cg"}, default="direct"
        ``"cg"``: conjugate gradients without a Gram matrix, for so many columns that D^2 numbers do not fit: all
        folds, alphas and targets at once, preconditioned by a sketch of the Gram matrix (Frangella, Tropp, Udell,
        Randomized Nystroem preconditioning, 2023). Predictions are within 1e-6 of the direct ones; a
        `ConvergenceWarning` says where they may not be. Held-out errors are within about 1e-3. Features are kept
        if they take at most an eighth of the machine's memory, and else made again in each step. It does without
        partial_fit, blocks, Dask rows, devices, marginal likelihood, standard deviations and ``signed="krein"``.
    block_size : int, default=4096
        Rows in a block. It changes results by rounding only.
    gram_dtype : {"float32", "float64"}, optional
        Precision of Gram matrices and solutions; None: that of the features. A float32 Gram matrix does not
        resolve alphas below about 1e-6 (for features whose rows have unit norm).
    device : str or torch.device, optional
        Where to compute with rows that are in memory or in files: a device of torch, such as "cuda". Blocks of
        rows are copied there, and results come back as arrays of numpy. Needs torch, the extra ``array``, and the
        environment variable SCIPY_ARRAY_API=1, for which scikit-learn asks. None: where the rows are.
    verbose : bool, default=False
        Print steps, the residual and the seconds of ``solver="cg"`` every ten seconds.
    random_state : int, RandomState or None, default=0
        Shuffles the folds, and draws the sketch of ``solver="cg"``.

    Attributes
    ----------
    alpha_ : float
        The alpha used.
    cv_errors_ : ndarray of shape (n_alphas, n_folds)
        Mean squared error of each alpha on each held-out fold, or (n_alphas, 1) that of all left-out rows; absent
        where nothing is cross-validated. alpha_ has the least mean over folds.
    best_score_ : float
        The criterion at alpha_, where there are several alphas: minus that mean, or the marginal likelihood.
    loo_predictions_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Predictions of the training rows, each by the fit at alpha_ without it; NaN for rows of weight zero. Absent
        unless the ridge was chosen by leave-one-out.
    log_marginal_likelihoods_ : ndarray of shape (n_alphas,)
        That of each alpha, where it is the criterion.
    log_marginal_likelihood_ : float
        Logarithm of the density of the targets less their mean, at alpha_ and noise_variance_, summed over
        targets; absent for ``signed="krein"``, as the noise variance is.
    noise_variance_ : float or ndarray of shape (n_targets,)
        Variance of the noise: the one of largest marginal likelihood, given c.
    coef_ : ndarray of shape (n_components,) or (n_targets, n_components)
        beta; zero for columns that are not used.
    intercept_ : float or ndarray of shape (n_targets,)
        Mean of the targets.
    signature_ : ndarray of shape (n_components,)
        Signs of the features; all +1 where nothing tells them.
    feature_map_ : transformer
        The fitted map, if there is one.
    n_features_in_ : int
        Number of columns of X.

    See Also
    --------
    KernelRegressor : Chooses the kernel and the map too.
    KRRClassifier : The same for labels.
    ExactKRR : The exact kernel.
    sklearn.kernel_ridge.KernelRidge : The exact kernel in scikit-learn.
    sklearn.gaussian_process.GaussianProcessRegressor : The exact posterior.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rflib.kernels import Gaussian
    >>> from rflib.learners import KRR
    >>> from rflib.maps import MercerFeatures
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KRR(feature_map=MercerFeatures(Gaussian("scale"), 50, random_state=0)).fit(X, y)
    >>> mean, std = model.predict(X[:3], return_std=True)
    >>> std.shape
    (3,)
    """

    _several_targets = True

    def _begin(self, y: Array, sample_weight: Any) -> tuple[Array, Any]:
        self._know_targets(y, list)
        return y, sample_weight

    @all_or_nothing
    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add rows to those seen before; the solution is that of `fit` on all rows, in whatever blocks and order.

        A call adds to a copy of the moments, so that one that fails changes nothing. The ridge is chosen and the
        system solved when a prediction or a fitted attribute is first asked for, which raises what `fit` would
        then. Between the calls the moments stay in memory: one Gram matrix (D^2 numbers) for a single alpha or
        ``criterion="marginal_likelihood"``, else one a fold. After `fit` its rows count too; an alpha that it
        chose by cross-validation stays.

        The feature_map is fitted on the first block, so it must need no more than the number of columns; a map
        that needs rows is given fitted, as ``sklearn.frozen.FrozenEstimator(map)``. With several alphas and
        ``criterion="squared_error"`` rows are dealt to ``cv`` folds by a hash of their numbers. As these are other
        folds than those of `fit`, alpha_ may be another where errors are close; for an equal alpha_ the
        coefficients are equal to rounding. For these folds rows on a device are copied to the host.

        Raises
        ------
        ValueError
            As in `fit`; also for a map that depends on the rows, and for several alphas with a cv that is no
            number.
        """
        return self._partial_fit(X, y, sample_weight)

    @all_or_nothing
    def fit_blocks(self, rows: Any, **options: Unpack[PassOptions]) -> Self:
        """Fit to rows that need not fit into memory, in one pass; the solution is that of `fit` on all of them.

        A feature_map that depends on no more than the number of columns is fitted on the first block. Any other is
        fitted on a uniform sample of ``sample_size`` rows without replacement, which a pass before draws by
        ``random_state``: on all rows, if they are no more. Folds are those of `partial_fit`, which rows' numbers
        decide. Memory: what the class says, and two blocks. If the call fails, the learner is as it was before.

        Parameters
        ----------
        rows : ParquetRows, ArrayRows or iterable
            Blocks (X, y) or (X, y, sample_weight), dense, CSR or DataFrames, whose columns must have the names of
            those of the first one. Blocks that can be iterated once only, such as those of a generator, are enough
            unless the feature_map needs a sample.
        sample_size : int, default=10000
            Largest number of rows that a feature_map is fitted on.
        checkpoint : str or path, optional
            File for the moments and the number of rows counted in; it is written at times and removed at the end.
            When the call is made again, in any process, it goes on from there and ends with the same result. It
            needs integers as ``random_state``, also of the feature_map.
        checkpoint_seconds : float, default=60
            Time between two writes of it; 0 writes after each block.
        verbose : bool, default=False
            Print rows, rows a second and the time left every ten seconds, and at the end of a pass.

        Raises
        ------
        TypeError
            If rows cannot be iterated.
        ValueError
            As in `fit`, with the place of the row or rows; also if there are no rows, they can be iterated once
            only but need two passes, a file is damaged, cv is no number where there are several alphas, or the
            checkpoint belongs to another call.
        """
        return self._fit_blocks(rows, options)

    def _know_targets(self, y: Array, labels: Callable[[], Any]) -> None:
        self._row_shape = tuple(y.shape[1:])

    def _stream_targets(
        self, y: Array, sample_weight: Any, classes: Any = None, *, first: bool = False
    ) -> tuple[Array, Any]:
        if first:
            self._know_targets(y, list)
        if tuple(y.shape[1:]) != self._row_shape:
            raise ValueError(
                f"{type(self).__name__}: y must have as many columns as in the first block, got shape {y.shape}."
            )
        return y, check_weights(self, sample_weight, y.shape[0], only_zeros=True)

    @overload
    def predict(
        self, X: ArrayLike, return_std: Literal[False] = ..., return_cov: Literal[False] = ...
    ) -> NDArray: ...

    @overload
    def predict(
        self, X: ArrayLike, return_std: bool = ..., return_cov: bool = ...
    ) -> NDArray | tuple[NDArray, NDArray]: ...

    @takes_dask_rows
    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> NDArray | tuple[NDArray, NDArray]:
        """Return the predicted targets of the rows X, in the shape that y had in `fit`.

        Those of a Dask array or dataframe are a Dask array, which is computed when it is needed. Those of rows on
        a device are an array on this device.

        With ``return_std`` these are of new targets given the ridge, of the same shape: the variance of the noise
        and that of f together (their square less noise_variance_ is the variance of f). That of the intercept is
        left out. What is known to be missing of the kernel is added: where a map represents it near its training
        rows only, such as MercerFeatures, Nystroem, OptimizedMaclaurin or MVORF, the variance of f has the part
        noise_variance / c * (k(x, x) - <z(x), z(x)>), so that far from all rows it is that of the prior (the
        projected process of Quinonero-Candela and Rasmussen, *A unifying view of sparse approximate Gaussian
        process regression*, JMLR 2005). Work: n D^2, and D^3 / 3 at the first time. With ``return_cov`` they are
        the covariances of the rows' targets instead, (n, n) or (n, n, n_targets), whose diagonal is the square of
        these; what is missing counts as independent from row to row.
        """
        if return_std and return_cov:
            raise ValueError(f"{type(self).__name__}: give return_std or return_cov, not both.")
        if not (return_std or return_cov):
            return self._shaped(self._values(X))
        means, deviations, spreads, lacks = [], [], [], []
        for Z, lack in self._known_parts(X):
            posterior = self._known_posterior().beside(Z)
            means.append(self._affine(Z))
            if return_cov:
                spreads.append(posterior.spread(Z))
                lacks.append(lack)
                continue
            variances = posterior.variances(Z, lack)
            variances = variances + beside(posterior.noise_variance, variances)
            deviations.append(
                in_type_of(variances, Z) ** 0.5 if namespace(Z) is not np else np.sqrt(variances)
            )
        if return_cov:
            spread = widest(namespace(spreads[0]).concat(spreads, axis=1))
            own = 1 + in_type_of(namespace(lacks[0]).concat(lacks, axis=0), spread) / posterior.ridge
            covariance = spread.T @ spread + beside(np.eye(spread.shape[1]), spread) * own
            values = covariance[:, :, None] * beside(posterior.noise_variance, covariance)
            values = values if is_foreign(X) else to_numpy(values)
            return self._shaped(self._joined(means, X)), values[:, :, 0] if self.coef_.ndim == 1 else values
        return self._shaped(self._joined(means, X)), self._shaped(self._joined(deviations, X))

    def sample_y(
        self, X: ArrayLike, n_samples: int = 1, random_state: Any = 0, *, noise: bool = True
    ) -> NDArray[np.float64]:
        """Return draws of the targets at the rows X from their posterior distribution.

        The shape is (n_rows, n_samples), or (n_rows, n_targets, n_samples) if y had several columns in `fit`.


        A draw is one of the weights from their posterior, which makes a function: its values are joint over the
        rows, and the draw costs D^2 however many there are. With ``noise`` each value gets noise of its own, and
        always a part of its own where features lack some of k(x, x), as in `predict`.
        """
        check_is_fitted(self)
        posterior, rng = self._known_posterior(), check_random_state(random_state)
        weights = posterior.draw(n_samples, rng)
        parts = [(_functions(Z, weights), to_numpy(lack)) for Z, lack in self._known_parts(X)]
        values = self._joined([part for part, _ in parts], X)
        values += beside(np.reshape(self.intercept_, (-1, 1)), values)
        shares = noise + np.concatenate([lack for _, lack in parts]) / posterior.ridge
        if shares.any():
            deviations = np.sqrt(np.outer(shares, posterior.noise_variance))[:, :, None]
            values += beside(deviations * rng.standard_normal(values.shape), values)
        return self._shaped(values)

    def _known_parts(self, X: ArrayLike) -> Iterator[tuple[Array, Array]]:
        """Yield the features that are used of blocks of rows, and what they are known to lack of k(x, x)."""
        check_is_fitted(self)
        rows = self._rows(X)
        for part, Z in self._feature_blocks(rows):
            yield self._used(Z), self._lack(self._floats(rows, part), Z)

    def _known_posterior(self) -> WeightPosterior:
        """Return the posterior, for which the system is factorised again when it is first asked for."""
        if self.signed == "krein":
            raise ValueError(
                f"{type(self).__name__}: the indefinite kernel of signed='krein' is no covariance, so there "
                "are no standard deviations or draws. Use signed='associated' or 'positive'."
            )
        if "_posterior" not in self.__dict__:
            if self._state is None:
                raise self._needs_gram("a posterior")
            self._posterior = cast(WeightPosterior, self._state.solver().solve(self.alpha_)[2])
        return self._posterior

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Array]:
        rows, y = super()._checked(X, y, reset=reset)
        if not is_foreign(rows):
            return rows, np.asarray(to_numpy(y), dtype=np.float64)
        wide = widest(rows[:1, :])
        return rows, in_type_of(follow(y, wide), wide)

    def _shaped(self, values: Array) -> Array:
        return values[:, 0, ...] if self.coef_.ndim == 1 else values

    def _targets(self, y: Array) -> Array:
        return y.reshape(len(y), -1) if namespace(y) is np else namespace(y).reshape(y, (y.shape[0], -1))

    def _set_solution(self, coef: NDArray, intercept: NDArray, posterior: WeightPosterior | None) -> None:
        one = not self._row_shape
        self.coef_, self.intercept_ = (coef[:, 0], float(intercept[0])) if one else (coef.T, intercept)
        if posterior is not None:
            noise = posterior.noise_variance
            self.noise_variance_ = float(noise[0]) if one else noise
            self.log_marginal_likelihood_ = posterior.log_marginal_likelihood


def _functions(Z: Array, weights: NDArray) -> Array:
    """Return the values (n, t, s) of functions with drawn weights (s, D, t) at features Z (n, D)."""
    if namespace(Z) is np:
        return np.einsum("nd,sdt->nts", Z, weights, optimize=True)
    _, D, t = weights.shape
    flat = np.transpose(weights, (1, 2, 0)).reshape(D, -1)
    return namespace(Z).reshape(Z @ beside(flat, Z), (Z.shape[0], t, -1))
