"""LearnedMetric: the directions in which a target varies, from the gradients of ridge regression on features."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.preprocessing import LabelBinarizer, StandardScaler
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from rflib.drafts import all_or_nothing
from rflib.kernels.gaussian import Gaussian
from rflib.kernels.namespaces import is_foreign, to_numpy
from rflib.kernels.sparse_rows import Rows as AnyRows
from rflib.kernels.sparse_rows import canonical, times_columns
from rflib.kernels.width import median
from rflib.keywords import Keywords
from rflib.learners.checked_rows import CheckedRows
from rflib.learners.held_out_ridge import HeldOutRidge, Rows, held_out_ridge
from rflib.learners.parameter_checks import check_seed
from rflib.learners.values import as_array, as_labels, as_numbers, refuse_extremes
from rflib.maps.base import RandomFeatureMap
from rflib.maps.leverage import TASKS, Task, are_labels
from rflib.maps.nystroem import Nystroem
from rflib.maps.row_blocks import row_blocks
from rflib.sklearn_bases import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from rflib.validation import check_choice, check_integer, refuse

# The share of the rows that are held out to compare rounds, and the number of rows below which there are none.
_HELD_OUT, _FEWEST_ROWS = 4, 40
# The default map: its columns, and its width as a share of the median distance.
_N_COMPONENTS, _WIDTH = 512, 0.5
# From this number of input columns on, "auto" is diagonal.
_MOST_COLUMNS = 2000
# Targets whose deviation is below this share of the largest one are equal up to rounding.
_CONSTANT = 1e-13
# Number of rows whose gradients are computed, at least and at most, and numbers in those of a block of rows.
_FEWEST_GRADIENTS, _MOST_GRADIENTS = 2000, 4000
_BLOCK_ELEMENTS = 1 << 22
# What other learners of metrics, and of functions, have as parameters.
_ELSEWHERE = {
    "n_components": "It keeps all columns: scikit-learn's PCA after it leaves the first ones.",
    **dict.fromkeys(("alpha", "alphas", "C"), "The ridge is chosen by held-out rows."),
}


class LearnedMetric(CheckedRows, Keywords, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a linear transformation of rows in which distances count what the target depends on.

    A function f is fitted by ridge regression on the features of a map. The mean over the rows of the outer
    products of its gradients, M = E grad f grad f^T, says how much the target varies in each direction. The rows
    are multiplied by M^(1/2), normalised to the same median distance, and the next round begins with them. The
    round with the least error on held-out rows is kept, which may be round 0, the rows as they are. So a kernel of
    the transformed rows is a kernel of the rows with the metric M: Radhakrishnan, Beaglehole, Pandit and Belkin,
    *Mechanism for feature learning in neural networks and backpropagation-free machine learning models*, Science
    2024; Beaglehole, Holzmueller, Radhakrishnan and Belkin, *xRFM: accurate, scalable, and interpretable feature
    learning models for tabular data*, arXiv 2508.10053, who use exact kernels. The work here is linear in the
    number of rows.

    Columns should have comparable scales, as scikit-learn's ``StandardScaler`` gives them.

    Parameters
    ----------
    feature_map : RandomFeatureMap, optional
        Unfitted map with gradients (`RandomFeatureMap.gradient_products`). None means Nystroem with 512 columns
        for a Gaussian kernel whose width is half the median distance. The map is not kept.
    n_rounds : int, default=4
        Number of rounds with a metric.
    diagonal : bool or "auto", default="auto"
        Whether only the columns are weighted, and not combined. "auto" does so for sparse rows, which then stay
        sparse, and for rows of 2,000 columns or more; of other rows it makes the rounds both ways.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether the targets are class labels or numbers. "auto" takes as labels what `SurrogateLeverageRFF` does:
        texts, booleans, targets with two distinct values, and integers that repeat. Targets of several columns are
        numbers.
    random_state : int, RandomState or None, default=None
        Seed of the rows that are held out, and of the map if its own is None.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features_in_, n_features_in_)
        The metric: the squared distance of transformed rows is (x - y)^T metric_ (x - y). The identity if round 0
        was kept.
    root_ : ndarray of shape (n_features_in_, n_features_in_) or (n_features_in_,)
        Its symmetric root, by which rows are multiplied, or the diagonal of the root where the metric is diagonal.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Diagonal of the metric times the variances of the columns, divided by the sum: how much the target varies
        with each column alone. The unit of a column does not matter, and a constant one has none.
    round_ : int
        The round that was kept; 0 means that no metric was better.
    search_ : list of dict
        For each round its number, whether its metric is diagonal, the squared error on held-out rows as a share of
        the targets' variance ("error"), the standard error of its difference from that of round 0, and the seconds
        that it took.
    n_features_in_ : int
        Number of columns d.

    See Also
    --------
    KernelRegressor : Tries a learned metric among other choices.
    rflib.plotting.MetricDisplay : What it weighs, as a picture.

    Examples
    --------
    >>> import numpy as np
    >>> from rflib.learners import LearnedMetric
    >>> X = np.random.default_rng(0).standard_normal((500, 10))
    >>> metric = LearnedMetric(random_state=0).fit(X, np.sin(2 * X[:, 3]))
    >>> int(np.argmax(metric.feature_importances_))
    3
    """

    _row_types: ClassVar[Any] = (np.float64, np.float32)

    def __init__(
        self,
        feature_map: RandomFeatureMap | None = None,
        *,
        n_rounds: int = 4,
        diagonal: bool | Literal["auto"] = "auto",
        task: Task = "auto",
        random_state: Any = None,
    ) -> None:
        self.feature_map = feature_map
        self.n_rounds = n_rounds
        self.diagonal = diagonal
        self.task = task
        self.random_state = random_state

    @classmethod
    def _called_here(cls, name: str, value: object) -> str | None:
        return _ELSEWHERE.get(name)

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from rows X (n_samples, n_features) and y (n_samples,) or (n_samples, n_targets).

        Of fewer than 40 rows, and of rows whose targets are all equal, nothing is learned: round 0 is kept.

        Raises
        ------
        TypeError
            If the map has no gradients, or cannot take sparse rows.
        ValueError
            If X or y is not finite or of the wrong shape, a parameter is out of its range, or diagonal=False is
            asked of sparse rows.
        """
        check_integer(self, "n_rounds", at_least=1)
        check_choice(self, "diagonal", (True, False, "auto"))
        check_choice(self, "task", TASKS)
        check_seed(self)
        if self.feature_map is not None and not isinstance(self.feature_map, RandomFeatureMap):
            refuse(self, "feature_map", "None or a feature map of rflib")
        rows = canonical(self._rows(X, reset=True))
        targets = self._targets(y)
        check_consistent_length(rows, targets)
        is_sparse = not isinstance(rows, np.ndarray)
        refuse_extremes(self, abs(rows).max(axis=1).toarray() if is_sparse else rows, "X")
        if is_sparse and self.diagonal is False:
            raise ValueError(
                "LearnedMetric: diagonal=False would make sparse rows dense. Leave diagonal='auto', or give dense "
                "rows, X.toarray()."
            )
        self._variances = StandardScaler(with_mean=False).fit(rows).var_
        self.root_, self.round_ = np.ones(rows.shape[1]), 0
        self.search_: list[dict[str, float]] = []
        if len(targets) >= _FEWEST_ROWS and np.ptp(targets, axis=0).any():
            self._search(rows, targets, is_sparse or rows.shape[1] >= _MOST_COLUMNS)
        return self

    def _search(self, rows: AnyRows, targets: NDArray[np.float64], only_diagonal: bool) -> None:
        """Compare the rounds on held-out rows, and keep the best one."""
        kinds = [bool(self.diagonal)]
        if self.diagonal == "auto":
            kinds = [True] if only_diagonal else [False, True]
        rng = check_random_state(self.random_state)
        order = rng.permutation(len(targets))
        held, rest = np.split(order, [len(order) // _HELD_OUT])
        train, others = Rows(rows[rest], targets[rest]), Rows(rows[held], targets[held])
        spread = targets.var(axis=0).sum()
        first = None
        start = perf_counter()
        for found in self._rounds(train, others, kinds, int(rng.randint(2**31 - 1))):
            first = found if first is None else first
            error = float(found.model.errors.mean() / spread)
            if all(error < each["error"] for each in self.search_):
                self.round_, self.root_ = found.number, found.root
            deviation = (found.model.errors - first.model.errors).std() / np.sqrt(len(held))
            self.search_.append(
                {
                    "round": found.number,
                    "diagonal": found.root.ndim == 1,
                    "error": error,
                    "standard_error": float(deviation / spread),
                    "seconds": perf_counter() - start,
                }
            )
            start = perf_counter()

    def transform(self, X: ArrayLike) -> Any:
        """Return the rows X multiplied by the symmetric root of the metric, of the same shape and type.

        Sparse rows stay sparse if the metric is diagonal.

        Raises
        ------
        ValueError
            If X has another number of columns than in `fit` or is not finite.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        return _times(rows, self.root_)

    @property
    def metric_(self) -> NDArray[np.float64]:
        """The metric (n_features_in_, n_features_in_)."""
        return np.diag(self.root_**2) if self.root_.ndim == 1 else self.root_ @ self.root_

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The share of each column in the squared distances of transformed rows (n_features_in_,)."""
        squares = self.root_**2 if self.root_.ndim == 1 else (self.root_**2).sum(axis=0)
        shares = squares * self._variances
        return shares / (shares.sum() or 1.0)

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        return super()._rows(to_numpy(X) if is_foreign(X) else X, reset=reset)

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_

    @property
    def _accepted_sparse(self) -> str | bool:
        takes = self.feature_map is None or get_tags(self.feature_map).input_tags.sparse
        return "csr" if takes else False

    def _targets(self, y: Any) -> NDArray[np.float64]:
        """Return targets (n, n_targets): for labels +1 and -1 for each class against the others."""
        if y is None:
            raise ValueError("LearnedMetric requires y to be passed, but the target y is None.")
        given = as_array(y)
        labels = given.ndim == 1 and are_labels(given) if self.task == "auto" else self.task == TASKS[1]
        if labels:
            codes = np.unique(as_labels(self, y), return_inverse=True)[1]
            return np.asarray(LabelBinarizer(neg_label=-1).fit_transform(codes), dtype=np.float64)
        numbers = np.asarray(as_numbers(self, y), dtype=np.float64)
        numbers = numbers.reshape(len(numbers), -1)
        refuse_extremes(self, numbers, "y")
        deviations = numbers.std(axis=0)
        vary = deviations > _CONSTANT * np.abs(numbers).max(axis=0, initial=0)
        return (numbers - numbers.mean(axis=0)) * np.divide(
            vary, deviations, where=vary, out=0.0 * deviations
        )

    def _rounds(self, train: Rows, held: Rows, kinds: Sequence[bool], seed: int) -> Iterator[_Round]:
        """Yield round 0 and the rounds with a metric, full or diagonal as the kinds say."""
        distance = median(train.X, False)
        if self.feature_map is None:
            columns = min(_N_COMPONENTS, len(train.targets))
            feature_map: RandomFeatureMap = Nystroem(Gaussian(_WIDTH * distance), columns)
        else:
            feature_map = clone(self.feature_map)
        if feature_map.random_state is None:
            feature_map.random_state = seed
        first = _Round.of(0, np.ones(train.X.shape[1]), feature_map, train, held)
        yield first
        for diagonal in kinds:
            found = first
            for number in range(1, self.n_rounds + 1):
                moment = found.mean_products(train.X, diagonal)
                if not moment.any():
                    break
                root = np.sqrt(moment) if diagonal else _symmetric_root(moment)
                root = root * (distance / median(_times(train.X, root), False))
                found = _Round.of(number, root, feature_map, train, held)
                yield found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = bool(self._accepted_sparse)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@dataclass(frozen=True)
class _Round:
    """A model of rows multiplied by a root of a metric, of which a vector is the diagonal."""

    number: int
    root: NDArray[np.float64]
    feature_map: RandomFeatureMap
    model: HeldOutRidge

    @staticmethod
    def of(
        number: int, root: NDArray[np.float64], feature_map: RandomFeatureMap, train: Rows, held: Rows
    ) -> _Round:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = clone(feature_map).fit(_times(train.X, root))
            model = held_out_ridge(lambda X: fitted.transform(_times(X, root)), train, held)
        return _Round(number, root, fitted, model)

    def mean_products(self, rows: AnyRows, diagonal: bool) -> NDArray[np.float64]:
        """Return the mean over rows of the outer products of the gradients in these rows, or its diagonal.

        Of many rows, which are in random order, so many are taken that the gradients cost no more than the model,
        and no more than have a mean that is precise enough.
        """
        (n, d), weights = rows.shape, self.model.coef
        n_components, n_targets = weights.shape
        n = min(n, _MOST_GRADIENTS, max(_FEWEST_GRADIENTS, n * n_components // (n_targets * d)))
        total = np.zeros(d if diagonal else (d, d))
        for part in row_blocks(n, max(1, _BLOCK_ELEMENTS // (d * n_targets))):
            block = _times(rows[part], self.root)
            gradients = self.feature_map.gradient_products(block, weights).reshape(-1, d)
            gradients = _times(gradients, self.root)
            total += np.einsum("ij,ij->j", gradients, gradients) if diagonal else gradients.T @ gradients
        return total / n


def _times(X: AnyRows, root: NDArray) -> AnyRows:
    """Return rows multiplied by a root of a metric."""
    root = root.astype(X.dtype, copy=False)
    return X @ root if root.ndim == 2 else times_columns(X, root)


def _symmetric_root(moment: NDArray) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(moment)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
