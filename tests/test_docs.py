"""The documentation builds, and every command and every block of Python in it runs.

A block that is not to be run has a comment on the line before it, with the reason:
``<!-- not run: takes hours -->``. A command inside of a sentence is named in the comment:
``<!-- not run `coreclust demo`: takes hours -->``. A block of text right after one of Python is
what that prints.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from coreclust.cli import main

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = {"calibration.md", "reproduction.md", "benchmarks.md"}  # written by commands
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(
        page
        for folder in (DOCS, DOCS / "guide")  # the others are made by a build
        for page in folder.glob("*.md")
        if page.name not in GENERATED
    ),
]
MOST_NOT_RUN = 3

FENCE = re.compile(
    r"(?:<!-- not run: (?P<reason>[^>]+?) -->\n+)?"
    r"^```(?P<language>python|sh|bash|console|shell)\n(?P<text>.*?)^```$"
    r"(?:\n\n```text\n(?P<shown>.*?)^```$)?",
    flags=re.DOTALL | re.MULTILINE,
)
ANY_FENCE = re.compile(r"^(`{3,}|:{3,}).*?^\1$", flags=re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?<!`)`(coreclust\s[^`]+)`(?!`)")
INLINE_NOT_RUN = re.compile(r"<!-- not run `(?P<command>[^`]+)`: (?P<reason>[^>]+?) -->")


@dataclass(frozen=True)
class Page:
    """What a page asks to be run."""

    python: list[tuple[str, str | None]]  # a block, and what the page says that it prints
    commands: list[str]
    not_run: list[str]


def read_page(path: Path) -> Page:
    text = path.read_text()
    python, commands, not_run = [], [], []
    for block in FENCE.finditer(text):
        if block["reason"]:
            not_run.append(block["text"])
        elif block["language"] == "python":
            python.append((block["text"], block["shown"]))
        else:
            commands += [line for line in block["text"].splitlines() if line.strip()]
    skipped = {found["command"] for found in INLINE_NOT_RUN.finditer(text)}
    prose = INLINE_NOT_RUN.sub("", ANY_FENCE.sub("", text))
    inline = [" ".join(command.split()) for command in INLINE.findall(prose)]
    assert skipped <= set(inline), "a comment names a command that is not on the page"
    not_run += [command for command in inline if command in skipped]
    commands += [command for command in inline if command not in skipped]
    return Page(python, list(dict.fromkeys(commands)), not_run)


def of_pages(kind):
    return [
        pytest.param(page, id=str(page.relative_to(ROOT)))
        for page in PAGES
        if getattr(read_page(page), kind)
    ]


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with the files that the pages speak of."""
    import anndata
    from sklearn.datasets import load_iris

    flowers = load_iris(as_frame=True)
    table = flowers.data.rename(columns=lambda name: name.replace(" (cm)", "").replace(" ", "_"))
    table.insert(0, "name", [f"flower {number}" for number in range(len(table))])
    table["species"] = flowers.target_names[flowers.target]
    table.to_csv(tmp_path / "data.csv", index=False)
    cells = anndata.AnnData(flowers.data.to_numpy(dtype=np.float32))
    cells.obsm["X_pca"] = cells.X
    cells.write_h5ad(tmp_path / "cells.h5ad")
    # Three groups far apart: a clustering that is mere chance is the hard case of the search.
    groups = np.repeat([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]], 16_700, axis=0)
    np.save(tmp_path / "data.npy", groups + np.random.default_rng(0).normal(size=groups.shape))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.mark.filterwarnings("ignore:The set_bad function:PendingDeprecationWarning")  # of scanpy
@pytest.mark.parametrize("path", of_pages("python"))
def test_python_runs(path, desk, capsys):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    namespace = {"__name__": "__page__"}
    try:
        for number, (block, shown) in enumerate(read_page(path).python, 1):
            capsys.readouterr()
            exec(compile(block, f"{path.name}, block {number}", "exec"), namespace)  # noqa: S102
            assert shown is None or capsys.readouterr().out == shown
    finally:
        plt.close("all")


@pytest.mark.parametrize("path", of_pages("commands"))
def test_commands_run(path, desk, capsys):
    for command in read_page(path).commands:
        words = shlex.split(command, comments=True)
        if words[0] != "coreclust":
            check_foreign(words)
            continue
        line, _, target = command.partition(" > ")  # all that we need of a shell
        assert run(shlex.split(line)[1:]) == 0, f"{command}\n{capsys.readouterr().err}"
        output = capsys.readouterr().out
        assert output, f"{command} printed nothing"
        if target:
            (desk / target).write_text(output)


def run(arguments):
    try:
        return main(arguments)
    except SystemExit as stop:  # --help
        return stop.code


def check_foreign(words):
    """Look whether what a line of another program names is there, without running it."""
    text = " ".join(words)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for names in re.findall(r"\.\[([\w,-]+)\]", text):
        assert set(names.split(",")) <= set(extras), text
    for name in re.findall(r"(?:examples|tests|docs|benchmarks|studies)/[\w/.-]+\.(?:py|md)", text):
        assert (ROOT / name).exists(), text
    assert words[0] in KNOWN_PROGRAMS or "=" in words[0], text


KNOWN_PROGRAMS = {"python", "ruff", "sphinx-build", ".ci/run", "chromium"}


def test_hardly_anything_is_not_run():
    not_run = [entry for path in PAGES for entry in read_page(path).not_run]
    assert len(not_run) <= MOST_NOT_RUN, not_run


def test_pages_have_something_to_run():
    pages = [read_page(path) for path in PAGES]
    assert sum(len(page.python) for page in pages) > 25
    assert sum(shown is not None for page in pages for _, shown in page.python) > 4
    assert sum(len(page.commands) for page in pages) > 20


def test_help_and_readme_tell_the_same_story(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = re.findall(r"^    (\w+)(?:\s|$)", capsys.readouterr().out, flags=re.MULTILINE)
    assert listed
    readme = read_page(ROOT / "README.md")
    named = re.findall(r"\bcoreclust ([a-z]\w*)", "\n".join(readme.commands + readme.not_run))
    assert set(named) == set(listed)
    guide = (DOCS / "guide" / "command-line.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", guide, flags=re.MULTILINE) == listed


def test_the_map_of_the_package_is_whole():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for path in (ROOT / "src" / "coreclust").iterdir():
        name = f"{path.name}/" if (path / "__init__.py").exists() else path.name
        if name.endswith(("/", ".py")) and not name.startswith("__"):
            assert f"`{name}`" in text, f"{name} is not in CONTRIBUTING.md"


def test_images_are_there_and_small():
    for path in PAGES:
        for image in re.findall(r"!\[.*?\]\((.*?)\)", path.read_text()):
            assert (path.parent / image).stat().st_size < 200_000, f"{path.name}: {image}"


def test_the_site_builds(tmp_path):
    """With warnings as errors; what the build leaves in docs/api and docs/examples git ignores."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install '.[docs]'")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    for page in ("index", "start", "guide/alpha", "examples/patients", "api"):
        assert (tmp_path / f"{page}.html").exists()


WALKS = {  # the sections of CONTRIBUTING with a diff, and the tests that must pass with it
    "Add a clusterer": ["tests/cluster/test_unit_bins.py"],
    "Add a resampling scheme": ["tests/resampling/test_blocks_of_time.py"],
    "Add a bound": ["tests/evidence/test_hoeffding.py"],
    "Add a figure to the report": ["tests/report/test_strength_figure.py"],
    "Add an input format": ["tests/cli/test_feather.py"],
    "Add a reduction rule": ["tests/clique/test_parts.py", "-k", "folding"],
}


def diff_of(section):
    text = (ROOT / "CONTRIBUTING.md").read_text().split(f"## {section}\n")[1].split("\n## ")[0]
    (diff,) = re.findall(r"^```diff\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return diff


def test_every_diff_of_contributing_is_a_walk():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert text.count("```diff\n") == len(WALKS)
    for section in WALKS:
        changed = re.findall(r"^\+\+\+ b/(.*)$", diff_of(section), flags=re.MULTILINE)
        assert changed
        assert sum(not name.startswith(("tests/", "docs/")) for name in changed) <= 3, section


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git, to apply a diff")
def test_the_diffs_of_contributing_apply_and_work(tmp_path):
    """On a copy of the code, with kernels as plain Python: a copy would compile all anew."""
    for folder in ("src", "tests"):
        shutil.copytree(
            ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    environment = os.environ | {
        "GIT_CEILING_DIRECTORIES": str(tmp_path.parent),
        "PYTHONPATH": str(tmp_path / "src"),
        "NUMBA_DISABLE_JIT": "1",
    }
    (tmp_path / "all.diff").write_text("".join(map(diff_of, WALKS)))
    plain = [sys.executable, "-m", "pytest", "-q", "-W", "ignore:overflow encountered"]
    files = [name for tests in WALKS.values() if len(tests) == 1 for name in tests]
    for command in (
        ["git", "apply", "--recount", "all.diff"],
        [*plain, *files],
        [*plain, *WALKS["Add a reduction rule"]],
    ):
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "_heads_a_clique" in (tmp_path / "src/coreclust/clique/_folding.py").read_text()
