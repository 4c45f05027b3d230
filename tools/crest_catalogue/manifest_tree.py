# SPDX-License-Identifier: Apache-2.0
"""Checks across metrics: one owner a name, one metric an exported name, one variable a
declaration. First within a manifest, then over all of them."""

import re

from .exported_names import (RESERVED_NAMES, exported_names, looks_derived, own_names, parts,
                             taken_names)
from .manifest_model import Problem

DOLLAR = re.compile(r"\$(?:name\b|\{name\})")


def check_manifest(reading, manifest):
    """Problems inside one manifest."""
    variables = {}
    for metric in manifest.metrics:
        if metric.variable in variables and metric.variable:
            reading.wrong(metric.at("variable"), f"found the variable {metric.variable} again; the "
                          f"first is that of {variables[metric.variable].name} in line "
                          f"{variables[metric.variable].at('variable').line}")
        variables.setdefault(metric.variable, metric)
        for name in sorted(reserved_of(metric)):
            reading.wrong(metric.position, f"found the name {metric.name}; expected one that is "
                          f"not exported as {name}, which Prometheus, the Pushgateway or Crest "
                          "itself makes up")
        for name in derived_of(metric):
            reading.wrong(metric.position, f"found the name {metric.name}; expected one that is "
                          f"not exported as {name}, which ends like what windows give")
        check_dollars(reading, metric)
        if not metric.is_live and metric.alerts:
            reading.wrong(metric.at("alert"), f"found an alert of a metric that is "
                                              f"{metric.status}; expected one of an active one")
    known = {label for label in manifest.labels}
    used = {label.key for metric in manifest.metrics for label in metric.labels
            if manifest.labels.get(label.key) is label}
    for key in sorted(known - used):
        reading.wrong(manifest.labels[key].position, f"found the label {key}; expected one that "
                                                     "some metric below uses")


def dollar_names(text, metric):
    """A text of an alert with $name replaced by the name of the samples: of a distribution without
    _bucket, _sum and _count, of a mutex without _queue and so on."""
    name = exported_names(metric, ())[0].name
    for end in ("_bucket", "_queue"):
        name = name.removesuffix(end) if metric.instrument not in ("counter", "gauge") else name
    return DOLLAR.sub(lambda _: name, text)


def check_dollars(reading, metric):
    """In an expression only $name may be replaced."""
    for alert in metric.alerts:
        left = re.search(r"\$\{?\w+\}?", DOLLAR.sub("", alert.expr))
        if left:
            reading.wrong(alert.position, f"found {left.group()} in the expression; expected $name "
                          "or, before letters, digits and _, ${name}")


def reserved_of(metric):
    if not metric.instrument:
        return set()
    names = set(taken_names(metric)) | {metric.name.replace(".", "_").replace("-", "_")}
    return names & RESERVED_NAMES


def derived_of(metric):
    return sorted(filter(looks_derived, own_names(metric))) if metric.instrument else []


def is_derived_of(metric, other):
    """Whether a manifest's metric is one that the library derives from another, listed for its own
    row: X.in-flight of a keyed timer X."""
    return metric.recorded_by == "library" and metric.name != other.name and any(
        part.name == metric.name and part.kind == metric.instrument for part in parts(other))


def elsewhere(metric, other):
    """The place of the other metric, as a message about this one gives it."""
    same = metric.manifest.path == other.manifest.path
    return f"line {other.position.line}" if same else str(other.position)


def check_tree(manifests):
    """Problems between metrics, of one manifest or of several, as a list."""
    problems = check_prefixes(manifests)
    names, taken = {}, {}
    for manifest in manifests:
        for metric in manifest.metrics:
            if metric.name in names:
                other = names[metric.name]
                problems.append(Problem(metric.position, f"found the name {metric.name} again; the "
                                        f"first is in {elsewhere(metric, other)}"))
                continue
            names[metric.name] = metric
            if metric.instrument and metric.status in ("active", "planned"):
                problems += check_taken(metric, taken)
    return problems


def check_taken(metric, taken):
    """Claims a metric's exported names; yields a problem if another metric has one of them."""
    clashes = {}
    for name, part in taken_names(metric).items():
        other, other_part = taken.setdefault(name, (metric, part))
        if other is not metric and not is_derived_of(metric, other) and \
                not is_derived_of(other, metric):
            clashes.setdefault(other.name, []).append((name, part, other, other_part))
    for found in clashes.values():
        name, part, other, other_part = found[0]
        yield Problem(metric.position, f"found the name {metric.name}; expected one that is "
                      f"exported otherwise than {other.name} in {elsewhere(metric, other)}: both "
                      f"take {name}{of_part(part, metric)}{of_part(other_part, other)}")


def of_part(part, metric):
    return "" if part.name == metric.name else f", {metric.name} by its {part.name}"


def check_prefixes(manifests):
    """A prefix belongs to one manifest, and no name lies under another one's longer prefix."""
    problems, owners = [], {}
    for manifest in manifests:
        for prefix, position in manifest.prefixes.items():
            owner = owners.setdefault(prefix, manifest)
            if owner is not manifest:
                problems.append(Problem(position, f"found the prefix {prefix}; expected one that "
                                        f"is this manifest's alone: it is team {owner.team}'s in "
                                        f"{owner.prefixes[prefix]}"))
    for manifest in manifests:
        for metric in manifest.metrics:
            own = manifest.prefix_of(metric.name) or metric.name
            for prefix, owner in owners.items():
                if owner is not manifest and len(prefix) > len(own) and \
                        (metric.name + ".").startswith(prefix + "."):
                    problems.append(Problem(metric.position, f"found the name {metric.name}; "
                                            f"expected one outside {prefix}, which is team "
                                            f"{owner.team}'s in {owner.prefixes[prefix]}"))
    return problems
