# SPDX-License-Identifier: Apache-2.0
"""Java and Scala: calls by name of Kamon, of Crest's jar or the program's own shim, and of RNode's
Metrics. lint_jvm_crest.py has handles and sources of Crest's jar.

    tree = JvmTree(files)
    uses, unknowns = tree.uses()

It reads tokens and braces, not the language. It follows constants, also of other files; parameters,
to the callers of the function or class; texts joined with + or s""; and RNode's implicit
Metrics.Source, from the innermost scope that has one outwards, over implicit parameters to the
callers, and into classes that override it.
"""

import itertools
import os
import re

from crest_lint import lint_jvm_crest as own
from crest_lint.lint_uses import FOLLOW_MAX, Steps, Text, Unknown, arguments, combine, trim

VERBS = {"incrementCounter": "counter", "incrementSampler": "range-sampler",
         "decrementSampler": "range-sampler", "sample": "range-sampler", "setGauge": "gauge",
         "incrementGauge": "gauge", "decrementGauge": "gauge", "record": "histogram",
         "timer": "timer", "timerStage": "timer", "recordTimer": "timer"}
# Names that other libraries have too: counted only with a receiver that is a metrics object.
COMMON_VERBS = {"sample", "record", "timer"}
# A file that only uses sources of another file need not name the library.
INTERESTING = re.compile("Kamon|[Mm]etrics|[Cc]rest|" +
                         "|".join(sorted(VERBS.keys() - COMMON_VERBS)))
OURS = re.compile(r"(metrics?|crest|shim|^M)$|^crest|metrics", re.I)
KAMON = {"counter": "counter", "gauge": "gauge", "histogram": "histogram", "timer": "timer",
         "rangeSampler": "range-sampler", "minMaxCounter": "range-sampler"}

TYPES = r"(?:\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\])?"
CALL = re.compile(r"(?:\b(\w+)\s*" + TYPES + r"\s*(?:\(\s*\)\s*)?(\.)\s*|([.)}])?\s*)"
                  r"\b(" + "|".join(VERBS) + r")\s*" + TYPES + r"\s*\(")
KAMON_CALL = re.compile(r"\bKamon\s*\.\s*(" + "|".join(KAMON) + r")\s*\(")
TAG = re.compile(r"\s*\.\s*(withTag|refine)\s*\(")
SOURCE_CALL = re.compile(r"(?:\bMetrics\s*\.\s*)?\bSource\s*\(")
DEFINITION = r"(?:\b(?:val|var|def|String|CharSequence|Source)\s+|\bthis\s*\.\s*)(?:{word})\s*" \
             r"(?::\s*[\w.@ ]+?)?\s*=(?!=)\s*"
IMPLICIT = re.compile(r"\bimplicit\b([\w\s\[\]]*?)\b(?:val|var|def)\s+(\w+)\s*"
                      r"(?::\s*([\w.]+))?\s*=(?!=)\s*")
DEF = re.compile(r"\bdef\s+(\w+)")
CLASS = re.compile(r"\b(?:class|trait|object)\s+(\w+)")
SOURCE_PARAMETER = re.compile(r"\b(\w+)\s*:\s*(?:Metrics\s*\.\s*)?Source\b")
TOKEN = re.compile(r'\s+|"[^"]*"|[A-Za-z_][\w.]*|.', re.S)
HOLE = re.compile(r"\$\{([^}]*)\}|\$(\w+)|\$\$")
BRACES = re.compile(r"[{}]")
JAVA_METHOD = re.compile(r"\b(\w+)\s*\(([^()]*)\)\s*(?:throws[\w\s,.]*)?\{")
EXPRESSION_END = re.compile(r"[;\n]")


class JvmTree:
    """All Java and Scala files of a run."""

    def __init__(self, files):
        self.files = files
        self.scanned = [file for file in files if INTERESTING.search(file.text)]
        self.definitions = {}
        self.found, self.unknown = [], []
        self.sources_known = {}
        self.steps = Steps()

    def uses(self):
        for file in self.scanned:
            for match in CALL.finditer(file.code):
                self.steps.again()
                self.call(file, match)
            for match in KAMON_CALL.finditer(file.code):
                self.steps.again()
                self.kamon(file, match)
            own.CrestCalls(self, file).run()
        return self.found, self.unknown

    # ---- calls ----

    def call(self, file, match):
        receiver, dot, other, verb = match.groups()
        if receiver in ("def", "Kamon") and (dot or receiver == "def"):
            return
        chained = bool(dot) or other == "."
        by = self.source_before(file, match.start(2 if dot else 3)) if chained else None
        if by is None and verb in COMMON_VERBS and \
                not self.is_ours(file, receiver if dot else None, verb, chained):
            return
        if not chained and is_definition(file, match.start(4)):
            return
        parts, close = arguments(file.code, match.end() - 1)
        if not parts or enclosing_name(file, match.start(4)) in VERBS:
            return
        if by is not None and verb == "timer" and len(parts) == 1:
            return      # a handle: lint_jvm_crest.py's
        texts = self.evaluate(file, *parts[0], 0)
        how = f"{verb}()"
        if texts is None:
            if self.is_inside_a_verb(file, match.start(4)):
                return
            if by is not None or verb not in COMMON_VERBS or OURS.search(receiver or ""):
                self.unknown.append(Unknown(file, parts[0][0], how))
            return
        if by is not None:
            self.add(file, parts[0][0], texts, own.prefixes(self, file, *by), VERBS[verb], how, ())
            return
        self.add(file, parts[0][0], texts, self.sources(file, match.start(4), close), VERBS[verb],
                 how)

    def source_before(self, file, dot):
        """The range of a call's receiver, if that is a Source of Crest's jar."""
        start = own.receiver_start(file.code, dot)
        return (start, dot) if own.is_source(self, file, start, dot) else None

    def is_inside_a_verb(self, file, at):
        """Whether this is the body of such a Java method, where the name is a parameter."""
        return file.language == "java" and any(
            name in VERBS for name, _, _ in itertools.islice(self.headers(file, at), 1))

    def is_ours(self, file, receiver, verb, chained):
        """Whether a call of a common verb is a metric's."""
        if receiver and OURS.search(receiver):
            return True
        return verb == "timer" and chained and file.language == "scala" and \
            "etrics" in file.text

    def kamon(self, file, match):
        parts, close = arguments(file.code, match.end() - 1)
        if not parts or enclosing_name(file, match.start()) in VERBS:
            return
        how = f"Kamon.{match.group(1)}()"
        texts = self.evaluate(file, *parts[0], 0)
        if texts is None:
            self.unknown.append(Unknown(file, parts[0][0], how))
            return
        labels, tag = [], TAG.match(file.code, close + 1)
        while tag:
            tags, close = arguments(file.code, tag.end() - 1)
            key = re.match(r'"[^"]*"', file.code[tags[0][0]:]) if tags else None
            if not key:
                labels = None
                break
            labels.append(file.strings[tags[0][0]].value)
            tag = TAG.match(file.code, close + 1)
        self.add(file, parts[0][0], texts, [""], KAMON[match.group(1)], how,
                 tuple(labels) if labels else None)

    def add(self, file, at, texts, sources, kind, how, labels=None):
        self.found.append(own.use_of(file, at, texts, sources, kind=kind, how=how,
                                     linkage="by-name", labels=labels))

    # ---- texts ----

    def evaluate(self, file, start, end, depth):
        """The texts that an expression may have, or None."""
        start, end = trim(file.code, start, end)
        if depth > FOLLOW_MAX or start >= end or self.steps.spent():
            return None
        if own.SOURCE_HEAD.match(file.code, start, end) or \
                own.IS_BELOW.match(file.code, start, end):
            return own.source_texts(self, file, start, end, depth)
        source = SOURCE_CALL.match(file.code, start, end)
        if source:
            parts, close = arguments(file.code, source.end() - 1)
            if not parts or close != end - 1:
                return None
            texts = [self.evaluate(file, *part, depth + 1) for part in parts]
            dots = [texts[0]] + [some for more in texts[1:] for some in ([Text(".")], more)]
            return combine(dots)
        parts, wants_plus = [], False
        for match in TOKEN.finditer(file.code, start, end):
            token, at = match.group(), match.start()
            if token.isspace():
                continue
            if token == "+":
                if not wants_plus:
                    return None
                wants_plus = False
                continue
            if re.match("[A-Za-z]", token) and file.code[match.end():match.end() + 1] == '"':
                continue    # the s of s"..."
            if wants_plus:
                return None
            part = self.token_texts(file, at, token, depth)
            if part is None:
                return None
            parts.append(part)
            wants_plus = True
        return combine(parts) if parts and wants_plus else None

    def token_texts(self, file, at, token, depth):
        if token[0] == '"':
            literal = file.strings.get(at)
            if literal is None:
                return None
            if literal.prefix in ("s", "f", "raw") and "$" in literal.body:
                return self.interpolated(file, literal, depth)
            return [Text(literal.value, file, literal)]
        if token[0].isalpha() or token[0] == "_":
            return self.word_texts(file, at, token.split(".")[-1], depth)
        return None

    def interpolated(self, file, literal, depth):
        parts, at = [], 0
        for match in HOLE.finditer(literal.body):
            parts.append([Text(literal.body[at:match.start()])])
            at = match.end()
            if match.group() == "$$":
                parts.append([Text("$")])
                continue
            word = (match.group(1) or match.group(2)).strip()
            known = self.word_texts(file, literal.start, word.split(".")[-1], depth) \
                if re.fullmatch(r"[\w.]+", word) else None
            if known is None:
                return None
            parts.append(known)
        return combine(parts + [[Text(literal.body[at:])]])

    def word_texts(self, file, at, word, depth):
        """The texts of a parameter are its callers' arguments, of a constant its value. If several
        files have that name, those of the same file, else of the same folder, else all."""
        if depth >= FOLLOW_MAX:
            return None
        found = self.parameter_texts(file, at, word, depth)
        if found is not None:
            return found or None
        places = self.definitions_of(word)
        folder = os.path.dirname(file.path)
        for near in (lambda other: other is file,
                     lambda other: os.path.dirname(other.path) == folder, lambda other: True):
            texts = []
            for other, start in places:
                if near(other):
                    value = self.evaluate(other, start, expression_end(other, start), depth + 1)
                    if value is None:
                        continue
                    texts += [text for text in value if text not in texts]
            if texts:
                return texts
        return None

    def definitions_of(self, word):
        """The places where the tree gives a constant of this name its value."""
        if word not in self.definitions:
            pattern = re.compile(DEFINITION.format(word=re.escape(word)))
            self.definitions[word] = [
                (file, match.end()) for file in self.files if word in file.text
                for match in pattern.finditer(file.code)]
        return self.definitions[word]

    def parameter_texts(self, file, at, word, depth):
        """None: not a parameter. Otherwise the callers' arguments, [] if they are unknown."""
        for name, header, is_class in self.headers(file, at):
            index = parameter_index(header, word)
            if index is None:
                continue
            if name in VERBS:
                return []
            texts = []
            for other, match in self.callers(name, is_class):
                parts, _ = arguments(other.code, match.end() - 1)
                if parts and len(parts) > index:
                    value = self.evaluate(other, *parts[index], depth + 1)
                    if value is not None:
                        texts += [text for text in value if text not in texts]
            return texts
        return None

    def callers(self, name, is_class):
        """Every name( of the tree that is no definition."""
        new = r"(?:\bnew\s+)?" if is_class else ""
        pattern = re.compile(new + rf"\b{re.escape(name)}\s*" + TYPES + r"\s*\(")
        for file in self.files:
            if name not in file.text:
                continue
            for match in pattern.finditer(file.code):
                before = file.code[max(0, match.start() - 40):match.start()]
                if not re.search(r"\b(def|class|trait|object|void|String|int|long|double)\s+$",
                                 before):
                    yield file, match

    # ---- scopes ----

    def scopes(self, file, at):
        """(open, close) of the braces around a place, innermost first, and the file at last."""
        if "braces" not in file.facts:
            pairs, stack = [], []
            for match in BRACES.finditer(file.code):
                if match.group() == "{":
                    stack.append(match.start())
                elif stack:
                    pairs.append((stack.pop(), match.start()))
            pairs += [(start, len(file.code)) for start in stack]
            file.facts["braces"] = sorted(pairs, reverse=True)
        around = [pair for pair in file.facts["braces"] if pair[0] < at < pair[1]]
        return around + [(-1, len(file.code))]

    def headers(self, file, at):
        """(name, header, is a class) of the functions and classes around a place, outwards."""
        end = at
        for start, close in self.scopes(file, at):
            for match in reversed(list(self.directly(file, DEF, start, end))):
                yield match.group(1), header_text(file, match.end(), at), False
                break
            if start < 0:
                return
            line = max(file.code.rfind("}", 0, start), file.code.rfind("{", 0, start)) + 1
            methods = list(JAVA_METHOD.finditer(file.code, line, start + 1))
            if file.language == "java" and methods:
                yield methods[-1].group(1), "(" + methods[-1].group(2) + ")", False
            classes = list(CLASS.finditer(file.code, line, start))
            if classes:
                yield classes[-1].group(1), file.code[classes[-1].end():start], True
            end = start

    def directly(self, file, pattern, start, end):
        """Matches in a scope, but in no scope inside it."""
        for match in pattern.finditer(file.code, start + 1, end):
            if self.scopes(file, match.start())[0][0] == start:
                yield match

    # ---- RNode's sources ----

    def sources(self, file, at, close):
        """The sources that a call may have: passed to it, or the implicit one."""
        if file.language != "scala":
            return [""]
        explicit = re.compile(r"\s*\(").match(file.code, close + 1)
        if explicit:
            parts, _ = arguments(file.code, explicit.end() - 1)
            texts = self.evaluate(file, *parts[-1], 0) if parts else None
            if texts:
                return [text.value for text in texts]
        return self.implicit_sources(file, at, 0)

    def implicit_sources(self, file, at, depth):
        """From the innermost scope that has an implicit source; None if none is known."""
        if depth >= FOLLOW_MAX or self.steps.spent():
            return None
        scopes = self.scopes(file, at)
        key = (file, scopes[0], len(list(DEF.finditer(file.code, scopes[0][0] + 1, at))))
        if key not in self.sources_known:
            self.sources_known[key] = None
            self.sources_known[key] = self.find_sources(file, at, depth, scopes)
        return self.sources_known[key]

    def find_sources(self, file, at, depth, scopes):
        for start, close in scopes:
            found = self.sources_of_scope(file, start, close, depth)
            if found:
                return found
        for name, header, is_class in self.headers(file, at):
            parameter = SOURCE_PARAMETER.search(header)
            if parameter and "implicit" in header[:parameter.start()]:
                found = self.sources_of_callers(name, depth)
                if found:
                    return found
        return None

    def sources_of_scope(self, file, start, close, depth):
        """Values of the implicit source that is defined directly in a scope, and in classes that
        override it."""
        for match in self.directly(file, IMPLICIT, start, close):
            end = expression_end(file, match.end())
            kind, value = match.group(3), file.code[match.end():end]
            if kind not in ("Source", "Metrics.Source") if kind else "Source" not in value:
                continue
            texts = self.evaluate(file, match.end(), end, depth + 1)
            if texts is None:
                continue
            classes = list(CLASS.finditer(file.code, max(0, start - 2000), max(0, start)))
            more = self.overrides(match.group(2), classes[-1].group(1)) if classes else []
            values = [text.value for text in texts] + more
            return list(dict.fromkeys(values))
        return None

    def overrides(self, name, base):
        """Values of a source in classes that extend `base`."""
        pattern = re.compile(rf"\boverride\b[\w\s\[\]]*\b(?:val|def)\s+{re.escape(name)}\b"
                             r"\s*(?::\s*[\w.]+)?\s*=\s*")
        extends = re.compile(rf"\b(?:extends|with)\s+{re.escape(base)}\b")
        values = []
        for file in self.scanned:
            if base in file.text and name in file.text and extends.search(file.code):
                for match in pattern.finditer(file.code):
                    texts = self.evaluate(file, match.end(), expression_end(file, match.end()), 1)
                    values += [text.value for text in texts or []]
        return values

    def sources_of_callers(self, name, depth):
        """The sources in scope wherever a function is called, or a class instantiated."""
        pattern = re.compile(rf"(?<![\w.])(?:new\s+)?\b{re.escape(name)}\b(?=\s*[.(]|\s*\[)|"
                             rf"\.\s*{re.escape(name)}\b")
        found = []
        for file in self.scanned:
            if name not in file.text or file.language != "scala":
                continue
            for match in pattern.finditer(file.code):
                before = file.code[max(0, match.start() - 40):match.start()]
                line = before.rpartition("\n")[2]
                if re.search(r"\b(def|class|trait|object|type|extends|with)\s+$|:\s*$|"
                             r"[\[,]\s*$", before) or "import " in line:
                    continue
                for source in self.implicit_sources(file, match.start(), depth + 1) or []:
                    if source not in found:
                        found.append(source)
        return found or None


def enclosing_name(file, at):
    """The name of the function around a place, roughly: the last def before it."""
    last = None
    for match in DEF.finditer(file.code, max(0, at - 1500), at):
        last = match
    return last.group(1) if last else ""


def is_definition(file, at):
    """Whether a name( is a definition: a type or def stands before it."""
    before = re.search(r"(\w+|[\]>])\s+$", file.code[max(0, at - 80):at])
    return bool(before) and before.group(1) not in ("return", "else", "do", "yield", "case")


def header_text(file, at, end):
    """The parameter lists of a def: up to its = or {, over brackets."""
    code, depth = file.code, 0
    for i in range(at, min(end, at + 2000)):
        c = code[i]
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif depth == 0 and (c == "{" or (c == "=" and code[i + 1:i + 2] != ">")):
            return code[at:i]
    return code[at:min(end, at + 2000)]


def parameter_index(header, word):
    """The index of a parameter in the first lists, or None."""
    if not re.search(rf"\b{re.escape(word)}\b", header):
        return None
    at = header.find("(")
    while at >= 0:
        parts, close = arguments(header, at)
        if parts is None:
            return None
        for index, (start, end) in enumerate(parts):
            if re.search(rf"(?:^|\s){re.escape(word)}\s*(?::|$)", header[start:end]):
                return index
        at = header.find("(", close)
    return None


def expression_end(file, start):
    """The end of a definition's right side: a comma, the end of its line or of the brackets that it
    opens, or the end of the next line if the line ends with an operator."""
    code, at, depth = file.code, start, 0
    for at in range(start, min(len(code), start + 4000)):
        c = code[at]
        if c in "([":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth < 0:
                return at
        elif c == "," and depth == 0:
            return at
        elif c in ";\n" and depth == 0 and code[start:at].strip() and \
                not code[start:at].rstrip().endswith(("+", "=", ".")) and \
                not code[at:at + 200].lstrip().startswith("+"):
            return at
    return min(len(code), start + 4000)
