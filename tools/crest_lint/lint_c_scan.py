# SPDX-License-Identifier: Apache-2.0
"""The calls and declarations of one C or C++ file, each as a Use.

    Scan(tree, file).run()      adds to tree.found, tree.unknown and file.facts

lint_c.py's tree resolves texts, macros and registries.
"""

import re

from crest_lint.lint_c_shape import LAST_WORD, enclosing_bracket, function_head, in_spans, \
    is_declarator
from crest_lint.lint_names import NAME
from crest_lint.lint_uses import OWN_BUCKETS, Text, Unknown, Use, arguments

INTERESTING = re.compile("crest_|CREST_")
KINDS = {"COUNTER": "counter", "GAUGE": "gauge", "HISTOGRAM": "histogram",
         "RANGE_SAMPLER": "range-sampler", "TIMER": "timer", "STAGES": "stages"}
DECLARING = re.compile(r"CREST_(COUNTER|GAUGE|HISTOGRAM|RANGE_SAMPLER|TIMER|STAGES)(_FAMILY)?"
                       r"(_OPTIONS|_DEFINE|_DECLARE)?")
GETTING = re.compile(r"crest_(counter|gauge|histogram|range_sampler|timer|stages)"
                     r"(_get|_family_new)")
BY_NAME = {"crest_increment_counter": "counter", "crest_increment_counter_by": "counter",
           "crest_counter_by_name": "counter", "crest_set_gauge": "gauge",
           "crest_increment_gauge": "gauge", "crest_decrement_gauge": "gauge",
           "crest_gauge_by_name": "gauge", "crest_record": "histogram",
           "crest_record_n": "histogram", "crest_histogram_by_name": "histogram",
           "crest_increment_sampler": "range-sampler", "crest_sample": "range-sampler",
           "crest_range_sampler_by_name": "range-sampler", "crest_timer_start_by_name": "timer",
           "crest_timer_begin_by_name": "timer", "crest_timer_end_by_name": "timer",
           "crest_timer_by_name": "timer", "crest_stages_by_name": "stages"}
KEYED = {"crest_timer_begin_by_name", "crest_timer_end_by_name"}
READING = {"crest_snapshot_find": 1}
UNITS = {"CREST_NONE": "none", "CREST_BYTES": "bytes", "CREST_NANOSECONDS": "nanoseconds",
         "CREST_MICROSECONDS": "microseconds", "CREST_MILLISECONDS": "milliseconds",
         "CREST_SECONDS": "seconds", "CREST_RATIO": "ratio"}
BUCKETS = re.compile(r"(?:CREST_BUCKETS_|&\s*crest_buckets_)([A-Za-z]+)")
CALL = re.compile(r"\b((?:CREST|crest)_\w+)\s*\(")
OPTIONS = re.compile(r"\bcrest_metric_options\b\s*(?:\)\s*|&?\s*(\w+)\s*(?:\[[^\]]*\]\s*)?=?\s*)\{")
NAME_FIELD = re.compile(r"\b(\w+)\s*(?:\.|->)\s*name\s*=(?!=)\s*")
FIELD = re.compile(r"\.\s*(\w+)\s*=(?!=)\s*")
LATER_FIELD = re.compile(r"\b(\w+)\s*(?:\.|->)\s*(unit|description|buckets|stages)\s*=(?!=)")
KEYED_CALL = re.compile(r"\bcrest_timer_begin(?:_owned)?\s*\(\s*&?\s*(\w+)")
WORD = re.compile(r"[A-Za-z_]\w*")


class Scan:
    """One file, or the body of a macro with its arguments."""

    def __init__(self, tree, file, parameters=None, caller=None):
        self.tree, self.file = tree, file
        self.parameters = parameters or {}
        self.caller = caller        # (file, at) of the macro's call
        self.options = {}           # variable: [(at, settings)]
        self.source = None

    def run(self):
        file = self.file
        self.read_options()
        self.read_source()
        self.calls(0, len(file.code))
        keyed = set(KEYED_CALL.findall(file.code))
        file.facts["keyed"] = keyed
        file.facts["words"] = WORD.findall(file.code)
        self.leftover_literals()

    def texts(self, start, end):
        self.tree.steps.again()
        return self.tree.evaluate(self.file, start, end, self.parameters, 0)

    def written(self, part):
        return self.file.code[part[0]:part[1]]

    def variable(self, part):
        """The variable of a declaration; for a macro's parameter, the call's argument."""
        word = self.written(part)
        if word in self.parameters:
            file, start, end = self.parameters[word]
            return file.code[start:end]
        return word if "##" not in word else None

    def take(self, texts):
        for text in texts or []:
            if text.literal is not None:
                self.tree.taken.add((text.file, text.literal.start))

    def add(self, part, prefix, **facts):
        """Adds a use named by the argument at `part`, under the prefix; None: unknown prefix."""
        texts = self.texts(*part)
        file, at = self.caller or (self.file, part[0])
        self.take(texts)
        if texts is None:
            self.tree.unknown.append(Unknown(file, at, facts.get("how", ""), "*"))
            return
        if self.caller is None and len(texts) == 1 and texts[0].literal is not None:
            file, at = texts[0].file, texts[0].literal.start
        short = texts[0].value if prefix is None else ""
        lead = prefix + "." if prefix else ""
        names = [Text(lead + text.value, text.file, text.literal) for text in texts]
        self.tree.found.append(Use(file, at, names, short=short, **facts))

    # ---- settings ----

    def read_options(self):
        """Initialisers of crest_metric_options, one or a table, and later assignments of a name."""
        code = self.file.code
        for match in OPTIONS.finditer(code):
            if in_spans(self.file.facts["defines"], match.start()):
                continue
            parts, _ = arguments(code, match.end() - 1)
            if parts is None:
                continue
            rows = [self.row(part) for part in parts]
            for row in [row for row in rows if row is not None] if any(rows) else [parts]:
                settings = self.settings(row)
                settings["start"] = match.end() - 1
                self.options.setdefault(match.group(1) or "", []).append((match.start(), settings))
        # Fields that are assigned later are not followed.
        for variable, field in LATER_FIELD.findall(code) if self.options else ():
            for _, settings in self.options.get(variable, ()):
                settings["hidden"] = settings.get("hidden", frozenset()) | {field}
        for match in NAME_FIELD.finditer(code):
            end = code.find(";", match.end())
            if match.group(1) in self.options and end >= 0:
                before = self.options[match.group(1)][0][1]
                self.options[match.group(1)].append(
                    (match.start(), {**before, "name": (match.end(), end)}))

    def row(self, part):
        """The fields of a row of a table: { ... } or [i] = { ... }."""
        opening = self.file.code.find("{", *part)
        if opening < 0 or not re.fullmatch(r"\s*(?:\[[^\]]*\]\s*=\s*)?",
                                           self.file.code[part[0]:opening]):
            return None
        fields, _ = arguments(self.file.code, opening)
        return fields

    def settings(self, parts):
        """Fields of one crest_metric_options, by name; without designators in their order."""
        found = {}
        for index, (start, end) in enumerate(parts):
            match = FIELD.match(self.file.code, start, end)
            if match:
                found[match.group(1)] = (match.end(), end)
            elif index < 3 and not found.keys() - {"name", "description", "unit"}:
                found[("name", "description", "unit")[index]] = (start, end)
        if "description" in found:
            self.take(self.texts(*found["description"]))
        return found

    def facts_of(self, settings, kind):
        """A use's facts about its metric, without fields that are set where it cannot be seen."""
        unit = settings.get("unit")
        facts = {"unit": self.unit_of(unit) if unit else "none",
                 "stages": self.stages_of(settings.get("stages")) if kind == "stages" else None,
                 "buckets": self.buckets_of(settings.get("buckets")),
                 "description": self.description_of(settings.get("description"))}
        return {key: None if key in settings.get("hidden", ()) else fact
                for key, fact in facts.items()}

    def description_of(self, part):
        """The only text that HELP may be, or None."""
        texts = self.texts(*part) if part else None
        return texts[0].value if texts and len(texts) == 1 else None

    def buckets_of(self, part):
        """The set of bounds that is written, "" if none is."""
        if part is None:
            return ""
        word = BUCKETS.fullmatch(self.written(part))
        return word.group(1).lower() if word else OWN_BUCKETS

    def unit_of(self, part):
        return UNITS.get(self.written(part).strip("() "))

    def stages_of(self, part):
        if part is None or self.file.code[part[0]:part[0] + 1] != "{":
            return None
        parts, _ = arguments(self.file.code, part[0])
        texts = [self.texts(*stage) for stage in parts or [] if stage[0] < stage[1]
                 and self.written(stage) != "NULL"]
        for some in texts:
            self.take(some)
        return tuple(some[0].value for some in texts) if texts and all(texts) else None

    # ---- sources ----

    def read_source(self):
        """The file's CREST_SOURCE: the prefix of the names in its calls by name."""
        for match in re.finditer(r"\bCREST_SOURCE(_IN)?\s*\(", self.file.code):
            if in_spans(self.file.facts["defines"], match.start()):
                continue
            parts, _ = arguments(self.file.code, match.end() - 1)
            texts = [self.texts(*part) for part in parts or []]
            for some in texts:
                self.take(some)
            known = texts and all(some and len(some) == 1 for some in texts)
            self.source = (".".join(some[0].value for some in texts) if known else None,)

    def source_of(self, part):
        """The source that is passed to a call ending in _in."""
        written = self.written(part).strip()
        if written in ("NULL", "nullptr", "0"):
            return ""
        places = []
        if written.startswith("crest_source_get"):
            places = [part[0]]
        elif re.fullmatch(r"&?\w+", written):
            word = written.strip("&")
            pattern = rf"\b{word}\s*=\s*(?=crest_source_get\b|CREST_SOURCE_INIT_\b|\{{)"
            places = [match.end() for match in re.finditer(pattern, self.file.code)]
        values = set()
        for place in places:
            opening = re.compile(r"[({]").search(self.file.code, place)
            parts, _ = arguments(self.file.code, opening.start()) if opening else (None, 0)
            texts = self.texts(*parts[0]) if parts else None
            self.take(texts)
            values |= {text.value for text in texts} if texts else {None}
        return values.pop() if len(values) == 1 else None

    # ---- calls ----

    def calls(self, start, end):
        file = self.file
        for match in CALL.finditer(file.code, start, end):
            called = match.group(1)
            if self.caller is None and in_spans(file.facts["defines"], match.start()):
                continue
            declaring = DECLARING.fullmatch(called)
            getting = GETTING.fullmatch(called)
            if declaring:
                self.declaration(match, called, *declaring.groups())
            elif called in ("CREST_MUTEX", "CREST_MUTEX_DEFINE"):
                self.mutex(match, called)
            elif getting:
                self.getting(match, called, *getting.groups())
            elif called.removesuffix("_in") in BY_NAME:
                self.by_name(match, called)
            elif called in READING:
                self.reading(match, called)

    def here(self):
        file, at = self.caller or (self.file, None)
        return file, at

    def prefix_at(self, at):
        file, called_at = self.here()
        place = called_at if called_at is not None else at
        return self.tree.prefix_of(self.tree.registry_here(file, place))

    def declaration(self, match, called, kind, family, form):
        if form == "_DECLARE":
            return
        parts, _ = arguments(self.file.code, match.end() - 1)
        if not parts or len(parts) < 2:
            return
        kind = KINDS[kind]
        options, labels, hidden = parts[3:], (), False
        if family:
            has_options = form in ("_OPTIONS", "_DEFINE") or kind == "stages"
            opening = parts[3][0] if has_options and len(parts) > 3 else None
            options = []
            if opening is not None and self.file.code[opening] == "(":
                options = arguments(self.file.code, opening)[0] or []
            elif opening is not None:
                hidden = True
            labels = tuple(self.variable(part) or "" for part in
                           parts[4 if has_options else 3:])
        options = [part for part in options if part[0] < part[1]]
        settings = self.settings(options)
        # A macro among the settings, such as __VA_ARGS__, may set any that is not written here.
        if hidden or any(not FIELD.match(self.file.code, *part) for part in options):
            settings["hidden"] = {"unit", "stages", "buckets"} - settings.keys()
        if len(parts) > 2:
            settings["description"] = parts[2]
        self.add(parts[1], self.prefix_at(match.start()), kind=kind, labels=labels, how=called,
                 variable=self.variable(parts[0]),
                 linkage="define" if form == "_DEFINE" else "static",
                 **self.facts_of(settings, kind))

    def mutex(self, match, called):
        parts, _ = arguments(self.file.code, match.end() - 1)
        if parts and len(parts) >= 2:
            self.add(parts[1], self.prefix_at(match.start()), kind="mutex", how=called,
                     labels=(), variable=self.variable(parts[0]), unit="none",
                     linkage="define" if called == "CREST_MUTEX_DEFINE" else "static")

    def getting(self, match, called, kind, form):
        if is_declarator(self.file, match):
            return
        parts, _ = arguments(self.file.code, match.end() - 1)
        if not parts or len(parts) < 3:
            return
        kind = KINDS[kind.upper()]
        labels = self.keys_of(parts[2]) if form == "_family_new" else ()
        prefix = self.tree.prefix_of(self.written(parts[0]))
        found = self.options_at(parts[1])
        if not found:
            self.tree.unknown.append(Unknown(*(self.caller or (self.file, parts[1][0])), called))
        for settings in found:
            if "name" in settings:
                self.add(settings["name"], prefix, kind=kind, labels=labels, how=called,
                         linkage="get", **self.facts_of(settings, kind))

    def options_at(self, part):
        """The settings that an argument may be: in place, a variable, or a row of a table."""
        code = self.file.code
        inline = OPTIONS.search(code, *part)
        if inline:
            fields, _ = arguments(code, inline.end() - 1)
            return [self.settings(fields)] if fields else []
        words = WORD.findall(self.written(part))
        known = self.options.get(words[0], []) if words else []
        if "[" in self.written(part) or "+" in self.written(part):
            return [settings for _, settings in known]
        before = [settings for at, settings in known if at < part[0]]
        return before[-1:] or [settings for _, settings in known]

    def keys_of(self, part):
        """Label keys: an array in place or of this file."""
        code = self.file.code
        opening = code.find("{", *part)
        if opening < 0:
            word = WORD.search(self.written(part))
            match = re.search(rf"\b{word.group()}\s*\[[^\]]*\]\s*=\s*\{{", code) if word else None
            if not match:
                return None
            opening = match.end() - 1
        parts, _ = arguments(code, opening)
        texts = [self.texts(*key) for key in parts or [] if key[0] < key[1]]
        for some in texts:
            self.take(some)
        return tuple(some[0].value for some in texts) if texts and all(texts) else None

    def by_name(self, match, called):
        if is_declarator(self.file, match) or self.is_api(match.start()):
            return
        given = called not in BY_NAME
        parts, _ = arguments(self.file.code, match.end() - 1, 3)
        if not parts or len(parts) <= given:
            return
        base = called.removesuffix("_in") if given else called
        if given:
            prefix = self.source_of(parts[0])
        elif self.caller is not None:
            scan = Scan(self.tree, self.caller[0])
            scan.read_source()
            prefix = scan.source[0] if scan.source else ""
        else:
            prefix = self.source[0] if self.source else ""
        self.add(parts[given], prefix, kind=BY_NAME[base], labels=(), how=called,
                 linkage="by-name", keyed=base in KEYED)

    def is_api(self, at):
        """Whether a place is inside the implementation of a call by name."""
        head = function_head(self.file, at)
        return head is not None and head[0].removesuffix("_in") in BY_NAME

    def reading(self, match, called):
        parts, _ = arguments(self.file.code, match.end() - 1, READING[called] + 1)
        if parts and len(parts) > READING[called] and not is_declarator(self.file, match):
            texts = self.texts(*parts[READING[called]])
            self.take(texts)
            for text in texts or []:
                self.tree.found.append(Use(self.file, parts[READING[called]][0], [text],
                                           how=called, reads=True))

    # ---- what is left ----

    def leftover_literals(self):
        """Settings that no call takes, and texts in tables: a name may be among them."""
        for known in self.options.values():
            for _, settings in known:
                texts = self.texts(*settings["name"]) if "name" in settings else None
                if texts and not any((text.file, text.literal.start) in self.tree.taken
                                     for text in texts if text.literal is not None):
                    self.add(settings["name"], None, how="crest_metric_options",
                             linkage="get", **self.facts_of(settings, None))
        self.file.facts["tables"] = [
            literal for start, literal in self.file.strings.items()
            if "." in literal.body and NAME.fullmatch(literal.body) and
            (self.file, start) not in self.tree.taken and self.in_table(start)]

    def in_table(self, at):
        """Whether a literal is a field of an initialiser, or an argument of a macro of rows."""
        code, end = self.file.code, self.file.strings[at].end
        opening = enclosing_bracket(self.file, at)
        if opening < 0 or code[end:end + 100].lstrip()[:1] not in (",", "}", ")"):
            return False
        if code[opening] == "{":
            return True
        macro = LAST_WORD.search(code, max(0, opening - 100), opening)
        return bool(macro and code[opening] == "(" and macro.group(1).isupper() and
                    not macro.group(1).startswith("CREST_"))
