# SPDX-License-Identifier: Apache-2.0
"""`crest lint live`: a page of a running process, or of a Pushgateway, against manifests.

    check_live(manifests, options, report)      options as lint_main.py parses them

A promised metric (active, not optional, recorded by this process) must be there with its type and
labels, and counters and distributions must have moved; with a second reading, between the two.
"""

import re
import time

from crest_catalogue.exported_names import RESERVED_NAMES, WINDOWS_S, exported_names, parts, \
    taken_names
from crest_lint.lint_findings import Place
from crest_lint.lint_names import exported_base, nearest
from crest_lint.lint_pages import Unreadable, fetch, page_time, read_page, shown_url
from crest_lint.lint_source import Catalogue

# Labels that servers add to a metric's own.
SERVER_LABELS = {"job", "instance"}
TIME = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?")
SCALE = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, None: 1}
CANONICAL = re.compile(r"\[([A-Za-z][A-Za-z0-9_.-]*)\]\s*$")
WINDOW = re.compile(r"_(?:rate|peak|avg|max|min)(\d{1,4})m(?:_|$)")
WINDOWS_MAX = 20
OVERFLOW = "overflow"
# Parts of a metric that exist only after the first keyed begin.
LATER_ROLES = {"in-flight", "oldest", "stuck"}
DISTRIBUTIONS = ("histogram", "timer")


def seconds_of(text):
    """30s, 5m, 1h, or None."""
    match = TIME.fullmatch(text.strip())
    return float(match.group(1)) * SCALE[match.group(2)] if match else None


class LiveCheck:
    """One page, or two readings of one."""

    def __init__(self, catalogue, where, report):
        self.catalogue, self.report = catalogue, report
        self.where = shown_url(where)
        self.names = {}         # exported name: (metric, Exported)
        self.taken = set()
        self.samples = {}       # name of a metric: [(Exported, Sample)]
        self.told = set()

    def add(self, rule, line, message, metric=None):
        if metric is None or rule not in metric.exempt:
            self.report.add(rule, Place(self.where, line), message)

    def read(self, page, group):
        windows = {60 * int(minutes) for sample in page.samples
                   for minutes in WINDOW.findall(sample.name)}
        windows = tuple(sorted(windows | set(WINDOWS_S)))[:WINDOWS_MAX]
        for metric in self.catalogue.metrics.values():
            self.taken.update(taken_names(metric))
            for name in exported_names(metric, windows):
                self.names.setdefault(name.name, (metric, name))
        for sample in page.samples:
            if any(sample.labels.get(key) != value for key, value in group.items()):
                continue
            found = self.names.get(sample.name)
            if found:
                self.samples.setdefault(found[0].name, []).append((found[1], sample))

    # ---- one page ----

    def page(self, page, where, options):
        for line, message in page.faults:
            self.add("live-page", line, message)
        group, ignored = options.group_labels, options.ignored_labels | SERVER_LABELS
        self.read(page, group)
        for metric in self.catalogue.metrics.values():
            samples = self.samples.get(metric.name, [])
            self.presence(metric, samples, options.partial)
            self.types(metric, samples, page)
            self.help(metric, samples, page)
            self.labels(metric, samples, ignored | set(group))
            self.bounds(metric, samples)
        self.undeclared(page, group)
        self.stale(page, page_time(where), options.stale_s, group)

    def presence(self, metric, samples, partial):
        if metric.status != "active":
            if samples:
                self.add("live-retired", samples[0][1].line,
                         f"'{metric.name}' is {metric.status} and is on the page"
                         + ("; make it active" if metric.status == "planned" else
                            "; stop recording it"), metric)
            return
        if partial or metric.optional or metric.recorded_by == "host":
            return
        present = {name.part.name for name, _ in samples}
        wanted = [part for part in parts(metric) if part.role not in LATER_ROLES]
        missing = [part for part in wanted if part.name not in present]
        # A family has no series before its first label value.
        if not missing or (metric.labels and metric.idle_ok and not present):
            return
        first = exported_base(missing[0].name)
        self.add("live-missing", 0, f"'{metric.name}' ({metric.instrument}, {metric.manifest.path}:"
                 f"{metric.position.line}) is promised and not on the page: no series begins with "
                 f"{first}; record it, or say in the manifest that it is optional", metric)

    def types(self, metric, samples, page):
        for name, sample in samples:
            family = page.family_of(sample.name)
            if (metric.name, family) in self.told:
                continue
            self.told.add((metric.name, family))
            found = page.types.get(family)
            if found is None:
                self.add("live-type", sample.line, f"{sample.name} has no TYPE; expected "
                         f"{name.type} ('{metric.name}')", metric)
            elif found not in (name.type, "unknown"):
                self.add("live-type", page.lines[family], f"{family} is a {found}; '{metric.name}'"
                         f", a {metric.instrument}, is exported as a {name.type}", metric)

    def help(self, metric, samples, page):
        """HELP of the metric itself; the library sets HELP of the metrics that it derives."""
        for family in {page.family_of(sample.name): None for name, sample in samples
                       if not name.part.role and not name.window_s}:
            said, line = page.helps.get(family, ("", 0))
            found = " ".join(CANONICAL.sub("", said).split())
            if said and found != metric.description:
                self.add("live-help", line, f"{family} is described as "
                         f"'{found}'; declared is '{metric.description}'", metric)

    def labels(self, metric, samples, ignored):
        told = set()
        for name, sample in samples:
            wanted = set(name.part.label_keys) | ({"le"} if name.sample == "bucket" else set())
            found = set(sample.labels)
            missing, more = wanted - found, found - wanted - ignored
            if not (missing or more) or sample.name in told:
                continue
            told.add(sample.name)
            what = [f"lacks {', '.join(sorted(missing))}"] if missing else []
            what += [f"has also {', '.join(sorted(more))}"] if more else []
            self.add("live-labels", sample.line, f"{sample.name} {' and '.join(what)}; "
                     f"'{metric.name}' is declared with "
                     + (", ".join(sorted(wanted)) or "no labels"), metric)

    def bounds(self, metric, samples):
        for label in metric.labels:
            values = {}
            for _, sample in samples:
                if label.key in sample.labels:
                    values.setdefault(sample.labels[label.key], sample.line)
            known = set(label.values) | {OVERFLOW}
            strange = [value for value in values if label.values and value not in known]
            if label.bound and len(values.keys() - {OVERFLOW}) > label.bound:
                self.add("live-bound", min(values.values()),
                         f"'{metric.name}' has {len(values.keys() - {OVERFLOW})} values of "
                         f"'{label.key}'; {label.bound} is its bound", metric)
            elif strange:
                self.add("live-bound", values[strange[0]],
                         f"'{metric.name}' has the value '{strange[0]}' of '{label.key}'"
                         + (f" and {len(strange) - 1} others" if len(strange) > 1 else "")
                         + f"; declared are {', '.join(label.values)}", metric)
            if OVERFLOW in values and OVERFLOW not in label.values:
                self.add("live-bound", values[OVERFLOW],
                         f"'{metric.name}' got more values of '{label.key}' than the library keeps:"
                         " some share the series 'overflow'", metric)

    def undeclared(self, page, group):
        """Families under a team's prefix that belong to no metric."""
        told = set()
        prefixes = [exported_base(prefix) + "_" for prefix in self.catalogue.prefixes]
        for sample in page.samples:
            family = page.family_of(sample.name)
            if sample.name in self.names or sample.name in self.taken or family in told or \
                    any(sample.labels.get(key) != value for key, value in group.items()):
                continue
            told.add(family)
            canonical = CANONICAL.search(page.helps.get(family, ("", 0))[0])
            name = canonical.group(1) if canonical else None
            if name in told or family in RESERVED_NAMES or self.catalogue.is_known(name):
                continue    # known: another window, or a quantile that the manifest does not have
            told.add(name or family)
            if not (self.catalogue.in_prefix(name) if name else
                    family.startswith(tuple(prefixes))):
                continue
            respelled = self.catalogue.respelled(name) if name else None
            near = respelled or (nearest(name, self.catalogue.metrics) if name else
                                 nearest(family, self.names))
            self.add("live-undeclared", sample.line,
                     f"{family}{f' ({name})' if name else ''} is in no manifest given here"
                     + (f"; the nearest declared name is '{near}'" if near else ""))

    def stale(self, page, now_s, stale_s, group):
        """The age of each group's last push, and of samples that have a time."""
        pushes, told = {}, False
        for sample in page.samples:
            if any(sample.labels.get(key) != value for key, value in group.items()):
                continue
            labels = ", ".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
            if sample.name == "push_time_seconds":
                pushes[labels] = sample.value
                if now_s - sample.value > stale_s > 0:
                    self.add("live-stale", sample.line, f"the last push of {labels or 'the group'}"
                             f" is {now_s - sample.value:.0f} s old; is the process still alive?")
            elif sample.name == "push_failure_time_seconds" and \
                    sample.value > pushes.get(labels, 0.0):
                self.add("live-stale", sample.line,
                         f"the Pushgateway refused the last push of {labels or 'the group'}")
            elif sample.time_s and not told and sample.name in self.names:
                scale = 1 if page.open_metrics else 1000
                age_s = now_s - sample.time_s / scale
                told = age_s > stale_s > 0
                if told:
                    self.add("live-stale", sample.line, f"{sample.name} is {age_s:.0f} s old")

    # ---- movement ----

    def totals(self):
        """Events of each counter and distribution so far."""
        found = {}
        for name, samples in self.samples.items():
            metric = self.catalogue.metrics[name]
            counted = [sample.value for exported, sample in samples if exported.window_s == 0
                       and exported.part.role in ("", "acquire")
                       and (exported.sample == "count" if exported.part.kind in DISTRIBUTIONS
                            else exported.part.kind == "counter")]
            if counted and metric.status == "active":
                found[name] = sum(counted)
        return found

    def movement(self, before, options, watched_s):
        for name, total in self.totals().items():
            metric = self.catalogue.metrics[name]
            if metric.idle_ok or metric.optional or metric.recorded_by == "host":
                continue
            line = self.samples[name][0][1].line
            if total == 0:
                self.add("live-idle", line, f"'{name}' ({metric.instrument}) has never moved: "
                         "nothing records it, or say in the manifest why that is fine (idle-ok)",
                         metric)
            elif before is not None and before.get(name, 0) == total:
                self.add("live-idle", line, f"'{name}' ({metric.instrument}) did not move "
                         f"{watched_s}", metric)


def parse_options(options, report):
    """The texts of the command line as values; reports invalid ones."""
    options.group_labels = {}
    for pair in filter(None, options.group.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            report.cannot_use(f"--group {options.group}: expected KEY=VALUE,...")
        options.group_labels[key.strip()] = value.strip()
    options.ignored_labels = {key.strip() for key in options.ignore_labels.split(",")
                              if key.strip()}
    for key in ("stale", "timeout", "watch"):
        text = getattr(options, key)
        value = seconds_of(text) if text else None
        if text and value is None:
            report.cannot_use(f"--{key} {text}: expected a time such as 30s or 5m")
        setattr(options, key + "_s", value)
    if options.watch and options.second:
        report.cannot_use("--watch reads the page again itself; leave SECOND out")
    if options.watch and options.page == "-":
        report.cannot_use("--watch cannot read stdin twice")


def check_live(manifests, options, report):
    """Reads the page, once or twice, and checks it."""
    parse_options(options, report)
    if report.unusable:
        return
    before, where = None, options.page
    try:
        page = read_page(fetch(where, options.timeout_s))
        if options.watch or options.second:
            first = LiveCheck(Catalogue(manifests), where, report)
            first.read(page, options.group_labels)
            before = first.totals()
            if options.watch:
                time.sleep(options.watch_s)
            where = options.second or where
            page = read_page(fetch(where, options.timeout_s))
    except Unreadable as error:
        report.cannot_use(f"{shown_url(where)}: {error}")
        return
    if not page.samples:
        report.cannot_use(f"{shown_url(where)}: there is no metric in it; is it a page of metrics?")
        return
    check = LiveCheck(Catalogue(manifests), where, report)
    check.page(page, where, options)
    check.movement(before, options,
                   f"in {options.watch}" if options.watch else "between the two pages")
