"""Tables of our values and the published ones, with the verdict of the tolerances."""

from __future__ import annotations

from dataclasses import dataclass

TITLES = {
    1: "Properties of the datasets",
    2: "Core or weak: with the known distribution (first word) and with the bootstrap (second)",
    3: "Core clusters with sampling from the known distribution (Algorithm 2)",
    4: "Core clusters with the bootstrap (Algorithm 3)",
    5: "Running time in seconds with the bootstrap (Algorithm 3)",
}


@dataclass(frozen=True)
class Column:
    """A column of values.

    Attributes
    ----------
    key : str
        Its name in CSV files.
    title : str
        Its heading.
    digits, published_digits : int
        Decimals of our values and of the published ones.
    kind : {"judged", "beside", "rerun"}
        "judged" values have a tolerance, "beside" values are only shown with their difference
        from the published one, "rerun" values (of the authors' package) without it.
    as_ratio : bool
        Whether the published value is divided by ours instead of subtracted from it.
    """

    key: str
    title: str
    digits: int = 3
    published_digits: int = 2
    kind: str = "judged"
    as_ratio: bool = False


@dataclass(frozen=True)
class Entry:
    """Our value and the published one.

    Attributes
    ----------
    ours, published : float or None
        None if it is missing.
    tolerance : float or None
        None if the difference is not judged.
    comparable : bool
        Whether both measure the same quantity.
    """

    ours: float | None = None
    published: float | None = None
    tolerance: float | None = None
    comparable: bool = True

    @property
    def difference(self) -> float | None:
        """Our value minus the published one."""
        if self.ours is None or self.published is None or not self.comparable:
            return None
        return self.ours - self.published

    @property
    def ratio(self) -> float | None:
        """The published value divided by ours."""
        if not self.ours or self.published is None or not self.comparable:
            return None
        return self.published / self.ours

    @property
    def within(self) -> bool | None:
        """Whether the difference is within the tolerance; None if it is not judged."""
        if self.tolerance is None or self.difference is None:
            return None
        return bool(abs(self.difference) <= self.tolerance + 1e-9)  # False for NaN


@dataclass(frozen=True)
class Row:
    """A row: a dataset, or an algorithm on a dataset.

    Attributes
    ----------
    dataset : str
    algorithm : str or None
        None in Table 1.
    resamples : str
        The number of resamples m, as text.
    entries : tuple of Entry
        One per column.
    notes : tuple of str
        Why the row was not run, or remarks about the run.
    """

    dataset: str
    algorithm: str | None
    resamples: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()

    @property
    def within(self) -> bool | None:
        """Whether all values are within their tolerances; None if the row was not run."""
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
        """The title of the table."""
        return TITLES[self.number]

    @property
    def n_within(self) -> int:
        """Number of rows within tolerance."""
        return sum(row.within is True for row in self.rows)

    @property
    def n_judged(self) -> int:
        """Number of rows that were run and have a tolerance."""
        return sum(row.within is not None for row in self.rows)

    def out_of_tolerance(self) -> list[Row]:
        """Return the rows that are out of tolerance."""
        return [row for row in self.rows if row.within is False]
