"""What is said of a job that failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rflib.experiment.unfinished import last_words

FETCH = """rflib fetch --name magic04
error: magic04.data could not be fetched:
  /mirror/magic04.data.xz: sha256 is 12, expected 34
  https://a.org/magic04.data: no network
To place it by hand, get it from https://a.org/magic04.data. Or name a mirror.
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            FETCH,
            "error: magic04.data could not be fetched: /mirror/magic04.data.xz: sha256 is 12, expected 34",
        ),
        ("rflib sample\nerror: first\nerror: a is 1.\n  More of it.\n", "error: a is 1."),
        ("rflib sample\nTraceback:\n  error: x\nerror: bad:\n", "error: bad:"),
        ("rflib sample\nhalf done\nKilled\n", "Killed"),
        ("rflib sample\n\n", "It ended without a message."),
    ],
)
def test_the_error_is_taken_from_the_log(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(text)
    found = last_words(tmp_path / "job.log")
    assert found == words or (found.startswith(words) and words.startswith("It ended"))


def test_a_job_without_a_log(tmp_path: Path) -> None:
    assert last_words(tmp_path / "none.log") == "The job has no log."
