# SPDX-License-Identifier: Apache-2.0
"""C declarations of a team's metrics: one header that declares, and on request defines, them.

    text = header(manifest, "comm_metrics.h")

It has each active metric that the team's own code records and that names a `variable`. The result
is C11 and C++17, with no line longer than 100 columns; a longer word of the manifest is cut into
adjacent literals.
"""

import re

from .header_values import declared_values, defined_values, has_values

COLUMNS = 100
WORD_CHARACTERS = 40  # of a stage or a label's value, in the name of its constant
MACROS = {"counter": "COUNTER", "gauge": "GAUGE", "range-sampler": "RANGE_SAMPLER",
          "histogram": "HISTOGRAM", "timer": "TIMER", "keyed-timer": "TIMER", "stages": "STAGES"}
UNITS = {"bytes": "CREST_BYTES", "nanoseconds": "CREST_NANOSECONDS",
         "microseconds": "CREST_MICROSECONDS", "milliseconds": "CREST_MILLISECONDS",
         "seconds": "CREST_SECONDS", "ratio": "CREST_RATIO"}
# Presets that have a macro; the others are the objects themselves.
BUCKETS = {name: f"CREST_BUCKETS_{name.upper()}" for name in ("fast", "default", "slow")}
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def c_pieces(text, width):
    """A text as C string literals of at most `width` columns each, cut between words if possible.
    A second ? in a row is escaped, because compilers of C11 read trigraphs."""
    pieces, piece = [], ""
    for word in re.findall(r"\S*\s*", text):
        escaped = [ESCAPES.get(c, c) for c in word]
        for i in range(1, len(escaped)):
            if escaped[i - 1][-1] == "?" and escaped[i] == "?":
                escaped[i] = "\\?"
        while escaped:
            if len(piece) + len("".join(escaped)) + 2 <= width:
                piece += "".join(escaped)
                break
            if piece:
                pieces.append(piece)
                piece = ""
                continue
            while escaped and len(piece) + len(escaped[0]) + 2 <= width:
                piece += escaped.pop(0)
    pieces.append(piece)
    return [f'"{piece}"' for piece in pieces if piece or len(pieces) == 1]


def call(name, arguments):
    """NAME(argument, …); in as many lines as it takes. An argument is a text of C, or a list of
    pieces that may be on lines of their own."""
    words = []
    for position, argument in enumerate(arguments, 1):
        pieces = [argument] if isinstance(argument, str) else list(argument)
        pieces[-1] += ");" if position == len(arguments) else ","
        words += pieces
    one = f"{name}({' '.join(words)}"
    if len(one) <= COLUMNS:
        return one + "\n"
    lines, line = [], " " * 3
    for word in words:
        if line.strip() and len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line = " " * 3
        line += " " + word
    return "\n".join([f"{name}(", *lines, line]) + "\n"


def number(value):
    """A double in C, as the shortest text that reads back as it."""
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def texts(words):
    """An initialiser, {"…", "…"}, in pieces."""
    pieces = []
    for word in words:
        pieces += c_pieces(word, COLUMNS - 20)
        pieces[-1] += ","
    return ["{" + pieces[0], *pieces[1:-1], pieces[-1][:-1] + "}"] if len(pieces) > 1 else \
        ["{" + pieces[0][:-1] + "}"]


def options(metric):
    """The designated initialisers, in pieces, in the order of the fields, as C++ requires."""
    found = []
    if metric.unit in UNITS:
        found.append(f".unit = {UNITS[metric.unit]}")
    if isinstance(metric.buckets, tuple):
        found.append(f".buckets = &{metric.variable}_buckets_")
    elif metric.buckets:
        preset = BUCKETS.get(metric.buckets, f"&crest_buckets_{metric.buckets}")
        found.append(f".buckets = {preset}")
    if metric.range is not None:
        found.append(f".range = CREST_RANGE_{metric.range.name.upper()}" if metric.range.name
                     else f".range = &{metric.variable}_range_")
    if metric.stages:
        first, *more = texts(metric.stages)
        found.append([f".stages = {first}", *more])
    if metric.deadline_ms:
        found.append(f".deadline_ms = {metric.deadline_ms}")
    if metric.idle_s:
        found.append(f".idle_s = {metric.idle_s}")
    if not metric.windows:
        found.append(".no_windows = 1")
    if metric.quantiles:
        found.append(f".quantiles = {{{', '.join(map(number, metric.quantiles))}}}")
    if metric.native:
        found.append(f".native = CREST_NATIVE_{metric.native.upper()}")
    if metric.native_factor:
        found.append(f".native_factor = {number(metric.native_factor)}")
    return found


def constants(prefix, texts, taken=()):
    """Names for constants, all different and none of them in `taken`: the stage 1/3 of consensus
    is CONSENSUS_STAGE_1_3."""
    names = list(taken)
    for index, text in enumerate(texts):
        word = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper() or str(index)
        name = f"{prefix}_{word[:WORD_CHARACTERS]}"
        while name in names:
            name += f"_{index}"
        names.append(name)
    return names[len(taken):]


def comment(lines, indent=""):
    """A comment; a text that would end it, or begin another, is broken up."""
    safe = [re.sub(r"/(?=\*)|\*(?=/)", lambda match: match.group() + " ", line) for line in lines]
    if len(safe) == 1 and len(safe[0]) + len(indent) + 6 <= COLUMNS:
        return f"{indent}/* {safe[0]} */\n"
    body = "".join(f"{indent} * {line}".rstrip() + "\n" for line in safe)
    return f"{indent}/*\n{body}{indent} */\n"


def fill(text, width):
    """Lines of words; a word that is too long is cut."""
    lines, line = [], ""
    for word in text.split():
        word = word if len(word) <= width else word[:width - 1] + "…"
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return lines + [line] if line else lines


def told(metric):
    """The comment above a declaration."""
    what = metric.instrument if metric.unit == "none" else f"{metric.instrument} of {metric.unit}"
    labels = [f"{label.key} (" + (", ".join(label.values) if label.values else
                                  f"at most {label.bound}") + ")" for label in metric.labels]
    text = f"{metric.name}, {what}" + (f", by {'; '.join(labels)}" if labels else "")
    return comment(fill(f"{text}: {metric.description}", COLUMNS - 6))


def declaration(metric):
    if metric.instrument == "mutex":
        return call("CREST_MUTEX_DECLARE", [metric.variable])
    macro = MACROS[metric.instrument]
    keys = [label.key for label in metric.labels]
    text = call(f"CREST_{macro}_FAMILY_DECLARE", [metric.variable, *keys]) if keys else \
        call(f"CREST_{macro}_DECLARE", [metric.variable])
    if metric.stages:
        names = constants(f"{metric.variable.upper()}_STAGE", metric.stages)
        text += "enum {\n" + "".join(f"    {name} = {i},\n" for i, name in enumerate(names))
        text = text[:-2] + "\n};\n"
    if has_values(metric):
        text += declared_values(metric, constants)
    return text


def in_parentheses(found):
    """All options as one argument of a macro, in pieces."""
    pieces = []
    for position, option in enumerate(found, 1):
        pieces += [option] if isinstance(option, str) else option
        pieces[-1] += "," if position < len(found) else ""
    if pieces:
        pieces[0] = "(" + pieces[0]
        pieces[-1] += ")"
    return pieces or "()"


def definition(metric):
    name = c_pieces(metric.name, COLUMNS - 6)
    if metric.instrument == "mutex":
        return call("CREST_MUTEX_DEFINE", [metric.variable, name])
    text = ""
    if isinstance(metric.buckets, tuple):
        bounds = fill(", ".join(map(number, metric.buckets)), COLUMNS - 4)
        text += f"static const double {metric.variable}_bounds_[] = {{\n" + \
            "".join(f"    {line}\n" for line in bounds) + "};\n"
        text += (f"static const crest_buckets {metric.variable}_buckets_ = "
                 f"{{{metric.variable}_bounds_, {len(metric.buckets)}}};\n")
    if metric.range is not None and not metric.range.name:
        text += (f"static const crest_range {metric.variable}_range_ = {{{metric.range.lowest}, "
                 f"{metric.range.highest}, {metric.range.digits}}};\n")
    macro = MACROS[metric.instrument]
    description = c_pieces(metric.description, COLUMNS - 6)
    keys = [label.key for label in metric.labels]
    found = options(metric)
    if keys:
        text += call(f"CREST_{macro}_FAMILY_DEFINE", [
            metric.variable, name, description, in_parentheses(found), *keys])
        return text + defined_values(metric, texts) if has_values(metric) else text
    return text + call(f"CREST_{macro}_DEFINE", [metric.variable, name, description, *found])


def header(manifest, file_name):
    """The whole header. `file_name` is its name; the guard is made from it."""
    team = manifest.team.replace("-", "_").upper()
    guard = re.sub(r"[^A-Za-z0-9]", "_", file_name).upper()
    guard = guard if guard[:1].isalpha() else "METRICS_" + guard
    define = f"{team}_METRICS_DEFINE"
    source = manifest.path.replace("\\", "/").rsplit("/", 1)[-1]
    metrics = [metric for metric in manifest.metrics if metric.is_declared]
    text = f"/* SPDX-License-Identifier: {manifest.licence} */\n" if manifest.licence else ""
    text += comment([
        *fill(f"Metrics of team {manifest.team}. {manifest.about}", COLUMNS - 3), "",
        *fill(f"Generated from {source} by crest catalogue: change that file and generate this one "
              "again.", COLUMNS - 3), "",
        *fill("Sources that record include it. One of them defines what it declares:", COLUMNS - 3),
        "", f"    #define {define}", f"    #include \"{file_name}\""])
    text += "/* clang-format off */\n"
    text += f"#ifndef {guard}\n#define {guard}\n\n#include <crest/crest.h>\n\n"
    for metric in metrics:
        text += told(metric) + declaration(metric) + "\n"
    text += "#endif\n\n"
    text += f"#ifdef {define}\n#undef {define}\n\n"
    for metric in metrics:
        text += definition(metric)
    return text + "\n#endif\n"
