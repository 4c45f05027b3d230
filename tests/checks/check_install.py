#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=300
"""Installs into a temporary folder and uses the result as somebody else would.

consumer.c is compiled as C and C++ with what pkg-config says, against the shared libraries, the
archives, and with --as-needed, and run. Then `make uninstall` must leave nothing behind.
"""

import os
import pathlib
import re
import shlex
import shutil

from checklib import CC, CXX, ROOT, TWINS, Rules, command, skip, temporary_folder

PREFIX = "/usr/local"
CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer.c"
PLUGIN = CONSUMER.with_name("plugin.c")
LANGUAGES = [
    ("C", [*CC, "-x", "c", "-std=gnu11"]),
    ("C++", [*CXX, "-x", "c++", "-std=gnu++17"]),
]
STRICT = ["-Wall", "-Wextra", "-Werror", "-O2"]
VIEWS = "the library's manifests, dashboard and rules are installed"
TOOLS = "the installed tools run from where they were put, and have manuals"
RELEASE = "manuals, the tool, debian/changelog and docs/jvm.md say the Makefile's release"
INSTALLED = "make install puts headers, libraries and .pc files in place"
UNINSTALLED = "make uninstall leaves nothing behind"


def make(goal, destination):
    settings = shlex.split(os.environ.get("CREST_MAKE_SETTINGS", ""))
    return command([os.environ.get("MAKE", "make"), "-C", ROOT, "--no-print-directory", goal,
                    *settings, f"DESTDIR={destination}", f"PREFIX={PREFIX}",
                    f"LIBDIR={PREFIX}/lib"])


def pkg_config(root, *arguments):
    """What pkg-config says about the libraries installed below root."""
    env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=str(root),
               PKG_CONFIG_LIBDIR=f"{root}{PREFIX}/lib/pkgconfig")
    status, output = command(["pkg-config", *arguments], env=env)
    return output.split() if status == 0 else [f"--pkg-config-failed:{output.strip()}"]


def check_installed(rules, root, version):
    library = f"{root}{PREFIX}/lib"
    for name in ("libcrest", "libcrest-reporters"):
        for suffix in (".a", ".so", ".so.0", f".so.{version}"):
            if not os.path.exists(f"{library}/{name}{suffix}"):
                rules.broken(INSTALLED, f"no {name}{suffix}")
    for place in (ROOT / "include", TWINS):
        for header in place.rglob("*.h*"):
            if not os.path.exists(f"{root}{PREFIX}/include/{header.relative_to(place)}"):
                rules.broken(INSTALLED, f"no {header.relative_to(place)}")
    jar = os.path.exists(f"{root}{PREFIX}/share/java/crest-jvm.jar")
    if jar != (ROOT / "build/jvm/built").exists():
        rules.broken(INSTALLED, f"the jar is {'' if jar else 'not '}installed")
    for package in ("crest", "crest-reporters"):
        if pkg_config(root, "--modversion", package) != [version]:
            rules.broken(INSTALLED, f"{package}.pc does not say {version}")


def check_views(rules, root):
    """What the library's own metrics look like, and the manifests that say what they are."""
    share = pathlib.Path(f"{root}{PREFIX}/share/crest")
    manifests = {path.name for folder in ("catalogue", "jvm-shim")
                 for path in (ROOT / folder).rglob("*.metrics.yaml")}
    for name in sorted(manifests | {"crest_dashboard.json", "crest_rules.yml"}):
        if not (share / name).exists():
            rules.broken(VIEWS, f"no {share / name}")
    if not manifests:
        rules.broken(VIEWS, "there are no manifests below src and jvm-shim")


def check_tools(rules, root):
    """Each finds its package below share/crest, of whatever folder it was installed into."""
    for tool in [ROOT / "tools/crest", *sorted((ROOT / "tools").glob("crest-*"))]:
        program = f"{root}{PREFIX}/bin/{tool.name}"
        status, output = command([program, "--help"], cwd="/")
        if status != 0 or tool.name.replace("-", " ") not in output:
            rules.broken(TOOLS, f"{tool.name} --help: exit status {status}: {output.strip()}")
    for page in sorted((ROOT / "docs/man").glob("*.1")):
        installed = f"{root}{PREFIX}/share/man/man1/{page.name}"
        if not os.path.exists(installed):
            rules.broken(TOOLS, f"no {installed}")
        elif shutil.which("man"):
            status, output = command(["man", "--warnings", "-l", installed], cwd="/",
                                     env=dict(os.environ, MANPAGER="cat", LC_ALL="C.UTF-8"))
            if status != 0 or "warning:" in output:
                rules.broken(TOOLS, f"{page.name}: {output.strip()[:500]}")
    status, output = command([f"{root}{PREFIX}/bin/crest", "catalogue", "list",
                              ROOT / "examples/28_catalogue.metrics.yaml"], cwd="/")
    if "mempool.transactions-waiting" not in output and "PyYAML" not in output:
        rules.broken(TOOLS, f"crest catalogue list: exit status {status}: {output.strip()}")


def check_release(rules, root, version):
    """What cannot read the Makefile says the same release."""
    status, output = command([f"{root}{PREFIX}/bin/crest", "--version"], cwd="/")
    if output.split() != ["crest", version]:
        rules.broken(RELEASE, f"crest --version: exit status {status}: {output.strip()}")
    for page in sorted((ROOT / "docs/man").glob("*.1")):
        if f'"Crest {version}"' not in page.read_text(encoding="utf-8"):
            rules.broken(RELEASE, f"{page.name}: its .TH has not \"Crest {version}\"")
    log = ROOT / "debian/changelog"
    if log.exists() and not log.read_text(encoding="utf-8").startswith(f"crest ({version}-"):
        rules.broken(RELEASE, f"debian/changelog does not begin with crest ({version}-")
    jvm = ROOT / "docs/jvm.md"
    for named in set(re.findall(r"crest-jvm-(\d[\d.]*\d)\.jar", jvm.read_text(encoding="utf-8"))):
        if named != version:
            rules.broken(RELEASE, f"docs/jvm.md names crest-jvm-{named}.jar")


def check_consumer(rules, root, folder, name, packages, options, static=False):
    """Builds consumer.c in both languages and runs it. Returns what the programs need."""
    asked = [*(["--static"] if static else []), "--cflags", "--libs", *packages]
    for language, compiler in LANGUAGES:
        rule = rules.rule(f"a {language} program links with {name} and runs")
        program = pathlib.Path(folder) / "consumer"
        status, output = command([*compiler, *STRICT, *options[0], CONSUMER, "-x", "none",
                                  "-o", program, *options[1], *pkg_config(root, *asked)])
        if status != 0:
            rules.broken(rule, output.strip())
            continue
        env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": f"{root}{PREFIX}/lib"}
        status, output = command([program], env=env, timeout=300)
        if status != 0:
            rules.broken(rule, f"exit status {status}: {output.strip()}")
        _, dynamic = command(["readelf", "-d", program])
        needed = set(re.findall(r"\(NEEDED\).*\[(libcrest.*)\]", dynamic))
        wanted = set() if static else {f"lib{package}.so.0" for package in packages}
        if not static and "crest-reporters" in packages:
            # libcrest itself comes with what the program calls of it.
            wanted |= {"libcrest.so.0"}
        if needed != wanted:
            rules.broken(rule, f"it needs {sorted(needed)} instead of {sorted(wanted)}")


def check_plugin(rules, root, folder):
    """A plugin that links the archive may be closed while threads that recorded live on."""
    rule = rules.rule("a plugin with the archive of libcrest in it can be closed")
    plugin, host = pathlib.Path(folder) / "plugin.so", pathlib.Path(folder) / "host"
    for arguments in ([*CC, *STRICT, "-shared", "-fPIC", PLUGIN, "-o", plugin,
                       *pkg_config(root, "--static", "--cflags", "--libs", "crest")],
                      [*CC, *STRICT, "-DHOST", PLUGIN, "-o", host, "-ldl", "-lpthread"],
                      [host, plugin]):
        status, output = command(arguments, timeout=300)
        if status != 0:
            rules.broken(rule, f"exit status {status} of {arguments[0]}: {output.strip()}")
            return


def main():
    if not shutil.which("pkg-config"):
        skip("pkg-config is not installed (make deps)")
    version = re.search(r"^VERSION\s*:=\s*(\S+)", (ROOT / "Makefile").read_text(), re.M).group(1)
    rules = Rules()
    rules.rule(INSTALLED)
    with temporary_folder() as folder:
        root = pathlib.Path(folder) / "root"
        status, output = make("install", root)
        if status != 0:
            rules.broken(INSTALLED, output)
            rules.finish()
        check_installed(rules, root, version)
        rules.rule(VIEWS)
        check_views(rules, root)
        rules.rule(TOOLS)
        check_tools(rules, root)
        rules.rule(RELEASE)
        check_release(rules, root, version)
        reporters = ["-DWITH_REPORTERS"]
        check_consumer(rules, root, folder, "libcrest alone", ["crest"], ([], []))
        check_consumer(rules, root, folder, "both shared libraries", ["crest-reporters"],
                       (reporters, []))
        check_consumer(rules, root, folder, "both shared libraries under --as-needed",
                       ["crest-reporters"], (reporters, ["-Wl,--as-needed"]))
        static = pathlib.Path(folder) / "static"
        shutil.copytree(root, static, symlinks=True)
        for shared in (static / PREFIX[1:] / "lib").glob("*.so*"):
            shared.unlink()
        check_consumer(rules, static, folder, "the archive of libcrest alone", ["crest"], ([], []),
                       static=True)
        check_consumer(rules, static, folder, "both archives", ["crest-reporters"],
                       (reporters, []), static=True)
        check_plugin(rules, static, folder)
        rules.rule(UNINSTALLED)
        status, output = make("uninstall", root)
        left = [path for path in root.rglob("*") if not path.is_dir()]
        if status != 0 or left:
            rules.broken(UNINSTALLED, f"{output.strip()} {left}")
    rules.finish()


if __name__ == "__main__":
    main()
