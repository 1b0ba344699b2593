"""A table with our figures next to the published ones, and which of them are close enough."""

from __future__ import annotations

from dataclasses import dataclass

TITLES = {
    1: "Properties of the datasets",
    2: "Core or weak: by the known distribution (first word) and by the bootstrap (second)",
    3: "Core clusters by sampling from the known distribution (Algorithm 2)",
    4: "Core clusters by the bootstrap (Algorithm 3)",
    5: "Running time in seconds, by the bootstrap (Algorithm 3)",
}


@dataclass(frozen=True)
class Column:
    """A column of figures.

    Attributes
    ----------
    key : str
        Its name in CSV files.
    title : str
        Its heading.
    digits, published_digits : int
        Decimals of our figures and of the published ones.
    kind : {"judged", "beside", "rerun"}
        Whether the tolerance applies; figures beside are shown with their difference from the
        published one, figures of the authors' package alone.
    as_ratio : bool
        Whether the published figure is divided by ours, rather than subtracted from it.
    """

    key: str
    title: str
    digits: int = 3
    published_digits: int = 2
    kind: str = "judged"
    as_ratio: bool = False


@dataclass(frozen=True)
class Entry:
    """Our figure next to the published one.

    Attributes
    ----------
    ours, published : float or None
        None if it is missing.
    tolerance : float or None
        None if the difference is not judged.
    comparable : bool
        Whether both are of the same thing.
    """

    ours: float | None = None
    published: float | None = None
    tolerance: float | None = None
    comparable: bool = True

    @property
    def difference(self) -> float | None:
        """Ours minus the published."""
        if self.ours is None or self.published is None or not self.comparable:
            return None
        return self.ours - self.published

    @property
    def ratio(self) -> float | None:
        """How many times ours fits into the published."""
        if not self.ours or self.published is None or not self.comparable:
            return None
        return self.published / self.ours

    @property
    def within(self) -> bool | None:
        """Whether the difference is tolerable, None if there is none to judge."""
        if self.tolerance is None or self.difference is None:
            return None
        return bool(abs(self.difference) <= self.tolerance + 1e-9)  # NaN is not


@dataclass(frozen=True)
class Row:
    """A dataset, or an algorithm on a dataset.

    Attributes
    ----------
    dataset : str
    algorithm : str or None
        None in Table 1.
    samples : str
        The number of samples m, as text.
    entries : tuple of Entry
        One a column.
    notes : tuple of str
        Why it was not run, or what to know of the run.
    """

    dataset: str
    algorithm: str | None
    samples: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()

    @property
    def within(self) -> bool | None:
        """Whether all figures are within their tolerances, None if it was not run."""
        verdicts = [entry.within for entry in self.entries if entry.within is not None]
        return all(verdicts) if verdicts else None


@dataclass(frozen=True)
class Table:
    """A table of the paper."""

    number: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """What it shows."""
        return TITLES[self.number]

    @property
    def n_within(self) -> int:
        """Rows within tolerance."""
        return sum(row.within is True for row in self.rows)

    @property
    def n_judged(self) -> int:
        """Rows that were run and have a tolerance."""
        return sum(row.within is not None for row in self.rows)

    def out_of_tolerance(self) -> list[Row]:
        """Return the rows that differ from the paper."""
        return [row for row in self.rows if row.within is False]
