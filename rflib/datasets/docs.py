"""The page docs/data.md, made from the registry: ``python -m rflib.datasets.docs > docs/data.md``."""

from __future__ import annotations

from rflib.datasets.registry import REGISTRY, Entry

_HEAD = """# Data sets

Made from the registry by `python -m rflib.datasets.docs > docs/data.md`; a test holds the two together.

Files come from the `data.mirrors` of `config.yaml` (folders or URLs; a mirror may hold a file compressed, with
`.xz` added) or from the official address, are verified by checksum before use, and a download that breaks off is
taken up where it broke. To place a file by hand, put it below the folder `data.raw` under the name given here.

Splits: *given*: the files hold training and test rows. *half*, *2/3*, *train n*: every repetition draws its own
at random, the same one for all methods. Preprocessing (`minmax`, `standardize`, `unit_norm`, ...) is named in the
study, fitted on the training rows. A user's own CSV, Parquet, npz or LIBSVM file is named in a study by `file`,
`target` and `task`.

Preparing covtype, 581,012 rows generated in its format, peaked at 679 MiB of memory, the interpreter with its
libraries included (2 cores, x86-64); the array itself has 251 MB in double precision.

| name | task | rows | columns | classes | split | source |
|---|---|---|---|---|---|---|
"""


def page() -> str:
    """Return the page as Markdown."""
    rows = "".join(_row(name, entry) for name, entry in REGISTRY.items())
    traps = "".join(f"- **{name}**: {entry.traps}.\n" for name, entry in REGISTRY.items() if entry.traps)
    files = "".join(
        f"| {name} | `{file.name}` | {file.url or 'mirror only'} | `{_checksum(file.sha256, file.md5)}` |\n"
        for name, entry in REGISTRY.items()
        for file in entry.files
    )
    return (
        f"{_HEAD}{rows}\n## What to know before using them\n\n{traps}\n## Files\n\n"
        f"| data set | file | official address | checksum |\n|---|---|---|---|\n{files}"
    )


def _row(name: str, entry: Entry) -> str:
    classes = entry.classes or ""
    return (
        f"| {name} | {entry.task} | {entry.rows:,} | {entry.columns:,} | {classes} | {entry.split} "
        f"| {entry.source} |\n"
    )


def _checksum(sha256: str | None, md5: str | None) -> str:
    return f"sha256 {sha256}" if sha256 else f"md5 {md5}"


if __name__ == "__main__":
    print(page(), end="")
