"""The site: ``make docs`` builds it with Sphinx, without a network, and treats each warning as an error."""

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from numpydoc.xref import DEFAULT_LINKS
from sphinx.errors import ExtensionError

import rflib
from rflib import kernels, learners, maps, measures, plotting
from rflib.keywords import Keywords

sys.path.insert(0, str(Path(__file__).parent))  # the gallery imports `colours` from here
from formulas import typeset

project, author = "rflib", "The rflib developers"
copyright = author
version = release = rflib.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
]
exclude_patterns = ["sg_execution_times.rst", "gallery/sg_execution_times.rst"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [
    (
        "py:.*",
        r"(sklearn|numpy|scipy|pandas|matplotlib)\b.*",
    ),  # their guides are not read while this one is built
    ("py:.*", r"rflib\.[a-z]+(\.[a-z_]+)*"),  # modules without a page, for those who read the code
    ("py:.*", r"_draw|_columns|set_output|width_parameter"),
]
default_role = "autolink"

# Markdown
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
# Files outside this folder that have a page of their own on the site.
PAGES = {
    "../config/README.md": "configuration.md",
    "../examples)": "gallery/index.rst)",
}

# API reference: one page for each public name
autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": True, "special-members": "__call__"}
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
DEFAULT_LINKS.clear()  # they point to the guides of Python and numpy
numpydoc_xref_aliases = {
    name: f"{package.__name__}.{name}"
    for package in (kernels, measures, maps, learners, plotting)
    for name in package.__all__
} | {name: f"rflib.kernels.base.{name}" for name in ("Kernel", "RadialKernel", "DotProductKernel")}

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("rflib",),
    "reference_url": {"rflib": None},
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),
    "show_signature": False,
    "download_all_examples": False,
    "reset_modules": ("matplotlib", "conf.colours"),
    "min_reported_time": 1e9,
}

# Pages
html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_title = "rflib"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": f"rflib {release}"},
    # An address for the icon in the head of each page: RFLIB_REPOSITORY=https://... make docs
    "icon_links": [
        {"name": "Repository", "url": url, "icon": "fa-solid fa-code-branch"}
        for url in filter(None, [os.environ.get("RFLIB_REPOSITORY")])
    ],
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],  # without its words, all links fit beside it
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
}
html_sidebars = {"index": [], "get-started": [], "results": ["sidebar-nav-bs"]}


def colours(gallery_conf: dict[str, Any], fname: str) -> None:
    """Give the pictures of the gallery Okabe and Ito's colours, which colour-blind readers can tell apart."""
    import matplotlib.pyplot as plt

    from rflib.report.style import COLOURS

    plt.rcParams.update({"axes.prop_cycle": plt.cycler(color=COLOURS), "axes.grid": True, "grid.alpha": 0.3})


def _links_to_pages(app: Any, docname: str, source: list[str]) -> None:
    for path, page in PAGES.items():
        source[0] = source[0].replace(f"]({path}", f"]({page}")
    # A paragraph that is nothing but a link to an example shows its picture.
    picture = r"[![\1](gallery/images/sphx_glr_\2_001.png)](gallery/\2.rst)"
    source[0] = re.sub(r"(?m)^\[(.*)\]\(\.\./examples/(\w+)\.py\)$", picture, source[0])
    source[0] = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", source[0])


def _only_ours(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what is inherited from other libraries: their docstrings link into their own guides."""
    module = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", "rflib")
    return None if module.startswith("rflib") else True


def _plain_formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Typeset formulas; in the rest, |K| is a norm and k_ a name, which reStructuredText would take for markup."""
    lines[:] = typeset("\n".join(lines)).split("\n")
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if example:
            continue
        parts = re.split(r"(``.*?``|`[^`]*`)", line)
        parts[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
        lines[i] = "".join(parts)


def _signature(app: Any, what: str, name: str, obj: Any, *_: Any) -> tuple[str, str] | None:
    """A class has the parameters of its ``__init__``, and not of the ``__new__`` that checks their names."""
    if what != "class" or not issubclass(obj, Keywords):
        return None
    signature = inspect.signature(obj)
    plain = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty)), ""


def _links_to_names(app: Any, doctree: Any, docname: str) -> None:
    """A public name in a code span, such as `MVORF`, leads to its page."""
    for span in list(doctree.findall(nodes.literal)):
        page = f"generated/{numpydoc_xref_aliases.get(span.astext().split('(')[0])}"
        if page in app.env.found_docs and page != docname and not isinstance(span.parent, nodes.reference):
            link = nodes.reference(internal=True, refuri=app.builder.get_relative_uri(docname, page))
            span.replace_self(link)
            link += span


def _inline_math(translator: Any, node: Any) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _display_math(translator: Any, node: Any) -> None:
    # An inline formula in large style, unlike a block, can be scrolled from its beginning where it is too wide.
    formula = convert(node.astext(), display="block").replace('display="block"', 'displaystyle="true"')
    translator.body.append(f'<div class="formula">{formula}</div>')
    raise nodes.SkipNode


def _offline(app: Any, exception: Exception | None) -> None:
    """Stop if a page would load something from a network."""
    for page in Path(app.outdir).rglob("*.html"):
        found = re.search(
            r'<(script|link|img|iframe)\b[^>]*(src|href)="(https?:)?//[^>]*>', page.read_text("utf-8")
        )
        if found and not exception:
            raise ExtensionError(f"{page} loads {found[0]}")


def setup(app: Any) -> None:
    """Formulas become MathML, which browsers draw without scripts or fonts from a network."""
    app.add_html_math_renderer("mathml", (_inline_math, None), (_display_math, None))
    app.connect("build-finished", _offline)
    app.connect("source-read", _links_to_pages)
    app.connect("autodoc-skip-member", _only_ours)
    app.connect("doctree-resolved", _links_to_names)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _plain_formulas, priority=900)
