# SPDX-License-Identifier: Apache-2.0
"""Source files: finding them, reading them, and blanking comments and strings.

    for file in find_files(["src"], report, excluded=[]):
        if file.language == "c" and INTERESTING.search(file.text):
            file.code                 the text with comments blanked and strings filled

Each character of `code` is at its place in `text`, so places are valid in both. A string keeps its
quotes, and between them is FILL; `strings` has the literals by their start. It knows no more
grammar of a language than that.
"""

import bisect
import fnmatch
import os
import re
import stat

from crest_lint.lint_findings import Place

SUFFIXES = {".c": "c", ".h": "c", ".cc": "c", ".cpp": "c", ".cxx": "c", ".hh": "c", ".hpp": "c",
            ".hxx": "c", ".inc": "c", ".java": "java", ".scala": "scala", ".sc": "scala"}
SKIPPED_FOLDERS = {"build", "target", "node_modules", "__pycache__"}
FILE_BYTES_MAX = 16 << 20
FOLDER_DEPTH_MAX = 100
FILES_MAX = 200_000
FILL = "\x01"
TEXT_BLOCK = "text block"

C_TOKENS = re.compile(r"""
    /\*.*?(?:\*/|\Z) | //(?:\\\r?\n|[^\n])*
  | \b(?:u8|[uUL])?R"(?P<raw>[^()\\\s"]{0,16})\(.*?(?:\)(?P=raw)"|\Z)
  | "(?:\\.|[^"\\\n])*"
  | (?:\b(?:u8|[uUL])|(?<![0-9A-Za-z_]))'(?:\\.|[^'\\\n])*'
    """, re.S | re.X)
JAVA_TOKENS = re.compile(r"""
    /\*.*?(?:\*/|\Z) | //[^\n]*
  | \"\"\"(?:\\.|.)*?(?:\"\"\"|\Z)
  | "(?:\\.|[^"\\\n])*"
  | '(?:\\.|[^'\\\n])*'
    """, re.S | re.X)
SCALA_TOKENS = re.compile(r"""
    /\* | //[^\n]*
  | (?P<prefix>\b[A-Za-z_]\w*)?(?P<quotes>\"\"\"|")
  | '(?:\\u[0-9a-fA-F]{4}|\\.|[^'\\\n])'
    """, re.S | re.X)
SCALA_COMMENT = re.compile(r"/\*|\*/")
NOT_CODE = re.compile(r"^[ \t]*\#[ \t]*(?:(if)(?:[ \t]+(0)[ \t]*$)?|(else|elif\b.*)|(endif))\b",
                      re.M)
ESCAPE = re.compile(r"\\(\r?\n|[0-7]{1,3}|x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|.)", re.S)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
NO_NEWLINE = re.compile(r"[^\n]")


def unescape(body):
    """The value of a string literal's body."""
    def one(match):
        what = match.group(1)
        if what in ("\n", "\r\n"):
            return ""
        if what[0] in "xu" and len(what) > 1:
            return chr(min(int(what[1:], 16), 0x10FFFF))
        if what[0] in "01234567":
            return chr(int(what, 8) & 0xFF)
        return ESCAPES.get(what, what)
    return ESCAPE.sub(one, body) if "\\" in body else body


def text_block(body):
    """A Java text block without its first line's end and its indentation."""
    lines = body.partition("\n")[2].split("\n")
    blank = [len(line) - len(line.lstrip()) for at, line in enumerate(lines)
             if line.strip() or at == len(lines) - 1]
    return "\n".join(line[min(blank):].rstrip(" \t\r") for line in lines)


class Literal:
    """A string literal: its range, quotes included, and its value."""

    __slots__ = ("start", "end", "body_start", "body_end", "prefix", "raw", "text")

    def __init__(self, text, start, end, body_start, body_end, prefix="", raw=False):
        self.text, self.start, self.end = text, start, end
        self.body_start, self.body_end = body_start, body_end
        self.prefix, self.raw = prefix, raw

    @property
    def body(self):
        return self.text[self.body_start:self.body_end]

    @property
    def value(self):
        if self.prefix == TEXT_BLOCK:
            return unescape(text_block(self.body))
        return self.body if self.raw else unescape(self.body)


class SourceFile:
    """One file, read once; properties derived from the text are made on demand."""

    def __init__(self, path, data, language):
        self.path = path
        self.language = language
        # Bytes that are not UTF-8 pass through unchanged, also when a fix writes them back.
        self.text = data.decode("utf-8", "surrogateescape")
        self.facts = {}     # the facts of its language's scanner
        self._code = self._strings = self._lines = self._comments = None

    @property
    def code(self):
        self._mask()
        return self._code

    @property
    def strings(self):
        """Start of a literal: Literal."""
        self._mask()
        return self._strings

    @property
    def comments(self):
        """(start, end) of each comment, in order."""
        self._mask()
        return self._comments

    def _mask(self):
        if self._code is None:
            self._strings, self._comments = {}, []
            self._code = MASKS[self.language](self)

    def place(self, at):
        if self._lines is None:
            self._lines = [0]
            self._lines += [match.end() for match in re.finditer("\n", self.text)]
        line = bisect.bisect_right(self._lines, at)
        return Place(self.path, line, at - self._lines[line - 1] + 1)

    def line_of(self, at):
        return self.place(at).line

    def add_comment(self, start, end):
        self._comments.append((start, end))
        return blank(self.text[start:end])

    def add_string(self, start, end, body_start, body_end, prefix="", raw=False):
        literal = Literal(self.text, start, end, body_start, body_end, prefix, raw)
        self._strings[start] = literal
        filled = '"' + NO_NEWLINE.sub(FILL, self.text[start + 1:end])
        # An unclosed string may be a lone quote, or end with a line.
        return filled if len(filled) < 2 or filled[-1] == "\n" else filled[:-1] + '"'


def blank(text):
    return NO_NEWLINE.sub(" ", text)


def mask_c(file):
    text = file.text

    def one(match):
        start, end = match.span()
        first = text[start:start + 2]
        if first in ("/*", "//"):
            return file.add_comment(start, end)
        if match.group("raw") is not None:
            closed = len(match.group("raw")) + 2
            body_start = text.index("(", start) + 1
            whole = text.endswith('"', start, end)
            return file.add_string(start, end, body_start, end - closed if whole else end,
                                   raw=True)
        if first[0] == '"':
            return file.add_string(start, end, start + 1, end - 1)
        return blank(match.group())
    code = C_TOKENS.sub(one, text)
    return without_if_0(code) if "if" in code and IF_0.search(code) else code


IF_0 = re.compile(r"^[ \t]*#[ \t]*if[ \t]+0[ \t]*$", re.M)


def without_if_0(code):
    """Code with the branches of #if 0 blanked, up to their #else or #endif."""
    depth, off_since, off_depth, parts, kept = 0, None, 0, [], 0
    for match in NOT_CODE.finditer(code):
        is_if, is_zero, is_else, is_end = match.groups()
        if is_if:
            depth += 1
            if is_zero and off_since is None:
                off_since, off_depth = match.end(), depth
            continue
        if off_since is not None and depth == off_depth and (is_else or is_end):
            parts += [code[kept:off_since], blank(code[off_since:match.start()])]
            kept, off_since = match.start(), None
        if is_end:
            depth = max(depth - 1, 0)
    if off_since is not None:
        parts += [code[kept:off_since], blank(code[off_since:])]
        kept = len(code)
    return "".join(parts) + code[kept:]


def mask_java(file):
    text = file.text

    def one(match):
        start, end = match.span()
        if text[start] == "/":
            return file.add_comment(start, end)
        if text.startswith('"""', start):
            whole = end - start >= 6 and text.endswith('"""', start, end)
            return file.add_string(start, end, start + 3, end - 3 if whole else end, TEXT_BLOCK)
        if text[start] == '"':
            return file.add_string(start, end, start + 1, end - 1)
        return blank(match.group())
    return JAVA_TOKENS.sub(one, text)


def mask_scala(file):
    """By hand, because comments nest, and so do strings in the ${...} of strings."""
    text, parts, at = file.text, [], 0
    while True:
        match = SCALA_TOKENS.search(text, at)
        if not match:
            parts.append(text[at:])
            return "".join(parts)
        start, end = match.span()
        parts.append(text[at:start])
        quotes = match.group("quotes")
        if quotes:
            start, prefix = match.start("quotes"), match.group("prefix") or ""
            parts.append(prefix)
            end, body_end = scala_string_end(text, end, quotes, bool(prefix))
            parts.append(file.add_string(start, end, start + len(quotes), body_end, prefix,
                                         raw=len(quotes) == 3 or prefix == "raw"))
        elif text[start] == "/":
            if text[start + 1] == "*":
                end = scala_comment_end(text, end)
            parts.append(file.add_comment(start, end))
        else:
            parts.append(blank(match.group()))
        at = end


def scala_comment_end(text, at):
    depth = 1
    for match in SCALA_COMMENT.finditer(text, at):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)


SCALA_STRING = re.compile(r'\\.|\$\{|"""+|"|\n', re.S)
SCALA_INSIDE = re.compile(r'"""|"|\{|\}')


def scala_string_end(text, at, quotes, interpolated):
    """The end of a string and of its body. An unclosed string ends with its line."""
    while True:
        match = SCALA_STRING.search(text, at)
        if not match:
            return len(text), len(text)
        found, at = match.group(), match.end()
        if found == "${" and interpolated:
            at = scala_hole_end(text, at)
        elif found[0] == "\\" and len(quotes) == 3:
            at = match.start() + 1
        elif found == "\n" and quotes == '"':
            return match.start(), match.start()
        elif found == quotes or (len(quotes) == 3 and found.startswith(quotes)):
            return at, at - len(quotes)
        elif quotes == '"' and found[0] == '"':
            return match.start() + 1, match.start()


def scala_hole_end(text, at):
    """The place after the } of a ${ }, over the strings and braces in it."""
    depth = 1
    while depth:
        match = SCALA_INSIDE.search(text, at)
        if not match:
            return len(text)
        at = match.end()
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
        else:
            close = text.find(match.group(), at)
            at = len(text) if close < 0 else close + len(match.group())
    return at


MASKS = {"c": mask_c, "java": mask_java, "scala": mask_scala}


# ---- finding and reading -------------------------------------------------------------------------


def find_files(paths, report, excluded):
    """Every source below the paths, once; the report is told of those that cannot be read."""
    seen, found = set(), []
    for path in paths:
        try:
            is_folder = stat.S_ISDIR(os.stat(path).st_mode)
        except (OSError, ValueError) as error:
            report.cannot_use(f"{path}: {reason_of(error)}")
            continue
        if is_folder:
            found += walk(path, report, excluded, seen)
        elif language_of(path) is None:
            report.cannot_use(f"{path}: not a source that is known here; these are "
                              f"{' '.join(sorted(SUFFIXES))}")
        elif once(path, seen):
            found.append(path)
    return found


def walk(folder, report, excluded, seen):
    """The sources below a folder. Symbolic links are not followed, so there are no loops, and a
    fix never leaves the tree."""
    found, open_folders = [], [(folder, 0)]
    while open_folders:
        folder, depth = open_folders.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            report.cannot_use(f"{folder}: {reason_of(error)}")
            continue
        for entry in entries:
            if is_excluded(entry.path, entry.name, excluded) or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < FOLDER_DEPTH_MAX and not entry.name.startswith(".") and \
                        entry.name not in SKIPPED_FOLDERS:
                    open_folders.append((entry.path, depth + 1))
            elif language_of(entry.name) and entry.is_file() and once(entry.path, seen):
                found.append(entry.path)
                if len(found) >= FILES_MAX:
                    report.cannot_use(f"{folder}: more than {FILES_MAX} sources; name fewer")
                    return found
    return found


def is_excluded(path, name, excluded):
    return any(fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(name, pattern)
               for pattern in excluded)


def once(path, seen):
    real = os.path.realpath(path)
    if real in seen:
        return False
    seen.add(real)
    return True


def language_of(path):
    return SUFFIXES.get(os.path.splitext(path)[1].lower())


def reason_of(error):
    return getattr(error, "strerror", None) or str(error)


def read_source(path, report):
    """The bytes of a source, or None; a file that is no text is noted and left out."""
    try:
        with open(path, "rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        report.cannot_use(f"{path}: {reason_of(error)}")
        return None
    if len(data) > FILE_BYTES_MAX:
        report.add("source-unread", Place(path),
                   f"it has more than {FILE_BYTES_MAX >> 20} MiB and was not read")
        return None
    if b"\0" in data:
        report.add("source-unread", Place(path), "it is not a text and was not read")
        return None
    return data
