"""Table and claim: the papers' numbers beside the measured ones, with verdicts by Welch's t-test."""

from pathlib import Path

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import at_s, select
from rflib.report.inference import LEVEL, holm, spared
from rflib.report.kind import Check, DataFrame, Options, Results, Series, Table
from rflib.report.wording import METRICS, metric_text

REPETITIONS = 10
_MARK = "•"
RULE = (
    "Agrees: Welch's t-test of the two means (two-sided, 5 %) does not tell them apart, half a unit of the last "
    "printed digit aside."
)
_OPTIONS = {**keys.METRIC, "repetitions": keys.COUNT, **keys.NUMBERS}
_REQUIRED = ("metric", *keys.NUMBERS_REQUIRED)
_COLUMNS = (
    *("data set", "kernel", "method", "published as", "s", "published", "published std", "ours", "ours std"),
    *("repetitions", "difference", "verdict", "p"),
)


def published_numbers(folder: Path, paper: str, table: str, metric: str) -> DataFrame:
    """Return a table of a paper: kernel, dataset, method, s, mean, std, and half a unit of the last digit.

    Percentages become shares, as ``accuracy`` is one.

    Raises
    ------
    ValueError
        If there are no such numbers; the message says what there is.
    """
    import pandas as pd

    path = folder / f"{paper}.csv"
    if not path.exists():
        there = ", ".join(sorted(file.stem for file in folder.glob("*.csv")))
        raise ValueError(f"There are no published numbers for {paper!r}: no file {path}. There are {there}.")
    numbers = pd.read_csv(path, dtype={"s": str, "mean": str})
    inside = numbers[numbers["table"] == table]
    if inside.empty:
        there = ", ".join(map(repr, numbers["table"].unique()))
        raise ValueError(f"{path} has no table {table!r}; it has {there}.")
    inside = inside[inside["metric"].isin([metric, f"{metric}_percent"])]
    if inside.empty:
        raise ValueError(f"{path}: {table!r} has no numbers of the metric {metric!r}.")
    unit = inside["metric"].str.endswith("_percent").map({True: 0.01, False: 1.0})
    decimals = inside["mean"].str.partition(".")[2].str.len()
    mean, std = ((inside[column].astype(float) * unit).round(10) for column in ("mean", "std"))
    return inside.assign(mean=mean, std=std, rounding=0.5 * unit * 10.0**-decimals)


def with_p_values(entry: Options, results: Results) -> DataFrame:
    """Return each published cell beside ours: means, deviations, difference, verdict and p value.

    A published cell has a row for every method of the study that stands for it, and one with the verdict
    "not run" where that method has no cell.
    """
    import pandas as pd

    numbers, mine = _sides(entry, results)
    repetitions = entry.get("repetitions", REPETITIONS)
    lower = METRICS[entry["metric"]].lower
    rows = []
    for kernel_label, kernel in entry["kernels"].items():
        for method_label, method in entry["methods"].items():
            inside = (mine["kernel"] == kernel_label) & (mine["method"] == method_label)
            theirs = numbers[(numbers["kernel"] == kernel) & (numbers["method"] == method)]
            for cell in theirs.to_dict("records"):
                of_s = mine["s_label"].isna() if pd.isna(cell["s"]) else mine["s_label"] == cell["s"]
                ours = mine[inside & of_s & (mine["place"] == cell["dataset"])]["value"]
                p = p_of_difference(cell["mean"], cell["std"], repetitions, ours, cell["rounding"])
                printed, label = (cell["mean"], cell["std"]), (kernel_label, method_label, method)
                measured = (ours.mean(), ours.std(), len(ours), ours.mean() - cell["mean"])
                judged = verdict(cell["mean"], ours, p, lower)
                rows.append((cell["dataset"], *label, cell["s"], *printed, *measured, judged, p))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _sides(entry: Options, results: Results) -> tuple[DataFrame, DataFrame]:
    """The published numbers, and our cells at each s with the paper's name of the data set as ``place``."""
    chosen = {key: entry[key] for key in ("metric", "learner", "ridge", "title") if key in entry}
    mine = at_s(select(results.cells, chosen))
    numbers = published_numbers(results.published, entry["paper"], entry["table"], entry["metric"])
    return numbers, mine.assign(place=mine["dataset"].replace(entry.get("datasets", {})))


def p_of_difference(mean: float, std: float, repetitions: int, ours: Series, rounding: float = 0.0) -> float:
    """Return the p value of Welch's t-test (two-sided) of a published mean and measured values.

    A difference of up to ``rounding`` is none. A deviation that is not known (not printed, or of a single value)
    counts as zero; NaN without measured values.
    """
    from scipy.special import stdtr

    if not len(ours):
        return float("nan")
    excess = max(abs(float(ours.mean()) - mean) - rounding, 0.0)
    own = float(ours.var()) if len(ours) > 1 else 0.0
    parts = np.array([np.nan_to_num(std) ** 2 / repetitions, own / len(ours)])
    if not parts.any():
        return float(excess == 0)
    freedom = parts.sum() ** 2 / (parts**2 / np.maximum([repetitions - 1, len(ours) - 1], 1)).sum()
    return float(2 * stdtr(freedom, -excess / np.sqrt(parts.sum())))


def verdict(mean: float, ours: Series, p: float, lower: bool) -> str:
    """Return "agrees", "better", "worse" or "not run", by the p value of the difference."""
    if not len(ours):
        return "not run"
    if p >= LEVEL:
        return "agrees"
    return "better" if (ours.mean() < mean) == lower else "worse"


@Table.with_options(
    _OPTIONS,
    _REQUIRED,
    caption=lambda entry: f"{metric_text(entry)}: published and measured, mean ± standard deviation.",
    note=RULE,
)
def published(entry: Options, results: Results) -> DataFrame:
    """Published number, ours, difference and verdict of each published cell."""
    return with_p_values(entry, results).drop(columns="p")


@Table.with_options(
    {**_OPTIONS, "baseline": keys.label("method")},
    (*_REQUIRED, "baseline"),
    caption=lambda entry: (
        f"{metric_text(entry)}: published and measured. A mark says that the method is better than "
        f"{entry['baseline']} by a paired t-test over the repetitions (two-sided, 5 %), as in the paper."
    ),
)
def significance(entry: Options, results: Results) -> DataFrame:
    """As `published`, with marks where a method is better than `baseline` by a paired t-test (two-sided, 5 %).

    The test is over the repetitions; the paper's marks stand beside ours (liu2020, table 3).
    """
    from rflib.metrics import paired_t_test

    table = published.make(entry, results)
    numbers, mine = _sides(entry, results)
    lower = METRICS[entry["metric"]].lower
    marks = numbers.set_index(["kernel", "dataset", "method", "s"])["significant"]
    theirs, ours = [], []
    for row in table.to_dict("records"):
        key = (entry["kernels"][row["kernel"]], row["data set"], row["published as"], row["s"])
        theirs.append(_MARK if marks.get(key) == 1 else "")
        cell = mine[["kernel", "s_label", "place"]] == [row["kernel"], row["s"], row["data set"]]
        values = mine[cell.all(axis=1)].pivot(index="seed", columns="method", values="value")
        pair = values.reindex(columns=[row["method"], entry["baseline"]]).dropna().to_numpy()
        method, baseline = pair.T
        better = len(pair) > 1 and (method.mean() < baseline.mean()) == lower
        ours.append(_MARK if better and paired_t_test(method, baseline).pvalue < LEVEL else "")
    table.insert(len(table.columns) - 1, "published mark", theirs)
    table.insert(len(table.columns) - 1, "our mark", ours)
    return table


@Check.with_options({**_OPTIONS, "share": keys.SHARE}, _REQUIRED)
def agrees(claim: Options, results: Results) -> tuple[str, str]:
    """The measured number agrees with the published one.

    The claim is not reproduced if more cells than it spares disagree after Holm's correction. It is reproduced if
    instead the tests at 5 % each find no more cells that disagree than are spared and than chance would add.
    """
    from scipy.stats import binom

    table = with_p_values(claim, results)
    run = table[table["verdict"] != "not run"]
    if run.empty:
        return "no data", f"None of the {len(table)} published cells was run."
    counts = run["verdict"].value_counts()
    agreeing, n, share = int(counts.get("agrees", 0)), len(run), float(claim.get("share", 1.0))
    may_fail, refuted = spared(n, share), int(holm(run["p"]).sum())
    relative = run["difference"] / run["published"]
    evidence = (
        f"agrees in {agreeing} of {n} published cells ({share:.0%} claimed), better in "
        f"{counts.get('better', 0)}, worse in {counts.get('worse', 0)}, refuted in {refuted}; difference "
        f"{relative.min():+.1%} to {relative.max():+.1%}, median {relative.median():+.1%}"
    )
    if n < len(table):
        evidence += f"; {len(table) - n} more were not run"
    if refuted > may_fail:
        return "not reproduced", evidence
    by_chance = int(binom.ppf(1 - LEVEL, n - may_fail, LEVEL))
    return ("reproduced" if n - agreeing <= may_fail + by_chance else "undecided"), evidence
