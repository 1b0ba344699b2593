"""Imports go one way between the rooms of the package, and never in a circle."""

import ast
from pathlib import Path

import networkx as nx
import pytest

SOURCE = Path(__file__).parents[1] / "src"

# Each room, and the rooms it may import. Imports inside functions count; those for type checkers
# do not. Every room may import `_utils` and the names of the top level (`coreclust.__version__`).
ALLOWED = {
    "_utils": "",
    "cluster": "",
    "datasets": "",
    "_classify": "cluster",
    "evidence": "",
    "metrics": "",
    "resampling": "",
    "algorithms": "cluster",
    "stability": "evidence",
    "clique": "evidence",
    "cores": "clique evidence",
    "_checkpoint": "evidence",
    "_sampling": "_checkpoint _classify cluster clique cores evidence resampling",
    "_inspection": "cores evidence resampling stability",
    "plotting": "_inspection",
    "report": "_inspection cores plotting",
    "core_clustering": "_inspection _sampling cores evidence report",
    "model_selection": "algorithms cluster core_clustering metrics resampling stability",
    "single_cell": "cluster core_clustering model_selection resampling",
    "cli": "algorithms core_clustering evidence metrics model_selection plotting report resampling "
    "_inspection",
    "__main__": "cli",
}


def name_of(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in SOURCE.rglob("*.py")}


def imports_of(path):
    """Yield the modules of the package that a module imports, at any depth of its code."""
    waiting = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                yield inner if inner in MODULES else node.module


def room_of(module):
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_room_imports_only_what_it_may(module):
    allowed = {"", "_utils", room_of(module), *ALLOWED.get(room_of(module), "").split()}
    assert room_of(module) in ("", *ALLOWED), "a new room: add it to the table above"
    wrong = {name for name in imports_of(MODULES[module]) if room_of(name) not in allowed}
    assert not wrong


def test_no_module_imports_itself_through_others():
    graph = nx.DiGraph(
        (module, name) for module in MODULES for name in imports_of(MODULES[module]) if "." in name
    )
    assert list(nx.simple_cycles(graph)) == []


def test_private_modules_carry_an_underscore_and_public_ones_list_their_names():
    for module, path in MODULES.items():
        private = any(part.startswith("_") for part in module.split("."))
        if not private and room_of(module) != "cli":  # an application: only `main` is public
            assert "__all__" in path.read_text(), f"{module} has no __all__"


def test_no_file_is_too_long():
    """Kernels that call each other share a file: numba's cache cannot see edits elsewhere."""
    long = {name for name, path in MODULES.items() if len(path.read_text().splitlines()) > 500}
    assert long <= {"coreclust.cluster._concentration"}
