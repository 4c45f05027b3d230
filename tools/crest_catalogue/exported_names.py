# SPDX-License-Identifier: Apache-2.0
"""The exported names of a metric. A twin of the library's src/names/names.c,
src/metrics/name_claims.c and src/names/derived_results.c: like these, a pure function of name,
instrument and unit.

    exported_name("a.data-sent", "counter", "bytes")            a_data_sent_bytes_total
    exported_name("a.data-sent", "counter", "bytes", "rate1m")  a_data_sent_rate1m_bytes
    parts(metric)           the library's metrics of one: stages are a timer, two histograms, ...
    exported_names(metric)  every name of a sample on a page, windows included
    taken_names(metric)     these and all others that no other metric may have
    looks_derived(name)     whether an exported name ends like one of a window, which no metric's
                            own name may

tests/tools/test_exported_names.py tests against the library that the twins agree.
"""

import dataclasses
import re

WINDOWS_S = (60, 300, 900)
SUFFIXES = {"none": "", "bytes": "bytes", "nanoseconds": "seconds", "microseconds": "seconds",
            "milliseconds": "seconds", "seconds": "seconds", "ratio": "ratio"}
DECIMALS = {"nanoseconds": 9, "microseconds": 6, "milliseconds": 3}

# The results of the windows of each kind of metric.
WINDOW_RESULTS = {"counter": ("rate", "peak"), "range-sampler": ("min", "avg", "max"),
                  "histogram": ("rate", "peak", "avg", "max"),
                  "timer": ("rate", "peak", "avg", "max"), "gauge": ()}
# The last words of the names that a metric takes. OpenMetrics also has families without _total, and
# creation times of series.
TAKEN = {"counter": ("total", "", "created"), "gauge": ("",), "range-sampler": ("",),
         "histogram": ("", "bucket", "sum", "count", "created"),
         "timer": ("", "bucket", "sum", "count", "created")}
PAGE_TYPES = {"counter": "counter", "gauge": "gauge", "range-sampler": "gauge",
              "histogram": "histogram", "timer": "histogram"}
# Series that Prometheus, the Pushgateway and the page itself make.
RESERVED_NAMES = frozenset(
    ["ALERTS", "ALERTS_FOR_STATE", "crest_target", "crest_target_info", "push_failure_time",
     "push_failure_time_seconds", "push_time", "push_time_seconds", "scrape_body_size",
     "scrape_body_size_bytes", "scrape_duration", "scrape_duration_seconds", "scrape_sample_limit",
     "scrape_samples_post_metric_relabeling", "scrape_samples_scraped", "scrape_series_added",
     "scrape_timeout", "scrape_timeout_seconds", "up"])


@dataclasses.dataclass(frozen=True)
class Part:
    """A metric in the registry."""
    name: str               # canonical
    kind: str               # counter, gauge, range-sampler, histogram or timer
    unit: str
    label_keys: tuple       # those of the manifest and those that the library adds
    windows: bool
    quantiles: tuple = ()
    role: str = ""          # "": itself; else the last word of its name

    @property
    def base_unit(self):
        """As exported: "", "bytes", "seconds" or "ratio"."""
        return SUFFIXES[self.unit]


@dataclasses.dataclass(frozen=True)
class Exported:
    """The name of samples on a page."""
    name: str
    type: str               # what TYPE says: counter, gauge, histogram
    sample: str             # "", "bucket", "sum", "count", or of a window "rate", "max", "p99", ...
    part: Part
    window_s: int = 0       # 0: not of a window

    @property
    def unit(self):
        """The base unit of its values."""
        events = self.sample in ("bucket", "count") or (
            self.sample in ("rate", "peak") and self.part.kind in ("histogram", "timer"))
        return "" if events else self.part.base_unit


def _words(name):
    return name.replace(".", "_").replace("-", "_")


def _without(name, word):
    """A canonical name without this last word, if it ends in it and has more words."""
    if word and len(name) >= len(word) + 2 and name.endswith(word) and \
            name[-len(word) - 1] in "._-":
        return name[:-len(word) - 1]
    return name


def _unit_of(kind, unit):
    return "nanoseconds" if kind == "timer" else unit


def _compose(name, kind, unit, qualifier, last):
    suffix = SUFFIXES[_unit_of(kind, unit)]
    if kind == "counter":
        name = _without(name, "total")
    stem = _without(name, suffix)
    if kind in ("histogram", "timer") and qualifier.startswith(("rate", "peak")):
        suffix = ""
    return "_".join([_words(stem), *filter(None, (qualifier, suffix, last))])


def exported_name(name, kind, unit, qualifier=""):
    """As crest_exported_name in <crest/page.h>."""
    return _compose(name, kind, unit, qualifier,
                    "total" if kind == "counter" and not qualifier else "")


def quantile_word(quantile):
    """0.5 is p50, 0.999 is p99_9: eight decimals count."""
    parts_of_1 = int(quantile * 100000000 + 0.5)
    whole, rest = divmod(parts_of_1, 1000000)
    digits = f"{rest:06d}".rstrip("0")
    return f"p{whole}" + (f"_{digits}" if digits else "")


def window_word(window_s):
    return f"{window_s // 60}m"


_DERIVED = re.compile(r"._((rate|peak|min|avg|max)|p[0-9]+_([0-9]+_)?)(1|5|15)m"
                      r"(_(bytes|seconds|ratio))?$", re.A)


def looks_derived(name):
    """As crest_derived_looks in src/names/derived_results.c."""
    return _DERIVED.search(name) is not None


def own_names(metric):
    """The names that a metric takes, but for those that windows derive."""
    return {_compose(part.name, part.kind, part.unit, "", last)
            for part in parts(metric) for last in TAKEN[part.kind]}


def _in_flight(metric):
    name = metric.name
    return [Part(name + ".in-flight", "gauge", "none", (), False, role="in-flight"),
            Part(name + ".oldest", "gauge", "seconds", (), False, role="oldest"),
            Part(name + ".stuck", "gauge", "seconds", ("op",), False, role="stuck")]


def parts(metric):
    """The registry's metrics of a metric; the part with its own name, if there is one, is first."""
    name, windows = metric.name, metric.windows
    keys = tuple(label.key for label in metric.labels)
    own = dict(windows=windows, quantiles=tuple(metric.quantiles))
    timed = keys + ("outcome",)
    if metric.instrument == "timer":
        return [Part(name, "timer", "nanoseconds", timed, **own)]
    if metric.instrument == "keyed-timer":
        return [Part(name, "timer", "nanoseconds", timed, **own), *_in_flight(metric)]
    if metric.instrument == "stages":
        staged = keys + ("stage",)
        return [Part(name, "timer", "nanoseconds", timed, **own),
                Part(name + ".stage", "histogram", "nanoseconds", staged, role="stage", **own),
                Part(name + ".since-start", "histogram", "nanoseconds", staged, role="since-start",
                     **own), *_in_flight(metric)]
    if metric.instrument == "mutex":
        return [Part(name + ".lock.queue", "range-sampler", "none", (), windows, role="queue"),
                Part(name + ".lock.permit", "range-sampler", "none", (), windows, role="permit"),
                Part(name + ".lock.acquire", "timer", "nanoseconds", ("outcome",), windows,
                     role="acquire")]
    return [Part(name, metric.instrument, metric.unit, keys, **own)]


def _samples(part):
    if part.kind in ("histogram", "timer"):
        return ("bucket", "sum", "count")
    return ("total",) if part.kind == "counter" else ("",)


def part_names(part, windows_s=WINDOWS_S):
    """Names of the samples of one part."""
    names = [Exported(_compose(part.name, part.kind, part.unit, "", last), PAGE_TYPES[part.kind],
                      "" if last == "total" else last, part) for last in _samples(part)]
    for window_s in windows_s if part.windows else ():
        minutes = window_word(window_s)
        for word in WINDOW_RESULTS[part.kind]:
            names.append(Exported(exported_name(part.name, part.kind, part.unit, word + minutes),
                                  "gauge", word, part, window_s))
        for quantile in part.quantiles if part.kind in ("histogram", "timer") else ():
            word = quantile_word(quantile)
            names.append(Exported(
                exported_name(part.name, part.kind, part.unit, f"{word}_{minutes}"), "gauge", word,
                part, window_s))
    return names


def exported_names(metric, windows_s=WINDOWS_S):
    """Every name that samples of the metric have on a page; those of windows come last. A scraped
    page has only range samplers' windows, and of these the first (docs/scraping.md)."""
    names = [name for part in parts(metric) for name in part_names(part, windows_s)]
    return sorted(names, key=lambda name: name.window_s)


def taken_names(metric):
    """Every name that no other metric may be exported under, with the part that takes it."""
    taken = {}
    for part in parts(metric):
        for last in TAKEN[part.kind]:
            taken.setdefault(_compose(part.name, part.kind, part.unit, "", last), part)
        for name in part_names(part):
            taken.setdefault(name.name, part)
    return taken
