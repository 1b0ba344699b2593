"""Tests of runs that are interrupted and continued, the page, and the command line."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from made_up_trials import made_up

from coreclust import CoreClustering
from coreclust.resampling import Bootstrap
from studies.calibration import study as module
from studies.calibration.designs import DESIGNS
from studies.calibration.margins import ALPHAS, cut_with_margins
from studies.calibration.page import BLOCKS, build_blocks, percent
from studies.calibration.study import calibrate, plan_trials
from studies.calibration.summary import summarize
from studies.calibration.trials import FRACTIONS, NEW_DATA, RULES, Trial, draw_data, run_trial
from studies.paper.cells import Results

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PLOTS = ("shares", "sizes", "schemes")


@pytest.fixture
def runs(monkeypatch):
    """Trials that are run, each with a made-up result."""
    seen = []

    def run(trial):
        seen.append(trial)
        return made_up(trial)

    monkeypatch.setattr(module, "run_trial", run)
    cuts = {f"{alpha:g}": [-1] + [0] * 23 for alpha in ALPHAS}

    def cut(trial, store):
        return cuts if DESIGNS[trial.design].scheme == "bootstrap" else {}

    monkeypatch.setattr(module, "cut_with_margins", cut)
    return seen


def test_all_designs_have_a_dataset_before_any_has_a_second():
    trials = plan_trials()
    assert len(trials) == sum(design.n_datasets for design in DESIGNS.values())
    assert all(
        design.n_datasets == 20 or design.algorithm == "Leiden" for design in DESIGNS.values()
    )
    assert [trial.design for trial in trials[: len(DESIGNS)]] == list(DESIGNS)
    assert len({trial.file_name for trial in trials}) == len(trials)
    assert all(trial.n_resamples == 1000 for trial in trials)


def test_a_quick_study_is_small_and_keeps_files_of_its_own():
    quick = plan_trials(quick=True)
    assert {trial.repetition for trial in quick} == {0}
    assert all(DESIGNS[trial.design].n_items <= 100 for trial in quick)
    assert not {trial.file_name for trial in quick} & {trial.file_name for trial in plan_trials()}
    assert len(plan_trials(["n-500"], quick=True, repetitions=3)) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"designs": ["too-few", "nonsense"]}, "designs must be among .*, got nonsense"),
        ({"repetitions": 0}, "repetitions must be 1 or more, got 0"),
    ],
)
def test_bad_arguments_are_refused_before_any_work(arguments, message, runs, tmp_path):
    with pytest.raises(ValueError, match=message):
        calibrate(**arguments, out=tmp_path / "out")
    assert runs == []
    assert not (tmp_path / "out").exists()


def test_finished_datasets_are_not_run_again(runs, tmp_path, capsys):
    first = calibrate(["too-few", "n-200"], repetitions=2, out=tmp_path, verbose=1)
    assert len(runs) == 4
    assert capsys.readouterr().err.splitlines()[0] == "[1/4] n-200, dataset 1 … 0.5 s"
    before = [path.read_bytes() for path in first.files]
    again = calibrate(["too-few", "n-200"], repetitions=2, out=tmp_path, verbose=1)
    assert len(runs) == 4
    assert capsys.readouterr().err.count("done before") == 4
    assert [path.read_bytes() for path in again.files] == before
    calibrate(["too-few", "n-200"], repetitions=3, out=tmp_path)
    assert len(runs) == 6
    calibrate(["too-few"], repetitions=1, out=tmp_path, seed=1)
    assert len(runs) == 7


def test_an_interrupted_study_continues(runs, tmp_path, monkeypatch):
    working = module.run_trial

    def interrupted(trial):
        if len(runs) == 3:
            raise KeyboardInterrupt
        return working(trial)

    monkeypatch.setattr(module, "run_trial", interrupted)
    with pytest.raises(KeyboardInterrupt, match="3 of 4 datasets are finished"):
        calibrate(["too-few"], repetitions=4, out=tmp_path)
    assert not (tmp_path / "calibration.md").exists()
    monkeypatch.setattr(module, "run_trial", working)
    calibrate(["too-few"], repetitions=4, out=tmp_path)
    assert [trial.repetition for trial in runs] == [0, 1, 2, 3]


@pytest.mark.parametrize("content", ["{", "[]", '{"design": "too-few"}', ""])
def test_a_file_that_is_no_result_is_run_again(content, runs, tmp_path):
    trial = plan_trials(["too-few"], repetitions=1)[0]
    (tmp_path / "trials").mkdir()
    (tmp_path / "trials" / trial.file_name).write_text(content)
    calibrate(["too-few"], repetitions=1, out=tmp_path)
    assert runs == [trial]


def test_a_result_of_another_alpha_is_run_again(runs, tmp_path):
    calibrate(["too-few"], repetitions=1, out=tmp_path)
    (path,) = (tmp_path / "trials").iterdir()
    path.write_text(json.dumps({**json.loads(path.read_text()), "alpha": 0.2}))
    calibrate(["too-few"], repetitions=1, out=tmp_path)
    assert len(runs) == 2


def test_without_matplotlib_there_is_a_page_without_pictures(runs, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = calibrate(["too-few"], repetitions=1, out=tmp_path)
    assert [path.name for path in outcome.files] == ["calibration.csv", "calibration.md"]
    assert "![" not in outcome.files[-1].read_text()


def test_schemes_that_were_run_nowhere_are_left_out(runs, tmp_path):
    outcome = calibrate(["hierarchical"], repetitions=1, out=tmp_path)
    assert "average linkage" in outcome.files[-1].read_text()


def test_pictures_are_small(runs, tmp_path):
    outcome = calibrate(out=tmp_path)
    pictures = [path for path in outcome.files if path.suffix == ".png"]
    assert [path.name for path in pictures] == [f"calibration-{name}.png" for name in PLOTS]
    for path in pictures:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size < 200_000


def test_the_page_says_where_a_bar_is_missed():
    good = [made_up(Trial("n-200", 0), least=0.95), made_up(Trial("too-few", 0), least=0.95)]
    blocks = build_blocks(summarize(good), {})
    short = blocks["in short"]
    assert "100 % of the core pairs truly meet 0.88 (bar: 99 %; reached)" in short
    assert "2 of 2 reach 97 %." in short
    bad = [good[0], made_up(Trial("too-few", 0), least=0.6)]
    blocks = build_blocks(summarize(bad), {})
    assert "(bar: 99 %; missed)" in blocks["in short"]
    assert "1 of 2 reach 97 % (not: one cluster too few)" in blocks["in short"]
    missed = blocks["missed bars"]
    assert re.search(r"- \*\*one cluster too few: \d\d\.\d %\*\* \(lowest datasets: ", missed)
    assert re.search(r"- \*\*all designs: .* are in the design 'one cluster too few'", missed)


def test_small_cores_and_reached_bars_are_listed():
    result = made_up(Trial("n-200", 0), least=0.95)
    items = result["reference"]

    def cuts(by_rule):
        return {"bootstrap": by_rule, "new-data": result["cuts"]["new-data"]}

    whole = {**result, "cuts": cuts(dict.fromkeys(RULES, items)), "oracle": items}
    assert build_blocks(summarize([whole]), {})["missed bars"] == "All bars are reached."
    small = {**RULES, "simultaneous": [-1] * 12 + items[12:], "paper": items, "pair": items}
    blocks = build_blocks(summarize([{**whole, "cuts": cuts(small)}]), {})
    assert (
        "the core has 50.0 % of the oracle's items**, with the paper's rule 100 %"
        in (blocks["missed bars"])
    )


def test_generated_blocks_of_a_page_are_replaced(runs, tmp_path):
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs" / "calibration.md").read_text())
    outcome = calibrate(["too-few"], repetitions=1, out=tmp_path / "out", page=page)
    assert outcome.files[-1] == page
    text = page.read_text()
    assert "# Does the guarantee hold?" in text
    assert "strong overlap" not in text.partition("generated: tables by rule")[2]
    assert all((tmp_path / "images" / f"calibration-{name}.png").exists() for name in PLOTS)
    page.write_text("nothing")
    with pytest.raises(ValueError, match=f"generated: {BLOCKS[0]} --> exactly once, got 0"):
        calibrate(["too-few"], repetitions=1, out=tmp_path / "out", page=page)


def test_nearly_all_is_not_all():
    assert [percent(p) for p in (1.0, 0.99999, 0.9995, 0.9712, 0.5)] == [
        "100 %", "99.99 %", "99.95 %", "97.1 %", "50.0 %",
    ]  # fmt: skip


def test_a_trial_is_what_the_estimator_gives():
    trial = Trial("moderate-overlap", 1, n_resamples=600, n_truth=20, seed=5)
    result = run_trial(trial)
    assert result == {**run_trial(trial), "seconds": result["seconds"]}
    X = draw_data(trial)
    cc = CoreClustering(
        DESIGNS["moderate-overlap"].estimator(),
        n_resamples=600,
        resampling=Bootstrap(label="all"),
        confidence=0.95,
        random_state=trial.random_state(1),
    ).fit(X)
    assert result["reference"] == cc.reference_labels_.tolist()
    assert result["cuts"]["all"]["simultaneous"] == cc.labels_.tolist()
    assert result["cuts"]["all"]["paper"] == cc.recut(confidence=None).labels_.tolist()
    assert not np.array_equal(X, draw_data(Trial("moderate-overlap", 2, seed=5)))


def test_margins_are_cuts_of_the_same_resamples(tmp_path):
    trial = Trial("strong-overlap", 0, n_resamples=300)
    store = Results(tmp_path)
    cuts = cut_with_margins(trial, store)
    assert list(cuts) == ["0.1", "0.05", "0.02", "0.01"]
    cc = CoreClustering(
        DESIGNS["strong-overlap"].estimator(),
        alpha=0.02,
        n_resamples=300,
        random_state=trial.random_state(1),
    ).fit(draw_data(trial))
    assert cuts["0.02"] == cc.labels_.tolist()
    (path,) = tmp_path.iterdir()
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "0.02": kept["0.01"]}))
    assert cut_with_margins(trial, store)["0.02"] == kept["0.01"]  # read, not computed
    path.write_text("{}")
    assert cut_with_margins(trial, store) == kept


def study(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "studies.calibration", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def test_the_command(tmp_path):
    done = study("--quick", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[7/7]" in done.stderr
    page = (tmp_path / "here" / "calibration.md").read_text()
    assert "Written by `python -m studies.calibration --quick`" in page
    for name in PLOTS:
        assert f"images/calibration-{name}.png" in page
        assert (tmp_path / "here" / "images" / f"calibration-{name}.png").exists()
    assert done.stdout.splitlines()[-1] == "here/calibration.md"
    with (tmp_path / "here" / "calibration.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7 * (9 + len(NEW_DATA) + len(FRACTIONS) + len(ALPHAS))
    assert "cut at 0.02" in page
    strict = {r["design"]: r for r in rows if (r["scheme"], r["rule"]) == ("all", "simultaneous")}
    paper = {r["design"]: r for r in rows if (r["scheme"], r["rule"]) == ("all", "paper")}
    for name, row in strict.items():
        assert int(row["core_items"]) <= int(paper[name]["core_items"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--designs", "nonsense"], "nonsense is not one of moderate-overlap, "),
        (["--designs"], "expected at least one argument"),
        (["--repetitions", "0"], "0 is not a whole number from 1 to 1000"),
        (["--seed", "-1"], "-1 is not a whole number"),
    ],
)
def test_wrong_usage_is_one_line_after_the_usage(arguments, message, tmp_path):
    done = study(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = study("--quick", "--out", "taken", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("python -m studies.calibration: error:")
