"""What a newcomer meets: help by task, examples, exit codes, colours, completion; and that it comes quickly."""

from __future__ import annotations

import importlib
import inspect
import itertools
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass

import pytest

import rankinite
from rankinite.cli import app
from rankinite.cli import commands as verbs
from rankinite.cli import completion as completing
from rankinite.measures import CONVENTIONS, parse_measure, register_measure
from rankinite.measures.binary import BinaryMeasure
from rankinite.measures.registry import known_measures

pytestmark = pytest.mark.posix("a terminal")

HEAVY = ("numba", "numpy", "scipy", "pyarrow")
RUN = "import sys; sys.argv[0] = 'rankinite'; from rankinite.cli import main; main()"


def examples(text: str) -> list[list[str]]:
    """The commands in a text, one per line."""
    return [shlex.split(line) for line in re.findall(r"^ *(rankinite .*)$", text, flags=re.MULTILINE)]


def test_the_help_lists_every_verb_under_its_task(run):
    done = run("--help")
    assert done.code == 0
    heads = [done.out.index(f"─ {panel} ─") for panel in (app.DATA, app.TRAIN, app.JUDGE, app.USE)]
    assert heads == sorted(heads)
    for verb, (panel, _) in app.VERBS.items():
        listed = re.search(rf"^│ {verb} ", done.out, flags=re.MULTILINE)
        assert listed is not None
        assert done.out.rindex("╭─", 0, listed.start()) == done.out.index(f"╭─ {panel} ")


def test_the_help_names_the_exit_codes(run):
    printed = " ".join(run("--help").out.split())
    for code in ("0 all went well", "1 a fault of the program", "2 bad input", "130 ended by Ctrl-C"):
        assert code in printed


SEEDED = {"demo", "synth", "train", "tune", "adapt", "combine", "compare", "optimum", "distil", "cross-validate", "explain"}


def function_of(verb):
    name = verb.replace("-", "_")
    return getattr(importlib.import_module(f"rankinite.cli.verbs.{name}"), name)


def test_every_module_with_a_verb_is_listed():
    modules = {path.stem for path in (importlib.resources.files(rankinite) / "cli" / "verbs").iterdir() if path.suffix == ".py"}
    found = {
        name
        for name in modules
        if inspect.isfunction(getattr(importlib.import_module(f"rankinite.cli.verbs.{name}"), name, None))
    }
    assert found == {verb.replace("-", "_") for verb in app.VERBS}


@pytest.mark.parametrize("verb", app.VERBS)
def test_every_example_can_be_parsed(verb):
    """Names and options of the examples are right; files are not looked at."""
    found = examples(inspect.getdoc(function_of(verb)).partition("Examples:")[2])
    assert found
    for _, named, *words in found:
        assert named == verb
        if "--config" not in words:  # that file is looked at
            verbs.loaded(verb).make_context(verb, words[: words.index(">")] if ">" in words else words)


def test_the_examples_of_the_command_can_be_parsed(run):
    found = [words for words in examples(app.EXAMPLES) if "--help" not in words]
    assert [words[1] for words in found] == ["train", "evaluate", "adapt", "compare"]
    for _, verb, *words in found:
        verbs.loaded(verb).make_context(verb, words)
    printed = run("--help").out
    for line in app.EXAMPLES.splitlines():
        if line.startswith("  rankinite"):
            assert line in printed  # short enough not to be broken


@pytest.mark.parametrize("verb", app.VERBS)
def test_common_options_are_common(run, verb):
    names = {name for parameter in verbs.loaded(verb).params for name in parameter.opts}
    assert {"--threads", "--quiet", "-q", "--verbose", "--json"} <= names
    assert ("--seed" in names) == (verb in SEEDED)
    assert ("--seed" in names) == ("-s" in names)
    assert ("--config" in names) == (verb in {"train", "adapt"})


@pytest.mark.parametrize("verb", app.VERBS)
def test_paragraphs_and_commands_fit_a_terminal_of_80_columns(run, monkeypatch, verb):
    """Lines are broken where the terminal ends, not where the source ends; commands as a shell takes them."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = run(verb, "--help").out
    about, _, commands = shown.partition("╭─")[0].partition("Examples:")
    for paragraph in re.split(r"\n\s*\n", about):
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        for line, below in itertools.pairwise(lines):
            assert len(line) + len(below.split()[0]) > 76, f"broken too early: {line!r}"
    written = inspect.getdoc(function_of(verb)).partition("Examples:")[2]
    assert examples(re.sub(r" \\\s*\n\s+", " ", commands)) == examples(written)
    assert all(len(line.rstrip()) <= 80 for line in shown.splitlines())


@pytest.mark.parametrize("verb", app.VERBS)
def test_no_help_of_an_option_holds_a_line_break(verb):
    for parameter in verbs.loaded(verb).params:
        assert "\n" not in (getattr(parameter, "help", "") or "")


# ---- quickly ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["train", "--help"], ["adapt", "-h"], ["evaluate", "--nonsense"]])
def test_help_loads_nothing_heavy(words):
    code = (
        f"import sys; sys.argv = ['rankinite', *{words!r}]\nfrom rankinite.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print('loaded', *(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded"


def test_the_help_loads_no_verb():
    code = (
        "import sys; sys.argv = ['rankinite', '--help']\nfrom rankinite.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print('loaded', *(name for name in {tuple(app.VERBS)!r} if f'rankinite.cli.verbs.{{name}}' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded"


def test_text_is_judged_without_arrow(letor):
    """PyArrow takes a while to load, and text needs none of it."""
    code = (
        "import sys\nfrom rankinite.cli import main\n"
        f"sys.argv = ['rankinite', 'evaluate', 'feature:1', {str(letor)!r}]\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "print('loaded', *(name for name in ('pyarrow', 'rich', 'scipy.sparse', 'matplotlib') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "ndcg@10" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded"


# ---- colours ----------------------------------------------------------------------------------------------------------

COLOUR = re.compile(rb"\x1b\[[\d;]*\b(3[0-7]|38|9[0-7])[\d;]*m")


def on_a_terminal(*words, **environment) -> bytes:
    """What the command writes when it writes to a terminal."""
    import pty  # absent on Windows

    ours, theirs = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *words], stdout=theirs, stderr=theirs, env=plain | {"TERM": "xterm-256color"} | environment
    ) as process:
        os.close(theirs)
        written = bytearray()
        try:
            while piece := os.read(ours, 65536):
                written += piece
        except OSError:  # how Linux says that the other end is closed
            pass
        process.wait()
    os.close(ours)
    return bytes(written)


def test_colours_are_for_terminals_that_want_them():
    assert COLOUR.search(on_a_terminal("--help"))
    assert not COLOUR.search(on_a_terminal("--help", NO_COLOR="1"))
    assert not COLOUR.search(on_a_terminal("train", "--nonsense", NO_COLOR="1"))
    plain = {name: value for name, value in os.environ.items() if name not in {"FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS"}}
    for words in (["--help"], ["train", "--nonsense"]):
        done = subprocess.run([sys.executable, "-c", RUN, *words], capture_output=True, check=False, env=plain)
        assert b"\x1b" not in done.stdout + done.stderr


# ---- completion -------------------------------------------------------------------------------------------------------


@pytest.fixture
def completed(run, monkeypatch):
    """What bash is offered for the last of some words."""

    def call(*words: str) -> list[str]:
        monkeypatch.setenv("_RANKINITE_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(["rankinite", *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        done = run()
        assert done.code == 0
        return done.out.split()

    return call


def test_shells_complete_verbs_options_and_names(completed):
    assert completed("co") == ["convert", "combine", "compare"]
    assert completed("train", "--conf") == ["--config"]
    assert completed("train", "--learner", "lambdam") == ["lambdamart"]
    assert completed("train", "-m", "er") == ["err", "err@1", "err@3", "err@5", "err@10"]
    assert completed("evaluate", "--measure", "pair") == ["pairwise-errors"]
    assert completed("adapt", "--methods", "smart,trada-") == [
        *(f"smart,trada-{rest}" for rest in ("leaves", "trim", "splits", "trees", "trees-lambda"))
    ]
    assert completed("evaluate", "--ties", "lo") == ["lowest"]
    assert completed("evaluate", "fea") == ["feature:"]
    assert completed("compare", "a.rankinite", "asc") == ["ascending:", "ascending-column:"]
    assert completed("score", "col") == ["column:"]
    assert completed("evaluate", "") == []  # the shell offers files


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown(run, monkeypatch, shell):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    code = f"import sys; sys.argv = ['rankinite', '--show-completion', {shell!r}]; from rankinite.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "_RANKINITE_COMPLETE" in done.stdout


def test_every_measure_is_completed_also_one_of_another_package(completed):
    @register_measure
    @dataclass(frozen=True, slots=True)
    class Zeal(BinaryMeasure):
        name = "zeal"

    assert completed("evaluate", "-m", "zea") == ["zeal", "zeal@1", "zeal@3", "zeal@5", "zeal@10"]
    assert completed("evaluate", "-m", "bpre") == ["bpref"]  # it takes no cutoff
    assert completed("evaluate", "-m", "mrr") == ["mrr"]
    offered = completing.measures("")
    assert {parse_measure(text).name for text in offered} == set(known_measures())


def test_conventions_to_complete_are_those_there_are():
    assert tuple(CONVENTIONS) == completing.CONVENTIONS
