"""How ``make docs`` builds the site, from the Markdown files of the whole repository with the links that they have there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import rankinite

project = "rankinite"
author = "the authors of rankinite"
version = release = rankinite.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "benchmarks/RESULTS.md"]
exclude_patterns = [".*", "src", "tests", "examples", "demo", "site", "build", "dist"]
highlight_language = "none"
myst_heading_anchors = 3
nitpicky = True
# Types of signatures are NumPy's and our own aliases, which have no page; functions and methods that a text names are checked.
nitpick_ignore_regex = [("py:class", ".*"), ("py:data", ".*"), ("py:obj", ".*")]

autodoc_typehints = "signature"
autodoc_class_signature = "separated"  # settings are listed one by one, each with what it means
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "inherited-members": "object, tuple, Exception, Protocol, ABC",
    "exclude-members": "__init__, __new__, stored, from_stored",
}

html_theme = "furo"
html_title = f"rankinite {release}"
html_show_sphinx = False
html_copy_source = False
html_extra_path = ["site/index.html"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2a6f97", "color-brand-content": "#2a6f97"},
    "dark_css_variables": {"color-brand-primary": "#7cb9dd", "color-brand-content": "#7cb9dd"},
}


def setup(app: Sphinx) -> None:
    """Refuse a site that would load something from the network."""
    app.connect("build-finished", check_offline)


def check_offline(app: Sphinx, failure: Exception | None) -> None:
    """Pages may link anywhere, but fonts, scripts, styles and pictures are their own."""
    loading: Any = re.compile(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//|<link\b[^>]*\bhref="(?:https?:)?//')
    styled: Any = re.compile(r"(?:@import|url\()\s*['\"]?(?:https?:)?//")
    for path in [] if failure else sorted(Path(app.outdir).rglob("*")):
        wanted = {".html": loading, ".css": styled}.get(path.suffix)
        if wanted is not None and wanted.search(path.read_text(encoding="utf-8")):
            raise ExtensionError(f"{path} loads something from the network. The site must work without one.")
