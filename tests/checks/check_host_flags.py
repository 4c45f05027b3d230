#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles all public headers, and a generated one, under the warnings that known C projects treat
as errors: a host that includes them compiles our inlines and declarations by its own rules."""

import pathlib
import shutil

from checklib import CC, ROOT, TWINS, Rules, command, temporary_folder

# What known projects compile themselves with, as of their releases of 2025; what is theirs alone
# (paths, definitions, options of code generation) is left out.
HOSTS = {
    "memcached": "-std=gnu99 -Wall -pedantic -Wmissing-prototypes -Wmissing-declarations "
                 "-Wredundant-decls",
    "mosquitto": "-std=gnu99 -Wall -Wextra -Wconversion",
    "git": "-std=gnu99 -Wall -Wextra -pedantic -Wdeclaration-after-statement -Wformat-security "
           "-Wold-style-definition -Woverflow -Wpointer-arith -Wstrict-prototypes -Wunused -Wvla "
           "-Wmissing-prototypes -Wno-missing-field-initializers -Wno-unused-parameter",
    "redis": "-std=gnu11 -pedantic -Wall -W -Wno-missing-field-initializers",
    "postgresql": "-std=gnu99 -Wall -Wmissing-prototypes -Wpointer-arith -Wendif-labels "
                  "-Wdeclaration-after-statement -Wvla -Wmissing-format-attribute "
                  "-Wformat-security -fno-strict-aliasing -fwrapv",
    "curl": "-std=gnu99 -Wall -Wextra -pedantic -Wbad-function-cast -Wcast-align -Wcast-qual "
            "-Wconversion -Wdeclaration-after-statement -Wdouble-promotion -Wempty-body "
            "-Wendif-labels -Wfloat-equal -Wformat=2 -Wignored-qualifiers -Wmissing-declarations "
            "-Wmissing-prototypes -Wnested-externs -Wold-style-definition -Wpointer-arith -Wshadow "
            "-Wsign-compare -Wsign-conversion -Wstrict-prototypes -Wtype-limits -Wundef -Wunused "
            "-Wunused-const-variable -Wvla -Wwrite-strings",
    "nginx": "-W -Wall -Wpointer-arith -Wno-unused-parameter",
    "systemd": "-std=gnu11 -Wall -Wextra -Wendif-labels -Wfloat-equal -Wformat=2 -Winit-self "
               "-Wmissing-declarations -Wmissing-prototypes -Wnested-externs "
               "-Wold-style-definition -Wpointer-arith -Wredundant-decls -Wshadow "
               "-Wstrict-aliasing=2 -Wstrict-prototypes "
               "-Wundef -Wwrite-strings -Wno-missing-field-initializers -Wno-unused-parameter",
    "qemu": "-std=gnu11 -Wall -Wundef -Wwrite-strings -Wmissing-prototypes -Wstrict-prototypes "
            "-Wredundant-decls -Wold-style-definition -Wtype-limits -Wformat-security "
            "-Wformat-y2k -Winit-self -Wignored-qualifiers -Wempty-body -Wnested-externs "
            "-Wendif-labels -Wexpansion-to-defined -Wmissing-format-attribute -Wvla",
    "openssl": "-std=c99 -pedantic -Wall -Wextra -Wno-unused-parameter -Wswitch -Wsign-compare "
               "-Wno-missing-field-initializers -Wshadow -Wformat -Wtype-limits -Wundef "
               "-Wmissing-declarations -Wmissing-prototypes -Wstrict-prototypes",
    "haproxy": "-std=gnu99 -Wall -Wextra -Wundef -Wdeclaration-after-statement -Wtype-limits "
               "-Wshift-negative-value -Wnull-dereference -fwrapv -Wno-unused-label "
               "-Wno-sign-compare -Wno-unused-parameter -Wno-missing-field-initializers",
    "core-lightning": "-std=gnu11 -Wall -Wundef -Wmissing-prototypes -Wmissing-declarations "
                      "-Wstrict-prototypes -Wold-style-definition",
}

# Everything that the headers and the generated header have, in one file, and each metric defined.
HOST_SOURCE = """{includes}
#define EVERYTHING_METRICS_DEFINE
#include "metrics.h"
#include "metrics.h"
CREST_COUNTER_DECLARE(declared);
CREST_COUNTER_DEFINE(declared, "a.declared", "Declared in a header, defined here.");
CREST_REGISTRY_DECLARE(registry);
CREST_REGISTRY_DEFINE(registry, .prefix = "a");
void host_runs(crest_op op);
void host_runs(crest_op op)
{{
    CREST_TIME_SCOPE(&do_time, op, NULL);
    crest_counter_inc(&all_events);
    crest_stages_begin(&consensus, op);
    crest_increment_counter("b.events");
}}
"""


def main():
    headers = sorted((ROOT / "include/crest").glob("*.h"))
    rules = Rules()
    source = HOST_SOURCE.format(includes="\n".join(f"#include <crest/{h.name}>" for h in headers))
    compilers = [("", CC)]
    if shutil.which("clang") and CC != ["clang"]:
        # clang tells of options that only gcc knows
        compilers.append((" with clang", ["clang", "-Wno-unknown-warning-option"]))
    with temporary_folder() as place:
        made = pathlib.Path(place) / "metrics.h"
        status, output = command([ROOT / "tools/crest", "catalogue", "header",
                                  ROOT / "tests/tools/everything.metrics.yaml", "-o", made])
        if status != 0:
            rules.broken(rules.rule("a header is generated"), output.strip())
            rules.finish()
        for host, flags in HOSTS.items():
            for name, compiler in compilers:
                for form in (["-O0"], ["-O2"], ["-O2", "-DCREST_DISABLE"]):
                    rule = rules.rule(f"the flags of {host}{name}, {' '.join(form)}")
                    status, output = command(
                        [*compiler, *flags.split(), *form, "-Werror", f"-I{ROOT}/include",
                         f"-I{TWINS}", f"-I{place}", "-x", "c", "-c", "-o", "/dev/null", "-"],
                        input=source.encode())
                    if status != 0:
                        rules.broken(rule, output.strip())
    rules.finish()


if __name__ == "__main__":
    main()
