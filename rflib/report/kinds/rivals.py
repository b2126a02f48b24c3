"""Claims that compare a method with several others, and the values of its pairings with them."""

import numpy as np

from rflib.report import keys
from rflib.report.claim_rule import Judgement, judge, spared
from rflib.report.kind import Check, Checked, DataFrame, Options, Results, Series
from rflib.report.kinds.comparisons import (
    COMPARED,
    REQUIRED,
    Difference,
    cells_of,
    counted,
    factor_of_two,
    in_units_of,
    paired,
    sign_of,
    smallest,
)

METHODS = keys.list_of({**keys.label("method"), "expected": "a method of the study"})
_RIVALS = {**COMPARED, "than": METHODS, "floor": keys.POSITIVE, "factor": keys.POSITIVE}


def encounters(claim: Options, results: Results) -> tuple[DataFrame, DataFrame]:
    """Return the values of ``method`` and those of each of ``than`` in the comparisons that both have.

    Both tables have a row for each rival and comparison, with the rival as the first level of their index, and a
    column for each repetition. Values below ``floor`` count as equal to it.
    """
    import pandas as pd

    found, place = cells_of(claim, results)
    found = found[found["method"].isin([claim["method"], *claim["than"]])].astype({"n_components": int})
    pairs = {name: paired(found, place, claim["method"], name) for name in claim["than"]}
    own, others = (
        pd.concat({name: pair[i] for name, pair in pairs.items()}, names=["rival"]).clip(
            lower=claim.get("floor")
        )
        for i in (0, 1)
    )
    return own, others


def floored(entry: Options) -> str:
    """Return the sentence about ``floor``, if an entry has one."""
    return f" Values below {entry['floor']:g} count as equal to it." if "floor" in entry else ""


def judged(sign: int, own: DataFrame, others: DataFrame) -> Judgement:
    """Judge whether the method is better in every comparison with each rival; all of these are one family."""
    theirs = others.to_numpy()[None]
    return judge(in_units_of(theirs, sign * (theirs - own.to_numpy()[None])), far=factor_of_two(sign))


def ratios(sign: int, own: DataFrame, others: DataFrame) -> Series:
    """Return how many times the mean of the method is better than that of the other one."""
    return ((others.mean(axis=1) / own.mean(axis=1)) ** sign).rename("times")


@Check.with_options(_RIVALS, REQUIRED)
def best(claim: Options, results: Results) -> Checked:
    """The mean of `method` is better than that of each of `than`, by at least the ratio `factor` if given."""
    own, others = encounters(claim, results)
    if own.empty:
        return Checked("no data", "None of its comparisons was run.")
    sign = sign_of(claim)
    gains = sign * (others - float(claim.get("factor", 1.0)) ** sign * own)
    places = gains.droplevel("rival").index.unique()
    sides, theirs = (
        np.stack([table.loc[rival].reindex(places) for rival in gains.index.unique("rival")])
        for table in (gains, others)
    )
    share = float(claim.get("share", 1.0))
    found = judge(in_units_of(theirs, sides), spared(len(places), share), factor_of_two(sign))
    times = ratios(sign, own, others).groupby(level=[1, 2, 3], sort=False).min().reindex(places)
    relative = (times - 1).where(times >= 1, 1 - 1 / times) if sign == 1 else times - 1
    about = Difference(f"The mean of {claim['method']}", relative, smallest(claim["metric"], sides, theirs))
    told = about.told("the best of the others")
    text = f"{counted(found, share)}{about.against(found)} {told}{floored(claim)}"
    return Checked(str(found.verdict), text, about.smallest)
