"""Pages of HTML from the templates: self-contained, and every text from a file is escaped."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from rflib import __version__
from rflib.files import replacing
from rflib.report.claim_rule import VERDICTS
from rflib.report.style import PALETTE
from rflib.report.wording import NO_ROWS, NOT_DRAWN, plural

_TEMPLATES = Path(__file__).parent / "templates"


def write_html(
    template: str,
    out_file: Path,
    *,
    shapes: Mapping[str, Markup] | None = None,
    labels: Mapping[str, Any] | None = None,
    **content: Any,
) -> None:
    """Write a page from a template that extends ``base.html``; it appears when it is complete.

    ``shapes`` are markers and clip paths of the figures, by their ids. ``labels`` has, by study and label, the
    ``type`` of a method, and how it is ``made``. The rest is what the template shows.
    """
    loader = FileSystemLoader(_TEMPLATES)
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.globals |= {
        "plural": plural,
        "no_rows": NO_ROWS,
        "not_drawn": NOT_DRAWN,
        "meanings": VERDICTS,
    }
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    page = {
        "shapes": shapes or {},
        "labels": labels or {},
        "palette": PALETTE,
        "version": __version__,
        "made": made,
    }
    html = environment.get_template(template).render(**page, **content)
    with replacing(out_file) as file:
        file.write(html.encode("utf-8"))
