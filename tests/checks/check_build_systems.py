#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""Installs below a prefix that no tool looks at by itself, and has CMake and Meson find the
libraries there by pkg-config and build consumer.c: shared, from archives, and without any shared
library at all. consumer.c asserts that the reporters are there."""

import os
import pathlib
import shlex
import shutil

from checklib import CC, ROOT, Rules, command, skip, temporary_folder

CONSUMER = ROOT / "tests/checks/consumer.c"

CMAKE = """cmake_minimum_required(VERSION 3.18)
project(consumer C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CREST REQUIRED IMPORTED_TARGET crest-reporters)
add_executable(consumer consumer.c)
target_compile_definitions(consumer PRIVATE WITH_REPORTERS)
if(FROM_ARCHIVES)
  target_include_directories(consumer PRIVATE ${CREST_STATIC_INCLUDE_DIRS})
  target_link_libraries(consumer PRIVATE ${CREST_STATIC_LDFLAGS})
else()
  target_link_libraries(consumer PRIVATE PkgConfig::CREST)
endif()
"""

MESON = """project('consumer', 'c')
executable('consumer', 'consumer.c', c_args: '-DWITH_REPORTERS',
           dependencies: dependency('crest-reporters'))
"""


def steps_of(system, archives, folder):
    """The commands of a build system, the program last."""
    if system == "cmake":
        return [["cmake", "-S", folder, "-B", folder / "made",
                 f"-DFROM_ARCHIVES={'ON' if archives else 'OFF'}"],
                ["cmake", "--build", folder / "made"], [folder / "made/consumer"]]
    return [["meson", "setup", f"-Dprefer_static={'true' if archives else 'false'}",
             folder / "made", folder],
            ["meson", "compile", "-C", folder / "made"], [folder / "made/consumer"]]


def check_system(rules, system, prefix, archives, place):
    rule = rules.rule(f"{system} links with {'archives' if archives else 'shared libraries'} "
                      "of any prefix, and the program runs")
    folder = place / f"{system}-{archives}"
    folder.mkdir()
    shutil.copy(CONSUMER, folder)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "meson.build").write_text(MESON)
    env = dict(os.environ, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")
    env.pop("LD_LIBRARY_PATH", None)
    for step in steps_of(system, archives, folder):
        status, output = command(step, env=env)
        if status != 0:
            rules.broken(rule, f"exit status {status} of {step[0]}: {output.strip()[-2000:]}")
            return
    _, dynamic = command(["readelf", "-d", folder / "made/consumer"])
    if ("libcrest-reporters.so" in dynamic) == archives:
        rules.broken(rule, f"it took the other ones: {dynamic}")


def check_static(rules, prefix, place):
    """The core alone in a program without any shared library."""
    rule = rules.rule("a program without shared libraries has the core in it, and runs")
    env = dict(os.environ, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")
    status, words = command(["pkg-config", "--static", "--cflags", "--libs", "crest"], env=env)
    program = place / "whole"
    if status == 0:
        status, words = command([*CC, "-static", CONSUMER, "-o", program, *shlex.split(words)])
    if status == 0:
        status, words = command([program])
    if status != 0:
        rules.broken(rule, f"exit status {status}: {words.strip()}")


def main():
    systems = [name for name in ("cmake", "meson") if shutil.which(name)]
    if not systems or not shutil.which("pkg-config"):
        skip("neither CMake nor Meson is here, or no pkg-config (Debian: cmake, meson, pkg-config)")
    rules = Rules()
    installed = rules.rule("make install PREFIX=… works")
    with temporary_folder() as folder:
        place = pathlib.Path(folder)
        prefix = place / "elsewhere"
        settings = shlex.split(os.environ.get("CREST_MAKE_SETTINGS", ""))
        status, output = command([os.environ.get("MAKE", "make"), "-C", ROOT, "install",
                                  "--no-print-directory", *settings, f"PREFIX={prefix}"])
        if status != 0:
            rules.broken(installed, output)
            rules.finish()
        for system in systems:
            check_system(rules, system, prefix, False, place)
        check_static(rules, prefix, place)
        # the linker takes a shared library before an archive of the same name
        for shared in (prefix / "lib").glob("*.so*"):
            shared.unlink()
        for system in systems:
            check_system(rules, system, prefix, True, place)
    rules.finish()


if __name__ == "__main__":
    main()
