"""Every public name says what it takes, what it returns, and shows it by an example that runs.

That the examples are right is for test_package.py, which runs the doctests of all modules.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

from coreclust.evidence._protocol import Evidence

API = (Path(__file__).parents[1] / "docs" / "api.md").read_text()
MODULES = [
    "coreclust",
    "coreclust.algorithms",
    "coreclust.cluster",
    "coreclust.datasets",
    "coreclust.evidence",
    "coreclust.metrics",
    "coreclust.model_selection",
    "coreclust.plotting",
    "coreclust.report",
    "coreclust.resampling",
    "coreclust.single_cell",
    "coreclust.stability",
]
# Classes that public functions return, but that are not made directly.
RETURNED = ["coreclust._inspection.diagnosis.Diagnosis", "coreclust._inspection.path.CorePath"]
# Classes of which each method has its own page.
WITH_METHODS = ["coreclust.CoreClustering", "coreclust.LabelEnsemble"]
# The part of the protocol of evidence that only the package calls is documented in _protocol.py.
LOOKED_UP = {"cooccurrence", "cooccurrence_counts", "cooccurrence_matrix", "n_items", "n_resamples"}
PROTOCOL = {name for name in vars(Evidence) if not name.startswith("_")} - LOOKED_UP


def public_names(module_name):
    """Return the names in `__all__`, or the classes and functions that a module defines."""
    module = importlib.import_module(module_name)
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == module_name
    ]
    return [f"{module_name}.{name}" for name in names if callable(getattr(module, name))]


NAMES = [*(name for module in MODULES for name in public_names(module)), *RETURNED]


def thing(name):
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def methods(name):
    cls = thing(name)
    found = inspect.getmembers(
        cls, lambda value: inspect.isfunction(value) or inspect.ismethod(value)
    )
    ours = [key for key, value in found if value.__module__.startswith("coreclust.")]
    return [f"{name}.{key}" for key in ours if not key.startswith("_")]


METHODS = [
    method
    for name in WITH_METHODS
    for method in methods(name)
    if not (name == "coreclust.LabelEnsemble" and method.rpartition(".")[2] in PROTOCOL)
]


def method(name):
    owner, _, last = name.rpartition(".")
    return getattr(thing(owner), last)


def documented(docscrape, value):
    """Return the sections of a docstring, and the names of the parameters it explains."""
    doc = docscrape.NumpyDocString(inspect.getdoc(value) or "")
    entries = [*doc["Parameters"], *doc["Attributes"]]
    explained = {part.strip().lstrip("*") for entry in entries for part in entry.name.split(",")}
    return doc, explained


def parameters(value):
    found = list(inspect.signature(value).parameters)
    return {name for name in found if name not in ("self", "cls")}


def shows_something(value):
    """Whether an example runs more than imports."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")
    return any(
        not example.options.get(doctest.SKIP) and not re.match(r"(from|import) ", example.source)
        for example in examples
    )


def check(value):
    docscrape = pytest.importorskip(
        "numpydoc.docscrape", reason="numpydoc is not installed: pip install '.[docs]'"
    )
    doc, explained = documented(docscrape, value)
    assert "".join(doc["Summary"]).strip(), "no summary"
    assert shows_something(value), "no example that runs"
    if inspect.isclass(value) and issubclass(value, Exception):
        return
    missing = parameters(value) - explained
    assert not missing, f"parameters without a word: {missing}"
    returns = inspect.signature(value).return_annotation
    if not inspect.isclass(value) and returns not in ("None", None):
        assert doc["Returns"], "no section about what it returns"


# Most of coreclust.cores is in the reference under coreclust.
@pytest.mark.parametrize("name", [*NAMES, *public_names("coreclust.cores")])
def test_public_name_is_documented(name):
    check(thing(name))


@pytest.mark.parametrize("name", METHODS)
def test_method_is_documented(name):
    check(method(name))


def test_exactly_the_internal_part_of_the_protocol_is_exempt():
    assert {
        "cluster_counts",
        "estimate_table",
        "joint_counts",
        "member_counts",
        "n_prior",
        "pair_share",
        "pairs",
    } == PROTOCOL
    assert all(inspect.getdoc(getattr(Evidence, name)) for name in PROTOCOL)


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isclass(thing(name))])
def test_every_method_has_a_docstring(name):
    for key, value in vars(thing(name)).items():
        if not key.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            assert inspect.getdoc(value), f"{name}.{key}"


@pytest.mark.parametrize("name", NAMES)
def test_public_name_is_in_the_reference(name):
    """Each name stands in the list below the heading of its module."""
    module, _, last = name.rpartition(".")
    parts = re.split(r"^\.\. currentmodule:: ([\w.]+)$", API, flags=re.MULTILINE)
    lists = "".join(
        text for where, text in zip(parts[1::2], parts[2::2], strict=True) if where == module
    )
    assert re.search(rf"^   {last}$", lists, flags=re.MULTILINE), f"{name} is not in docs/api.md"
