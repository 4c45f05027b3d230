# SPDX-License-Identifier: Apache-2.0
"""The model of a manifest that has been read. Plain data; manifest_load.py reads it.

Every object knows its place: `metric.position` is the place of its name, `metric.at("unit")` that
of the value of a key, or of the name if the key is not written.
"""

import dataclasses
import re

INSTRUMENTS = ("counter", "gauge", "range-sampler", "histogram", "timer", "keyed-timer", "stages",
               "mutex")
DISTRIBUTIONS = ("histogram", "timer", "keyed-timer", "stages")
TIMERS = ("timer", "keyed-timer", "stages", "mutex")
UNITS = ("none", "bytes", "nanoseconds", "microseconds", "milliseconds", "seconds", "ratio")
STATUSES = ("active", "planned", "lost", "retired")
BUCKETS = ("fast", "default", "slow", "bytes", "ratio", "magnitudes")
NATIVES = ("off", "on", "only")
RANGES = ("loose", "default", "fine", "percentage", "none")
RECORDERS = ("code", "library", "host")

# Bounds of the library, include/crest/metric.h; docs/limits.md.
NAME_BYTES_MAX = 200
DESCRIPTION_BYTES_MAX = 1000
LABELS_MAX = 8
LABEL_KEY_BYTES_MAX = 100
LABEL_VALUE_BYTES_MAX = 1000
FAMILY_SERIES_MAX = 2000
BUCKETS_MAX = 64
STAGES_MAX = 16
QUANTILES_MAX = 4


@dataclasses.dataclass(frozen=True, order=True)
class Position:
    """A place in a file; lines and columns count from 1."""
    file: str
    line: int
    column: int

    def __str__(self):
        return f"{self.file}:{self.line}:{self.column}"


@dataclasses.dataclass(frozen=True, order=True)
class Problem:
    """A problem and its place: `str` of it is a line fit for CI."""
    position: Position
    message: str

    def __str__(self):
        return f"{self.position}: {self.message}"


@dataclasses.dataclass
class Label:
    """A label key of a metric. Either `values` are all there are, or there are at most `bound`."""
    key: str
    position: Position
    values: tuple = ()      # texts, when the manifest lists them
    bound: int = 0          # how many values there can be; for a list, its length
    meaning: str = ""       # Markdown
    values_text: str = ""   # the manifest's description instead of a list: "node-0 … node-15"


@dataclasses.dataclass
class Alert:
    """An alerting rule: $name in `expr` is the exported name."""
    expr: str
    position: Position
    name: str = ""          # empty: made from the metric's
    duration: str = ""      # Prometheus' `for`, as written
    severity: str = "warning"
    summary: str = ""
    description: str = ""
    runbook: str = ""


@dataclasses.dataclass
class RecordingRule:
    """A recording rule from the manifest."""
    record: str
    expr: str
    position: Position
    labels: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Range:
    """The values that a histogram tells apart: one of RANGES, or a range of its own."""
    name: str = ""
    lowest: int = 0
    highest: int = 0
    digits: int = 0


@dataclasses.dataclass
class Metric:
    """One entry of `metrics`."""
    manifest: "Manifest"
    name: str
    position: Position
    instrument: str = ""
    unit: str = "none"
    labels: list = dataclasses.field(default_factory=list)      # of Label
    meaning: str = ""
    help: str = ""          # as written; `description` has the default
    variable: str = ""      # empty: no generated declaration
    buckets: object = None  # one of BUCKETS, a tuple of floats, or None
    range: Range = None
    stages: tuple = ()
    deadline_ms: int = 0
    idle_s: int = 0
    windows: bool = True
    quantiles: tuple = ()
    native: str = ""        # one of NATIVES; empty: as for all metrics
    native_factor: float = 0
    span: str = ""          # what its spans are of, when it is traced: "a block", by its hash
    status: str = "active"
    since: str = ""
    last: str = ""
    replaced_by: tuple = ()
    exempt: dict = dataclasses.field(default_factory=dict)      # rule id: reason
    recorded_by: str = "code"
    same_as: dict = dataclasses.field(default_factory=dict)     # other system: tuple of names
    optional: str = ""      # why a process may lack it
    idle_ok: str = ""       # why it may stand still
    alerts: list = dataclasses.field(default_factory=list)      # of Alert
    positions: dict = dataclasses.field(default_factory=dict)   # key: Position of its value

    def at(self, key):
        """The place of a key's value, or of the name if the key is not written."""
        return self.positions.get(key, self.position)

    @property
    def description(self):
        """The text in code, and HELP of the page: `help`, or the meaning without Markdown."""
        return " ".join((self.help or plain(self.meaning)).split())

    @property
    def is_live(self):
        """Whether a running process has it."""
        return self.status == "active"

    @property
    def is_declared(self):
        """Whether the generated header declares it."""
        return self.is_live and self.recorded_by == "code" and self.variable != ""


@dataclasses.dataclass
class Manifest:
    """One file."""
    path: str
    position: Position
    licence: str = ""       # of its SPDX line, if it has one; generated sources repeat it
    team: str = ""
    prefixes: dict = dataclasses.field(default_factory=dict)    # prefix: Position
    about: str = ""
    labels: dict = dataclasses.field(default_factory=dict)      # key: Label, shared ones
    metrics: list = dataclasses.field(default_factory=list)
    rules: list = dataclasses.field(default_factory=list)       # of RecordingRule
    positions: dict = dataclasses.field(default_factory=dict)

    def at(self, key):
        return self.positions.get(key, self.position)

    def prefix_of(self, name):
        """The longest prefix of this manifest that a name equals or begins with; None if none."""
        fitting = [prefix for prefix in self.prefixes
                   if name == prefix or name.startswith(prefix + ".")]
        return max(fitting, key=len, default=None)


def plain(markdown):
    """A sentence without the marks of Markdown that a manifest uses: code, emphasis, links."""
    text = re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", markdown).replace("`", "")
    return re.sub(r"(\*\*?)(\S|\S[^*]*\S)\1", r"\2", text)
