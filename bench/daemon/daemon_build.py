# SPDX-License-Identifier: Apache-2.0
"""Fetches memcached and mosquitto as Debian has them, patches them, and builds their variants.

Debian's own tools fetch, with the sources that /etc/apt names; their kind is changed to deb-src in
a copy, so that the machine's settings stay as they are. What was fetched is kept.
"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("CREST_BUILD") or ROOT / "build/release").resolve()
PLACE = ROOT / "build/daemon"
CC = os.environ.get("CC", "gcc")

# In the order of VARIANT in daemon_hooks.h.
VARIANTS = ["empty", "crest", "crest-unlocked", "atomics", "crest-alone", "crest-stamps"]
CREST = ("crest", "crest-unlocked", "crest-alone", "crest-stamps")
# The version that a patch was made for; apt may bring another, which it may not fit.
DAEMONS = {"memcached": "1.6.18", "mosquitto": "2.0.11"}
# What is left out of mosquitto needs libraries, and no message goes through it.
WITHOUT = [f"WITH_{part}=no" for part in ("TLS", "CJSON", "DOCS", "SRV", "WEBSOCKETS", "SYSTEMD")]


class Unavailable(Exception):
    """The daemons cannot be had here, and why."""


def run(arguments, cwd=None, log=PLACE / "build.log"):
    """Runs a command with its output in the log; the error of a failure has the end of the log."""
    with open(log, "a", encoding="utf-8") as out:
        out.write(f"$ {' '.join(map(str, arguments))}\n")
        out.flush()
        status = subprocess.run([str(part) for part in arguments], cwd=cwd, stdout=out,
                                stderr=subprocess.STDOUT, check=False).returncode
    if status != 0:
        end = "\n".join(log.read_text(encoding="utf-8", errors="replace").split("\n")[-15:])
        raise Unavailable(f"{arguments[0]} failed; the end of {log}:\n{end}")


def apt_settings():
    """A private configuration of apt: the same archives, for their sources, too."""
    apt = PLACE / "apt"
    for folder in ("parts", "lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    places = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for place in places:
        if not place.is_file() or place.suffix not in (".list", ".sources"):
            continue
        text = place.read_text(encoding="utf-8")
        text = re.sub(r"^Types:.*$", "Types: deb deb-src", text, flags=re.M)
        text = re.sub(r"^deb (.*)$", r"deb \1\ndeb-src \1", text, flags=re.M)
        (apt / "parts" / place.name).write_text(text, encoding="utf-8")
    return ["-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={apt}/parts",
            "-o", f"Dir::State::lists={apt}/lists", "-o", f"Dir::Cache={apt}/cache",
            "-o", "APT::Sandbox::User=root"]


def fetch():
    """The daemons' sources, and the libevent that memcached is linked with."""
    sources = PLACE / "sources"
    if (PLACE / "fetched").exists():
        return
    for command in ("apt-get", "dpkg-source", "patch"):
        if shutil.which(command) is None:
            raise Unavailable(f"{command} is missing: this is for Debian with dpkg-dev and patch")
    shutil.rmtree(sources, ignore_errors=True)
    sources.mkdir(parents=True)
    settings = apt_settings()
    run(["apt-get", *settings, "-q", "update"])
    run(["apt-get", *settings, "-q", "source", *DAEMONS], cwd=sources)
    run(["apt-get", *settings, "-q", "download", "libevent-dev"], cwd=sources)
    run(["dpkg-deb", "-x", next(sources.glob("libevent-dev_*.deb")), PLACE / "libevent"])
    # only the archives, which need nothing at run time
    for shared in (PLACE / "libevent").rglob("*.so"):
        shared.unlink()
    (PLACE / "fetched").touch()


def unpatched(daemon):
    found = [path for path in (PLACE / "sources").glob(f"{daemon}-*") if path.is_dir()]
    if len(found) != 1:
        raise Unavailable(f"{daemon}: not one folder of sources in {PLACE}/sources")
    return found[0]


def patched(daemon):
    """The daemon's sources with our patch; made anew when the patch has changed."""
    patch, place = HERE / f"{daemon}.patch", PLACE / daemon / "patched"
    mark = PLACE / daemon / "patch"
    if mark.exists() and mark.read_bytes() == patch.read_bytes():
        return place
    shutil.rmtree(PLACE / daemon, ignore_errors=True)
    shutil.copytree(unpatched(daemon), place, symlinks=True)
    try:
        run(["patch", "-p1", "-i", patch], cwd=place)
    except Unavailable as why:
        raise Unavailable(f"{patch.name} is for {daemon} {DAEMONS[daemon]}, and does not fit "
                          f"{unpatched(daemon).name}: {why}") from why
    if daemon == "memcached":
        libevent = next((PLACE / "libevent").rglob("libevent.a")).parent
        run(["./configure", "-q", f"CC={CC}", f"CPPFLAGS=-I{PLACE}/libevent/usr/include",
             f"LDFLAGS=-L{libevent}"], cwd=place)
    mark.write_bytes(patch.read_bytes())
    return place


def made_of(variant, *words):
    """A hash over all inputs of a variant, but the daemon itself."""
    parts = [*HERE.glob("*.[ch]"), *((ROOT / "include").rglob("*.h") if variant in CREST else ())]
    mark = hashlib.sha256(repr(words).encode())
    for part in sorted(parts):
        mark.update(part.read_bytes())
    return mark.hexdigest()


def build(daemon, variant):
    """The program of a variant, compiled as its users would: -O2, a PIE, with the shared library.
    Made anew when something of ours in it has changed."""
    source, place = patched(daemon), PLACE / daemon / variant
    program = place / ("memcached" if daemon == "memcached" else "src/mosquitto")
    mark = place / "made-of"
    made = made_of(variant, CC, str(BUILD), WITHOUT)
    if program.exists() and mark.exists() and mark.read_text(encoding="utf-8") == made:
        return program
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(source, place, symlinks=True)
    metrics = place / "hooks_metrics.o"
    flags = (f"-O2 -g -std=gnu11 -pthread -w -DVARIANT={VARIANTS.index(variant)} "
             f"-DDAEMON_METRICS='<metrics_{daemon}.h>' -I{HERE} -I{ROOT}/include")
    run(["sh", "-c", f"{CC} {flags} -c {HERE}/hooks_metrics.c -o {metrics}"])
    library = (f"-Wl,--no-as-needed {BUILD}/lib/libcrest.so {BUILD}/lib/libcrest-reporters.so "
               f"-Wl,-rpath,{BUILD}/lib")
    libraries = f"{metrics} {library if variant in CREST else ''}"
    if daemon == "memcached":
        includes = f"-DHAVE_CONFIG_H -DNDEBUG -I. -I{PLACE}/libevent/usr/include"
        run(["make", "-j2", f"CFLAGS={flags} {includes}", f"LIBS={libraries} -levent", "memcached"],
            cwd=place)
    else:
        run(["make", "-j2", "-C", "src", *WITHOUT, f"CC={CC}", f"CFLAGS={flags} -DNDEBUG",
             f"BROKER_LDADD={libraries} -ldl -lm -lrt", "mosquitto"], cwd=place)
    mark.write_text(made, encoding="utf-8")
    return program


def build_tools():
    """The load, and what tells how many instructions the C library's clock takes."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for tool in ("daemon_load", "clock_steps"):
        run([CC, "-O2", "-Wall", "-Wextra", "-o", PLACE / tool, HERE / f"{tool}.c"])
