"""Every Python block of the README and the guides runs, in order, as a reader would type it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import rankinite as rk

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
    printed = capsys.readouterr().out
    for shown in re.findall(r"^```python\n.*?^```\n\n```\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
        assert shown in printed


OTHERS = [ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/index.md", "docs/papers.md")]


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def listed(page: Path) -> set[Path]:
    """The pages that the lists of contents on a page name."""
    found: set[Path] = set()
    for block in re.findall(r"^```{toctree}\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
        for entry in (line for line in block.split() if not line.startswith(":") and re.fullmatch(r"[\w/*.-]+", line)):
            place = ROOT / entry[1:] if entry.startswith("/") else page.parent / entry
            matches = [place.parent.glob(f"{place.name}{suffix}") for suffix in (".md", ".rst")]
            found.update(match.resolve() for paths in matches for match in paths)
    return found


def test_every_page_is_in_the_navigation():
    reached, waiting = set(), [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop().resolve()
        reached.add(page)
        waiting += listed(page) - reached
    pages = {*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst"), *ROOT.glob("*.md")}
    assert {page.resolve() for page in pages} <= reached


def described() -> dict[str, set[str]]:
    """Package → the names that the reference describes."""
    found: dict[str, set[str]] = {}
    for page in (ROOT / "docs" / "reference").glob("*.rst"):
        package = re.search(r"^.. currentmodule:: (\S+)", page.read_text(), flags=re.MULTILINE)
        for name in re.findall(r"^.. auto(?:class|function|data|exception):: (\S+)", page.read_text(), flags=re.MULTILINE):
            home, _, own = name.rpartition(".")
            found.setdefault(home or package.group(1), set()).add(own)
    return found


@pytest.mark.parametrize("package", ["rankinite", *(f"rankinite.{name}" for name in rk._PACKAGES)])
def test_every_public_name_is_in_the_reference_and_explained(package):
    module = import_module(package)
    names = set(module.__all__) - set(rk._PACKAGES) - {"__version__"}
    assert names == described()[package]
    for name in names:
        thing = getattr(module, name)
        assert thing.__doc__ if callable(thing) else True, name
