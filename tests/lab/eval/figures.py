# SPDX-License-Identifier: GPL-2.0-only
"""Figures of make lab-eval: percentiles, their change, and what the series is judged by.

No files and no printing here: tests/lab/eval-figures.t has examples worked out by hand.
"""
import math
import statistics

QUANTILES = (0.5, 0.9, 0.99, 0.999)
# The rows that people post.
ROWS = ("Total Samples", "Average", "Median (P50)", "90th Percentile", "99th Percentile",
        "99.9th Percentile", "Maximum")


class Samples:
    """Values with how often each was seen; a percentile is the smallest value that at least
    that share of the samples does not exceed (as schedlat report has it)."""

    def __init__(self, counted):
        """counted: {value: count}"""
        self.counted = sorted((v, n) for v, n in counted.items() if n)
        self.count = sum(n for _, n in self.counted)

    @classmethod
    def of(cls, values):
        counted = {}
        for value in values:
            counted[value] = counted.get(value, 0) + 1
        return cls(counted)

    def percentile(self, share):
        # Rounded first: 0.999 * 1000 is a little more than 999 in binary.
        rank = max(1, math.ceil(round(share * self.count, 6)))
        for value, n in self.counted:
            rank -= n
            if rank <= 0:
                return value
        return None

    def row(self):
        """One figure for each of ROWS; None where there is no sample."""
        if not self.count:
            return [0] + [None] * (len(ROWS) - 1)
        average = sum(v * n for v, n in self.counted) / self.count
        return [self.count, average, *(self.percentile(q) for q in QUANTILES), self.counted[-1][0]]


def change(before, after):
    """By how much less it is, in per cent: + is better. None where that means nothing."""
    if before is None or after is None or not before:
        return None
    return 100 * (before - after) / before


def signed(percent):
    """(+68 %), or nothing."""
    if percent is None:
        return ""
    rounded = round(percent)
    return f"({'+' if rounded > 0 else ''}{rounded} %)"


class Runs:
    """The same figure of several runs."""

    def __init__(self, values):
        self.values = list(values)
        there = [v for v in self.values if v is not None]
        self.median = statistics.median(there) if there else None
        self.low, self.high = (min(there), max(there)) if there else (None, None)
        self.mean = statistics.fmean(there) if there else None
        # The sample's standard deviation; one run has none.
        self.sd = statistics.stdev(there) if len(there) > 1 else None


class Verdict:
    """One line: what is asked for, met or not (None: cannot be told), and the figures."""

    def __init__(self, text, met, figures):
        self.text, self.met, self.figures = text, met, figures

    def __str__(self):
        word = {True: "met", False: "MISSED", None: "n/a"}[self.met]
        return f"{word}: {self.text}: {self.figures}"


def ratio_at_most(name, base, series, limit, text):
    """series <= limit * base, of medians over runs."""
    if base is None or series is None or not base:
        return Verdict(f"{name} {text}", None, "no samples")
    return Verdict(f"{name} {text}", series <= limit * base,
                   f"{base:.1f} -> {series:.1f} us, {series / base:.2f} of base")


def alike(values, limit, text):
    """The largest is at most so many times the smallest."""
    if not values or None in values or min(values) <= 0:
        return Verdict(text, None, "no samples")
    return Verdict(text, max(values) <= limit * min(values),
                   f"{min(values):.1f} .. {max(values):.1f} us, {max(values) / min(values):.2f} times")


MIN_PAIRS = 5


def not_worse_in_pairs(name, base, series):
    """The median of the differences of paired runs, which are in the same places of both."""
    pairs = [(b, s) for b, s in zip(base, series) if b is not None and s is not None]
    if not pairs:
        return Verdict(f"{name} not worse", None, "no paired runs")
    differences = [s - b for b, s in pairs]
    middle = statistics.median(differences)
    enough = len(pairs) >= MIN_PAIRS
    figures = (f"series - base in the median {middle:+.1f} us of {len(pairs)} pairs "
               f"({min(differences):+.1f} .. {max(differences):+.1f})")
    if not enough:
        figures += f", which is fewer than {MIN_PAIRS}"
    return Verdict(f"{name} not worse", middle <= 0 if enough else None, figures)


def not_slower(name, base, series):
    """Of the means, by no more than the larger of the two standard deviations."""
    b, s = Runs(base), Runs(series)
    if b.sd is None or s.sd is None:
        return Verdict(f"{name} not slower", None, "takes two runs of each")
    spread = max(b.sd, s.sd)
    slower = s.mean - b.mean
    said = f"{slower:.3f} s slower" if slower > 0 else f"{-slower:.3f} s faster"
    return Verdict(f"{name} not slower", slower <= spread,
                   f"{said} {signed(change(b.mean, s.mean))}, spread {spread:.3f} s")


def as_base(name, base, series, unit="us"):
    """The medians differ by no more than the runs of one kernel do among themselves."""
    b, s = Runs(base), Runs(series)
    if len(base) < 2 or len(series) < 2 or b.median is None or s.median is None:
        return Verdict(f"{name} as base", None, "takes two runs of each")
    spread = max(b.high - b.low, s.high - s.low)
    return Verdict(f"{name} as base", abs(s.median - b.median) <= spread,
                   f"{b.median:.3f} and {s.median:.3f} {unit}, spread {spread:.3f}")
