"""How the page of the study puts things."""

from __future__ import annotations

from studies.calibration.designs import DESIGNS
from studies.calibration.plots import ALL_DESIGNS
from studies.calibration.summary import Summary


def bar_of(summary: Summary) -> float:
    """Return 1 - alpha."""
    return 1 - float(summary.results[0]["alpha"])


def title_of(name: str | None) -> str:
    """Return how a design, or all, is called in a table."""
    return ALL_DESIGNS if name is None else DESIGNS[name].title


def percent(share: float) -> str:
    """Return a share in percent; only what is whole says 100 %."""
    digits = 1 if share < 0.999 or share >= 1 else 2
    text = f"{100 * share:.{digits}f}"
    if share < 1 and float(text) >= 100:
        text = "99.99"
    return f"{text} %".replace("100.0 %", "100 %")
