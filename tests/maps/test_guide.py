"""The code of docs/add-a-method.md, run as it is printed: the method and its law test."""

import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from rflib.kernels import Laplacian
from rflib.maps import RFF

GUIDE = Path(__file__).parents[2] / "docs/add-a-method.md"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder that holds mypackage with the files of the guide, importable meanwhile."""
    folder = tmp_path_factory.mktemp("guide")
    for name, code in re.findall(r"```python\n# (\S+)\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(code)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder
        for name in [n for n in sys.modules if n.split(".")[0] == "mypackage"]:
            patch.delitem(sys.modules, name)


@pytest.mark.usefixtures("package")
def test_the_method_passes_its_own_test_and_scikit_learn_s():
    import_module("mypackage.test_paired").test_paired_is_unbiased()
    Paired = import_module("mypackage.paired").Paired
    check_estimator(Paired(n_components=10), on_skip=None)
    with pytest.raises(ValueError, match=r"Paired: Laplacian.* is not Gaussian. Use RFF or MVORF"):
        Paired(Laplacian()).fit(np.eye(3))


@pytest.mark.usefixtures("package")
def test_the_law_test_of_the_guide_fails_for_a_wrong_method(monkeypatch):
    """Of another bandwidth, or with frequencies that sum wrongly: the guide's test would say so."""
    wrong = import_module("mypackage.test_paired")
    monkeypatch.setattr(
        wrong, "Paired", lambda kernel, n, random_state: RFF(None, n, random_state=random_state)
    )
    with pytest.raises(AssertionError):
        wrong.test_paired_is_unbiased()
