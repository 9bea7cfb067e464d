"""Every block of the README and the guides runs, in order, as a reader would type it; pages link and list each other."""

from __future__ import annotations

import re
import shlex
import shutil
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import typer
import xgboost
from lightgbm import LGBMRanker

import rankinite as rk
from papers.__main__ import app as papers_app
from papers.item import PAPERS
from rankinite.cli.app import VERBS, app
from rankinite.cli.commands import loaded
from rankinite.foreign_settings.answers import plain_name
from rankinite.foreign_settings.table import BY_NAME

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore:.* is a Python function")  # a guide says what that costs
def test_code_blocks_run(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = blocks(page, "python")
    assert found
    names: dict[str, object] = {}
    for block in found:
        exec(compile(block, str(page), "exec"), names)
    printed = capsys.readouterr().out
    for shown in re.findall(r"^```python\n.*?^```\n\n```\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
        assert shown in printed


DATA = {
    "train": ("train.txt", "train.txt.gz", "web.txt", "web.parquet", "big.parquet"),
    "valid": ("valid.txt", "valid.txt.gz", "valid.parquet", "web-valid.txt"),
    "test": ("test.txt", "test.txt.gz", "test.letor.gz"),
}
"""Files of the first market; the reader has some like them."""
MARKET = {"train": ("market.txt", "new-market.txt"), "valid": ("more.txt",), "test": ("market-test.txt", "later.txt")}
"""And of the second."""
MODELS = ("web", "us", "uk", "old", "new", "trees", "a", "b")
ELSEWHERE = (
    "make demo",
    "make test",
    "pip install '.[plots]'",
    "rankinite --install-completion",
    "rankinite --show-completion",
    "python -m papers 000 table-1 --data judged",
    "python -m papers --data judged --out results",
)
"""What sets up a machine or a shell is not tried here, nor what needs real data and hours."""
SHORT = {
    "adapt": ("--methods", "interpolate,trada", "--no-curve"),
    "ensemble": (
        *("--trees", "lambdamart trees=5 row_share=0.7", "--points", "mart trees=5"),
        *("--net", "lambdarank hidden=3 epochs=2 restarts=0"),
    ),
}
"""Added to commands that would take long."""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """What a reader has: small files by the names that the pages use."""
    folder = tmp_path_factory.mktemp("reader")
    world = rk.World(features=25, documents=8, noise=0.3, shift=0.4)
    for domain, names in enumerate((DATA, MARKET)):
        for part, files in names.items():
            made = rk.synthesise(16 + 14 * (not domain), part=part, domain=domain, world=world)
            for number, name in enumerate(files):  # copies of one file, but for queries that may not be the same
                rk.write(made if domain == 0 else made.select_queries(range(8 * number, 8 * number + 8)), folder / name)
    named = rk.synthesise(5, part="test", world=world, doc_ids=True)
    rk.write(named, folder / "judged.parquet")
    for name in ("web.qrels", "later.qrels"):
        part = named.select_queries(range(3) if name == "web.qrels" else range(3, 5))
        rk.write(part, folder / name)
    for number, name in enumerate(("bm25.run", "dense.run", "my.run")):
        rk.write_run(folder / name, named, rk.Feature(number))
    rk.write(named.without_grades(), folder / "candidates.parquet")
    for part, name in (("train", "shops"), ("test", "new-shops")):
        rk.write(rk.synthesise(20, part=part, world=rk.World(documents=8, categories=(20,))), folder / f"{name}.parquet")
    train = rk.read(folder / "train.txt")
    ranker = rk.LambdaMART(trees=10, leaves=4, min_rows=5).fit(train)
    for name in MODELS:
        ranker.save(folder / f"{name}.rankinite")
    rk.LambdaRank(epochs=2).fit(train).save(folder / "net.rankinite")
    sizes, grades = [8] * train.queries, train.grades.astype(int)
    LGBMRanker(n_estimators=5, verbose=-1, n_jobs=1).fit(train.features, grades, group=sizes).booster_.save_model(
        folder / "lightgbm.txt"
    )
    xgboost.XGBRanker(n_estimators=5, n_jobs=1).fit(train.features, grades, group=sizes).save_model(folder / "xgboost.json")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=lambda page: page.name)
def test_commands_run(page, home, tmp_path, monkeypatch, capsys):
    folder = shutil.copytree(home, tmp_path / "reader")
    monkeypatch.chdir(folder)
    for settings in blocks(page, "toml"):
        (folder / "web-settings.toml").write_text(settings)
        run = ("adapt", "web.rankinite", "--train", "market.txt", *SHORT["adapt"], "--out", "market")
        app(run, standalone_mode=False)  # the page speaks of a run that was made before
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line.strip()]
    for line in lines:
        words = shlex.split(line, comments=True)
        if shlex.join(words) in ELSEWHERE:
            continue
        if words[:3] == ["python", "-m", "papers"]:
            assert not papers_app(words[3:], standalone_mode=False), line
            continue
        assert words[0] == "rankinite", line
        assert not app([*words[1:], *SHORT.get(words[1], ())], standalone_mode=False), line
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_marked_as_such(page):
    for block in blocks(page, ""):
        assert not re.search(r"^(\$ |rankinite [a-z]+ |make |pip )", block, flags=re.MULTILINE), block


TEXTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "docs").rglob("*.rst")),
]
OPTIONS = {
    verb: {"--help", "-h", *(text for one in loaded(verb).params for text in (*one.opts, *one.secondary_opts))}
    for verb in VERBS
}
PAPERS_OPTIONS = (text for one in typer.main.get_command(papers_app).params for text in one.opts)
EVERY_OPTION = set().union({"--version", "--install-completion", "--show-completion"}, PAPERS_OPTIONS, *OPTIONS.values())
COMMAND = re.compile(rf"(?:\brankinite |`)({'|'.join(sorted(VERBS, key=len, reverse=True))})\b((?: [^`\n|>#;&]*)?)")
OPTION = r"(?<![\w-])--?[A-Za-z][\w-]*"


def wrong_options(text: str) -> list[str]:
    """Options in commands that the verb does not have, and those in code that no verb has; other programs' are left alone."""
    text = re.sub(r" *\\\n\s*", " ", text)
    wrong = [
        f"{verb} {one}"
        for verb, words in COMMAND.findall(text)
        for one in re.findall(OPTION, words)
        if one not in OPTIONS[verb]
    ]
    for code in re.findall(r"`([^`\n]+)`", text):
        for one in re.findall(r"(?<![\w-])--[a-z][\w-]*", code):
            foreign = plain_name(one) in {*BY_NAME, "min_rows", "nthreads"} or code.startswith("python -m ")
            if one not in EVERY_OPTION and not foreign:
                wrong.append(one)
    return wrong


def test_wrong_options_are_found():
    assert wrong_options("`rankinite adapt few.txt --background a.rankinite`") == ["adapt --background", "--background"]
    assert wrong_options("rankinite synth \\\n    --folder x | grep --count y") == ["synth --folder"]
    assert wrong_options("the option `--folder`, `train -Z`, `train --trees 3`") == ["train -Z", "--folder"]
    assert wrong_options("rankinite score a.rankinite b.txt > --out") == []


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_name_options_that_there_are(page):
    assert wrong_options(page.read_text()) == []


@pytest.mark.parametrize("verb", VERBS)
def test_help_names_options_that_there_are(verb):
    """Its own, unless another verb is named before the option."""
    command = loaded(verb)
    for text in (command.help, *(getattr(one, "help", None) for one in command.params)):
        for other, named in re.findall(rf"(?:\b({'|'.join(VERBS)}) )?(?<![\w-])(--[a-z][\w-]*)", text or ""):
            assert named in OPTIONS[other or verb], text


OTHERS = [ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/index.md", "docs/papers.md")]


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


MENTION = re.compile(r"papers? (00[0-4])\b|\b(00[0-4]) §|(?:\bin |\()(00[0-4])\b")
"""How guides name one of the papers."""


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "README.md"], ids=lambda page: page.name)
def test_a_paper_is_introduced_where_its_number_is_first_used(page):
    paragraphs = page.read_text().split("\n\n")
    for number, citation in PAPERS.items():
        author, year = re.match(r"(\w+).*\((\d+)\)$", citation).groups()
        place = next((place for place, text in enumerate(paragraphs) if number in sum(MENTION.findall(text), ())), None)
        if place is not None:
            until_then = " ".join(paragraphs[: place + 1])
            for part in (author, year, "](../papers.md)"):
                assert part in until_then, (number, part)


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


PACKAGES = {name for name in rk.__all__ if isinstance(getattr(rk, name), ModuleType)}


@pytest.mark.parametrize("package", ["rankinite", *(f"rankinite.{name}" for name in sorted(PACKAGES))])
def test_every_public_name_is_in_the_reference_and_explained(package):
    module = import_module(package)
    names = set(module.__all__) - PACKAGES - {"__version__"}
    assert names == described()[package]
    for name in names:
        thing = getattr(module, name)
        assert thing.__doc__ if callable(thing) else True, name
