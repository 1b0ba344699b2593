"""Pictures of core clusterings. matplotlib is imported when one is drawn."""

from coreclust.plotting.scatter import CoreClusterDisplay

__all__ = ["CoreClusterDisplay"]
