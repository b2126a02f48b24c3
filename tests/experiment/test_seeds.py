"""Ranges of seeds: what is there stays, what is missing is run once, and a run that goes on changes no plan."""

from __future__ import annotations

from itertools import chain, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rflib.experiment import specs
from rflib.experiment.data import Data
from rflib.experiment.held import divided
from rflib.experiment.jobs import SampleJob, Unit
from rflib.experiment.seeds import Demand, ranges
from rflib.experiment.specs import LONGEST

from .test_plan import plan, samples

demand = st.builds(Demand, st.integers(1, 30), st.integers(1, 12))
demands = st.sets(demand, min_size=1, max_size=4)
held = st.sets(
    st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda pair: (pair[0], sum(pair))), max_size=8
)


@given(demands, held, st.data())
def test_the_ranges_do_not_change_while_they_come_into_being(
    demands: set[Demand], held: set[tuple[int, int]], data: st.DataObject
) -> None:
    planned = ranges(demands, held)
    done = data.draw(st.sets(st.sampled_from(planned)))
    assert ranges(demands, held | done) == planned


@given(demands, held)
def test_the_ranges_hold_all_wanted_seeds_once(demands: set[Demand], held: set[tuple[int, int]]) -> None:
    planned = ranges(demands, held)
    assert planned[0][0] == 0
    assert all(before[1] == after[0] for before, after in pairwise(planned))
    assert planned[-1][1] >= max(demand.repetitions for demand in demands) > planned[-1][0]
    ends = {demand.repetitions for demand in demands}
    for first, stop in set(planned) - held:
        assert stop - first <= max(demand.seed_block for demand in demands)
        assert not ends & set(range(first + 1, stop))


@given(st.lists(demands, min_size=1, max_size=5))
def test_no_seed_is_ever_run_twice_and_no_file_is_left_over(history: list[set[Demand]]) -> None:
    """Studies come and go, and ask for more or for fewer seeds."""
    there: set[tuple[int, int]] = set()
    for demands in history:
        new = set(ranges(demands, there)) - there
        there |= new
        seeds = list(chain.from_iterable(range(*pair) for pair in there))
        assert sorted(seeds) == list(range(len(seeds)))
        assert all(first < max(demand.repetitions for demand in demands) for first, _ in new)


@given(st.integers(1, 25))
def test_3_then_5_then_20_repetitions(seed_block: int) -> None:
    there: set[tuple[int, int]] = set()
    for repetitions, expected in ((3, {0, 1, 2}), (5, {3, 4}), (20, set(range(5, 20)))):
        new = set(ranges([Demand(repetitions, seed_block)], there)) - there
        assert set(chain.from_iterable(range(*pair) for pair in new)) == expected
        there |= new
    assert set(ranges([Demand(3, 7)], there)) <= there


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=20, unique=True), st.integers(0, 999))
def test_the_name_of_a_block_tells_its_seeds(columns: list[int], first: int) -> None:
    unit = Unit(Data("digits"), {"type": "Gaussian"}, {"type": "RFF"})
    job = SampleJob(unit, tuple(columns), (first, first + 10))
    assert job.block.endswith(f"-r{first}_{first + 10}")
    assert len(job.block) <= LONGEST


def test_studies_share_the_jobs_of_the_same_cells(tmp_path: Path) -> None:
    three, ten = (plan(repetitions=repetitions, s=[4]) for repetitions in (3, 10))
    shared = [{sample.seeds for _, sample in samples(part)} for part in divided([three, ten], tmp_path)]
    assert shared == [{(0, 3)}, {(0, 3), (3, 10)}]


def test_what_is_there_is_found_by_its_name(tmp_path: Path) -> None:
    """Also where a long name is shortened, and beside files of other columns."""
    wanted = plan(repetitions=5, s=[list(range(1000, 1016)), 4])
    for part in wanted.wanted:
        path = tmp_path / part.job.with_seeds((0, 3)).stored
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (found,) = divided([wanted], tmp_path)
    assert {sample.seeds for _, sample in samples(found)} == {(0, 3), (3, 5)}


def test_the_stream_does_not_depend_on_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on names of parameters, nor on defaults, nor on how the rows are prepared and limited."""
    kernel, method = {"type": "Gaussian", "sigma": 2}, {"type": "GORF", "measure": "minimum_variance"}
    unit = Unit(Data("digits", "unit_norm"), kernel, method)
    same = [
        Unit(Data("digits", "standardize", max_train=100), kernel, method),
        Unit(
            Data("digits"),
            {"sigma": 2.0, "type": "Gaussian"},
            {"measure": "minimum_variance", "type": "GORF"},
        ),
    ]
    assert {each.stream for each in same} == {unit.stream} == {"digits/Gaussian-2/GORF-minimum_variance"}
    others = [
        Unit(Data("iris"), kernel, method),
        Unit(Data("digits"), {"type": "Gaussian", "sigma": 3}, method),
        Unit(Data("digits"), {"type": "Laplacian", "gamma": 2}, method),
        Unit(Data("digits"), kernel, {"type": "GORF"}),
        Unit(Data("digits"), kernel, {"type": "ORF"}),
        Unit(
            Data("digits"),
            kernel,
            {"type": "GORF", "measure": {"type": "minimum_variance", "deltas": [0.1]}},
        ),
    ]
    assert len({each.stream for each in others} | {unit.stream}) == 7
    renamed = specs._parameters(specs.class_of("method", "GORF"))
    renamed = {{"measure": "atoms"}.get(name, name): value for name, value in renamed.items()}
    monkeypatch.setattr(specs, "_parameters", lambda cls: renamed if cls.__name__ == "GORF" else {})
    assert specs.meaning("method", {"type": "GORF", "atoms": "minimum_variance"}) == "GORF-minimum_variance"
    assert specs.meaning("method", {"type": "GORF", "atoms": "paper"}) == "GORF"
