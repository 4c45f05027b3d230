# SPDX-License-Identifier: Apache-2.0
"""`crest lint manifest`: the rules of METRICS.md, over manifests.

The loader reports invalid manifests (keys, types, names that the library refuses, owners, clashes);
its problems come through as manifest-error. Each check here is one function of RULES_OF, which
yields messages for one metric; a check over all manifests is one of ACROSS.

    check_manifests(["comm.metrics.yaml"], report)
"""

import re

from crest_catalogue import load
from crest_catalogue.manifest_model import FAMILY_SERIES_MAX, LABELS_MAX, plain
from crest_lint.lint_findings import Place
from crest_lint.lint_names import split_key, suggestion, words_of
from crest_lint.lint_rules import RULES

UNIT_WORDS = frozenset("""
    ns nanos nanosecond nanoseconds us micros microsecond microseconds ms millis millisecond
    milliseconds sec secs second seconds minute minutes hour hours byte bytes kb mb gb kib mib gib
    kilobytes megabytes bits percent percentage""".split())
TYPE_WORDS = frozenset("""
    counter gauge histogram timer stages sampler metric metrics mutex""".split())
TOTAL_WORDS = frozenset("total totals count counts rate rates".split())
PER_SECOND = re.compile(r"\bper-(second|sec|minute|min|hour)\b|-s$")
LEVEL_WORDS = frozenset("""
    queue queued waiting pending backlog inflight outstanding running busy enqueued""".split())
LEVEL_TEXTS = re.compile(r"\b(in flight|in-flight|waiting|queued|pending|outstanding)\b", re.I)
EVENT_WORDS = frozenset("""
    received sent dropped failed failures errors retries requests processed accepted rejected
    handled completed executed refused timeouts hits misses evictions""".split())
EVENT_TEXTS = re.compile(r"\b(since (the |it |its |this )?(start|boot|begin|load|node)|so far|"
                         r"total number of|number of times|how many times|ever since|"
                         r"cumulative)", re.I)
QUANTITY_LABELS = frozenset("""
    unit quantity measure metric stat statistic field property aggregate quantile percentile
    window""".split())
STATISTIC_WORDS = frozenset("min max avg mean sum count median stddev p50 p90 p95 p99".split())
SUM_WORDS = frozenset("total all combined sum overall any".split())
IDENTITY_LABELS = frozenset("""
    id ids uuid guid hash digest address addr ip host_port port user user_id session trace
    trace_id span span_id request_id block_hash block deploy nonce url uri path file message error
    exception reason_text text timestamp time date pid tid thread_id""".split())
SIZE_WORDS = frozenset("size memory data heap bandwidth throughput".split())
RATIO_WORDS = frozenset("ratio fraction".split())
TIMED = ("timer", "keyed-timer")
REASON_CHARS_MIN = 8
LEVELS = ("gauge", "counter", "range-sampler")


def place_of(position):
    return Place(position.file, position.line, position.column)


# ---- names ----


def lower_case(metric):
    if metric.name != metric.name.lower():
        yield "name", (f"'{metric.name}' has upper case letters; write "
                       f"'{tidy(metric.name)}'")


def underscore(metric):
    if "_" in metric.name:
        yield "name", (f"'{metric.name}' has an underscore; dots are for hierarchy, dashes between "
                       f"words: '{tidy(metric.name)}'")


def tidy(name):
    """A name in the spelling that the rules want."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return name.replace("_", "-").lower()


def unit_word(metric):
    for word in words_of(metric.name):
        if word in UNIT_WORDS:
            yield "name", (f"'{metric.name}' has the unit '{word}' in it; say `unit:` beside the "
                           "name, the exported name gets it from there")


def type_word(metric):
    words = words_of(metric.name)
    found = [word for word in words if word in TYPE_WORDS]
    if found:
        yield "name", (f"'{metric.name}' has '{found[0]}' in it; what it is says `instrument:`")


def total_word(metric):
    for word in words_of(metric.name):
        if word in TOTAL_WORDS:
            yield "name", (f"'{metric.name}' has '{word}' in it; totals, counts and rates are what "
                           "is exported of it, not what it is called")
    if PER_SECOND.search(metric.name):
        yield "name", (f"'{metric.name}' is a rate by its name; count the events, the rate is "
                       "computed")


def duration_name(metric):
    if metric.instrument in TIMED and words_of(metric.name)[-1:] != ["time"]:
        yield "name", (f"'{metric.name}' is a {metric.instrument}, and durations end in -time: "
                       f"'{tidy(metric.name)}-time'")


def duration_timer(metric):
    if metric.instrument not in TIMED + ("stages",) and words_of(metric.name)[-1:] == ["time"]:
        yield "instrument", (f"'{metric.name}' is a duration by its name; durations are timers, "
                             f"not a {metric.instrument}")


# ---- labels ----


def series_bound(metric):
    product = 1
    for label in metric.labels:
        product *= max(1, label.bound)
    stages = len(metric.stages) if metric.instrument == "stages" else 1
    if product * max(1, stages) > FAMILY_SERIES_MAX:
        factors = " × ".join(f"{label.bound} {label.key}" for label in metric.labels)
        yield "labels", (f"its labels allow {product * max(1, stages)} series ({factors}); a family"
                         f" has at most {FAMILY_SERIES_MAX}, the rest shares one overflow series")


def label_syntax(metric):
    if len(metric.labels) > LABELS_MAX:
        yield "labels", f"it has {len(metric.labels)} label keys; {LABELS_MAX} is the limit"
    for label in metric.labels:
        if label.key != label.key.lower():
            yield label, (f"label '{label.key}' has upper case letters; write "
                          f"'{tidy_key(label)}'")


def tidy_key(label):
    return tidy(label.key).replace("-", "_")


def label_reserved(metric):
    for label in metric.labels:
        if label.key.startswith("_"):
            yield label, f"label '{label.key}' begins with an underscore, as internal ones do"
        elif label.key == "stage" and metric.instrument == "stages":
            yield label, "stages set the label 'stage' themselves"
        elif label.key == "op" and metric.instrument in ("keyed-timer", "stages"):
            yield label, "the gauge of stuck operations sets the label 'op' itself"


def label_identity(metric):
    for label in metric.labels:
        if label.key.lower() in IDENTITY_LABELS and not label.values:
            yield label, (f"label '{label.key}' sounds as if each operation had its own value; "
                          "ids, hashes, addresses and texts belong into the log. If it has few "
                          "values, list them")


def one_quantity(metric):
    if "and" in words_of(metric.name):
        yield "name", f"'{metric.name}' is two quantities by its name; make two metrics of it"
    for label in metric.labels:
        values = {value.lower() for value in label.values}
        if label.key.lower() in QUANTITY_LABELS:
            yield label, (f"label '{label.key}' tells quantities apart; each is a metric of its "
                          "own, or summing over the label means nothing")
        elif len(values & (STATISTIC_WORDS | UNIT_WORDS)) > 1:
            yield label, (f"the values of label '{label.key}' are different quantities "
                          f"({', '.join(sorted(values & (STATISTIC_WORDS | UNIT_WORDS)))}); make "
                          "metrics of them")
        elif values & SUM_WORDS and len(values) > 1 and metric.instrument in LEVELS:
            yield label, (f"label '{label.key}' has a value '{sorted(values & SUM_WORDS)[0]}' "
                          "beside the parts that it is the sum of: sum() counts them twice")


# ---- instruments and units ----


def gauge_of_level(metric):
    if metric.instrument != "gauge":
        return
    words = words_of(metric.name)
    found = sorted(set(words) & LEVEL_WORDS)
    text = LEVEL_TEXTS.search(plain(metric.meaning))
    if {"in", "flight"} <= set(words) or text:
        found.append(text.group() if text else "in-flight")
    if found:
        yield "instrument", (f"a gauge misses what comes and goes between looks, and '{found[0]}'"
                             " says that it does; the code that changes it can update a "
                             "range-sampler, or record a histogram at each change")


def gauge_of_total(metric):
    if metric.instrument != "gauge":
        return
    words = set(words_of(metric.name))
    text = EVENT_TEXTS.search(plain(metric.meaning))
    if words & EVENT_WORDS or words & TOTAL_WORDS or text:
        found = sorted(words & (EVENT_WORDS | TOTAL_WORDS)) or [text.group()]
        yield "instrument", (f"'{found[0]}' says that it only grows; that is a counter (with a "
                             "poll, where other code keeps the total), of which rates can be "
                             "computed")


def unit_missing(metric):
    words = words_of(metric.name)
    if metric.unit != "none" or metric.instrument in TIMED + ("stages", "mutex") or not words:
        return
    if words[-1] in SIZE_WORDS or "bytes" in re.findall(r"\w+", plain(metric.meaning).lower())[:2]:
        yield "unit", f"'{metric.name}' is a size by its name or meaning; say `unit: bytes`"
    elif words[-1] in RATIO_WORDS:
        yield "unit", f"'{metric.name}' is a ratio by its name; say `unit: ratio`"


def unit_coarse(metric):
    if metric.instrument in ("counter", "histogram", "range-sampler") and \
            metric.unit in ("seconds", "milliseconds", "ratio"):
        yield "unit", (f"a {metric.instrument} records whole numbers, and in {metric.unit} that "
                       "loses what is smaller; record in "
                       + ("parts and divide in the query" if metric.unit == "ratio" else
                          "nanoseconds, it is exported in seconds all the same"))


# ---- texts ----


def meaning(metric):
    text = plain(metric.meaning).strip()
    if not text:
        return  # an error of the form, and reported as that
    if len(text.split()) < 2:
        yield "meaning", f"the meaning '{text}' is not a sentence"
    elif text[0].islower():
        yield "meaning", f"the meaning of '{metric.name}' does not begin as a sentence does"
    elif text[-1] not in ".!?…":
        yield "meaning", f"the meaning of '{metric.name}' does not end with a full stop"
    elif split_key(re.sub(r"\W+", "-", text).strip("-")) in split_key(metric.name):
        yield "meaning", f"the meaning of '{metric.name}' only repeats its name"


def retired_reason(metric):
    if metric.status in ("lost", "retired") and not metric.replaced_by and \
            len(plain(metric.meaning).split()) < 4:
        yield "status", (f"'{metric.name}' is {metric.status}: say `replaced-by:` which metric, or "
                         "in its meaning why there is none")


def exempt_reason(metric):
    for rule, reason in metric.exempt.items():
        if len(reason.strip()) < REASON_CHARS_MIN:
            yield "exempt", f"the exemption from {rule} gives no reason"


RULES_OF = [
    ("name-lower-case", lower_case), ("no-underscore", underscore),
    ("no-unit-in-name", unit_word), ("no-type-in-name", type_word),
    ("no-total-in-name", total_word), ("duration-name", duration_name),
    ("duration-timer", duration_timer), ("label-bound", series_bound),
    ("label-syntax", label_syntax), ("label-reserved", label_reserved),
    ("label-identity", label_identity), ("one-quantity", one_quantity),
    ("gauge-of-level", gauge_of_level), ("gauge-of-total", gauge_of_total),
    ("unit-missing", unit_missing), ("unit-too-coarse", unit_coarse), ("meaning", meaning),
    ("retired-reason", retired_reason), ("exempt-reason", exempt_reason),
]

# Names that are no longer, or not yet, in use stay as they were: the rules of style are for names
# that can still be changed.
STYLE = frozenset(["name-lower-case", "no-underscore", "no-unit-in-name", "no-type-in-name",
                   "no-total-in-name", "duration-name", "duration-timer", "twin-counter",
                   "gauge-of-level", "gauge-of-total", "unit-missing", "unit-too-coarse",
                   "one-quantity", "label-identity"])


# ---- over all manifests ----


def twin_counters(metrics):
    """Counters whose events a timer counts already."""
    timers = {}
    for metric in metrics:
        if metric.instrument in TIMED + ("stages",):
            stem = re.sub(r"[.-]time$", "", metric.name)
            for twin in (stem, stem + "s", stem + "es", re.sub("y$", "ies", stem), metric.name):
                timers.setdefault(split_key(twin), metric)
    for metric in metrics:
        name = re.sub(r"[._-](total|count|calls)$", "", metric.name)
        timer = timers.get(split_key(name))
        if metric.instrument == "counter" and timer is not None and timer is not metric:
            yield metric, "name", (f"the count of the timer '{timer.name}' says already how often; "
                                   "a second number can only disagree")


def split_names(metrics):
    """Names that differ only in case or separators."""
    known = {}
    for metric in metrics:
        other = known.setdefault(split_key(metric.name), metric)
        if other is not metric and other.name != metric.name:
            yield metric, "name", (f"'{metric.name}' differs from '{other.name}' "
                                   f"({place_of(other.position)}) only in case or separators: one "
                                   "thing, one spelling")


def replacements(metrics):
    """Names in replaced-by that are no metric's."""
    names = {metric.name: metric for metric in metrics}
    spelled = {split_key(name): name for name in names}
    for metric in metrics:
        for name in metric.replaced_by:
            if name == metric.name:
                yield metric, "replaced-by", f"'{name}' is replaced by itself"
            elif name in names and names[name].status in ("lost", "retired"):
                yield metric, "replaced-by", (f"it is replaced by '{name}', which is "
                                              f"{names[name].status} itself")
            elif name not in names and split_key(name) in spelled:
                yield metric, "replaced-by", (f"'{name}' is spelled "
                                              f"'{spelled[split_key(name)]}' where it is declared")
            elif name not in names:
                yield metric, "replaced-by", (f"'{name}' is in no manifest given here"
                                              + suggestion(name, names))


ACROSS = [("twin-counter", twin_counters), ("split-name", split_names),
          ("replaced-by", replacements)]


# ---- all of it ----


def check_manifests(paths, report, only=None):
    """Loads and checks manifests; those of `only` (all if None) are reported on, the others are
    for comparison. Returns the manifests."""
    manifests, problems = load(paths)
    for problem in problems:
        if unreadable(problem.message):
            report.cannot_use(str(problem))
        elif only is None or problem.position.file in only:
            report.add("manifest-error", place_of(problem.position), problem.message)
    broken = {problem.position.file for problem in problems}
    metrics = [metric for manifest in manifests for metric in manifest.metrics if metric.instrument]
    found = {}
    for rule, check in RULES_OF:
        for metric in metrics:
            if rule in STYLE and not metric.is_live:
                continue
            for at, message in check(metric):
                found.setdefault((rule, metric.name, metric.manifest.path), []).append(
                    (metric, at, message))
    for rule, check in ACROSS:
        for metric, at, message in check(metrics):
            if rule in STYLE and not metric.is_live:
                continue
            found.setdefault((rule, metric.name, metric.manifest.path), []).append(
                (metric, at, message))
    for (rule, _, path), entries in found.items():
        for metric, at, message in entries:
            if rule not in metric.exempt and (only is None or path in only):
                position = metric.at(at) if isinstance(at, str) else at.position
                report.add(rule, place_of(position), message)
    for metric in metrics:
        if only is None or metric.manifest.path in only:
            check_exemptions(metric, found, report, metric.manifest.path in broken)
    return manifests


def unreadable(message):
    """Whether the loader could not even read the file."""
    return message.startswith("cannot be read")


def load_quietly(paths, report):
    """Manifests for another check, which cannot be trusted if they have problems."""
    manifests, problems = load(paths)
    for problem in problems:
        report.cannot_use(str(problem))
    return manifests


def check_exemptions(metric, found, report, broken):
    """Each exemption must be from an existing rule that the metric would break."""
    for rule in metric.exempt:
        place = place_of(metric.at("exempt"))
        if rule not in RULES:
            report.add("exempt-unknown", place, f"there is no rule '{rule}'"
                       + suggestion(rule, RULES).replace("declared name", "rule"))
        elif RULES[rule].command != "manifest":
            continue    # the source or live check shows whether it would
        elif (rule, metric.name, metric.manifest.path) not in found and not broken:
            report.add("exempt-unneeded", place,
                       f"'{metric.name}' is exempt from {rule}, and does not break it"
                       + ("; names that are not active are left in peace anyway"
                          if rule in STYLE and not metric.is_live else "")
                       + ": take the exemption out")
