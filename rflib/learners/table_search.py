"""The search of the learners of tables: what to try, in which order, and with how many columns to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer

from rflib.kernels.gaussian import Gaussian
from rflib.kernels.matern import Matern
from rflib.kernels.width import median
from rflib.learners.exact_head import ExactHead, best_factor
from rflib.learners.held_out_ridge import HeldOutRidge, Rows, held_out_ridge
from rflib.learners.learned_metric import LearnedMetric
from rflib.learners.single_nystroem import SingleNystroem
from rflib.learners.table_encoding import Table
from rflib.maps.leverage import Task
from rflib.maps.mercer import MercerFeatures

# The choices are made with at most so many columns. A metric is learned from at most so many rows, in so many
# rounds; a full one of at most so many encoded columns. Mercer features are tried from so many on.
_TRIAL_COLUMNS, _TRIAL_ROUNDS, _ROUNDS, _METRIC_ROWS = 400, 2, 3, 10_000
_MOST_FOR_FULL, _FEWEST_FOR_MERCER = 300, 64
# The map of a metric: the numbers of columns between which it has one for 20 rows, and the width.
_FEWEST_FOR_METRIC, _MOST_FOR_METRIC, _METRIC_WIDTH = 256, 512, 0.5
# What differs from a simpler choice must have less than this share of its error.
_CLEARLY = 0.995
# Widths are tried from 1 on, in units of the median distance, as long as the error falls; of an exact kernel from
# 1/2 on.
WIDTHS = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_MERCER_WIDTH = _EXACT_WIDTH = 0.5
# The ridge of an exact kernel in trials, and others that are tried at the end. An exact kernel for more rows takes
# more than 1 GB. One that costs more than the features must have less than this share of their error.
_EXACT_RIDGE, _EXACT_RIDGES, _MOST_EXACT, _WORTH = 1e-5, (1e-6, 1e-4), 16_384, 0.85
# Steps at so many thresholds, at most, of all columns together; the order of so many rows is compared.
_MOST_STEPS, _ORDERED = 400, 256
# What a fit may cost by default, in multiplications: in any case, and for each row; of several classes, so many
# times of it. The work of decompositions of D columns, in units of D^3, and a classifier's passes over features.
_BUDGET, _BUDGET_A_ROW, _CUBE, _PASSES = 4e10, 2e6, 25, 60
_FEWEST_COLUMNS, _MOST_COLUMNS = 128, 4096
# More columns than half of the rows are hardly better; up to so many are always used.
_FEW_COLUMNS = 500


@dataclass(frozen=True)
class Choice:
    """What is chosen: how numbers are encoded, the metric, the map, its width, and whether there are steps.

    The metric is "none", "full", "diagonal", or "auto", the better one of these. Steps of single columns, beside
    the features of the map, make a function additive that may jump at thresholds. The map "exact" is none: the
    kernel itself is used, with a ridge, which is zero where it is chosen for each map.
    """

    numbers: str = "standard"
    metric: str = "none"
    map: str = "Nystroem"
    width: float = 1.0
    steps: bool = False
    ridge: float = 0.0


class Brief(np.ndarray):
    """An array that is a parameter, and of which only the shape is shown."""

    def __repr__(self) -> str:
        return f"<array {' x '.join(map(str, self.shape))}>"


class BriefList(list[NDArray]):
    """A list of arrays that is a parameter, and of which only the number of entries is shown."""

    def __repr__(self) -> str:
        return f"<{sum(map(len, self))} numbers>"


@dataclass
class Search:
    """Choices by the error on held-out rows.

    Attributes
    ----------
    table : Table
        The columns of the rows.
    X : rows
        The rows of all splits.
    y : ndarray of shape (n,)
        Their labels or targets, as they were given.
    targets : ndarray of shape (n, t)
        Targets to regress.
    weights : ndarray of shape (n,)
        Weights.
    splits : sequence of (train, held)
        Places of rows.
    task : str
        "classification", "regression", or "several" for several targets.
    seed : int
        Seed of all draws.
    seconds : float or None
        Time for the whole fit.
    verbose : bool
        Whether to print trials.
    n_exact : int
        Number of rows of the last fit if it may be one with an exact kernel, else 0.
    records : list of dict
        What was tried.
    ridge : float
        That of the best choice.
    """

    table: Table
    X: Any
    y: NDArray
    targets: NDArray[np.float64]
    weights: NDArray[np.float64]
    splits: Sequence[tuple[NDArray, NDArray]]
    task: str
    seed: int
    seconds: float | None
    verbose: bool
    n_exact: int
    records: list[dict[str, Any]] = field(default_factory=list)
    ridge: float = 1e-4
    _encoded: dict[Any, Any] = field(default_factory=dict)
    _metrics: dict[Any, LearnedMetric] = field(default_factory=dict)
    _errors: dict[Choice, float] = field(default_factory=dict)
    _models: dict[Choice, list[HeldOutRidge]] = field(default_factory=dict)
    _start: float = field(default_factory=perf_counter)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The numbers of the labels, (n,)."""
        return np.unique(self.y, return_inverse=True)[1]

    @property
    def has_all_classes(self) -> bool:
        """Whether all labels are among the rows to fit of each split."""
        return all(len(np.unique(self.codes[train])) > self.codes.max() for train, _ in self.splits)

    def best(self) -> Choice:
        """Return the choice with the least error: encoding, then metric, steps, width and map."""
        encodings = self.table.encodings
        best = self._least([Choice(numbers) for numbers in encodings if numbers != "both"])
        both = replace(best, numbers="both") if "both" in encodings else best
        d = self._encoded_rows(best, 0)[0].shape[1]
        kind = "auto" if d <= _MOST_FOR_FULL else "diagonal"
        bases = dict.fromkeys([both, best if best.numbers == "raw" else both])
        metrics = [replace(base, metric=kind) for base in bases]
        best = self._least([best, *metrics])
        best = self._best_width(self._least([best, replace(best, steps=True)]))
        best = self._best_exact(best)
        if d >= _FEWEST_FOR_MERCER and "raw" in encodings and best.map != "exact":
            best = self._least([best, replace(best, map="MercerFeatures", width=_MERCER_WIDTH)])
        self.ridge = best.ridge or max(model.ridge for model in self._models[best])
        metric = self._metric(best, 0)
        return best if metric is None else replace(best, metric=_kind(metric))

    def _best_width(self, best: Choice) -> Choice:
        start = best.width
        for step in (1, -1):
            place = WIDTHS.index(start) + step
            while 0 <= place < len(WIDTHS):
                wider = self._least([best, replace(best, width=WIDTHS[place])])
                if wider == best:
                    break
                best, place = wider, place + step
            if best.width != start:
                break
        return best

    def _best_exact(self, best: Choice) -> Choice:
        """Return an exact kernel, if it may be used and its error is so much less that it is worth its time."""
        cost, budget = self.n_exact**3 / 6, self._budget(self.n_exact)
        if not 0 < self.n_exact <= _MOST_EXACT or not self.has_all_classes:
            return best
        if self.seconds is not None and cost > budget:
            return best
        first = replace(best, map="exact", width=_EXACT_WIDTH, steps=False, ridge=_EXACT_RIDGE)
        limit = self._log_loss(best)
        if self._error(first) >= limit:
            return best
        exact = self._best_width(self._least([first, replace(first, metric="none")]))
        exact = self._least([exact, *(replace(exact, ridge=ridge) for ridge in _EXACT_RIDGES)])
        worth = _CLEARLY if cost <= budget else _WORTH
        return exact if self._error(exact) < worth * limit else best

    def _budget(self, n_rows: int) -> float:
        """Return how many multiplications the last fit may take."""
        if self.seconds is not None:
            return max(0.0, self.seconds - (perf_counter() - self._start)) * _rate() / 2
        return (_BUDGET + _BUDGET_A_ROW * n_rows) * max(1, self._n_classes)

    @property
    def _n_classes(self) -> int:
        return self.targets.shape[1] if self.task == "classification" else 0

    def n_columns(self, n_rows: int) -> int:
        """Return the number of columns that can be afforded for so many rows."""
        classes, budget = self._n_classes, self._budget(n_rows)
        grid = np.arange(_FEWEST_COLUMNS, _MOST_COLUMNS + 1, 32.0)
        costs = 2 * n_rows * grid**2 + _CUBE * grid**3 + 2 * _PASSES * classes * n_rows * grid
        afforded = grid[max(0, int(np.searchsorted(costs, budget)) - 1)]
        return int(min(afforded, max(n_rows // 2, _FEW_COLUMNS), n_rows))

    def _trial(self, choice: Choice, split: int) -> HeldOutRidge:
        """Return ridge regression on features of the rows of a split to fit."""
        rows, others = self._encoded_rows(choice, split)
        places, weights = self.splits[split], self.weights[self.splits[split][0]]
        n_columns = max(1, min(_TRIAL_COLUMNS, len(rows) // 2))
        metric = self._metric(choice, split)
        feature_map = unfitted_map(choice, metric, rows, weights, n_columns, self.seed).fit(rows)
        fit, check = (
            Rows(feature_map.transform(X), self.targets[p], self.weights[p])
            for X, p in zip((rows, others), places, strict=True)
        )
        return held_out_ridge(np.asarray, fit, check)

    def _least(self, choices: list[Choice]) -> Choice:
        """Return the choice with the least error: the first one unless another's is clearly less."""
        first = choices[0]
        return min(choices, key=lambda choice: self._error(choice) * (_CLEARLY if choice == first else 1))

    def _error(self, choice: Choice) -> float:
        """Return the squared error of ridge regression on held-out rows, as a share of the targets' variance."""
        if choice in self._errors:
            return self._errors[choice]
        start = perf_counter()
        if self.records and self.seconds is not None and start - self._start > self.seconds / 2:
            return np.inf
        about = asdict(choice)
        if choice.map == "exact":
            error = self._log_loss(choice)
        else:
            del about["ridge"]
            models = self._models[choice] = [self._trial(choice, split) for split in range(len(self.splits))]
            errors = [
                np.average(model.errors, weights=self.weights[held])
                for model, (_, held) in zip(models, self.splits, strict=True)
            ]
            error = float(np.mean(errors) / (self.targets.var(axis=0).sum() or 1.0))
        self._errors[choice] = error
        self.records.append(about | {"error": error, "seconds": perf_counter() - start})
        if self.verbose:
            shown = ", ".join(f"{name} {value}" for name, value in about.items())
            print(f"{shown}: error {error:.4f}, {self.records[-1]['seconds']:.2f} s", flush=True)
        return error

    def _log_loss(self, choice: Choice) -> float:
        """Return the log loss of held-out rows, for scores of ridge regression times the best factor.

        Where features are few, or a kernel is narrow, scores are too small, which squared errors count.
        """
        losses = []
        for split, (_, held) in enumerate(self.splits):
            values = (
                self._exact(choice, split) if choice.map == "exact" else self._models[choice][split].values
            )
            scores = values if values.shape[1] > 1 else np.hstack([-values, values])
            losses.append(best_factor(scores, self.codes[held], self.weights[held])[1])
        return float(np.mean(losses))

    def _exact(self, choice: Choice, split: int) -> NDArray[np.float64]:
        """Return the values of held-out rows, (m, n_classes), for an exact kernel."""
        rows, others = self._encoded_rows(choice, split)
        metric, train = self._metric(choice, split), self.splits[split][0]
        if metric is not None:
            rows, others = metric.transform(rows), metric.transform(others)
        head = exact_head(choice, rows, choice.ridge).fit(rows, self.y[train], self.weights[train])
        return head.values(others)

    def _encoded_rows(self, choice: Choice, split: int) -> tuple[NDArray, NDArray]:
        key = choice.numbers, split
        if key not in self._encoded:
            train, held = self.splits[split]
            encoder = self.table.encoder(choice.numbers, self.task, self.seed)
            rows = encoder.fit_transform(rows_in(self.X, train), self.y[train])
            self._encoded[key] = rows, encoder.transform(rows_in(self.X, held))
        rows, others = self._encoded[key]
        return rows, others

    def _metric(self, choice: Choice, split: int) -> LearnedMetric | None:
        if choice.metric == "none":
            return None
        key = choice.numbers, split
        if key not in self._metrics:
            (rows, _), (train, _) = self._encoded_rows(choice, split), self.splits[split]
            self._metrics[key] = fitted_metric(
                choice, rows, self.y[train], self.weights[train], self.task, self.seed
            )
        return self._metrics[key]


def _kind(metric: LearnedMetric) -> str:
    return "diagonal" if metric.root_.ndim == 1 else "full"


def rows_in(X: Any, places: NDArray) -> Any:
    """Return rows by their places."""
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


def sample(weights: NDArray[np.float64], size: int, seed: int) -> NDArray[np.intp]:
    """Return places of at most so many rows, ascending, drawn by their weights."""
    n = len(weights)
    if size >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, size, replace=False, p=weights / weights.sum()))


def fitted_metric(
    choice: Choice, rows: NDArray, y: NDArray, weights: NDArray, task: str, seed: int
) -> LearnedMetric:
    """Return the metric of a choice that is learned from encoded rows for a task."""
    kind: Task = "classification" if task == "classification" else "regression"
    some = sample(weights, _METRIC_ROWS, seed)
    columns = int(np.clip(len(some) // 20, _FEWEST_FOR_METRIC, _MOST_FOR_METRIC))
    metric = LearnedMetric(
        SingleNystroem(Gaussian(_METRIC_WIDTH * median(rows[some], False)), min(columns, len(some) // 2)),
        n_rounds=_TRIAL_ROUNDS if choice.metric == "auto" else _ROUNDS,
        diagonal="auto" if choice.metric == "auto" else choice.metric == "diagonal",
        task=kind,
        random_state=seed,
    )
    return metric.fit(rows[some], y[some])


def unfitted_map(
    choice: Choice,
    metric: LearnedMetric | None,
    rows: NDArray,
    weights: NDArray,
    n_columns: int,
    seed: int,
) -> FeatureUnion:
    """Return the map of a choice for encoded rows: features of the kernel, the rows themselves, and perhaps steps.

    The rows make the function linear where a kernel would fade, and have the mean square norm of features.
    """
    near = rows if metric is None else metric.transform(rows)
    landmarks = near[sample(weights, n_columns, seed)]
    width = choice.width * median(landmarks, False)
    if choice.map == "Nystroem":
        rule = landmarks.view(Brief)
        columns: Any = SingleNystroem(Matern(1.5, width), len(rule), landmarks=rule, random_state=seed)
    else:
        columns = MercerFeatures(Gaussian(width), n_columns, random_state=seed)
    kernel = Pipeline(
        [("metric", "passthrough" if metric is None else FrozenEstimator(metric)), ("columns", columns)]
    )
    size = float(np.sqrt(np.mean(np.float64(rows) ** 2) * rows.shape[1])) or 1.0
    linear = FunctionTransformer(divided, kw_args={"by": size}, feature_names_out="one-to-one")
    parts = [("kernel", kernel), ("linear", linear)]
    if choice.steps:
        about = {"thresholds": BriefList(thresholds(rows))}
        parts.append(("steps", FunctionTransformer(steps, kw_args=about, feature_names_out=names_of_steps)))
    return FeatureUnion(parts)


def kernel_part(feature_map: FeatureUnion) -> Pipeline:
    """Return the part of a map that makes the features of the kernel: "metric" and "columns"."""
    return dict(feature_map.transformer_list)["kernel"]


def thresholds(rows: NDArray) -> list[NDArray]:
    """Return for each column some of its values, ascending: quantiles of the rows, and of the different values.

    The latter are there for values that are rare. Columns of two values have none, nor has a column that puts the
    rows into the same order as one before, such as the quantiles of its numbers.
    """
    orders = [np.unique(column[:_ORDERED], return_inverse=True)[1].tobytes() for column in rows.T]
    values = [np.unique(column) for column in rows.T]
    used = [
        len(each) > 2 and order not in orders[:j]
        for j, (each, order) in enumerate(zip(values, orders, strict=True))
    ]
    n = int(np.clip(_MOST_STEPS // max(1, 2 * sum(used)), 1, 32))
    inner = np.arange(1, n + 1) / (n + 1)
    found = []
    for column, each, is_used in zip(rows.T, values, used, strict=True):
        some = [np.quantile(side, inner, method="inverted_cdf") for side in (column, each)]
        found.append(np.setdiff1d(np.concatenate(some), each[-1:]) if is_used else each[:0])
    return found


def steps(X: NDArray, thresholds: list[NDArray]) -> NDArray:
    """Return for each threshold of each column whether numbers are above it, of mean square norm at most one."""
    columns = [column[:, None] > each for column, each in zip(X.T, thresholds, strict=True)]
    size = np.sqrt(sum(map(len, thresholds)) or 1)
    return np.hstack(columns).astype(X.dtype) / X.dtype.type(size)


def names_of_steps(transformer: FunctionTransformer, names: Sequence[str]) -> NDArray[np.object_]:
    """Return names of steps, such as "age > 40"."""
    columns = zip(names, transformer.kw_args["thresholds"], strict=True)
    return np.array([f"{name} > {value:.6g}" for name, values in columns for value in values], dtype=object)


def divided(X: NDArray, by: float) -> NDArray:
    """Return rows divided by a number, of the same type."""
    return X / np.asarray(by, dtype=X.dtype)


def exact_head(choice: Choice, rows: NDArray, ridge: float, **options: Any) -> ExactHead:
    """Return the unfitted head of an exact kernel for rows to which the metric is applied."""
    return ExactHead(Matern(1.5, choice.width * median(rows, False)), ridge, **options)


def fitted_features(
    choice: Choice, table: Table, X: Any, y: NDArray, weights: NDArray, n_columns: int, task: str, seed: int
) -> tuple[Pipeline, NDArray]:
    """Return the fitted steps that make features, and these of X: encoder and map.

    The features are not what the steps give for X, where levels are encoded by the targets of other rows. For an
    exact kernel they are the rows to which the metric is applied.
    """
    encoder = table.encoder(choice.numbers, task, seed)
    rows = encoder.fit_transform(X, y)
    metric = None if choice.metric == "none" else fitted_metric(choice, rows, y, weights, task, seed)
    if choice.map == "exact":
        near = rows if metric is None else metric.transform(rows)
        return Pipeline([("encode", encoder), ("map", metric or "passthrough")]), near
    if choice.steps:
        n_columns = max(n_columns - sum(map(len, thresholds(rows))), (n_columns + 1) // 2)
    feature_map = unfitted_map(choice, metric, rows, weights, n_columns, seed).fit(rows)
    return Pipeline([("encode", encoder), ("map", feature_map)]), feature_map.transform(rows)


def _rate() -> float:
    """Return how many multiplications a second there are in a product of matrices."""
    A = np.ones((512, 512), dtype=np.float32)
    start = perf_counter()
    for _ in range(4):
        A @ A
    return 4 * 512**3 / max(perf_counter() - start, 1e-9)
