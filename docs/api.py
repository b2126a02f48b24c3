"""The reference of the public names, from their docstrings: HTML pages that open offline.

``python docs/api.py FOLDER`` (``make docs``). Warnings are errors: types that do not resolve, broken docstrings.
"""

import sys
import warnings
from collections import ChainMap
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pdoc

LAZY = ("rflib.kernels", "rflib.measures", "rflib.maps", "rflib.learners")
PLAIN = ("rflib.frequencies", "rflib.metrics", "rflib.datasets.load")


def main(folder: Path) -> None:
    """Write ``folder/index.html`` and a page for each module."""
    for package in map(import_module, LAZY):
        # pdoc reads a package's dictionary, which holds lazy names only after their first use.
        public = {name: getattr(package, name) for name in package.__all__}
        vars(package).update(public)
        for value in public.values():
            # It also looks for the types of inherited fields in the wrong module.
            if is_dataclass(value):
                names = ChainMap(*(vars(sys.modules[base.__module__]) for base in value.__mro__))
                value.__init__.__annotations__ = get_type_hints(value.__init__, dict(names))
    pdoc.render.configure(docformat="numpy", show_source=False, footer_text="rflib")
    pdoc.pdoc("rflib", "!rflib[.]", *LAZY, *PLAIN, output_directory=folder)


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(Path(sys.argv[1]))
