"""The package as a whole: imports, documentation, habits."""

import doctest
import importlib
import os
import pkgutil
import re
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import coreclust

ROOT = Path(__file__).parents[1]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(coreclust.__path__, "coreclust.")
    if not module.name.endswith("__main__")
]


def python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["coreclust", *MODULES])
def test_doctests(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_public_names_are_there_and_documented():
    assert {"CoreClustering", "LabelEnsemble", "core_clusters", "maximum_clique"} <= set(
        coreclust.__all__
    )
    for name in coreclust.__all__:
        assert getattr(coreclust, name) is not None
        assert name in dir(coreclust)
        if name != "__version__":
            assert ">>>" in getattr(coreclust, name).__doc__ or name == "Core"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = coreclust.nonsense


def readme_commands():
    text = (ROOT / "README.md").read_text()
    return re.findall(r"^```sh\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def test_readme_and_ci_do_not_drift_apart():
    commands = readme_commands()
    assert len(commands) == 2
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    for command in commands:
        assert command.strip() in script, f"{command} is not a line of .ci/run"
    assert sum("pip install" in line for line in script) == len(commands) + 1  # and the linters


def test_readme_is_short_and_its_python_runs():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    (example,) = re.findall(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    namespace = {}
    exec(example, namespace)  # noqa: S102
    (table,) = re.findall(r"^```\n( cluster.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    shown = namespace["cc"].summary().to_string(index=False, float_format="{:.3f}".format)
    assert table.splitlines() == [line.rstrip() for line in shown.splitlines()]
    for image in re.findall(r"!\[.*?\]\((.*?)\)", text):
        assert (ROOT / image).stat().st_size < 200_000


def test_changelog_knows_this_version_or_the_next():
    text = (ROOT / "CHANGELOG.md").read_text()
    version = coreclust.__version__
    assert "## Unreleased" in text if "dev" in version else f"## {version}" in text


def test_the_package_is_typed_and_licensed():
    assert (Path(coreclust.__file__).parent / "py.typed").exists()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "MIT"
    assert (ROOT / "LICENSE").exists()


@pytest.mark.slow
def test_import_brings_in_nothing_heavy():
    code = "import sys, coreclust; print(*sorted(m for m in sys.modules if '.' not in m))"
    loaded = set(python(code).split())
    assert not loaded & {"numba", "sklearn", "scipy", "pandas", "polars", "matplotlib", "dask"}
    # scikit-learn may import pandas by itself: what counts is what comes on top of it.
    ours = code.replace("import sys, coreclust", "import sys; from coreclust import CoreClustering")
    theirs = code.replace("import sys, coreclust", "import sys, sklearn.cluster, numba")
    added = set(python(ours).split()) - set(python(theirs).split())
    assert not added & {"pandas", "polars", "matplotlib", "plotly", "dask"}


@pytest.mark.slow
def test_import_is_cheap_beside_scikit_learn():
    """Medians of five, one after the other, so that a busy machine slows both."""
    code = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    ours, theirs = [], []
    for _ in range(5):
        theirs.append(float(python(code.format("sklearn.cluster"))))
        ours.append(float(python(code.format("coreclust.core_clustering"))))
    assert statistics.median(ours) < 2 * statistics.median(theirs)


@pytest.mark.slow
def test_import_compiles_nothing():
    out = python(
        "import numba.core.dispatcher as d\n"
        "d.Dispatcher.compile = lambda *a: (_ for _ in ()).throw(AssertionError('compiled'))\n"
        "import coreclust, pkgutil, importlib\n"
        "for m in pkgutil.walk_packages(coreclust.__path__, 'coreclust.'):\n"
        "    '__main__' in m.name or importlib.import_module(m.name)\n"
        "print('clean')"
    )
    assert out == "clean\n"


KERNELS = """
import numpy as np
from coreclust import LabelEnsemble, core_clusters, maximum_clique
rng = np.random.default_rng(0)
labels = np.where(rng.random((40, 70)) < 0.25 * rng.random((40, 1)), 1, 0)
labels[rng.random((40, 70)) < 0.3] = -2
labels[rng.random((40, 70)) < 0.02] = -1
for noise in ("apart", "together", "absent"):
    for core in core_clusters(LabelEnsemble(labels), np.arange(40) % 2, noise=noise):
        print(core, core.core.tolist(), core.strength.sum())
graph = np.triu(rng.random((40, 40)) < 0.8, 1)
print(maximum_clique(graph | graph.T))
print(LabelEnsemble(labels).cooccurrence_matrix().sum())
"""

CLUSTERERS = """
import numpy as np
from coreclust import CoreClustering
from coreclust.cluster import HierarchicalClustering, KMeans, TClust, TrimmedKMeans
from coreclust.resampling import Bootstrap, Subsample
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
X = np.random.default_rng(0).normal(size=(30, 2))
trimmed = TrimmedKMeans(3, n_init=3), TClust(2, n_init=3)
for clusterer in (KMeans(3, n_init=2), HierarchicalClustering(3), *trimmed):
    for scheme in (Bootstrap(), Subsample(0.7)):
        cc = CoreClustering(clusterer, n_resamples=3, resampling=scheme, random_state=0).fit(X)
        assert cc.engine_ == "batched"
        print(cc.ensemble_.labels.tolist())
for classifier in (RandomForestClassifier(2), SVC(), make_pipeline(StandardScaler(), SVC())):
    cc = CoreClustering(classifier, n_resamples=3, alpha=0.9, random_state=0).fit(X, X[:, 0] > 0)
    assert cc.engine_ == "batched"
    print(cc.ensemble_.labels.tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [KERNELS, CLUSTERERS], ids=["cores", "clusterers"])
def test_kernels_run_as_plain_python(code):
    assert python(code, NUMBA_DISABLE_JIT="1") == python(code)


@pytest.mark.slow
def test_kernels_stay_within_bounds(tmp_path):
    # With its own cache, because numba does not distinguish code compiled with bounds checks. The
    # kernels of the clusterers take a minute to compile.
    checked = python(KERNELS, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path))
    assert checked == python(KERNELS)


def test_no_cache_can_be_written(tmp_path):
    """A read-only installation in a container without a home still works."""
    code = (
        "import numba.core.caching as c\n"
        "c._CacheLocator.ensure_cache_path = lambda self: (_ for _ in ()).throw(OSError())\n"
        "from coreclust import maximum_clique\n"
        "print(maximum_clique([[0, 1], [1, 0]]))"
    )
    assert python(code) == "[0 1]\n"
