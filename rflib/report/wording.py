"""The wording of captions, figures and evidence: the names of metrics and axes, and the form of differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from rflib.experiment.grids import NO_KERNEL


@dataclass(frozen=True)
class Metric:
    """What a metric is called in captions and on axes, and whether lower values are better."""

    text: str
    axis: str
    lower: bool = True


NO_ROWS = "This table has no rows, because nothing that it shows was run."
NOT_DRAWN = "This figure is not drawn, because nothing that it shows was run."

METRICS = {
    "relative_frobenius_error": Metric(
        "relative error of the kernel matrix (Frobenius)", "relative error (Frobenius)"
    ),
    "relative_spectral_error": Metric(
        "relative error of the kernel matrix (spectral)", "relative error (spectral)"
    ),
    "mean_squared_error": Metric("mean squared error of the kernel", "mean squared error"),
    "diagonal_error": Metric(
        "error of the diagonal, relative to the root mean square of the kernel matrix",
        "relative error of the diagonal",
    ),
    "near_pairs_error": Metric(
        "error of the nearest 1 % of pairs, relative to the root mean square of the kernel matrix",
        "relative error of near pairs",
    ),
    "regularised_spectral_error": Metric(
        "regularised spectral error of the kernel matrix", "regularised spectral error"
    ),
    "log_eigenvalue_ratio": Metric(
        "log ratio of the eigenvalues of K_hat to those of K", "log ratio of eigenvalues", lower=False
    ),
    "effective_degrees": Metric("effective degrees of freedom d_K", "d_K"),
    "surrogate_degrees": Metric("surrogate degrees of freedom D_K", "D_K"),
    "rmse": Metric("root mean squared error", "root mean squared error"),
    "accuracy": Metric("accuracy", "accuracy", lower=False),
    "r2": Metric("R²", "R²", lower=False),
    "error": Metric("error (1 - accuracy, or 1 - R²)", "error"),
    "auc": Metric(
        "area under the curve (of each class against the rest)", "area under the curve", lower=False
    ),
    "log_loss": Metric("log loss", "log loss"),
    "transform_seconds": Metric("seconds to compute the features", "seconds to compute"),
    "sample_seconds": Metric("seconds to draw the features", "seconds to draw"),
    "fit_seconds": Metric("seconds to fit the map", "seconds to fit"),
    "row_microseconds": Metric("microseconds to transform a row", "microseconds a row"),
    "map_seconds": Metric(
        "seconds to fit the map and transform the training rows", "seconds to fit and transform"
    ),
    "learning_seconds": Metric("seconds to fit the learner", "seconds to fit"),
    "prediction_seconds": Metric("seconds to predict the test rows", "seconds to predict"),
    "learning_megabytes": Metric("peak memory of the fit and of the prediction, MB", "peak memory, MB"),
    "map_megabytes": Metric(
        "peak memory of the fit and of the transform of the training rows, MB", "peak memory, MB"
    ),
}

AXES = {
    "n_components": "number of columns D",
    "s": "s, features as the papers count them",
    "map_seconds": METRICS["map_seconds"].axis,
    "map_megabytes": METRICS["map_megabytes"].axis,
    "peak_memory": "peak memory of the job, MB",
    "learning_seconds": METRICS["learning_seconds"].text,
    "prediction_seconds": METRICS["prediction_seconds"].text,
    "learning_megabytes": METRICS["learning_megabytes"].axis,
}


_COUNTED = "s is the number of features as the papers count them"
_BUDGETS = {
    "columns": "s is a quarter of the number of columns D: all methods have D = 4 s.",
    "n_components": "s is the number of columns D.",
    "paper": f"{_COUNTED}: by the method, D is s, 2 s or 4 s.",
    "both": f"{_COUNTED}: by the method, D is s, 2 s or 4 s. What goes by columns shows D = 4 s too.",
}


def meaning_of_s(study: Mapping[str, Any]) -> str:
    """Return what s is in a study, and d if its sizes are given in it."""
    text = _BUDGETS[study.get("budget", "columns")]
    return text + (" d is the number of input columns." if "d" in str(study.get("s", "")) else "")


def place_text(dataset: str, kernel: str, at: str) -> str:
    """Return the name of a comparison; that of estimators is the data set's, as they have no kernel."""
    return dataset if kernel == NO_KERNEL else f"{dataset}, {kernel}, {at}"


def plural(n: int, noun: str) -> str:
    """Return a number with its noun, such as "1 cell" or "99 cells"."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def listed(parts: Sequence[str]) -> str:
    """Return several texts as one, such as "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def in_percent(difference: float) -> str:
    """Return a relative difference in per cent, or as a multiple if it is a hundredfold or more."""
    if abs(difference) < 100:
        decimals = int(abs(difference) < 0.1 or 0.99 < abs(difference) < 1)
        return f"{difference * 100:+z,.{decimals}f} %"
    return f"{difference:{'+,.0f' if abs(difference) < 1e6 else '+.0e'}} times"


def between(low: float, high: float, words: tuple[str, str] = ("better", "worse")) -> str:
    """Return a range of relative differences, such as "0.4 to 49 % worse", with words for gains and losses.

    Differences above 100 % are factors: an error that is larger by 1,300 % is "14 times worse".
    """
    if low < 0 < high:
        return f"between {between(low, low, words)} and {between(high, high, words)}"
    least, most = (
        in_percent(size).lstrip("+") if size <= 1 else times(size) for size in sorted((abs(low), abs(high)))
    )
    if least.split()[1] == most.split()[1]:
        least = least.split()[0]
    many = most if least == most.split()[0] else f"{least} to {most}"
    return f"{many} {words[int(low < 0)]}"


def times(excess: float) -> str:
    """Return how many times as large a value is that is larger by a relative difference, such as "1.31 times"."""
    if not 0 < excess < float("inf"):
        return "none" if excess else "any difference"
    if excess < 0.001:
        return "1.001 times"
    decimals = max(0, 1 - floor(log10(excess)))
    return f"{1 + excess:,.{decimals}f} times" if excess < 1e6 else f"{excess:.0e} times"


def points(difference: float) -> str:
    """Return a difference of shares in percentage points."""
    if not 0 < difference <= 1:
        return "none" if difference else "any difference"
    return f"{max(100 * difference, 0.01):.2g} points"


def repeated(by_size: Mapping[int, int]) -> str:
    """Return how many repetitions there are, by numbers of columns: "10 repetitions (3 with D = 8,192)"."""
    most = max(by_size.values())
    fewer = with_sizes({size: n for size, n in by_size.items() if n < most})
    return plural(most, "repetition") + (f" ({', '.join(fewer)})" if fewer else "")


def with_sizes(counts: Mapping[int, int]) -> list[str]:
    """Return texts such as "3 with D = 8,192" for counts at numbers of columns, ascending."""
    told = []
    for n in sorted({*counts.values()}):
        sizes = [f"{size:,}" for size in counts if counts[size] == n]
        told.append(f"{n} with D = {listed(sizes) if len(sizes) < 4 else f'{sizes[0]} to {sizes[-1]}'}")
    return told


def metric_text(entry: Mapping[str, Any]) -> str:
    """Return what the metric of an entry is called, with a capital initial."""
    text = METRICS[entry["metric"]].text
    at = f", ridge {entry['ridge']:g}" if "ridge" in entry else ""
    return text[:1].upper() + text[1:] + at
