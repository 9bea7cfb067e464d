"""How ``make docs`` builds the site, from the Markdown files of the whole repository with the links that they have there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
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
ARRAYS = ("Floats", "Reals", "Features", "Grades", "Indices", "Flags", "Bytes", "Strings", "npt.NDArray[Any]")
autodoc_type_aliases = {"npt.ArrayLike": "ArrayLike", **dict.fromkeys(ARRAYS, "ndarray")}
autodoc_default_options = {
    "members": True,
    "undoc-members": True,
    "inherited-members": "object, tuple, Exception, Protocol, ABC",
    "exclude-members": "__init__, __new__, stored, from_stored, check_steps, check_watch, draws, is_random",
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
    """What is done besides: measures are no addresses, and nothing is loaded from the network."""
    app.connect("autodoc-process-signature", name_aliases)
    app.connect("doctree-read", unlink_measures)
    app.connect("build-finished", check_offline)


def name_aliases(*told: Any) -> tuple[str | None, ...]:
    """Aliases that are one of several types come out as ``TypeAliasForwardRef('ArrayLike')``."""
    *_, signature, returned = told
    return tuple(text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (signature, returned))


def unlink_measures(_app: Sphinx, page: nodes.document) -> None:
    """In docstrings ``ndcg@10`` looks like somebody's mail address."""
    for reference in list(page.findall(nodes.reference)):
        if str(reference.get("refuri", "")).startswith("mailto:"):
            reference.replace_self(nodes.Text(reference.astext()))


def check_offline(app: Sphinx, failure: Exception | None) -> None:
    """Pages may link anywhere, but fonts, scripts, styles and pictures are their own."""
    loading: Any = re.compile(r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(?:https?:)?//|<link\b[^>]*\bhref="(?:https?:)?//')
    styled: Any = re.compile(r"(?:@import|url\()\s*['\"]?(?:https?:)?//")
    for path in [] if failure else sorted(Path(app.outdir).rglob("*")):
        wanted = {".html": loading, ".css": styled}.get(path.suffix)
        if wanted is not None and wanted.search(path.read_text(encoding="utf-8")):
            raise ExtensionError(f"{path} loads something from the network. The site must work without one.")
