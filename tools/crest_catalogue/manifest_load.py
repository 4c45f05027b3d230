# SPDX-License-Identifier: Apache-2.0
"""From YAML to the model of manifest_model.py, with all problems at once and in order.

    manifests, problems = load(paths)

A manifest that has problems is returned too, without its unreadable parts, so that a caller may
check further; nothing should be generated from it.

docs/catalogue.md explains the schema to authors of manifests.
"""

import re

import yaml

from . import manifest_model as model
from .manifest_model import Label, Manifest, Metric, RecordingRule
from .manifest_nodes import Reading, nearest, shown
from .manifest_options import read_alerts, read_options
from .manifest_tree import check_manifest, check_tree

SCHEMA = 1
MANIFEST_KEYS = ("manifest", "team", "prefixes", "about", "labels", "metrics", "rules")
LABEL_KEYS = ("meaning", "bound", "values")
METRIC_KEYS = ("name", "instrument", "unit", "labels", "meaning", "help", "variable", "buckets",
               "range", "stages", "deadline", "idle", "windows", "quantiles",
               "native", "span", "status", "since", "last", "replaced-by", "exempt",
               "recorded-by", "same-as", "optional", "idle-ok", "alert")
RULE_KEYS = ("record", "expr", "labels")

TEAM = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LABEL_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RESERVED_LABELS = {"le": "distributions", "quantile": "summaries", "outcome": "timers",
                   "job": "Prometheus", "instance": "Prometheus"}
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RULE_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
RECORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
# Keywords of C11 and C++17: compilers of both read the declarations.
KEYWORDS = frozenset("""
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
    class compl const const_cast constexpr continue decltype default delete do double dynamic_cast
    else enum explicit export extern false float for friend goto if inline int long main mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using
    virtual void volatile wchar_t while xor xor_eq""".split())


def name_problem(name):
    """The problem of a canonical name, in the words of crest_name_check; None if it is valid."""
    if not re.match(r"[A-Za-z]", name):
        return f"it begins with {shown(name[:1])!r}, not with a letter"
    if len(name.encode()) > model.NAME_BYTES_MAX:
        return f"it is longer than {model.NAME_BYTES_MAX} bytes"
    bad = re.search(r"[^A-Za-z0-9_.-]", name)
    if bad:
        return f"it has {shown(bad.group())!r}; only letters, digits, _, . and - are valid"
    if re.search(r"[.-][.-]", name):
        return "it has two separators in a row"
    if name[-1] in ".-":
        return "it ends with a separator"
    return None


# ---- labels ----


def label_key_problem(key):
    if not LABEL_KEY.fullmatch(key):
        return "expected a label key: a letter, then letters, digits and _"
    if len(key) > model.LABEL_KEY_BYTES_MAX:
        return f"expected a label key of at most {model.LABEL_KEY_BYTES_MAX} bytes"
    if key in RESERVED_LABELS:
        return f"expected another label key: this one is reserved, {RESERVED_LABELS[key]} set it"
    return None


def read_label_values(reading, node, label):
    """A list of values, or a text that describes them."""
    if not isinstance(node, yaml.SequenceNode):
        text = reading.text(node, "a list of texts, or a text that describes the values")
        label.values_text = text or ""
        return
    seen = {}
    for item in reading.items(node, "a list of texts"):
        value = reading.text(item)
        if value is None:
            continue
        if value in seen:
            reading.wrong(item, f"found the value {shown(value)!r} again; the first is in line "
                                f"{seen[value]}")
        elif len(value.encode()) > model.LABEL_VALUE_BYTES_MAX:
            reading.wrong(item, f"found a value of {len(value.encode())} bytes; expected at most "
                                f"{model.LABEL_VALUE_BYTES_MAX}")
        seen.setdefault(value, reading.at(item).line)
    label.values = tuple(seen)
    if not seen and not node.value:
        reading.expected(node, "a list of texts")


def read_label(reading, key, key_node, node):
    """A label from its key and {meaning, bound, values}; a list alone is its values."""
    label = Label(key, reading.at(key_node))
    problem = label_key_problem(key)
    if problem:
        reading.wrong(key_node, f"found {shown(key)}; {problem}")
    if isinstance(node, yaml.SequenceNode):
        read_label_values(reading, node, label)
        label.bound = len(label.values)
        return label
    if not isinstance(node, yaml.MappingNode):
        reading.expected(node, "a mapping with values or bound, and meaning")
        return label
    fields = reading.mapping(node, "a label", LABEL_KEYS)
    if "values" in fields:
        read_label_values(reading, fields["values"], label)
    if "meaning" in fields:
        label.meaning = reading.text(fields["meaning"]) or ""
    if "bound" in fields:
        label.bound = reading.integer(fields["bound"], "how many values there can be", 1,
                                      model.FAMILY_SERIES_MAX) or 0
        if label.values and label.bound and label.bound < len(label.values):
            reading.wrong(fields["bound"], f"found the bound {label.bound}; expected at least "
                                           f"{len(label.values)}, the number of its values")
    elif label.values:
        label.bound = len(label.values)
    elif "values" not in fields or label.values_text:
        reading.wrong(key_node, f"label {shown(key)} has no bound; expected bound: N, or values: "
                                "with a list of all there are")
    return label


def read_shared_labels(reading, node, manifest):
    for key, key_node, value in reading.pairs(node, "a mapping of label keys"):
        manifest.labels[key] = read_label(reading, key, key_node, value)


def read_metric_labels(reading, node, metric, shared):
    """Names of shared labels, {key: …} for others, or one mapping of such."""
    found = []
    if isinstance(node, yaml.MappingNode):
        found = [read_label(reading, *pair) for pair in reading.pairs(node, "labels")]
    else:
        for item in reading.items(node, "a list of label keys"):
            if isinstance(item, yaml.MappingNode):
                found += [read_label(reading, *pair) for pair in reading.pairs(item, "a label")]
                continue
            key = reading.text(item, "a label key, or {key: {…}}")
            if key in shared:
                found.append(shared[key])
            elif key is not None:
                reading.wrong(item, f"found the label {shown(key)}; expected one of `labels` of "
                                    "the manifest, or {" + shown(key) + ": {values: [...]}}"
                                    + nearest(key, shared))
    for label in found:
        if label.key in [other.key for other in metric.labels]:
            reading.wrong(node, f"found the label {shown(label.key)} twice; expected it once")
        else:
            metric.labels.append(label)


# ---- metrics ----


def read_variable(reading, node):
    variable = reading.text(node, "a C identifier")
    if variable is None:
        return ""
    if not VARIABLE.fullmatch(variable) or variable in KEYWORDS or "__" in variable or \
            variable.startswith("_"):
        reading.wrong(node, f"found {shown(variable)}; expected a C identifier that is no keyword "
                            "and not reserved to compilers")
        return ""
    return variable


def read_name(reading, node, manifest):
    """The name, if the library accepts it and this team may use it."""
    name = reading.text(node, "a name")
    if name is None:
        return ""
    problem = name_problem(name)
    if problem:
        reading.wrong(node, f"found the name {shown(name)}; expected a valid one: {problem}")
    elif manifest.prefixes and manifest.prefix_of(name) is None:
        reading.wrong(node, f"found the name {name}; expected one of this team's, which are or "
                            f"begin with {' or '.join(manifest.prefixes)} and a dot"
                            + nearest_prefix(name, manifest))
    return name


def nearest_prefix(name, manifest):
    for prefix in manifest.prefixes:
        head = ".".join(name.split(".")[:prefix.count(".") + 1])
        if nearest(head, [prefix]):
            return f"; did you mean {prefix}{name[len(head):]}?"
    return ""


def read_exempt(reading, node, metric):
    for rule, key_node, value in reading.pairs(node, "a mapping of rules and reasons"):
        if not RULE_ID.fullmatch(rule):
            reading.wrong(key_node, f"found {shown(rule)}; expected the id of a rule, as in "
                                    "no-underscore")
        reason = reading.text(value, "a text: the reason")
        metric.exempt[rule] = reason or ""


def read_texts_of(reading, fields, metric):
    """The fields of a metric that are texts."""
    for key in ("meaning", "help", "since", "last", "optional", "idle-ok"):
        if key in fields:
            setattr(metric, key.replace("-", "_"), reading.text(fields[key]) or "")
    if "replaced-by" in fields:
        metric.replaced_by = reading.texts(fields["replaced-by"], "a name, or a list of names")
    if "same-as" in fields:
        for who, _, value in reading.pairs(fields["same-as"], "a mapping of whose and name"):
            metric.same_as[who] = reading.texts(value, "a name, or a list of names")
    if len(metric.description.encode()) > model.DESCRIPTION_BYTES_MAX:
        reading.wrong(metric.at("help" if metric.help else "meaning"),
                      f"found {len(metric.description.encode())} bytes; expected a description of "
                      f"at most {model.DESCRIPTION_BYTES_MAX}"
                      + ("" if metric.help else ": write a shorter one beside it as help"))


def read_metric(reading, node, manifest):
    fields = reading.mapping(node, "a metric", METRIC_KEYS)
    if not isinstance(node, yaml.MappingNode):
        return None
    position = reading.at(fields.get("name", node))
    metric = Metric(manifest, "", position)
    metric.positions = {key: reading.at(value) for key, value in fields.items()}
    for key in ("name", "instrument", "meaning"):
        if key not in fields:
            reading.wrong(position, f"this metric has no {key}; expected one")
    if "name" in fields:
        metric.name = read_name(reading, fields["name"], manifest)
    if "instrument" in fields:
        metric.instrument = reading.choice(fields["instrument"], model.INSTRUMENTS) or ""
    if "status" in fields:
        metric.status = reading.choice(fields["status"], model.STATUSES) or "active"
    if "recorded-by" in fields:
        metric.recorded_by = reading.choice(fields["recorded-by"], model.RECORDERS) or "code"
    if "variable" in fields:
        metric.variable = read_variable(reading, fields["variable"])
    if "exempt" in fields:
        read_exempt(reading, fields["exempt"], metric)
    read_texts_of(reading, fields, metric)
    if "labels" in fields:
        read_metric_labels(reading, fields["labels"], metric, manifest.labels)
    if metric.instrument:
        read_options(reading, fields, metric)
    if "alert" in fields:
        metric.alerts = read_alerts(reading, fields["alert"])
    return metric if metric.name else None


# ---- the manifest ----


def read_prefixes(reading, node, manifest):
    items = reading.items(node, "a list of prefixes")
    if isinstance(node, yaml.SequenceNode) and not items:
        reading.expected(node, "a list of prefixes")
    for item in items:
        prefix = reading.text(item, "a prefix of names")
        if prefix is None:
            continue
        problem = name_problem(prefix)
        if problem:
            reading.wrong(item, f"found the prefix {shown(prefix)}; expected a valid one: "
                                f"{problem}")
        elif prefix in manifest.prefixes:
            reading.wrong(item, f"found the prefix {prefix} again; the first is in line "
                                f"{manifest.prefixes[prefix].line}")
        else:
            manifest.prefixes[prefix] = reading.at(item)


def read_rules(reading, node, manifest):
    for item in reading.items(node, "a list of recording rules"):
        fields = reading.mapping(item, "a recording rule", RULE_KEYS)
        if not isinstance(item, yaml.MappingNode):
            continue
        rule = RecordingRule("", "", reading.at(item))
        for key in ("record", "expr"):
            if key not in fields:
                reading.wrong(item, f"this rule has no {key}; expected one")
            else:
                setattr(rule, key, reading.text(fields[key]) or "")
        if rule.record and not RECORD.fullmatch(rule.record):
            reading.wrong(fields["record"], f"found {shown(rule.record)}; expected the name of a "
                                            "recording rule: letters, digits, _ and :")
        for key, key_node, value in reading.pairs(fields["labels"], "a mapping of labels") \
                if "labels" in fields else ():
            if not LABEL_KEY.fullmatch(key):
                reading.wrong(key_node, f"found {shown(key)}; expected a label key")
            rule.labels[key] = reading.text(value) or ""
        manifest.rules.append(rule)


def read_manifest(reading, root):
    manifest = Manifest(reading.path, reading.at(root), reading.licence)
    fields = reading.mapping(root, "a manifest", MANIFEST_KEYS)
    if not isinstance(root, yaml.MappingNode):
        return manifest
    manifest.positions = {key: reading.at(node) for key, node in fields.items()}
    for key in ("manifest", "team", "prefixes", "metrics"):
        if key not in fields:
            reading.wrong(root, f"this manifest has no {key}; expected one"
                          + (f": manifest: {SCHEMA} says which version of the schema it is "
                             "written in" if key == "manifest" else ""))
    if "manifest" in fields:
        reading.integer(fields["manifest"], "the version of the schema", SCHEMA, SCHEMA)
    if "team" in fields:
        manifest.team = reading.text(fields["team"], "the name of a team") or ""
        if manifest.team and not TEAM.fullmatch(manifest.team):
            reading.wrong(fields["team"], f"found {shown(manifest.team)}; expected the name of a "
                                          "team: lower case words of letters and digits, joined "
                                          "by dashes")
    if "prefixes" in fields:
        read_prefixes(reading, fields["prefixes"], manifest)
    if "about" in fields:
        manifest.about = reading.text(fields["about"]) or ""
    if "labels" in fields:
        read_shared_labels(reading, fields["labels"], manifest)
    if "metrics" in fields:
        read = [read_metric(reading, item, manifest)
                for item in reading.items(fields["metrics"], "a list of metrics")]
        manifest.metrics = [metric for metric in read if metric is not None]
    if "rules" in fields:
        read_rules(reading, fields["rules"], manifest)
    return manifest


def load_file(path):
    """One manifest (None if the file is not YAML) and its problems, in order."""
    reading = Reading(path)
    root = reading.file()
    manifest = read_manifest(reading, root) if root is not None else None
    if manifest is not None:
        check_manifest(reading, manifest)
    return manifest, sorted(set(reading.problems))


def load(paths):
    """All manifests, and all problems in the order of files, lines and columns: those of each
    manifest, and those across manifests."""
    manifests, problems = [], []
    for path in paths:
        manifest, found = load_file(path)
        problems += found
        if manifest is not None:
            manifests.append(manifest)
    problems += check_tree(manifests)
    return manifests, sorted(set(problems))
