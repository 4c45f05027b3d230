#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=600 slow
"""HdrHistogram for Java, Go, JavaScript, Python and Rust read what Crest writes, cell by cell, and
Crest reads what they write; its table of percentiles is Java's, byte for byte.

Each is fetched from its registry once, at the version below, into build/hdr_readers; without its
compiler, or where it cannot be fetched, its part is skipped with the reason.
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CREST_BUILD") or ROOT / "build/release").resolve()
SOURCES = ROOT / "tests/hdr_readers"
MADE = ROOT / "build/hdr_readers"
PROGRAM = BUILD / "tests/programs/hlog_program"
CREST = [ROOT / "tools/crest", "hlog"]
MAVEN = "org.hdrhistogram:HdrHistogram:2.2.2"
PYPI = "hdrhistogram==0.10.8"
EXIT_SKIPPED = 77
LINES = 3000
TAGS = {"d1", "d2", "d3", "d4", "d5"}


class Skip(Exception):
    """A reader is not to be had."""


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300,
                          env={**os.environ, "CREST_LIBEXEC": str(BUILD / "libexec")}, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}"[-1500:])
    return done.stdout


def fetch(name, program, *commands, cwd=None):
    """Runs the commands unless they were run for these sources."""
    if not shutil.which(program):
        raise Skip(f"{program} is not installed")
    folder = MADE / name
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(SOURCES.rglob("*"))
                   if path.is_file()) + repr(commands)
    stamp = folder / "made"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == text:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for command in commands:
        try:
            run(*command, cwd=cwd or folder)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            raise Skip(f"it cannot be made: {str(error)[-300:]}") from None
    stamp.write_text(text, encoding="utf-8")
    return folder


def java():
    folder = fetch("java", "mvn", ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={MAVEN}",
                                   f"-DoutputDirectory={MADE / 'java'}"],
                   ["javac", "-cp", f"{MADE / 'java/HdrHistogram-2.2.2.jar'}", "-d", ".",
                    SOURCES / "HdrReader.java"])
    return ["java", "-cp", f"{folder}:{folder / 'HdrHistogram-2.2.2.jar'}", "HdrReader"]


def golang():
    folder = fetch("go", "go", ["go", "build", "-o", MADE / "go/reader", "."], cwd=SOURCES / "go")
    return [folder / "reader"]


def javascript():
    folder = fetch("js", "npm", ["cp", SOURCES / "package.json", SOURCES / "hdr_reader.js", "."],
                   ["npm", "install", "--no-audit", "--no-fund", "--silent"])
    return ["node", folder / "hdr_reader.js"]


def python():
    folder = fetch("py", sys.executable, [sys.executable, "-m", "pip", "install", "-q", "--target",
                                          ".", PYPI])
    return ["env", f"PYTHONPATH={folder}", sys.executable, SOURCES / "hdr_reader.py"]


def rust():
    folder = fetch("rust", "cargo", ["cargo", "build", "-q", "--locked", "--manifest-path",
                                     SOURCES / "rust/Cargo.toml", "--target-dir", "."])
    return [folder / "debug/hdr-reader"]


READERS = {"Java": java, "Go": golang, "JavaScript": javascript, "Python": python, "Rust": rust}


def values(path):
    """Lines of "TAG DIGITS VALUE COUNT": small and large values, corners of buckets, many counts.
    Python's library asks for values from 1 on."""
    numbers = random.Random(6)
    with open(path, "w", encoding="ascii") as out:
        for number in range(LINES):
            digits = 1 + number % 5
            power = numbers.randrange(1, 42)
            value = numbers.choice([1 << power, (1 << power) - 1, numbers.randrange(1, 1 << power),
                                    numbers.randrange(1, 300)])
            count = numbers.choice([1, 1, 2, 70, 100_000])
            out.write(f"d{digits} {digits} {value} {count}\n")


def cells(text):
    """Of lines "TAG VALUE … COUNT", the sum of the counts of each tag and value."""
    found = {}
    for line in text.splitlines():
        tag, value, *_, count = line.split()
        key = tag, int(value)
        if tag in TAGS:  # and not what Crest counts of its own reports
            found[key] = found.get(key, 0) + int(count)
    return found


def differ(name, found, wanted):
    if found == wanted:
        return []
    keys = [key for key in found.keys() | wanted.keys() if found.get(key) != wanted.get(key)]
    some = [f"{key}: {found.get(key)} instead of {wanted.get(key)}" for key in sorted(keys)[:5]]
    return [f"{name}: {len(keys)} cells differ, {'; '.join(some)}"]


def main():
    MADE.mkdir(parents=True, exist_ok=True)
    passed, failed, skipped = 0, [], 0
    with tempfile.TemporaryDirectory(prefix="crest-hlog-") as folder:
        given, log, theirs = (pathlib.Path(folder) / name
                              for name in ("values", "a.hlog", "b.hlog"))
        values(given)
        run(PROGRAM, given, log)
        wanted = cells(run(*CREST, "--buckets", log))
        total = sum(int(line.split()[3]) for line in given.read_text().splitlines())
        if sum(wanted.values()) != total:
            failed.append(f"crest hlog has {sum(wanted.values())} of {total} records")
        for name, make in READERS.items():
            try:
                reader = make()
            except Skip as why:
                print(f"skip {name}: {why}")
                skipped += 1
                continue
            wrong = differ(f"{name} reads Crest's", cells(run(*reader, "read", log)), wanted)
            run(*reader, "write", given, theirs)
            wrong += differ(f"Crest reads {name}'s", cells(run(*CREST, "--buckets", theirs)),
                            wanted)
            if name == "Java":
                table = run(*reader, "table", theirs, "1000")
                ours = "".join(line for line in run(*CREST, "--percentiles", "--ratio=1000", theirs)
                               .splitlines(keepends=True) if not line.startswith("#[Tag"))
                if ours != table:
                    wrong.append("the table of percentiles is not Java's")
            failed += wrong

            passed += 2 - len(wrong)
            print(f"{'FAIL' if wrong else 'ok  '} {name}: {len(wanted)} cells")
    for line in failed:
        print(f"FAIL {line}")
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    sys.exit(1 if failed else 0 if passed else EXIT_SKIPPED)


if __name__ == "__main__":
    main()
