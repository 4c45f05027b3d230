# SPDX-License-Identifier: Apache-2.0
"""Java and Scala: the API of Crest's own jar (io.crest), handles and sources.

    CrestCalls(tree, file).run()

Counter.of("…"), Metric.named("…")…labelled("kind").counter(), and Source.of("rchain.comm").in("rp")
with records and handles under it. It uses lint_jvm.py's tree to resolve names.
"""

import re

from crest_lint.lint_uses import FOLLOW_MAX, OWN_BUCKETS, Text, Unknown, Use, arguments, combine

OWN = "io.crest"
KINDS = {"Counter": "counter", "Gauge": "gauge", "Histogram": "histogram", "Timer": "timer",
         "RangeSampler": "range-sampler", "Stages": "stages"}
# Calls that make a handle under a source, and end a Metric.
HANDLES = {"counter": "counter", "gauge": "gauge", "histogram": "histogram", "timer": "timer",
           "rangeSampler": "range-sampler", "stages": "stages"}
OF = re.compile(r"\b(" + "|".join(KINDS) + r")\s*\.\s*of\s*\(")
NAMED = re.compile(r"\bMetric\s*\.\s*named\s*\(")
BELOW = re.compile(r"\.\s*metric\s*\(")
HANDLE = re.compile(r"\.\s*(" + "|".join(HANDLES) + r")\s*\(")
LINK = re.compile(r"\s*\.\s*`?(\w+)`?\s*\(")
BUCKETS = re.compile(r"(?:\w+\s*\.\s*)*Buckets\s*\.\s*([A-Z]+)")
UNIT = re.compile(r"(?:\w+\s*\.\s*)*Unit\s*\.\s*([A-Z]+)")

SOURCE_HEAD = re.compile(r"\s*(?:io\s*\.\s*crest\s*\.\s*)?\bSource\s*\.\s*(of|root)\s*\(")
SOURCE_IN = re.compile(r"\s*\.\s*(?:in|`in`)\s*\(")
WORDS = re.compile(r"\s*(?:this\s*\.\s*)?[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*?"
                   r"(?=\s*(?:$|\.\s*(?:in|`in`)\s*\())")
# A source made from another source in a variable.
IS_BELOW = re.compile(r"\s*(?:this\s*\.\s*)?[A-Za-z_][\w.]*\s*\.\s*(?:in|`in`)\s*\(")
# A variable that is a source by its type, or by its initialiser.
TYPED = r"\b(?:[\w.]+\.)?Source\s+{word}\b|\b{word}\s*:\s*(?:[\w.]+\.)?Source\b|" \
        r"\b(?:val|var|def)\s+{word}\s*=\s*(?:[\w.]+\.)?Source\s*\.\s*(?:of|root)\b|" \
        r"\b(?:val|var|def)\s+{word}\s*=\s*[\w.]+\.(?:in|`in`)\s*\("


class CrestCalls:
    """The calls of one file."""

    def __init__(self, tree, file):
        self.tree, self.file = tree, file

    def run(self):
        code = self.file.code
        if OWN in self.file.text:
            for match in OF.finditer(code):
                self.tree.steps.again()
                self.of(match)
            for match in NAMED.finditer(code):
                self.tree.steps.again()
                self.metric(match, [""], "Metric.named()")
        for match in BELOW.finditer(code):
            self.tree.steps.again()
            self.below(match)
        for match in HANDLE.finditer(code):
            self.tree.steps.again()
            self.handle(match)

    def of(self, match):
        """Counter.of(name[, description]); stages follow these."""
        parts, _ = arguments(self.file.code, match.end() - 1)
        if not parts:
            return
        kind = KINDS[match.group(1)]
        self.add(parts[0], [""], f"{match.group(1)}.of()", kind=kind, labels=(),
                 description=self.text(parts[1]) if len(parts) > 1 else None,
                 stages=self.stages(parts[2:]) if kind == "stages" else None)

    def below(self, match):
        """source.metric(name) and the calls chained to it."""
        start = receiver_start(self.file.code, match.start())
        if is_source(self.tree, self.file, start, match.start()):
            self.metric(match, prefixes(self.tree, self.file, start, match.start()),
                        "Source.metric()")

    def metric(self, match, sources, how):
        """Metric.named(name) and the calls chained to it, up to the end that names its kind. The
        settings of a Metric kept in a variable in between are unknown."""
        parts, close = arguments(self.file.code, match.end() - 1)
        if not parts:
            return
        facts = {"unit": "none", "buckets": "", "labels": (), "description": None}
        link = LINK.match(self.file.code, close + 1)
        while link:
            word = link.group(1)
            given, close = arguments(self.file.code, link.end() - 1)
            if given is None:
                return
            if word in HANDLES:
                kind = HANDLES[word]
                stages = self.stages(given) if kind == "stages" else None
                self.add(parts[0], sources, f"{how}.{word}()", kind=kind, stages=stages, **facts)
                return
            self.setting(word, given, facts)
            link = LINK.match(self.file.code, close + 1)
        self.add(parts[0], sources, how)

    def setting(self, word, given, facts):
        if word == "in":
            unit = UNIT.fullmatch(self.file.code, *given[0]) if given else None
            facts["unit"] = unit.group(1).lower() if unit else None
        elif word == "buckets":
            named = BUCKETS.fullmatch(self.file.code, *given[0]) if len(given) == 1 else None
            facts["buckets"] = named.group(1).lower() if named else OWN_BUCKETS
        elif word == "describedAs":
            facts["description"] = self.text(given[0]) if given else None
        elif word == "labelled":
            keys = [self.text(key) for key in given]
            facts["labels"] = tuple(keys) if keys and None not in keys else None

    def handle(self, match):
        """source.counter(name)."""
        start = receiver_start(self.file.code, match.start())
        if not is_source(self.tree, self.file, start, match.start()):
            return
        parts, _ = arguments(self.file.code, match.end() - 1)
        word = match.group(1)
        if not parts or (word == "timer" and len(parts) > 1):
            return      # a block is timed: lint_jvm.py's
        kind = HANDLES[word]
        self.add(parts[0], prefixes(self.tree, self.file, start, match.start()),
                 f"Source.{word}()", kind=kind, labels=(),
                 stages=self.stages(parts[1:]) if kind == "stages" else None)

    def add(self, part, sources, how, **facts):
        texts = self.tree.evaluate(self.file, *part, 0)
        if texts is None:
            self.tree.unknown.append(Unknown(self.file, part[0], how))
            return
        self.tree.found.append(use_of(self.file, part[0], texts, sources, how=how, linkage="get",
                                      **facts))

    def stages(self, parts):
        """The names of stages; of "name", "description", "0", … those after the description."""
        texts = [self.text(part) for part in parts]
        return tuple(texts) if texts and None not in texts else None

    def text(self, part):
        """The only text that an argument may be, or None."""
        texts = self.tree.evaluate(self.file, *part, 0)
        return texts[0].value if texts and len(texts) == 1 else None


def use_of(file, at, texts, sources, **facts):
    """A Use of these names under each possible source; None: the source is unknown."""
    if len(texts) == 1 and texts[0].literal is not None:
        file, at = texts[0].file, texts[0].literal.start
    names = [Text(f"{source}.{text.value}" if source else text.value, text.file, text.literal)
             for source in sources or [""] for text in texts]
    return Use(file, at, names, short=texts[0].value if sources is None else "",
               ambiguous=bool(sources) and len(sources) > 1, **facts)


# ---- sources ----

def receiver_start(code, dot):
    """The begin of the expression that ends before a dot: words and calls, joined by dots."""
    at = dot
    while True:
        end = at
        at = before_space(code, at)
        if at > 0 and code[at - 1] in ")]":
            at = opening_of(code, at - 1)
            if at is None:
                return end
        word = re.search(r"`?\w+`?$", code[max(0, before_space(code, at) - 100):
                                       before_space(code, at)])
        if word:
            at = before_space(code, at) - len(word.group())
        elif at == end:
            return end
        before = before_space(code, at)
        if before == 0 or code[before - 1] != ".":
            return at
        at = before - 1


def before_space(code, at):
    while at > 0 and code[at - 1] in " \t\r\n":
        at -= 1
    return at


def opening_of(code, at):
    """The bracket that the bracket at `at` closes, or None."""
    depth = 0
    for i in range(at, max(-1, at - 2000), -1):
        if code[i] in ")]}":
            depth += 1
        elif code[i] in "([{":
            depth -= 1
            if depth == 0:
                return i
    return None


def is_source(tree, file, start, end):
    """Whether an expression is a source of io.crest."""
    if SOURCE_HEAD.match(file.code, start, end):
        return True
    words = WORDS.match(file.code, start, end)
    if not words:
        return False
    word = words.group().split(".")[-1].strip()
    pattern = re.compile(TYPED.format(word=re.escape(word)))
    owner = re.match(r"\s*(?:[\w.]+\s*\.\s*)?(\w+)\s*\.\s*\w+\s*$", words.group())
    return any(pattern.search(other.code) for other in tree.files
               if OWN in other.text and word in other.text
               and (owner is None or owner.group(1) in other.text))


def prefixes(tree, file, start, end):
    """The texts that a source may have, or None."""
    texts = source_texts(tree, file, start, end, 0)
    return [text.value for text in texts] if texts else None


def source_texts(tree, file, start, end, depth):
    """The same as Text, of Source.of(a), Source.root(), words, and any of them .in(b)."""
    if depth > FOLLOW_MAX or tree.steps.spent():
        return None
    head = SOURCE_HEAD.match(file.code, start, end)
    if head:
        parts, close = arguments(file.code, head.end() - 1)
        if parts is None or (not parts) != (head.group(1) == "root"):
            return None
        texts = tree.evaluate(file, *parts[0], depth + 1) if parts else [Text("")]
        at = close + 1
    else:
        words = WORDS.match(file.code, start, end)
        if not words:
            return None
        word = words.group().split(".")[-1].strip()
        texts, at = tree.word_texts(file, words.end() - 1, word, depth + 1), words.end()
    while texts and at < end and file.code[at:end].strip():
        below = SOURCE_IN.match(file.code, at, end)
        parts, close = arguments(file.code, below.end() - 1) if below else (None, at)
        if not parts:
            return None
        texts, at = under(texts, tree.evaluate(file, *parts[0], depth + 1)), close + 1
    return texts


def under(sources, names):
    """Every name under every source; the root source gets no dot."""
    if not sources or not names:
        return None
    bare = [source for source in sources if not source.value]
    dotted = [source for source in sources if source.value]
    return (names if bare else []) + (combine([dotted, [Text(".")], names]) or [] if dotted else [])
