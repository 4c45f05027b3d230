# SPDX-License-Identifier: Apache-2.0
"""`crest lint source`: what sources record, against what manifests declare.

    check_sources(manifests, ["src"], report, excluded=[], asked=manifests)

The scanners (lint_c.py, lint_jvm.py) find the names; this file judges them. Comments in the sources
direct it, on the line of the finding or the line before:

    crest-lint: name comm.*            the name that is made here is one of these
    crest-lint: ignore RULE reason     the finding is as it should be
"""

import fnmatch
import re

from crest_catalogue.exported_names import parts
from crest_lint import lint_c, lint_jvm
from crest_lint.lint_manifest import place_of
from crest_lint.lint_names import NAME, nearest, split_key
from crest_lint.lint_rules import RULES
from crest_lint.lint_scan import SourceFile, find_files, language_of, read_source
from crest_lint.lint_uses import OWN_BUCKETS

ALLOW = re.compile(r"crest-lint:\s*(name|ignore)\b[ \t]*([^\n]*)")
GENERATED = re.compile(r"\bby[\s*]+crest[ -]catalogue:[\s*]+change[\s*]+that[\s*]+file\b")
KINDS_OF = {"counter": "counter", "gauge": "gauge", "range-sampler": "range-sampler",
            "histogram": "histogram", "timer": "timer", "keyed-timer": "timer", "stages": "stages",
            "mutex": "mutex"}
HOW_MANY_NAMES = 3


class Catalogue:
    """The declared names, and those that the library derives from them."""

    def __init__(self, manifests):
        self.metrics, self.derived, self.by_key = {}, {}, {}
        self.prefixes = [prefix for manifest in manifests for prefix in manifest.prefixes]
        for manifest in manifests:
            for metric in manifest.metrics:
                if metric.instrument:
                    self.metrics.setdefault(metric.name, metric)
        for metric in self.metrics.values():
            for part in parts(metric):
                if part.name not in self.metrics:
                    self.derived.setdefault(part.name, (metric, part))
        for name in [*self.metrics, *self.derived]:
            self.by_key.setdefault(split_key(name), []).append(name)

    def is_known(self, name):
        return name in self.metrics or name in self.derived

    def owner(self, name):
        """The metric that has a name, or that it is derived from."""
        return self.metrics.get(name) or self.derived.get(name, (None,))[0]

    def respelled(self, name):
        """The only declared name that differs just in spelling, or None."""
        names = [other for other in self.by_key.get(split_key(name), []) if other != name]
        return names[0] if len(names) == 1 else None

    def in_prefix(self, name):
        return any(name.startswith(prefix + ".") for prefix in self.prefixes)

    def ending_in(self, short):
        return [name for name in [*self.metrics, *self.derived]
                if name == short or name.endswith("." + short)]


class Allowance:
    """One comment for crest lint."""

    def __init__(self, file, at, line, word, rest):
        self.file, self.at, self.line, self.word = file, at, line, word
        rest = re.sub(r"\s*\)?\s*\*/.*", "", rest).strip()
        self.words = rest.replace(",", " ").split()
        self.used = False

    def covers(self, line):
        return self.line in (line, line - 1)


class SourceCheck:
    """One run over sources."""

    def __init__(self, catalogue, report, own_prefixes=False):
        self.catalogue, self.report, self.own_prefixes = catalogue, report, own_prefixes
        self.used, self.mentioned, self.keyed = set(), set(), set()
        self.allowances = {}
        self.fixes = []         # (file, literal, old value, new value)
        self.variables = {}

    # ---- comments ----

    def read_allowances(self, files):
        for file in files:
            if "crest-lint:" not in file.text:
                continue
            for start, end in file.comments:
                for match in ALLOW.finditer(file.text, start, end):
                    last = file.line_of(end - 1)
                    self.allowances.setdefault(file, []).append(
                        Allowance(file, match.start(), last, *match.groups()))

    def add(self, rule, file, at, message, metric=None):
        """A finding, unless a comment or the manifest exempts from it."""
        if metric is not None and rule in metric.exempt:
            return
        place = file.place(at)
        for allowance in self.allowances.get(file, ()):
            if allowance.word == "ignore" and allowance.covers(place.line) and \
                    rule in allowance.words[:1]:
                allowance.used = True
                return
        self.report.add(rule, place, message)

    def named_here(self, file, at):
        """The patterns that a comment gives for the name built at a place, or None."""
        line = file.line_of(at)
        found = [allowance for allowance in self.allowances.get(file, ())
                 if allowance.word == "name" and allowance.covers(line)]
        for allowance in found:
            allowance.used = True
        return [pattern for allowance in found for pattern in allowance.words] or None

    def check_allowances(self):
        for file, allowances in self.allowances.items():
            for allowance in allowances:
                place = file.place(allowance.at)
                if allowance.word == "ignore" and allowance.words[:1] and \
                        allowance.words[0] not in RULES:
                    self.report.add("allow-unneeded", place, f"there is no rule "
                                    f"'{allowance.words[0]}'; --rules lists them")
                elif allowance.word == "ignore" and len(allowance.words) < 2:
                    self.report.add("allow-unneeded", place, "expected a rule and a reason: "
                                    "crest-lint: ignore RULE because ...")
                elif not allowance.used:
                    self.report.add("allow-unneeded", place, "this comment allows nothing that is "
                                    "found here; take it out")

    # ---- uses ----

    def check(self, files, uses, unknowns):
        self.read_allowances(files)
        for use in uses:
            self.use(use)
        for unknown in unknowns:
            self.unknown(unknown)
        for file in files:
            self.tables(file)

    def use(self, use):
        names = [text.value for text in use.names]
        if use.short:
            self.without_source(use)
            return
        known = [name for name in names if self.catalogue.is_known(name)]
        if use.reads:
            if not known:
                self.undeclared(use, use.names[0])
            return
        self.used.update(known)
        for text in use.names:
            if self.catalogue.is_known(text.value):
                self.compare(use, text.value)
            elif use.kind == "mutex" and self.mutex_parts(use, text.value):
                continue
            elif not (use.ambiguous and known):
                self.undeclared(use, text)

    def mutex_parts(self, use, name):
        """A mutex may be declared by the metrics that it consists of."""
        found = [name + end for end in (".lock.queue", ".lock.acquire", ".lock.permit")
                 if self.catalogue.is_known(name + end)]
        self.used.update(found)
        return bool(found)

    def without_source(self, use):
        ending = self.catalogue.ending_in(use.short)
        if ending == [use.short]:
            self.used.update(ending)
            self.compare(use, use.short)
        elif self.catalogue.in_prefix(use.short):
            self.undeclared(use, use.names[0])
        elif ending:
            self.used.update(ending)
        elif self.named_here(use.file, use.at) is None:
            self.add("run-time-name", use.file, use.at,
                     f"{use.how} records '{use.short}' under a source or prefix that is not known "
                     "here, and no declared name ends like that; a comment 'crest-lint: name "
                     "NAME' says which it is")

    def undeclared(self, use, text):
        name = text.value
        patterns = self.named_here(use.file, use.at)
        if patterns and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            return
        if self.own_prefixes and not self.catalogue.in_prefix(name):
            return
        respelled = self.catalogue.respelled(name)
        if respelled:
            self.used.add(respelled)
            self.add("split-spelling", use.file, use.at,
                     f"'{name}' is declared as '{respelled}' "
                     f"({self.declared_at(respelled)}): one thing, one spelling")
            if text.literal is not None:
                self.fixes.append((text.file, text.literal, name, respelled))
            return
        near = nearest(name, self.catalogue.metrics)
        self.add("undeclared-name", use.file, use.at,
                 f"'{name}' is in no manifest given here"
                 + (f"; the nearest declared name is '{near}'" if near else
                    "; add it to the manifest of its team"))

    def declared_at(self, name):
        return place_of(self.catalogue.owner(name).position)

    def compare(self, use, name):
        """Compares a use of a declared name with the declaration."""
        metric = self.catalogue.metrics.get(name)
        if metric is None:
            metric, part = self.catalogue.derived[name]
            kind, unit, labels = part.kind, part.unit, None
        else:
            kind, unit = KINDS_OF[metric.instrument], metric.unit
            labels = tuple(label.key for label in metric.labels)
        where = self.declared_at(name)
        if metric.status in ("lost", "retired"):
            self.add("retired-name", use.file, use.at,
                     f"'{name}' is {metric.status} ({where})"
                     + (f"; record '{metric.replaced_by[0]}'" if metric.replaced_by else
                        ", and nothing replaces it"), metric)
        elif metric.status == "planned":
            self.add("planned-name", use.file, use.at,
                     f"'{name}' is recorded here and only planned in {where}; make it active",
                     metric)
        if use.kind and use.kind != kind:
            self.add("wrong-instrument", use.file, use.at,
                     f"{use.how} makes '{name}' a {use.kind}; it is declared as a "
                     f"{metric.instrument} ({where})", metric)
            return
        if use.keyed and metric.instrument == "timer":
            self.add("wrong-instrument", use.file, use.at,
                     f"{use.how} begins '{name}' by its operation, which makes it a keyed-timer; "
                     f"it is declared as a timer ({where})", metric)
        if use.unit is not None and kind in ("counter", "gauge", "histogram", "range-sampler") \
                and use.unit != unit and name in self.catalogue.metrics:
            self.add("wrong-unit", use.file, use.at,
                     f"'{name}' has the unit {use.unit} here; it is declared with {unit} "
                     f"({where})", metric)
        if use.labels is not None and labels is not None and set(use.labels) != set(labels):
            self.add("wrong-labels", use.file, use.at,
                     f"'{name}' has {keys_text(use.labels)} here; it is declared with "
                     f"{keys_text(labels)} ({where})", metric)
        if use.stages is not None and metric.stages and use.stages != metric.stages:
            self.add("wrong-stages", use.file, use.at,
                     f"'{name}' has the stages {', '.join(use.stages)} here; it is declared with "
                     f"{', '.join(metric.stages)} ({where})", metric)
        if name in self.catalogue.metrics:
            self.compare_settings(use, metric, where)

    def compare_settings(self, use, metric, where):
        """Buckets and the description, as far as they are written beside the name."""
        declared = metric.buckets or ""
        if not isinstance(declared, str):
            declared = OWN_BUCKETS
        if use.buckets is not None and use.buckets != declared:
            self.add("wrong-buckets", use.file, use.at,
                     f"'{metric.name}' has {buckets_text(use.buckets)} here; it is declared with "
                     f"{buckets_text(declared)} ({where})", metric)
        if use.description is not None and use.description != metric.description:
            self.add("wrong-description", use.file, use.at,
                     f"'{metric.name}' is described as '{use.description}' here; declared is "
                     f"'{metric.description}' ({where})", metric)

    def unknown(self, unknown):
        patterns = self.named_here(unknown.file, unknown.at)
        if patterns is None:
            self.add("run-time-name", unknown.file, unknown.at,
                     f"the name that {unknown.how or 'this call'} gets is made at run time and was "
                     "not checked; a comment 'crest-lint: name comm.*' says which it can be")
            return
        for pattern in patterns:
            found = [name for name in [*self.catalogue.metrics, *self.catalogue.derived]
                     if fnmatch.fnmatchcase(name, pattern)]
            self.used.update(found)
            if not found:
                self.add("undeclared-name", unknown.file, unknown.at,
                         f"the comment says that this name is '{pattern}'; no declared name is")

    def tables(self, file):
        """Texts in tables: a declared name counts as recorded, a similar one is reported."""
        for literal in file.facts.get("tables", ()):
            value = literal.value
            if not NAME.fullmatch(value) or "." not in value:
                continue
            if self.catalogue.is_known(value):
                self.used.add(value)
            elif self.catalogue.in_prefix(value):
                respelled = self.catalogue.respelled(value)
                if respelled:
                    self.used.add(respelled)
                    self.fixes.append((file, literal, value, respelled))
                near = respelled or nearest(value, self.catalogue.metrics)
                self.add("split-spelling" if respelled else "undeclared-literal", file,
                         literal.start, f"'{value}' looks like a name of a metric and is in no "
                         "manifest given here" + (f"; '{near}' is" if near else ""))

    # ---- what is not used ----

    def unused(self, metrics):
        for metric in metrics:
            if metric.status != "active" or metric.recorded_by != "code" or \
                    "unused-name" in metric.exempt:
                continue
            made = [part.name for part in parts(metric)]
            if metric.name in self.used or (metric.instrument == "mutex"
                                            and set(made) & self.used):
                continue
            self.report.add("unused-name", place_of(metric.position),
                            f"'{metric.name}' is recorded nowhere in the sources given; record "
                            "it, or say in the manifest what records it (recorded-by), or that it "
                            "is lost or planned (status)")

    def unused_variables(self, uses, files):
        """Declared variables that no other code names, and keyed uses of timers."""
        counts = {}
        for file in files:
            counts[file] = {}
            if GENERATED.search(file.text):
                continue  # resolves its own families, and records nothing
            for word in file.facts.get("words", ()):
                counts[file][word] = counts[file].get(word, 0) + 1
        for use in uses:
            if not use.variable or use.linkage not in ("static", "define") or not use.kind:
                continue
            where = [use.file] if use.linkage == "static" and \
                not use.file.path.endswith((".h", ".hpp", ".hh")) else list(counts)
            if use.variable in self.keyed_variables(where):
                self.compare_keyed(use)
            if not self.is_named(use, where, counts):
                metric = self.catalogue.owner(use.names[0].value)
                self.add("unused-variable", use.file, use.at,
                         f"nothing records through '{use.variable}' "
                         f"('{use.names[0].value}'): declared, and never used", metric)

    def is_named(self, use, where, counts):
        """Whether a variable, or its family's resolver, is named outside its declarations."""
        for file in where:
            found = sum(counts[file].get(use.variable + end, 0) for end in ("", "_with", "_of"))
            if found > declarations_of(file, use.variable):
                return True
        return any(re.search(rf"\b{use.variable}(?:_with|_of)?\b", other.code)
                   for other in self.unscanned if use.variable in other.text)

    unscanned = ()

    def keyed_variables(self, files):
        return set().union(*(file.facts.get("keyed", ()) for file in files))

    def compare_keyed(self, use):
        metric = self.catalogue.metrics.get(use.names[0].value)
        if metric is not None and metric.instrument == "timer":
            self.add("wrong-instrument", use.file, use.at,
                     f"crest_timer_begin makes '{metric.name}' a keyed-timer; it is declared as a "
                     f"timer ({place_of(metric.position)})", metric)


def declarations_of(file, variable):
    """How often a file names a variable only to declare it."""
    if "declared" not in file.facts:
        found = re.findall(r"\bCREST_[A-Z_]+\s*\(\s*(\w+)\s*[,)]", file.code)
        file.facts["declared"] = {word: found.count(word) for word in set(found)}
    return file.facts["declared"].get(variable, 0)


def buckets_text(buckets):
    if buckets == OWN_BUCKETS:
        return "buckets of its own"
    return f"the buckets '{buckets}'" if buckets else "no buckets"


def keys_text(keys):
    if not keys:
        return "no labels"
    return f"the label{'s' if len(keys) > 1 else ''} {', '.join(keys)}"


def read_files(paths, report, excluded):
    files = []
    for path in find_files(paths, report, excluded):
        data = read_source(path, report)
        if data is not None:
            files.append(SourceFile(path, data, language_of(path)))
    return files


def check_sources(manifests, paths, report, excluded=(), asked=(), own_prefixes=False):
    """Scans and judges; the metrics of the manifests in `asked` must be recorded. Returns the
    check, whose `fixes` --fix applies."""
    files = read_files(paths, report, excluded)
    check = SourceCheck(Catalogue(manifests), report, own_prefixes)
    c_tree = lint_c.CTree([file for file in files if file.language == "c"])
    jvm_tree = lint_jvm.JvmTree([file for file in files if file.language != "c"])
    uses, unknowns = c_tree.uses()
    more, more_unknowns = jvm_tree.uses()
    scanned = c_tree.scanned + jvm_tree.scanned
    check.check(scanned, uses + more, unknowns + more_unknowns)
    seen = set(c_tree.scanned)
    check.unscanned = [file for file in c_tree.files if file not in seen]
    check.unused_variables(uses, c_tree.scanned)
    check.unused([metric for manifest in asked for metric in manifest.metrics
                  if metric.instrument])
    check.check_allowances()
    check.files, check.uses = files, uses + more
    return check
