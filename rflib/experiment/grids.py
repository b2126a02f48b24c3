"""The grids of a study: parts that are restricted to some of its labels and have their own sizes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rflib.validation import hint

Study = Mapping[str, Any]

FULL_REPETITIONS = 20
SMOKE_REPETITIONS = 2
SMOKE_ROWS = 300
SMOKE_COLUMNS = 2048
LIMITS = ("max_train", "max_test")
PARTS = ("grids", "full")
RESTRICTED = ("datasets", "kernels", "methods", "learners", "estimators")
# The label of the kernel in cells that have none.
NO_KERNEL = "none"


def kernels_of(study: Study) -> list[str]:
    """Return the labels of the kernels in a study's cells."""
    return [*study.get("kernels", {}), *([NO_KERNEL] if "estimators" in study else [])]


def methods_of(study: Study) -> dict[str, Study]:
    """Return what a study compares in its cells: methods, and estimators, whose labels stand for their types."""
    return {**study.get("methods", {}), **{label: {"type": label} for label in study.get("estimators", {})}}


def grids(study: Study, preset: str) -> Iterator[Study]:
    """Yield the study in the size of a preset, changed by each of its grids; unchanged if it has none.

    Raises
    ------
    ValueError
        If a restriction names something that the study does not have.
    """
    _check_labels(study)
    study = _scaled(study, preset)
    for grid in study.get("grids", [{}]):
        changed = {key: value for key, value in grid.items() if key not in RESTRICTED}
        datasets = [d for d in study["datasets"] if d["name"] in grid.get("datasets", [d["name"]])]
        labelled = {
            role: {
                label: spec for label, spec in study.get(role, {}).items() if label in grid.get(role, [label])
            }
            for role in RESTRICTED[1:]
        }
        yield {**study, **changed, "datasets": datasets, **labelled}


def _check_labels(study: Study) -> None:
    """Raise ValueError if a restriction names what the study does not have, or a label means two things."""
    if both := study.get("methods", {}).keys() & study.get("estimators", {}).keys():
        raise ValueError(f"{min(both)!r} is the label of a method and of an estimator. Rename one of them.")
    known = {role: set(study.get(role, {})) for role in RESTRICTED[1:]}
    known["datasets"] = {dataset["name"] for dataset in study["datasets"]}
    parts = [(f"{key}[{i}]", grid, RESTRICTED) for key in PARTS for i, grid in enumerate(study.get(key, []))]
    owners = {"kernel": ("methods", "datasets"), "method": ("kernels",), "estimator": ("datasets",)}
    restricting = [
        *(
            (f"{owner} {label!r}", spec, roles)
            for owner, roles in owners.items()
            for label, spec in study.get(f"{owner}s", {}).items()
        ),
        *parts,
    ]
    for place, spec, roles in restricting:
        for role in roles:
            for word in spec.get(role, []):
                if word not in known[role]:
                    raise ValueError(
                        f"{place}: {role} names {word!r}, which the study does not "
                        f"have.{hint(word, known[role])} It has {', '.join(sorted(known[role]))}."
                    )


def _scaled(study: Study, preset: str) -> Study:
    """Return the study in the size of a preset."""
    if preset == "full":
        grids = [
            {**grid, "repetitions": max(grid.get("repetitions", study["repetitions"]), FULL_REPETITIONS)}
            for grid in study.get("full", study.get("grids", [{}]))
        ]
        return {**study, "grids": grids}
    if preset == "smoke":
        small = [
            {**dataset, **{key: min(SMOKE_ROWS, dataset.get(key, SMOKE_ROWS)) for key in LIMITS}}
            for dataset in study["datasets"]
        ]
        size = {"repetitions": SMOKE_REPETITIONS, "seed_block": SMOKE_REPETITIONS}
        grids = [
            {
                **grid,
                **size,
                "s": _one_block(grid.get("s", study.get("s", []))),
                "max_columns": min(SMOKE_COLUMNS, {**study, **grid}.get("max_columns", SMOKE_COLUMNS)),
            }
            for grid in study.get("grids", [{}])
        ]
        return {**study, "datasets": small, "grids": grids}
    return study


def _one_block(grid: Sequence[Any]) -> list[list[Any]]:
    """Join the blocks of values of s. With small cells, starting a job costs more than computing them."""
    return [[value for item in grid for value in (item if isinstance(item, list) else [item])]]
