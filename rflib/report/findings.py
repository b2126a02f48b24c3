"""What a study found in three sentences, each with its evidence: verdicts, the best map, the largest surprise."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import pandas as pd

from rflib.report.cell_table import EXACT, at_columns
from rflib.report.claim_rule import VERDICTS
from rflib.report.claims import CONTRADICTED
from rflib.report.kind import Options, Results
from rflib.report.kinds.comparisons import cells_of, paired, relative_gain, sign_of, smallest
from rflib.report.kinds.rivals import encounters, judged, ratios
from rflib.report.standings import measures
from rflib.report.wording import METRICS, listed, place_text, plural

_DECIDED = ("better", "worse")
_FAILING = ("not reproduced", "mixed", "explained", "undecided")
_NAMED = 2
_EXACT = 1e-9


@dataclass(frozen=True)
class Finding:
    """A sentence, and where its evidence stands: the id of a part of the page."""

    text: str
    evidence: str


@dataclass(frozen=True)
class Shown:
    """What the page shows of a study: claims, tables with their ids, and where to look if there is neither."""

    claims: pd.DataFrame
    tables: Sequence[tuple[str, Options, pd.DataFrame]]
    claims_id: str
    otherwise: str


def findings(results: Results, shown: Shown) -> list[Finding]:
    """Return three sentences about a study: on its verdicts, on its best map, and on the largest surprise.

    The best map is the one with the best mean in most comparisons at the same number of columns. The surprise is,
    in this order, the claim that its cells contradict most, the published number that differs most from ours, or
    the comparison in which another map beats the best one by most.
    """
    best = _leaders(results)
    return [
        _verdicts(shown),
        _best_map(results, best, shown),
        _broken_claim(results, shown) or _far_from_published(shown) or _upset(results, best, shown),
    ]


def _verdicts(shown: Shown) -> Finding:
    parts, evidence = [], shown.otherwise
    numbers = [(place, table) for place, _, table in shown.tables if "verdict" in table and len(table)]
    if numbers:
        counts = pd.concat([table["verdict"] for _, table in numbers]).value_counts()
        run = int(counts.drop("not run", errors="ignore").sum())
        parts.append(
            f"Of {plural(run, 'published number')} that were measured again, ours agrees with "
            f"{counts.get('agrees', 0)}, is better than {counts.get('better', 0)} and worse than "
            f"{counts.get('worse', 0)}."
            if run
            else "None of the published numbers was measured."
        )
        evidence = numbers[0][0]
    if len(shown.claims):
        parts.insert(0, _claims(shown.claims))
        evidence = shown.claims_id
    return Finding(" ".join(parts) or "The study checks no claims and no published numbers.", evidence)


def _claims(claims: pd.DataFrame) -> str:
    """Count the claims by their verdicts, and name some: those that fail, or all that have one verdict."""
    counts, n = claims["verdict"].value_counts(), len(claims)
    if len(counts) == 1:
        said = f"{'The only claim is' if n == 1 else f'All {n} claims are'} {_is(counts.index[0])}"
        return f"{said}." if "no data" in counts else f"{said}: {_named(claims)}."
    each = [f"{counts[v]} {'is' if counts[v] == 1 else 'are'} {_is(v)}" for v in VERDICTS if v in counts]
    said, worst = f"Of {n} claims, {listed(each)}.", next((v for v in _FAILING if v in counts), "")
    failed = claims[claims["verdict"] == worst]
    return f"{said} {_is(worst).capitalize()}: {_named(failed)}." if worst else said


def _named(claims: pd.DataFrame) -> str:
    names = [f"“{name}”" for name in claims["claim"]]
    more = len(names) - _NAMED
    return listed([*names[:_NAMED], f"{more} more"] if more > 0 else names)


def _is(verdict: str) -> str:
    return {"no data": "without data", "explained": "contradicted but explained"}.get(verdict, verdict)


@dataclass(frozen=True)
class _Leader:
    """The method with the best mean in most comparisons by a measure."""

    metric: str
    learner: str | None
    method: str
    won: int
    second: str
    won_by_second: int
    comparisons: int

    @property
    def measure(self) -> str:
        return METRICS[self.metric].axis + (f" with {self.learner}" if self.learner else "")

    @property
    def share(self) -> str:
        """In how many comparisons it has the best mean."""
        n = plural(self.comparisons, "comparison")
        return f"{'all ' * (self.won > 1)}{n}" if self.won == self.comparisons else f"{self.won} of {n}"


def _leaders(results: Results) -> list[_Leader]:
    """Return the leader by each measure that compares methods: the kernel error first, then scores."""
    found = []
    for metric, learner, part in measures(at_columns(results.cells)):
        place = ["dataset", "kernel", "n_components"]
        means = part.groupby([*place, "method"], sort=False)["value"].mean().dropna()
        several = means.groupby(level=[0, 1, 2], sort=False).transform("size") > 1
        groups = means[several].groupby(level=[0, 1, 2], sort=False)
        best = groups.idxmin() if METRICS[metric].lower else groups.idxmax()
        counts = pd.Series([where[-1] for where in best]).value_counts()
        if len(counts):
            second, won = (str(counts.index[1]), int(counts.iloc[1])) if len(counts) > 1 else ("", 0)
            leader = (str(counts.index[0]), int(counts.iloc[0]))
            found.append(_Leader(metric, learner, *leader, second, won, int(counts.sum())))
    return found


def _best_map(results: Results, leaders: Sequence[_Leader], shown: Shown) -> Finding:
    if not leaders:
        return Finding(
            "No two methods were run with the same number of columns, so none is best.", shown.otherwise
        )
    first = leaders[0]
    text = f"{first.method} has the best {first.measure} in {first.share}"
    if "estimators" not in results.study or "methods" in results.study:
        text = f"With equal numbers of columns, {text}"
    text += f", and {first.second} in {first.won_by_second}." if first.second else "."
    for other in leaders[1:2]:
        text += f" The best {other.measure} is that of {other.method}, in {other.share}."
    rankings = [
        place
        for place, entry, _ in shown.tables
        if entry["type"] == "ranking"
        and (entry["metric"], entry.get("learner")) == (first.metric, first.learner)
    ]
    return Finding(text, rankings[0] if rankings else "standings")


def _broken_claim(results: Results, shown: Shown) -> Finding | None:
    """The contradicted claim whose worst comparison has the greatest ratio of means."""
    claims = {claim["title"]: claim for claim in results.study.get("claims") or ()}
    found: list[tuple[float, str, int]] = []
    for number, row in enumerate(shown.claims.to_dict("records")):
        if row["verdict"] in (*CONTRADICTED, "explained") and row["claim"] in claims:
            against = _against(claims[row["claim"]], results)
            size, where = max(against, default=(0.0, ""), key=lambda item: item[0])
            found.append((size, f"“{row['claim']}” is {_is(row['verdict'])}{where}", number))
    if not found:
        return None
    _, text, number = max(found, key=lambda item: item[0])
    return Finding(f"The largest surprise: {text}.", f"{shown.claims_id}-{number}")


def _against(claim: Options, results: Results) -> Iterator[tuple[float, str]]:
    """Yield how much the means of each comparison contradict a claim about two methods, and where."""
    if claim["type"] not in ("better", "best", "equal"):
        return
    sign, error = sign_of(claim), METRICS[claim["metric"]].axis
    cells, place = cells_of(claim, results)
    for other in [claim["than"]] if isinstance(claim["than"], str) else claim["than"]:
        tables = paired(cells, place, claim["method"], other)
        gains = relative_gain(sign, *tables)
        means = zip(*(table.mean(axis=1).tolist() for table in tables), strict=True)
        for where, gain, (ours, theirs) in zip(gains.index.tolist(), gains, means, strict=True):
            if (gain < 0 or claim["type"] == "equal") and min(ours, theirs) > 0:
                said = f"{ours:.3g} with {claim['method']} and {theirs:.3g} with {other}"
                yield abs(log(ours / theirs)), f". On {_place(where, place[-1])}, the mean {error} is {said}"


def _far_from_published(shown: Shown) -> Finding | None:
    """The published number that differs from ours by the greatest ratio, among those that do not agree."""
    found: list[tuple[float, str, str]] = []
    for place, entry, table in shown.tables:
        if "verdict" not in table or "published" not in table:
            continue
        for row in table[table["verdict"].isin(_DECIDED)].to_dict("records"):
            if min(row["ours"], row["published"]) > 0:
                where = f"{row['data set']}, {row['kernel']}" + (
                    "" if pd.isna(row["s"]) else f", s = {row['s']}"
                )
                text = (
                    f"The largest difference from a published number is {row['verdict']}: on {where}, the "
                    f"{METRICS[entry['metric']].axis} of {row['method']} is {row['ours']:.3g} instead of "
                    f"{row['published']:g}."
                )
                found.append((abs(log(row["ours"] / row["published"])), text, place))
    if not found:
        return None
    _, text, place = max(found, key=lambda item: item[0])
    return Finding(text, place)


def _upset(results: Results, leaders: Sequence[_Leader], shown: Shown) -> Finding:
    """Where another method beats the best one significantly by most, or else in how many pairings it is ahead."""
    if not leaders:
        return Finding("There is no surprise, because nothing was compared.", shown.otherwise)
    best = leaders[0]
    methods = [method for method in results.cells["method"].unique() if method not in (best.method, EXACT)]
    entry: Mapping[str, Any] = {"metric": best.metric, "title": "", "method": best.method, "than": methods}
    entry = {**entry, "at": "columns"} | ({"learner": best.learner} if best.learner else {})
    sign = sign_of(entry)
    own, others = encounters(entry, results)
    inexact = others.mean(axis=1) > _EXACT  # as Nystroem is not with as many columns as rows
    own, others = own[inexact], others[inexact]
    judgement = judged(sign, own, others)
    times = ratios(sign, own, others)
    lost = times[judgement.apart]
    if not judgement.tested:
        return Finding("There is no surprise, because one repetition allows no test.", "standings")
    if lost.empty:
        gains = (sign * (others - own)).to_numpy()[None]
        found = smallest(best.metric, gains, others.to_numpy()[None])
        text = (
            f"By {best.measure}, {best.method} is better in {judgement.holds.sum()} of "
            f"{plural(len(times), 'pairing')} with other methods and worse in {judgement.fails.sum()}"
        )
        text += (
            f", by up to {1 / times.min():.3g} times, which may be noise. " if judgement.fails.any() else ". "
        )
        return Finding(f"{text}Smallest detectable loss: {found[:1].lower()}{found[1:]}", "standings")
    rival, *place = lost.index.tolist()[int(lost.argmin())]
    text = (
        f"The largest surprise: on {_place(place, 'n_components')}, {rival} is {1 / lost.min():.3g} times better "
        f"than {best.method} by {best.measure}."
    )
    return Finding(text, "standings")


def _place(where: Sequence[Any], x: str) -> str:
    dataset, kernel, at = where
    return place_text(dataset, kernel, f"D = {at:g}" if x == "n_components" else f"s = {at}")
