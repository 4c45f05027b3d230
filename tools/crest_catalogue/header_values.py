# SPDX-License-Identifier: Apache-2.0
"""Part of a generated header: the series of a metric all of whose label values are listed. Each
label gets an enumeration, and the metric a call that takes these: messages_of(MESSAGES_KIND_PING).
So there is no look-up, no value that the manifest lacks, and every series exists, as 0, from the
start of the program.

    has_values(metric)            whether all label values are listed
    declared_values(metric, …)    what comes with the family's declaration
    defined_values(metric, …)     what comes with its definition
"""

import math

COLUMNS = 100
SERIES_MAX = 256  # a metric with more declares only its family
TYPES = {"counter": "crest_counter", "gauge": "crest_gauge", "range-sampler": "crest_range_sampler",
         "histogram": "crest_histogram", "timer": "crest_timer", "keyed-timer": "crest_timer",
         "stages": "crest_stages"}


def has_values(metric):
    return bool(metric.labels) and all(label.values for label in metric.labels) and \
        math.prod(len(label.values) for label in metric.labels) <= SERIES_MAX


def wrapped(opening, words, between, closing, indent=""):
    """The words in one line, or a line each if one line is too long."""
    one = indent + opening + (between + " ").join(words) + closing
    if len(one) <= COLUMNS:
        return one
    return f"{indent}{opening}\n" + f"{between}\n".join(f"{indent}    {word}" for word in words) + \
        closing


def enumeration(metric, label, constants):
    prefix = f"{metric.variable}_{label.key}".upper()
    count = f"{prefix}_COUNT"
    names = [*constants(prefix, label.values, [count]), count]
    return "typedef enum {\n" + ",\n".join(f"    {name} = {i}" for i, name in enumerate(names)) + \
        f"\n}} {metric.variable}_{label.key};\n"


def signature(metric, name, words, end):
    return wrapped(f"{TYPES[metric.instrument]} *{metric.variable}_{name}(", words, ",", end)


def parts(metric):
    """The fields of the templates below."""
    keys = [label.key for label in metric.labels]
    counts = [len(label.values) for label in metric.labels]
    variable, numbers = metric.variable, [f"{key}_" for key in keys]
    everything = f"{variable}_crest_all"
    values = [f"{variable}_{key} {key}_value_" for key in keys]
    parameters = [f"unsigned {key}_" for key in keys]
    one = wrapped(f"{variable}_crest_one(", numbers, ",", ");", "        ").strip()
    return {
        "type": TYPES[metric.instrument],
        "variable": variable,
        "all": everything + "".join(f"[{count}]" for count in counts),
        "of": signature(metric, "of", values, ")"),
        "declared_one": signature(metric, "crest_one", parameters, ");"),
        "defined_one": signature(metric, "crest_one", parameters, ")"),
        "unused": "".join(f"    (void){key}_value_;\n" for key in keys),
        "nothing": ", ".join(['""'] * len(keys)),
        "numbers": "".join(f"    unsigned {key}_ = {key}_value_;\n" for key in keys),
        "in_range": wrapped("if (", [f"{key}_ < {count}u" for key, count in zip(keys, counts)],
                            " &&", ")", "    "),
        "found": wrapped(f"series_ = {everything}", [f"[{key}_]" for key in keys], "", ";",
                         "        "),
        "return_one": f"    return {one}",
        "loops": "".join(f"    for (unsigned {key}_ = 0; {key}_ < {count}u; {key}_++)\n"
                         for key, count in zip(keys, counts)),
        "filled": wrapped(everything, [f"[{key}_]" for key in keys], "", " =", "        "),
        "one": f"            {one}",
        "with": wrapped(f"return {variable}_with(",
                        [f'{key}_ < {count}u ? {key}_texts_[{key}_] : ""'
                         for key, count in zip(keys, counts)], ",", ");", "    "),
    }


DECLARED = """\
#ifdef CREST_DISABLE
CREST_INLINE {of}
{{
{unused}    return {variable}_with({nothing});
}}
#else
extern {type} *{all};
{declared_one}
CREST_INLINE {of}
{{
    {type} *series_ = NULL;
{numbers}{in_range}
{found}
    if (series_ != NULL)
        return series_;
{return_one}
}}
#endif
"""

DEFINED = """\
#ifndef CREST_DISABLE
{type} *{all};
{defined_one}
{{
{tables}{with}
}}
__attribute__((constructor)) static void {variable}_crest_fill(void)
{{
{loops}{filled}
{one}
}}
#endif
"""


def declared_values(metric, constants):
    """Recording goes through the table. A caller before the table is filled, such as an earlier
    constructor, and a value out of range go through the family. constants(prefix, texts, taken)
    returns the names of an enumeration's constants."""
    return "".join(enumeration(metric, label, constants) for label in metric.labels) + \
        DECLARED.format(**parts(metric))


def defined_values(metric, initialiser):
    """initialiser(texts) returns an initialiser, in pieces."""
    tables = ""
    for label in metric.labels:
        tables += f"    static const char *const {label.key}_texts_[] ="
        column = COLUMNS
        for piece in initialiser(label.values):
            tables += " " + piece if column + len(piece) < COLUMNS else f"\n        {piece}"
            column = len(tables) - tables.rindex("\n") + 1
        tables += ";\n"
    return DEFINED.format(tables=tables, **parts(metric))
