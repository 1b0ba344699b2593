"""Core clustering: which parts of a clustering can be trusted.

Names are imported when first used, so that ``import coreclust`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coreclust.clique import maximum_clique
    from coreclust.core_clustering import CoreClustering
    from coreclust.cores import Core, core_clusters
    from coreclust.evidence._ensemble import LabelEnsemble

__version__ = "0.1.0.dev0"

__all__ = [
    "Core",
    "CoreClustering",
    "LabelEnsemble",
    "__version__",
    "core_clusters",
    "maximum_clique",
]

_HOMES = {
    "Core": "coreclust.cores",
    "CoreClustering": "coreclust.core_clustering",
    "LabelEnsemble": "coreclust.evidence._ensemble",
    "core_clusters": "coreclust.cores",
    "maximum_clique": "coreclust.clique",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
