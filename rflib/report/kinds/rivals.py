"""Claims that compare a method with several others at once: better than each of them, or beaten by none."""

import numpy as np

from rflib.report import keys
from rflib.report.inference import Judgement, judge, spared
from rflib.report.kind import Check, DataFrame, Options, Results, Series
from rflib.report.kinds.comparisons import COMPARED, REQUIRED, cells_of, paired, relative
from rflib.report.wording import METRICS

_NAMED = 8
METHODS = keys.list_of({**keys.label("method"), "description": "a method of the study"})
_RIVALS = {**{key: schema for key, schema in COMPARED.items() if key != "share"}, "than": METHODS}


def encounters(claim: Options, results: Results) -> tuple[DataFrame, DataFrame, str]:
    """Return the values of ``method`` and those of each of ``than`` in the cells that both have.

    Both tables have a row for each of these and each cell, the level ``rival`` of their index first, and a column
    for each repetition. The text says how many ties were left out, and why.
    """
    import pandas as pd

    found, cell, left_out = cells_of(claim, results)
    found = found[found["method"].isin([claim["method"], *claim["than"]])].astype({"n_components": int})
    pairs = {name: paired(found, cell, claim["method"], name) for name in claim["than"]}
    own, others = (
        pd.concat({name: pair[i] for name, pair in pairs.items()}, names=["rival"]) for i in (0, 1)
    )
    return own, others, left_out


def judged(sign: int, own: DataFrame, others: DataFrame) -> Judgement:
    """Judge that the method is better in every encounter; all of them are one family."""
    return judge((sign * (others - own)).to_numpy()[None])


def ratios(sign: int, own: DataFrame, others: DataFrame) -> Series:
    """Return how many times the mean of the method is better than that of the other one."""
    return ((others.mean(axis=1) / own.mean(axis=1)) ** sign).rename("times")


@Check.with_options({**_RIVALS, "share": keys.SHARE, "factor": keys.POSITIVE}, REQUIRED)
def best(claim: Options, results: Results) -> tuple[str, str]:
    """The mean of `method` is better than that of each of `than`; with `factor`, at least so many times."""
    own, others, left_out = encounters(claim, results)
    if own.empty:
        return "no data", f"None of its cells was run{left_out}."
    sign = 1 if METRICS[claim["metric"]].lower else -1
    gains = sign * (others - float(claim.get("factor", 1.0)) ** sign * own)
    cells = gains.droplevel("rival").index.unique()
    sides = np.stack([gains.loc[rival].reindex(cells) for rival in gains.index.unique("rival")])
    n, share = len(cells), float(claim.get("share", 1.0))
    found = judge(sides, spared=spared(n, share))
    times = ratios(sign, own, others).groupby(level=[1, 2, 3], sort=False).min()
    return str(found.verdict), (
        f"best in {found.holds.sum()} of {n} cells ({share:.0%} claimed), beyond doubt in {found.surely.sum()}, "
        f"refuted in {found.refuted.sum()}; average of the cells: p = {float(found.p_average):.2g}; margin over "
        f"the best of the others {relative(times.min() - 1)} to {relative(times.max() - 1)}{left_out}"
    )


@Check.with_options(_RIVALS, REQUIRED)
def unbeaten(claim: Options, results: Results) -> tuple[str, str]:
    """No method of `than` is better than `method` in any cell beyond doubt, and on average `method` is better."""
    own, others, left_out = encounters(claim, results)
    if own.empty:
        return "no data", f"None of its cells was run{left_out}."
    sign = 1 if METRICS[claim["metric"]].lower else -1
    found, times = judged(sign, own, others), ratios(sign, own, others)
    lost = times[found.refuted].sort_values().reset_index().to_numpy().tolist()
    named = [
        f"{', '.join(map(str, place))} by {rival} ({1 / ratio:.3g} times)" for rival, *place, ratio in lost
    ]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    where = f": {'; '.join(named[:_NAMED])}{more}" if named else ""
    return str(found.verdict), (
        f"better in {found.holds.sum()} of {len(own)} encounters with {len(own.index.unique('rival'))} "
        f"others, beyond doubt in {found.surely.sum()}; average of them: p = {float(found.p_average):.2g}; beaten "
        f"beyond doubt in {len(lost)}{where}{left_out}"
    )
