#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a compiler prints where the headers are used wrongly has a sentence that says what to do."""

import shutil

from checklib import CC, CXX, ROOT, Rules, command

C, CPP, CPP14 = ("-x c -std=gnu11", "-x c++ -std=gnu++17", "-x c++ -std=gnu++14")
FAMILY = 'CREST_COUNTER_FAMILY(sent, "comm.sent", "Sent.", %s);\n'
CLASSES = ('static crest::counter_family sent{"comm.sent", "Sent.", crest::keys{%s}};\n'
           "void count();\nvoid count() { sent.with(%s).inc(); }\n")
CALL = "void count(void);\nvoid count(void) { %s crest_counter_inc(%s); }\n"
NINE = list("abcdefghi")
# What clang tells in C++ without the macros that it is in: the caller's line only.
NO_NOTES = [".buckets = CREST_BUCKETS_FAST, or yours"]

# what is wrong, as which languages, the header, the text, the right text, the sentence
MISTAKES = (
    ("C++14", [CPP14], "crest.hpp", "", None, "compile with -std=c++17 or later"),
    ("too few values for with()", [C, CPP], "crest.h",
     FAMILY % "kind, peer" + CALL % ("", 'sent_with("ping")'),
     FAMILY % "kind, peer" + CALL % ("", 'sent_with("ping", "a")'),
     "takes one value for each label key"),
    ("too many values for with()", [C, CPP], "crest.h",
     FAMILY % "kind" + CALL % ("", 'sent_with("ping", "a")'),
     FAMILY % "kind" + CALL % ("", 'sent_with("ping")'), "takes one value for each label key"),
    ("too few values for with() of a class", [CPP], "crest.hpp",
     CLASSES % ('"kind", "peer"', '"ping"'), CLASSES % ('"kind", "peer"', '"ping", 7'),
     "with() takes one value for each key"),
    ("nine labels", [C, CPP], "crest.h", FAMILY % ", ".join(NINE), FAMILY % ", ".join(NINE[:8]),
     "a family has one to eight label keys"),
    ("nine labels of a class", [CPP], "crest.hpp",
     CLASSES % (", ".join(f'"{key}"' for key in NINE), ", ".join("1" * 9)),
     CLASSES % (", ".join(f'"{key}"' for key in NINE[:8]), ", ".join("1" * 8)),
     "a family has one to eight label keys"),
    ("bounds instead of buckets", [C, CPP], "crest.h",
     'CREST_HISTOGRAM(sizes, "comm.size", "Sizes.", .buckets = {1, 2, 3});\n',
     'CREST_HISTOGRAM(sizes, "comm.size", "Sizes.", .buckets = CREST_BUCKETS_FAST);\n',
     ".buckets = CREST_BUCKETS_FAST, or yours"),
    ("no description", [C, CPP], "crest.h", 'CREST_COUNTER(blocks, "casper.blocks");\n',
     'CREST_COUNTER(blocks, "casper.blocks", "Blocks.");\n', "a metric needs a description"),
    ("a metric within a function", [C, CPP], "crest.h",
     CALL % ('CREST_COUNTER(blocks, "casper.blocks", "Blocks.");', "&blocks"),
     'CREST_COUNTER(blocks, "casper.blocks", "Blocks.");\n' + CALL % ("", "&blocks"),
     "declare metrics outside of functions"),
)


def main():
    rules = Rules()
    compilers = [(CC, CXX)]
    if shutil.which("clang") and shutil.which("clang++") and CC != ["clang"]:
        probe = ["clang++", "-x", "c++", "-fsyntax-only", "-"]
        if command(probe, input=b"#include <atomic>\n")[0] == 0:
            compilers.append((["clang"], ["clang++"]))
    for cc, cxx in compilers:
        for what, languages, header, wrong, right, sentence in MISTAKES:
            for language in languages:
                rule = rules.rule(f"{what}, {cc[0]} {language}: {sentence!r}")
                for text, refused in ((wrong, True), (right, False)):
                    if text is None:
                        continue
                    status, output = command(
                        [*(cc if language == C else cxx), *language.split(), "-Wall", "-Wextra",
                         "-Werror", f"-I{ROOT}/include", "-fsyntax-only", "-"],
                        input=f"#include <crest/{header}>\n{text}".encode())
                    if (status != 0) != refused:
                        rules.broken(rule, f"exit status {status}: {text}{output[-500:]}")
                    elif refused and sentence not in output and (
                            cxx != ["clang++"] or language == C or sentence not in NO_NOTES):
                        rules.broken(rule, f"it says: {output[:1500]}")
    rules.finish()


if __name__ == "__main__":
    main()
