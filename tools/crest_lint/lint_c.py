# SPDX-License-Identifier: Apache-2.0
"""C and C++: all files of a run, and the texts that expressions in them may have.

    tree = CTree(files)
    uses, unknowns = tree.uses()

It reads tokens, not the language: it runs no preprocessor and knows no types. It follows macros
that are a text, also from other files; macros and functions that pass a name on; constants; and a
choice between texts (a ? "x" : "y").
"""

import re

from crest_lint.lint_c_scan import INTERESTING, Scan
from crest_lint.lint_c_shape import at_file_scope, function_head, function_scope, in_spans, \
    is_declarator
from crest_lint.lint_uses import FOLLOW_MAX, Steps, Text, arguments, combine, trim

DEFINE = re.compile(r"^[ \t]*#[ \t]*(?:define[ \t]+(\w+)(\([^)\n]*\))?|undef[ \t]+(\w+))[ \t]*"
                    r"((?:\\\r?\n|[^\n])*)", re.M)
TEXT_DEFINE = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(?:\(?[ \t]*"|\w+[ \t]+")', re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)
CONSTANT = re.compile(r"\bconst(?:expr)?\b[^;\n=]*\b(\w+)\s*(?:\[\s*\w*\s*\])?\s*=(?!=)\s*")
TOKEN = re.compile(r'\s+|\\\r?\n|"[^"]*"|[A-Za-z_]\w*|.', re.S)


class CTree:
    """All C and C++ files of a run."""

    def __init__(self, files):
        self.files = files
        self.scanned = [file for file in files if INTERESTING.search(file.text)]
        self.macros, self.wrappers = {}, {}
        self.text_files = {}        # name of a macro: files that define it as a text
        self.registries = {}        # variable: (file, start, end) of its settings
        self.by_base = {}           # file name without folders: files
        self.constant_places = None # see constants()
        self.found, self.unknown = [], []
        self.steps = Steps()
        self.taken = set()          # (file, start) of literals whose use is known
        for file in files:
            self.by_base.setdefault(re.split(r"[/\\]", file.path)[-1], []).append(file)
            for match in TEXT_DEFINE.finditer(file.text):
                self.text_files.setdefault(match.group(1), []).append(file)

    def uses(self):
        for file in self.scanned:
            self.read_defines(file)
        for file in self.scanned:
            self.read_registries(file)
        for file in self.scanned:
            Scan(self, file).run()
        self.read_wrapper_calls()
        return self.found, self.unknown

    # ---- macros ----

    def read_defines(self, file):
        if "defines" in file.facts:
            return
        file.facts["defines"], file.facts["here"] = [], []
        for match in DEFINE.finditer(file.code):
            name, parameters, undefined, body = match.groups()
            start, end = match.span(4)
            if undefined:
                if undefined == "CREST_REGISTRY_HERE":
                    file.facts["here"].append((match.start(), ""))
                continue
            file.facts["defines"].append(match.span())
            if name == "CREST_REGISTRY_HERE":
                file.facts["here"].append((match.start(), body))
            elif parameters is None and '"' in body:
                self.macros.setdefault(name, []).append((file, *trim(file.code, start, end)))
            elif parameters is not None and INTERESTING.search(body) and \
                    not name.startswith(("CREST_", "crest_")):
                names = [word.strip() for word in parameters[1:-1].split(",")]
                self.wrappers.setdefault(name, []).append((file, names, start, end))

    def macro_texts(self, file, name, depth):
        """The texts of a macro: as this file defines it, else as all others agree."""
        for other in self.text_files.get(name, []):
            self.read_defines(other)
        places = self.macros.get(name)
        if not places:
            return None
        own = [place for place in places if place[0] is file]
        texts = [self.evaluate(other, start, end, {}, depth + 1)
                 for other, start, end in (own or places)]
        if None in texts or len({text.value for some in texts for text in some}) != 1:
            return None
        return [Text(texts[0][0].value)]

    # ---- registries ----

    def read_registries(self, file):
        for match in re.finditer(r"\bCREST_REGISTRY(?:_DEFINE)?\s*\(", file.code):
            if in_spans(file.facts["defines"], match.start()):
                continue
            parts, _ = arguments(file.code, match.end() - 1)
            if parts:
                variable = file.code[slice(*parts[0])]
                self.registries.setdefault(variable, (file, parts[1:]))
        for match in re.finditer(r"\b(\w+)\s*=\s*crest_registry_new\s*\(", file.code):
            parts, _ = arguments(file.code, match.end() - 1)
            if parts:
                self.registries.setdefault(match.group(1), (file, parts))

    def prefix_of(self, expression):
        """The prefix of a registry by its expression, "" for none, None if unknown."""
        word = expression.strip().strip("&() \t")
        if word in ("", "NULL", "nullptr", "0", "crest_default_registry"):
            return ""
        if word not in self.registries:
            return None
        file, parts = self.registries[word]
        for start, end in parts:
            found = re.search(r"\.\s*prefix\s*=\s*", file.code[start:end])
            if found:
                stop = end
                if file.code[start] != ".":     # inside &(crest_registry_options){...}
                    stop = start + re.match(r"[^,}]*", file.code[start + found.end():end]).end() \
                        + found.end()
                texts = self.evaluate(file, start + found.end(), stop, {}, 0)
                return texts[0].value if texts and len(texts) == 1 else None
        text = file.code[slice(*parts[0])] if parts else "NULL"
        return "" if text[:1] in (".", "") or text in ("NULL", "nullptr") or "{" in text else None

    def registry_here(self, file, at, seen=()):
        """The expression that CREST_REGISTRY_HERE stands for at a place."""
        self.read_defines(file)
        events = [(place, body, None) for place, body in file.facts["here"] if place < at]
        events += [(match.start(), "", match.group(1)) for match in INCLUDE.finditer(file.text)
                   if match.start() < at]
        for _, body, included in sorted(events, reverse=True):
            if included is None:
                return body
            others = self.by_base.get(included.split("/")[-1], [])
            if len(others) != 1 or others[0] in seen:
                continue
            other = others[0]
            if "leaves" not in other.facts:
                other.facts["leaves"] = self.registry_here(other, len(other.text), (*seen, file))
            if other.facts["leaves"]:
                return other.facts["leaves"]
        return ""

    # ---- texts ----

    def evaluate(self, file, start, end, parameters, depth):
        """The texts that an expression may have, or None. `parameters` of a macro map a name to
        the place of its argument."""
        start, end = trim(file.code, start, end)
        if depth > FOLLOW_MAX or start >= end or self.steps.spent():
            return None
        code = file.code
        while code[start] == "(":
            inner, close = arguments(code, start)
            if not inner or close != end - 1:
                break
            if len(inner) != 1:
                return None
            (start, end), depth = inner[0], depth + 1
            if start >= end or depth > FOLLOW_MAX:
                return None
        choice = code.find("?", start, end)
        if choice >= 0:
            return self.choice(file, choice, end, parameters, depth)
        parts = []
        for match in TOKEN.finditer(code, start, end):
            token = match.group()
            if token.isspace() or token[0] == "\\":
                continue
            if token[0] == '"' and len(token) > 1:
                literal = file.strings.get(match.start())
                part = [Text(literal.value, file, literal)] if literal else None
            elif token[0].isalpha() or token[0] == "_":
                part = self.word_texts(file, match.start(), token, parameters, depth)
            else:
                part = None
            if part is None:
                return None
            parts.append(part)
        return combine(parts)

    def choice(self, file, at, end, parameters, depth):
        """Both sides of a ? b : c."""
        colon = file.code.find(":", at, end)
        if colon < 0:
            return None
        sides = [self.evaluate(file, at + 1, colon, parameters, depth + 1),
                 self.evaluate(file, colon + 1, end, parameters, depth + 1)]
        return sides[0] + sides[1] if all(sides) else None

    def word_texts(self, file, at, word, parameters, depth):
        if word in parameters:
            return self.evaluate(*parameters[word], {}, depth + 1)
        return self.macro_texts(file, word, depth) or self.variable_texts(file, at, word, depth) \
            or self.parameter_texts(file, at, word, depth)

    def variable_texts(self, file, at, word, depth):
        """Every text that is assigned to a variable, in its function or at file scope."""
        assigned = re.compile(rf"\b{word}\s*(?:\[\s*\w*\s*\])?\s*=(?!=)\s*")
        found = self.assigned_texts(file, assigned.finditer(file.code), at, depth)
        if found is None and depth < FOLLOW_MAX:
            others = [(other, matches) for other, matches in self.constants().get(word, {}).items()
                      if other is not file]
            if len(others) == 1:
                found = self.assigned_texts(*others[0], None, depth)
        return found

    def constants(self):
        """The places where constants get their values, by name and file, found once."""
        if self.constant_places is None:
            self.constant_places = {}
            for file in self.scanned:
                for match in CONSTANT.finditer(file.code):
                    files = self.constant_places.setdefault(match.group(1), {})
                    files.setdefault(file, []).append(match)
        return self.constant_places

    def assigned_texts(self, file, matches, at, depth):
        scope = function_scope(file, at) if at is not None else None
        texts = []
        for match in matches:
            inside = scope is not None and scope[0] <= match.start() < scope[1]
            if not inside and not at_file_scope(file, match.start()):
                continue
            end = re.compile(r"[,;}]|\Z").search(file.code, match.end()).start()
            value = self.evaluate(file, match.end(), end, {}, depth + 1)
            if value is None:
                return None
            texts += value
        return texts or None

    def parameter_texts(self, file, at, word, depth):
        """For a parameter of the enclosing function: the texts that its calls pass."""
        head = function_head(file, at)
        if head is None or depth >= FOLLOW_MAX:
            return None
        function, names = head
        if word not in names:
            return None
        index, texts = names.index(word), []
        call = re.compile(rf"(?<![\w.])(?<!->){function}\s*\(")
        for other in self.files:
            if function not in other.text:
                continue
            for match in call.finditer(other.code):
                if is_declarator(other, match):
                    continue
                parts, _ = arguments(other.code, match.end() - 1)
                if not parts or len(parts) <= index:
                    return None
                value = self.evaluate(other, *parts[index], {}, depth + 1)
                if value is None:
                    return None
                texts += value
        return texts or None

    # ---- macros that declare or call ----

    def read_wrapper_calls(self):
        """Calls of macros that declare or record in their body: as if the body stood there."""
        if not self.wrappers:
            return
        names = re.compile(r"\b(" + "|".join(sorted(map(re.escape, self.wrappers))) + r")\s*\(")
        for file in self.files:
            if not names.search(file.text):
                continue
            self.read_defines(file)
            for match in names.finditer(file.code):
                if in_spans(file.facts["defines"], match.start()):
                    continue
                parts, _ = arguments(file.code, match.end() - 1)
                for other, parameters, start, end in self.wrappers[match.group(1)]:
                    values = {name: (file, *part) for name, part in zip(parameters, parts or [])}
                    Scan(self, other, values, (file, match.start())).calls(start, end)
