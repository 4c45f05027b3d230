# SPDX-License-Identifier: Apache-2.0
"""The right PromQL for each instrument, for make_dashboard and make_rules.

    selection = Selection('job=~"$job"', "$__rate_interval")
    rate(name, selection)                       rate(name{job=~"$job"}[$__rate_interval])

Rates, quantiles and means use cumulative values, so that nothing between two scrapes is lost. The
extremes of range samplers are those that the process kept. Latencies are those of successful
operations: failures have their own outcome, and their share is a figure of its own.
"""

import dataclasses
import re

from .exported_names import exported_names, parts

ALL = ("*",)
DEFAULT_QUANTILES = (0.5, 0.9, 0.99)
FIRST_WINDOW_S = 60


@dataclasses.dataclass(frozen=True)
class Selection:
    """Matchers for every selector, the range that rates are taken over, and whether distributions
    are native histograms: one series each, without _bucket, _sum and _count."""
    matchers: str = ""
    range: str = "5m"
    native: bool = False

    def of_metric(self, metric):
        """For the queries of one metric: that has no native buckets where it keeps no values, or
        does not want them."""
        has = keeps_buckets(metric) and metric.native != "off"
        return self if has else dataclasses.replace(self, native=False)

    def of(self, name, more=""):
        inside = ",".join(filter(None, (self.matchers, more)))
        return f"{name}{{{inside}}}" if inside else name


@dataclasses.dataclass(frozen=True)
class Names:
    """Names of one part's samples, as far as it has them: plain, bucket, sum, count, min, …"""
    base: str               # of a distribution, the name before _bucket
    plain: str = ""
    windows: tuple = ()     # of the first window: (word, name)

    def window(self, word):
        return dict(self.windows).get(word)


def names_of(metric, part):
    """The names of a part; of its windows, only those on a scraped page."""
    found = [name for name in exported_names(metric, (FIRST_WINDOW_S,)) if name.part == part]
    plain = [name.name for name in found if not name.window_s]
    windows = tuple((name.sample, name.name) for name in found
                    if name.window_s and part.kind == "range-sampler")
    if part.kind in ("histogram", "timer"):
        return Names(plain[0][:-len("_bucket")], "", windows)
    return Names(plain[0], plain[0], windows)


def part_of(metric, role):
    """The part with this role; the metric itself is role ""."""
    return next(part for part in parts(metric) if part.role == role)


def keeps_buckets(metric):
    """Whether its buckets tell values apart."""
    span = metric.range
    return span is None or not (span.name == "none" or (not span.name and span.digits == 0))


def rate(name, selection, more=""):
    return f"rate({selection.of(name, more)}[{selection.range}])"


def grouped(expr, keep=None):
    """A sum that keeps these labels; with None, all but a timer's outcome; with ALL, no sum."""
    if keep == ALL:
        return expr
    how = "without (outcome) " if keep is None else f"by ({', '.join(keep)}) " if keep else ""
    return f"sum {how}({expr})"


def events(base, selection, keep=None, more=""):
    """Records per second."""
    if selection.native:
        return grouped(f"histogram_count({rate(base, selection, more)})", keep)
    return grouped(rate(base + "_count", selection, more), keep)


def total(base, selection, keep=None, more=""):
    """What was recorded per second, added up."""
    if selection.native:
        return grouped(f"histogram_sum({rate(base, selection, more)})", keep)
    return grouped(rate(base + "_sum", selection, more), keep)


def present(base, selection):
    """A sample that a page has where it has the distribution."""
    return base if selection.native else base + "_count"


def quantile(q, base, selection, keep=None, more=""):
    if selection.native:
        return f"histogram_quantile({q:g}, {grouped(rate(base, selection, more), keep)})"
    keep = keep if keep in (None, ALL) else ("le", *keep)
    return f"histogram_quantile({q:g}, {grouped(rate(base + '_bucket', selection, more), keep)})"


def mean(base, selection, keep=None, more=""):
    """None where nothing was recorded, instead of 0/0."""
    return (f"{total(base, selection, keep, more)} / "
            f"({events(base, selection, keep, more)} > 0)")


def failures(base, selection, keep=None):
    """The share of operations that did not end as ok."""
    bad = 'outcome!="ok"'
    return (f"{events(base, selection, keep, bad)} / "
            f"({events(base, selection, keep)} > 0)")


ASKED = r"\b(rate|increase)\({name}_(count|sum)(\{{[^}}]*\}})?\[([^\]]*)\]\)"


def natively(expr, bases):
    """A manifest's own expression, for native histograms with these base names: rates and increases
    of their counts and sums are those of the histogram. None if it asks for more of the classic
    series, such as buckets."""
    for base in bases:
        expr = re.sub(ASKED.format(name=base), rf"histogram_\2(\1({base}\3[\4]))", expr)
        if re.search(rf"\b{base}_(bucket|count|sum)\b", expr):
            return None
    return expr


def percent(q):
    """0.999 is p99.9."""
    return f"p{q * 100:.6f}".rstrip("0").rstrip(".")


def pattern(prefixes):
    """A regular expression for exported names that have one of these prefixes."""
    words = sorted({prefix.replace(".", "_").replace("-", "_") for prefix in prefixes})
    return "|".join(f"{word}(_.+)?" for word in words)


def of_teams(manifests, others=(), more=""):
    """A selector of everything that these manifests own, without `others` below it."""
    own = {prefix for manifest in manifests for prefix in manifest.prefixes}
    inner = {prefix for manifest in others for prefix in manifest.prefixes
             if prefix not in own and any(prefix.startswith(outer + ".") for outer in own)}
    matchers = [f'__name__=~"{pattern(own)}"']
    if inner:
        matchers.append(f'__name__!~"{pattern(inner)}"')
    return "{" + ",".join(filter(None, (*matchers, more))) + "}"
