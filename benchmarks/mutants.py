"""Mutation testing: changes the code in one place at a time and runs the tests on the result.

A mutant that no test rejects survives. It shows behavior that no test requires, or it is
equivalent: no test can tell it from the original. `equivalent_mutants.toml` lists those, with a
reason; they do not count. Run from the repository root::

    python -m pip install cosmic-ray                   # makes the mutants
    python -m benchmarks.mutants                       # the files of which 95 % must die
    python -m benchmarks.mutants clique/_folding.py    # other files of `TESTS`

Only a temporary copy of the repository is changed. Each mutant is tested in a fork of this process,
which has imported all other packages already. Kernels run as plain Python, so that no mutant has to
be compiled and a wrong index is an error. A mutant that takes too long dies, too.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import tomllib
import traceback
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

_SEQUENCES = [
    f"tests/sampling/test_adaptive.py::test_{name}"  # the others fit, which is slow here
    for name in (
        "the_tables_are_the_confidence_sequence_for_every_count",
        "the_martingale_is_what_the_docstring_says",
        "looking_often_costs_something_and_the_tables_never_fall",
        "the_ends_of_the_scale",
        "pair_tests_at_any_time_agree_with_the_tables",
    )
]
_EVIDENCE = ["tests/evidence/test_decisions.py", "tests/evidence/test_bounds.py", *_SEQUENCES]
_RULES = [
    f"tests/evidence/test_rule.py::test_{name}"
    for name in (
        "a_rule_is_frozen",
        "a_rule_is_checked_when_it_is_created_and_when_it_is_changed",
        "the_error_is_shared_among_the_pairs_unless_it_is_for_each",
        "the_table_of_a_guarantee_never_falls_and_starts_at_least_seen",
    )
]
_COUNTS = [
    "tests/evidence/test_packed.py",
    "tests/evidence/test_counting.py",
    "tests/evidence/test_rule.py::test_counted_and_packed_pairs_list_the_same_conflicts",
]
_SEARCH = [
    f"tests/clique/test_{name}.py" for name in ("reductions", "matching", "parts", "maximum_clique")
]

#: The tests of each file, those that kill most mutants first.
TESTS = {
    "evidence/_bounds.py": [*_EVIDENCE, *_RULES],
    "evidence/_guarantees.py": [*_EVIDENCE, *_RULES],
    "evidence/_rule.py": [
        "tests/evidence/test_decisions.py",
        "tests/evidence/test_nested.py",
        *_RULES,
    ],
    "evidence/_pair_test.py": _EVIDENCE,
    "evidence/_packed.py": [*_COUNTS, *_SEARCH],
    "clique/_reductions.py": _SEARCH,
    "clique/_matching.py": _SEARCH,
    "clique/_folding.py": _SEARCH,
}
_REQUIRED = ("evidence/_bounds.py", "evidence/_guarantees.py", "evidence/_rule.py")
_SHARE = 0.95
_MOST_MEMORY = 8 * 2**30
_MOST_SECONDS = 1200
#: What an operator is replaced with. cosmic-ray tries all pairs, most of which any test rejects.
_REPLACEMENTS = {
    "Add": ["Sub"],
    "Sub": ["Add"],
    "Mul": ["Div", "Add"],
    "Div": ["Mul", "FloorDiv"],
    "FloorDiv": ["Div", "Mul"],
    "Mod": ["FloorDiv"],
    "Pow": ["Mul"],
    "BitAnd": ["BitOr"],
    "BitOr": ["BitAnd"],
    "BitXor": ["BitAnd"],
    "LShift": ["RShift"],
    "RShift": ["LShift"],
    "Lt": ["LtE", "Gt", "NotEq"],
    "LtE": ["Lt", "GtE", "Eq"],
    "Gt": ["GtE", "Lt", "NotEq"],
    "GtE": ["Gt", "LtE", "Eq"],
    "Eq": ["NotEq", "LtE", "GtE"],
    "NotEq": ["Eq", "Lt", "Gt"],
    "Is": ["IsNot"],
    "IsNot": ["Is"],
}
_PRELOADED = (
    "hypothesis.extra.numpy",
    "networkx",
    "numba",
    "pandas",
    "pytest",
    "scipy.sparse.csgraph",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.ensemble",
)


class Mutant(NamedTuple):
    """Changed code, and what was changed."""

    line: int
    operator: str
    code: str


class Tests:
    """Tests of a file, run with those first that are quick and have killed other mutants."""

    def __init__(self, names: list[str], root: Path) -> None:
        self.names = names
        self.root = root
        self.seconds: dict[str, float] = {}
        self.n_killed: dict[str, int] = {}
        self.n_stopped = 0

    def pass_within(self, seconds: int) -> tuple[bool, float]:
        """Run the tests in a fork of this process; return whether they pass, and the CPU time."""
        child = os.fork()
        if child == 0:
            os._exit(self._run(seconds))
        _, status, usage = os.wait4(child, 0)
        passed = os.waitstatus_to_exitcode(status) == 0
        record = json.loads((self.root / "record.json").read_text())
        self.seconds |= record["seconds"]
        if failed := record["failed"]:
            self.n_killed[failed] = self.n_killed.get(failed, 0) + 1
        elif not passed:
            self.n_stopped += 1
        return passed, usage.ru_utime + usage.ru_stime

    def _run(self, seconds: int) -> int:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        signal.alarm(_MOST_SECONDS)  # for mutants that wait and use no CPU time
        output = os.open(self.root / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(self.root)
        import pytest

        plugin = _Plugin(self)
        plugin.save()
        options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider"]
        try:
            return int(pytest.main([*options, *self.names], [plugin]))
        except BaseException:  # noqa: BLE001 - whatever ends the run, the mutant dies
            traceback.print_exc()
            return 1
        finally:
            plugin.save()
            sys.stdout.flush()


class _Plugin:
    """Part of pytest in a fork: sorts the tests and saves what they did."""

    def __init__(self, tests: Tests) -> None:
        self.tests = tests
        self.record: dict[str, Any] = {"seconds": {}, "failed": None}

    def pytest_collection(self) -> None:
        """Leave an example that fails as it is, after conftest.py has chosen the settings."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.get_profile("default"), phases=phases)
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Sort the tests by their time, divided by the number of mutants that they killed."""
        seconds, n_killed = self.tests.seconds, self.tests.n_killed
        items.sort(
            key=lambda item: seconds.get(item.nodeid, 0.0) / (n_killed.get(item.nodeid, 0) + 0.1)
        )

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the time of a test, and whether it failed."""
        if report.passed and report.when == "call":
            self.record["seconds"][report.nodeid] = report.duration
        elif report.failed:
            self.record["failed"] = report.nodeid

    def save(self) -> None:
        """Save the record for the process that waits."""
        (self.tests.root / "record.json").write_text(json.dumps(self.record))


def main() -> int:
    """Test all mutants of some files; the exit code is 1 if too many survive."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", default=_REQUIRED, help=", ".join(TESTS))
    parser.add_argument("--lines", help="only mutants of these lines, such as 10-20")
    parser.add_argument("--one-in", type=int, default=1, help="only every so many mutants")
    arguments = parser.parse_args()
    if unknown := set(arguments.files) - set(TESTS):
        parser.error(f"no tests are listed for {', '.join(sorted(unknown))}")
    os.environ |= {"NUMBA_DISABLE_JIT": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    sys.dont_write_bytecode = True
    for name in _PRELOADED:
        importlib.import_module(name)
    first, _, last = (arguments.lines or "1-1000000").partition("-")
    lines = range(int(first), int(last or first) + 1)
    enough = True
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "copy"
        _copy_repository(Path(__file__).parents[1], root)
        sys.path.insert(0, str(root / "src"))
        for name in arguments.files:
            share = _test_mutants(name, root, lines, arguments.one_in)
            enough &= share >= _SHARE or name not in _REQUIRED
    return 0 if enough else 1


def _copy_repository(source: Path, target: Path) -> None:
    target.mkdir()
    for name in ("src", "tests"):
        shutil.copytree(
            source / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.nb?")
        )
    shutil.copy(source / "pyproject.toml", target)


def _test_mutants(name: str, root: Path, lines: range, one_in: int) -> float:
    """Print the survivors of a file; return the share of its mutants that die."""
    path, tests = root / "src" / "coreclust" / name, Tests(TESTS[name], root)
    original = path.read_text()
    passed, seconds = tests.pass_within(_MOST_SECONDS)
    if not passed:
        output = (root / "output.txt").read_text()[-3000:]
        raise RuntimeError(f"The tests of {name} fail without a change:\n{output}")
    known = _equivalent(name)
    n_mutants = n_survivors = n_equivalent = 0
    for mutant in islice(mutants(original, lines), 0, None, one_in):
        n_mutants += 1
        path.write_text(mutant.code)
        if tests.pass_within(math.ceil(1.5 * seconds) + 3)[0]:
            function, changed = _function_at(mutant.line, original), _changed(mutant, original)
            if (function, changed) in known:
                n_equivalent += 1
            else:
                n_survivors += 1
                print(f"{name}:{mutant.line} {function}: {changed}", flush=True)
    path.write_text(original)
    n_died = n_mutants - n_survivors - n_equivalent
    share = n_died / max(n_died + n_survivors, 1)
    print(
        f"{name}: {n_died} of {n_mutants} mutants die, {tests.n_stopped} of them at a limit or on "
        f"import; {n_equivalent} are equivalent; of the others {share:.1%} die",
        flush=True,
    )
    return share


def _equivalent(name: str) -> set[tuple[str, str]]:
    """Return the functions and changed lines of equivalent mutants of a file."""
    entries = tomllib.loads(Path(__file__).with_name("equivalent_mutants.toml").read_text())
    return {
        (entry["function"], line)
        for entry in entries["mutants"]
        if entry["file"] == name
        for line in entry["lines"]
    }


def _function_at(line: int, source: str) -> str:
    """Return the innermost function that contains a line, or an empty string."""
    found = ""
    for node in ast.walk(ast.parse(source)):  # outer functions first
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            found = node.name
    return found


def mutants(source: str, lines: range) -> Iterator[Mutant]:
    """Yield the mutants of cosmic-ray, each once, without those of annotations."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    nodes = list(ast_nodes(get_ast(source)))
    known = {_meaning(source)}
    for name in operator_names():
        kind = get_operator(name)
        if kind.arguments() or not _is_used(name):
            continue
        operator = kind()
        starts = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, (line, _) in enumerate(starts):
            if line not in lines:
                continue
            code = mutate_code(source, operator, occurrence)
            try:
                meaning = _meaning(code)
            except SyntaxError:
                continue
            if meaning not in known:
                known.add(meaning)
                yield Mutant(line, name.partition("/")[2], code)


def _is_used(operator: str) -> bool:
    """Tell whether cosmic-ray's operator is a replacement of `_REPLACEMENTS`, or none at all."""
    kind, *names = operator.rpartition("/")[2].split("_")
    if kind not in ("ReplaceBinaryOperator", "ReplaceComparisonOperator"):
        return True
    return names[1] in _REPLACEMENTS.get(names[0], [])


def _meaning(source: str) -> str:
    """Return code without annotations and without @kernel, which change no result."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            node.decorator_list = [
                decorator
                for decorator in node.decorator_list
                if not (isinstance(decorator, ast.Name) and decorator.id == "kernel")
            ]
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Name("Any")
    return ast.dump(tree)


def _changed(mutant: Mutant, original: str) -> str:
    """Return the line that a mutant has in place of another, without surplus spaces."""
    pairs = zip(original.splitlines(), mutant.code.splitlines(), strict=False)
    return next((" ".join(new.split()) for old, new in pairs if old != new), "")


if __name__ == "__main__":
    sys.exit(main())
