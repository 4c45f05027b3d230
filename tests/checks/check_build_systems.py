#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=600 sanitizers=none slow
"""Follows docs/embedding.md: installs below a prefix that no tool looks at by itself, and has CMake
and Meson find the libraries there, by pkg-config and find_package, and build consumer.c: shared,
from archives, and without any shared library at all. Then the tree is a part of another one, whole
and as the core alone. consumer.c asserts that the reporters are there."""

import os
import pathlib
import re
import shlex
import shutil

from checklib import CC, ROOT, Rules, command, skip, temporary_folder

CONSUMER = ROOT / "tests/checks/consumer.c"

CMAKE = """cmake_minimum_required(VERSION 3.18)
project(consumer C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CREST REQUIRED IMPORTED_TARGET crest-reporters)
add_executable(node node.c)
if(FROM_ARCHIVES)
  target_include_directories(node PRIVATE ${CREST_STATIC_INCLUDE_DIRS})
  target_link_libraries(node PRIVATE ${CREST_STATIC_LDFLAGS})
else()
  target_link_libraries(node PRIVATE PkgConfig::CREST)
endif()
"""
PAGE = (ROOT / "docs/embedding.md").read_text()
COMPILED = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
QUICK = "-O0"  # a tree that is compiled here, many files at once, is for one run


def block(language, word):
    """The block of docs/embedding.md in this language that has the word."""
    (found,) = [text for kind, text in COMPILED.findall(PAGE) if kind == language and word in text]
    return found


def folder_for(place, name, build_file, text, reporters=True):
    """A folder with the program and a build file."""
    folder = place / name
    folder.mkdir()
    told = "#define WITH_REPORTERS\n" if reporters else ""
    (folder / "node.c").write_text(told + CONSUMER.read_text())
    (folder / build_file).write_text(text)
    return folder


def cmake_steps(folder, *settings):
    return [["cmake", "-S", folder, "-B", folder / "made", *settings],
            ["cmake", "--build", folder / "made", "-j2"], [folder / "made/node"]]


def meson_steps(folder, *settings):
    return [["meson", "setup", *settings, folder / "made", folder],
            ["meson", "compile", "-C", folder / "made"], [folder / "made/node"]]


def run_steps(rules, rule, steps, env, folder):
    """The commands of a build system, the program last: whether all went well."""
    for step in steps:
        status, output = command(step, env=env, cwd=folder)
        if status != 0:
            rules.broken(rule, f"exit status {status} of {step[0]}: {output.strip()[-2000:]}")
            return False
    return True


def check_linked(rules, rule, folder, archives):
    _, dynamic = command(["readelf", "-d", folder / "made/node"])
    if ("libcrest-reporters.so" in dynamic) == archives:
        rules.broken(rule, f"it took the other ones: {dynamic}")


def check_installed(rules, system, prefix, archives, place):
    """pkg-config's words in a build system, and what find_package finds."""
    kind = "archives" if archives else "shared libraries"
    env = dict(os.environ, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")
    env.pop("LD_LIBRARY_PATH", None)
    on = "ON" if archives else "OFF"
    if system == "cmake":
        ways = [("pkg-config", "CMakeLists.txt", CMAKE,
                 lambda at: cmake_steps(at, f"-DFROM_ARCHIVES={on}")),
                ("find_package", "CMakeLists.txt", block("cmake", "find_package"),
                 lambda at: cmake_steps(at, f"-DCMAKE_PREFIX_PATH={prefix}",
                                        f"-DCREST_STATIC={on}"))]
    else:
        ways = [("pkg-config", "meson.build", block("meson", "executable"),
                 lambda at: meson_steps(at, f"-Dprefer_static={'true' if archives else 'false'}"))]
    for way, build_file, text, steps in ways:
        rule = rules.rule(f"{system} links with {kind} of any prefix by {way}, and the program "
                          "runs")
        folder = folder_for(place, f"{system}-{way}-{on}", build_file, text)
        if run_steps(rules, rule, steps(folder), env, folder):
            check_linked(rules, rule, folder, archives)


def check_versions(rules, prefix, place):
    """find_package takes what it can stand in for, and says what a wrong component is."""
    for wanted, there, told in (("0.9", "reporters", "0.9"), ("0.2", "reportars", "reportars")):
        rule = rules.rule(f"find_package refuses version {wanted} with component {there}")
        text = block("cmake", "find_package").replace("0.2", wanted).replace("reporters", there, 1)
        folder = folder_for(place, f"refused-{there}-{wanted}", "CMakeLists.txt", text)
        status, output = command(["cmake", "-S", folder, "-B", folder / "made",
                                  f"-DCMAKE_PREFIX_PATH={prefix}"])
        if status == 0 or told not in output:
            rules.broken(rule, f"exit status {status}: {output.strip()[-1000:]}")


def copy_of_tree(into):
    """The tree as a user has it, without what was built."""
    status, names = command(["git", "-C", ROOT, "ls-files", "-z"])
    if status != 0:
        return False
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, into / name)
    return True


def check_in_tree(rules, system, place, tree):
    """The tree as a part of another, in full and as the core alone."""
    env = dict(os.environ, PKG_CONFIG_PATH="")
    whole = rules.rule(f"{system} builds the tree as a part of another, and the program runs")
    if system == "cmake":
        alone = rules.rule("cmake is content with the core alone, as fetched")
        folder = folder_for(place, "subdirectory", "CMakeLists.txt",
                            block("cmake", "add_subdirectory"))
        (folder / "third_party").mkdir()
        (folder / "third_party/crest").symlink_to(tree)
        run_steps(rules, whole, cmake_steps(folder, f"-DCMAKE_C_FLAGS={QUICK}",
                                            "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_UNITY_BUILD=ON"),
                  env, folder)
        folder = folder_for(place, "fetched", "CMakeLists.txt", block("cmake", "FetchContent"),
                            reporters=False)
        configured = ["cmake", "-S", folder, "-B", folder / "made", "-DCREST_REPORTERS=OFF",
                      f"-DFETCHCONTENT_SOURCE_DIR_CREST={tree}"]
        listed = ["cmake", "--build", folder / "made", "--target", "help"]
        if run_steps(rules, alone, [configured], env, folder):
            _, targets = command(listed, cwd=folder)
            if "crest" not in targets or "crest_reporters" in targets:
                rules.broken(alone, f"its targets: {targets}")
        return
    alone = rules.rule("meson is content with the core alone where reporters are not asked for")
    text = block("meson", "executable")
    folder = folder_for(place, "subproject", "meson.build", text)
    (folder / "subprojects").mkdir()
    (folder / "subprojects/crest").symlink_to(tree)
    run_steps(rules, whole, meson_steps(folder, "-Doptimization=0",
                                        "-Ddefault_library=static", "--unity=on"), env, folder)
    (folder / "meson.build").write_text(text.replace(
        "'crest-reporters', fallback: 'crest'",
        "'crest', fallback: 'crest', default_options: 'reporters=false'"))
    configured = ["meson", "setup", folder / "core", folder]
    if run_steps(rules, alone, [configured], env, folder) and any(
            (folder / "core").rglob("*crest-reporters*")):
        rules.broken(alone, "it builds the reporters")


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
            check_installed(rules, system, prefix, False, place)
        check_static(rules, prefix, place)
        if "cmake" in systems:
            check_versions(rules, prefix, place)
        # the linker takes a shared library before an archive of the same name
        for shared in (prefix / "lib").glob("*.so*"):
            shared.unlink()
        for system in systems:
            check_installed(rules, system, prefix, True, place)
        tree = place / "tree"
        tree.mkdir()
        if not copy_of_tree(tree):
            skip("this tree is not a clone: there is no list of its files")
        for system in systems:
            check_in_tree(rules, system, place, tree)
    rules.finish()


if __name__ == "__main__":
    main()
