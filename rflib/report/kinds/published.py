"""Table and claim: published and measured numbers, compared by Welch's t-test."""

from pathlib import Path

import numpy as np

from rflib.report import keys
from rflib.report.cell_table import at_s, select
from rflib.report.claim_rule import spared
from rflib.report.inference import LEVEL, holm
from rflib.report.kind import Check, Checked, DataFrame, Options, Results, Series, Table
from rflib.report.power import in_text, noncentrality
from rflib.report.wording import METRICS, in_percent, metric_text, points, times

REPETITIONS = 10
_MARK = "•"
RULE = (
    "The verdict is 'agrees' if Welch's t-test (two-sided, 5 %) finds no significant difference between the two "
    "means, with an allowance of half a unit of the last printed digit. Otherwise, our mean is better or worse."
)
_OPTIONS = {**keys.METRIC, "repetitions": keys.COUNT, **keys.NUMBERS}
_REQUIRED = ("metric", *keys.NUMBERS_REQUIRED)
_COLUMNS = (
    *("data set", "kernel", "method", "published as", "s", "published", "published std", "ours", "ours std"),
    *("repetitions", "difference", "verdict", "p", "error", "freedom", "rounding"),
)


def published_numbers(folder: Path, paper: str, table: str, metric: str) -> DataFrame:
    """Return a table of a paper: kernel, dataset, method, s, mean, std, and half a unit of the last digit.

    Percentages become shares, as ``accuracy`` is one.

    Raises
    ------
    ValueError
        If there are no such numbers. The message lists those that there are.
    """
    import pandas as pd

    path = folder / f"{paper}.csv"
    if not path.exists():
        there = ", ".join(sorted(file.stem for file in folder.glob("*.csv")))
        raise ValueError(
            f"There are no published numbers for {paper!r}, because the file {path} is missing. There are numbers "
            f"for {there}."
        )
    numbers = pd.read_csv(path, dtype={"s": str, "mean": str})
    inside = numbers[numbers["table"] == table]
    if inside.empty:
        there = ", ".join(map(repr, numbers["table"].unique()))
        raise ValueError(f"{path} has no table {table!r}. Its tables are {there}.")
    inside = inside[inside["metric"].isin([metric, f"{metric}_percent"])]
    if inside.empty:
        raise ValueError(f"{path}: {table!r} has no numbers for the metric {metric!r}.")
    unit = inside["metric"].str.endswith("_percent").map({True: 0.01, False: 1.0})
    decimals = inside["mean"].str.partition(".")[2].str.len()
    mean, std = ((inside[column].astype(float) * unit).round(10) for column in ("mean", "std"))
    return inside.assign(mean=mean, std=std, rounding=0.5 * unit * 10.0**-decimals)


def with_p_values(entry: Options, results: Results) -> DataFrame:
    """Return each published number and ours: means, standard deviations, difference, verdict and test.

    ``error`` and ``freedom`` are the standard error of the difference and its degrees of freedom. A published
    number has a row for each method of the study that stands for it. If that method has no cell, the verdict is
    "not run".
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
                test = (p, *_error(cell["std"], repetitions, ours), cell["rounding"])
                rows.append((cell["dataset"], *label, cell["s"], *printed, *measured, judged, *test))
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _sides(entry: Options, results: Results) -> tuple[DataFrame, DataFrame]:
    """Return the published numbers, and our cells at each s with the paper's name of the data set as ``place``."""
    chosen = {key: entry[key] for key in ("metric", "learner", "ridge", "title") if key in entry}
    mine = at_s(select(results.cells, chosen))
    numbers = published_numbers(results.published, entry["paper"], entry["table"], entry["metric"])
    return numbers, mine.assign(place=mine["dataset"].replace(entry.get("datasets", {})))


def p_of_difference(mean: float, std: float, repetitions: int, ours: Series, rounding: float = 0.0) -> float:
    """Return the p value of Welch's t-test (two-sided) of a published mean and measured values.

    A difference of up to ``rounding`` counts as zero, and so does a standard deviation that is not known because
    it is not printed or there is a single value. Without measured values, the result is NaN.
    """
    from scipy.special import stdtr

    if not len(ours):
        return float("nan")
    excess = max(abs(float(ours.mean()) - mean) - rounding, 0.0)
    error, freedom = _error(std, repetitions, ours)
    return float(2 * stdtr(freedom, -excess / error) if error else excess == 0)


def _error(std: float, repetitions: int, ours: Series) -> tuple[float, float]:
    """Return the standard error of the difference of two means, and its degrees of freedom by Welch."""
    own = float(ours.var()) if len(ours) > 1 else 0.0
    parts = np.array([np.nan_to_num(std) ** 2 / repetitions, own / max(len(ours), 1)])
    squares = (parts**2 / np.maximum([repetitions - 1, len(ours) - 1], 1)).sum()
    return float(np.sqrt(parts.sum())), float(parts.sum() ** 2 / squares) if squares else 1.0


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
    caption=lambda entry: f"{metric_text(entry)}: published and measured mean ± standard deviation.",
    note=RULE,
)
def published(entry: Options, results: Results) -> DataFrame:
    """Each published number and ours, with their difference and a verdict."""
    return with_p_values(entry, results).drop(columns=["p", "error", "freedom", "rounding"])


@Table.with_options(
    {**_OPTIONS, "baseline": keys.label("method")},
    (*_REQUIRED, "baseline"),
    caption=lambda entry: (
        f"{metric_text(entry)}: published and measured mean ± standard deviation. A mark means that the method is "
        f"better than {entry['baseline']} by a paired t-test over the repetitions (two-sided, 5 %), as in the "
        "paper. " + RULE
    ),
)
def significance(entry: Options, results: Results) -> DataFrame:
    """Like `published`, with marks where a method is better than `baseline` by a paired t-test (two-sided, 5 %).

    The test is over the repetitions. The table shows the paper's marks and ours (liu2020, table 3).
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


@Check.with_options({**_OPTIONS, "share": keys.SHARE, "without": keys.labels("dataset")}, _REQUIRED)
def agrees(claim: Options, results: Results) -> Checked:
    """The measured numbers agree with the published ones, except for the data sets of `without`.

    The claim is not reproduced if more numbers than it allows disagree after Holm's correction. Otherwise, it is
    reproduced if the tests at 5 % each find no more disagreements than the claim allows and chance would add, and
    would find a number that is off by its own size in at least half of the cases.
    """
    from scipy.stats import binom

    table = with_p_values(claim, results)
    left_out = [claim.get("datasets", {}).get(label, label) for label in claim.get("without", ())]
    table = table[~table["data set"].isin(left_out)]
    run = table[table["verdict"] != "not run"]
    if run.empty:
        return Checked("no data", f"None of the {len(table)} published numbers was measured.")
    counts = run["verdict"].value_counts()
    agreeing, n, share = int(counts.get("agrees", 0)), len(run), float(claim.get("share", 1.0))
    may_fail, refuted = spared(n, share), int(holm(run["p"]).sum())
    relative = run["difference"] / run["published"]
    evidence = (
        f"Our mean agrees with {agreeing} of {n} published numbers ({share * 100:.0f} % claimed), is better than "
        f"{counts.get('better', 0)} and worse than {counts.get('worse', 0)}. After Holm's correction, {refuted} "
        f"differ significantly. The relative difference is {in_percent(relative.min())} to "
        f"{in_percent(relative.max())}, with a median of {in_percent(relative.median())}."
    )
    if n < len(table):
        evidence += f" {len(table) - n} more published numbers were not measured."
    found = run["rounding"] + noncentrality(run["freedom"], LEVEL / n / 2) * run["error"]
    share_of_published = found / run["published"].abs()
    smallest = in_text(found, points) if claim["metric"] == "accuracy" else in_text(share_of_published, times)
    by_chance = int(binom.ppf(1 - LEVEL, n - may_fail, LEVEL))
    if refuted > may_fail:
        decided = "not reproduced"
    elif n - agreeing <= may_fail + by_chance and share_of_published.median() < 1:
        decided = "reproduced"
    else:
        decided = "undecided"
    return Checked(decided, evidence, f"In one number: {smallest}.")
