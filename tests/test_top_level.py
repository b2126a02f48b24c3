"""The top level of rflib: every public name of its packages, loaded when it is used."""

import re
import subprocess
import sys

import pytest

import rflib
from rflib.experiment.fingerprint import _defining
from rflib.lazy import _ELSEWHERE


def test_every_public_name_is_that_of_its_package():
    for package in (rflib.kernels, rflib.maps, rflib.learners):
        for name in dir(package):
            assert getattr(rflib, name) is getattr(package, name)
    assert {"MVORF", "Gaussian", "KRR", "maps", "measures", "metrics", "show_versions"} <= set(dir(rflib))
    with pytest.raises(AttributeError, match=r"has no attribute 'MVROF'\. Did you mean 'MVORF'"):
        _ = rflib.MVROF


def test_names_of_other_libraries_lead_to_what_is_here():
    for name, answer in _ELSEWHERE.items():
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}'\. Take {re.escape(answer)}\.$"):
            getattr(rflib, name)
        assert name not in dir(rflib)
        made = [each for each in re.findall(r"\b[A-Z]\w+", answer) if each not in ("X", "True")]
        assert made and all(hasattr(rflib, each) for each in made)
    with pytest.raises(
        AttributeError, match=r"'rflib.learners' has no attribute 'SVC'\. Take KernelClassifier"
    ):
        _ = rflib.learners.SVC


def test_a_traceback_has_one_hint():
    found = subprocess.run(
        [sys.executable, "-c", "import rflib; rflib.mvorf"], capture_output=True, text=True
    )
    assert found.stderr.endswith("has no attribute 'mvorf'. Did you mean 'MVORF'?\n")


def test_importing_rflib_imports_nothing_that_takes_time():
    code = "import rflib, sys; print([name for name in ('numpy', 'scipy', 'sklearn') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_fingerprints_follow_top_level_names_to_their_modules():
    assert _defining("rflib", "MVORF") == "rflib.maps.mvorf"
    assert _defining("rflib", "maps") == "rflib.maps"


def test_versions_are_shown(capsys):
    rflib.show_versions()
    shown = capsys.readouterr().out
    assert f"rflib: {rflib.__version__}\n" in shown
    assert all(f"{name}: " in shown for name in ("python", "numpy", "scipy", "scikit-learn"))
    assert shown.count(" threads\n") >= 2  # of a BLAS and of OpenMP
