"""Claims that compare a method with several others at once: it is better than each of them, or none beats it."""

import numpy as np

from rflib.report import keys
from rflib.report.inference import Judgement, judge, spared
from rflib.report.kind import Check, DataFrame, Options, Results, Series
from rflib.report.kinds.comparisons import COMPARED, NO_TEST, REQUIRED, cells_of, counted, paired, supports
from rflib.report.wording import METRICS, in_percent, plural

_NAMED = 8
METHODS = keys.list_of({**keys.label("method"), "expected": "a method of the study"})
_RIVALS = {
    **{key: schema for key, schema in COMPARED.items() if key != "share"},
    **{"than": METHODS, "floor": keys.POSITIVE},
}


def encounters(claim: Options, results: Results) -> tuple[DataFrame, DataFrame, str]:
    """Return the values of ``method`` and those of each of ``than`` in the comparisons that both have.

    Both tables have a row for each rival and comparison, with the rival as the first level of their index, and a
    column for each repetition. Values below ``floor`` count as equal to it. The text says so, and how many ties
    were left out, and why.
    """
    import pandas as pd

    found, place, left_out = cells_of(claim, results)
    found = found[found["method"].isin([claim["method"], *claim["than"]])].astype({"n_components": int})
    pairs = {name: paired(found, place, claim["method"], name) for name in claim["than"]}
    own, others = (
        pd.concat({name: pair[i] for name, pair in pairs.items()}, names=["rival"]).clip(
            lower=claim.get("floor")
        )
        for i in (0, 1)
    )
    return own, others, left_out + floored(claim)


def floored(entry: Options) -> str:
    """Return the sentence about ``floor``, if an entry has one."""
    return f" Values below {entry['floor']:g} count as equal to it." if "floor" in entry else ""


def judged(sign: int, own: DataFrame, others: DataFrame) -> Judgement:
    """Judge whether the method is better in every comparison with each rival; all of these are one family."""
    return judge((sign * (others - own)).to_numpy()[None])


def ratios(sign: int, own: DataFrame, others: DataFrame) -> Series:
    """Return how many times the mean of the method is better than that of the other one."""
    return ((others.mean(axis=1) / own.mean(axis=1)) ** sign).rename("times")


@Check.with_options({**_RIVALS, "share": keys.SHARE, "factor": keys.POSITIVE}, REQUIRED)
def best(claim: Options, results: Results) -> tuple[str, str]:
    """The mean of `method` is better than that of each of `than`, by at least the ratio `factor` if given."""
    own, others, left_out = encounters(claim, results)
    if own.empty:
        return "no data", f"None of its comparisons was run.{left_out}"
    sign = 1 if METRICS[claim["metric"]].lower else -1
    gains = sign * (others - float(claim.get("factor", 1.0)) ** sign * own)
    places = gains.droplevel("rival").index.unique()
    sides = np.stack([gains.loc[rival].reindex(places) for rival in gains.index.unique("rival")])
    share = float(claim.get("share", 1.0))
    found = judge(sides, spared=spared(len(places), share))
    times = ratios(sign, own, others).groupby(level=[1, 2, 3], sort=False).min()
    return str(found.verdict), (
        f"{counted(found, share)} The mean of {claim['method']} improves on the best of the others by "
        f"{in_percent(times.min() - 1)} to {in_percent(times.max() - 1)}.{left_out}"
    )


@Check.with_options(_RIVALS, REQUIRED)
def unbeaten(claim: Options, results: Results) -> tuple[str, str]:
    """No method of `than` is significantly better than `method` anywhere, and `method` is better on average."""
    own, others, left_out = encounters(claim, results)
    if own.empty:
        return "no data", f"None of its comparisons was run.{left_out}"
    sign = 1 if METRICS[claim["metric"]].lower else -1
    found, times = judged(sign, own, others), ratios(sign, own, others)
    lost = times[found.refuted].sort_values().reset_index().to_numpy().tolist()
    named = [
        f"{', '.join(map(str, place))} ({rival} is {1 / ratio:.3g} times better)"
        for rival, *place, ratio in lost
    ]
    more = f"; and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    where = f": {'; '.join(named[:_NAMED])}{more}" if named else ""
    held = (
        f"{claim['method']} is better in {found.holds.sum()} of {plural(len(own), 'pairing')} with "
        f"{plural(len(own.index.unique('rival')), 'other method')}"
    )
    if not found.tested:
        return str(found.verdict), f"{held}. {NO_TEST}{left_out}"
    return str(found.verdict), (
        f"{held}, significantly in {found.surely.sum()}. The average over them "
        f"{supports(found)} this (p = {float(found.p_average):.2g}). It is significantly worse in "
        f"{len(lost)}{where}.{left_out}"
    )
