#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the Scala side of crest-jvm, for Scala 2.12, 2.13 and 3, into build/jvm/scala:

    crest-scala_2.13-0.2.0.jar          io.crest.scala, which needs crest-jvm alone
    crest-cats-effect2_2.13-0.2.0.jar   spans of cats-effect 2, as RNode's
    crest-cats-effect3_2.13-0.2.0.jar   of cats-effect 3
    crest-kamon1_2.12-0.2.0.jar         a reporter for Kamon 1.x, for Scala 2.12 alone

`make jvm-scala` runs it. Maven fetches the compilers and cats-effect, which none of the jars holds.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "jvm-shim/crest-scala"
MADE = ROOT / "build/jvm/scala"
COMPILER = {"2.12": ("org.scala-lang:scala-compiler:2.12.20", "scala.tools.nsc.Main"),
            "2.13": ("org.scala-lang:scala-compiler:2.13.16", "scala.tools.nsc.Main"),
            "3": ("org.scala-lang:scala3-compiler_3:3.3.6", "dotty.tools.dotc.Main")}
# 2.5.4 is the last of cats-effect 2 that there is for all three.
CATS = {"2": "org.typelevel:cats-effect_{}:2.5.4", "3": "org.typelevel:cats-effect_{}:3.5.7"}
# The last of Kamon 1.x; slf4j-simple for the test, which brings the rest of slf4j along.
KAMON1 = {"kamon1": "io.kamon:kamon-core_2.12:1.1.6", "slf4j": "org.slf4j:slf4j-simple:1.7.36"}
OF_KAMON1 = ["kamon1/Kamon1Reporter.scala"]
CORE = ["core/package.scala", "core/Words.scala", "core/SpanEffect.scala", "core/Spans.scala"]
OF_CATS = {"2": ["cats2/CatsEffect2.scala", "both/ContextReader.scala"],
           "3": ["cats3/CatsEffect3.scala", "both/ContextReader.scala"]}
OPTIONS = {"2.12": ["-Xfatal-warnings", "-deprecation", "-feature", "-language:higherKinds",
                    "-language:implicitConversions", "-target:jvm-1.8"],
           "2.13": ["-Werror", "-deprecation", "-feature", "-language:implicitConversions",
                    "-release", "11"],
           "3": ["-Werror", "-deprecation", "-feature", "-language:implicitConversions",
                 "-release", "11"]}
TIMEOUT_S = 900
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>io.crest</groupId><artifactId>crest-{name}</artifactId><version>1</version>
<packaging>pom</packaging>{rest}</project>
"""
PLUGIN = """<build><plugins><plugin><artifactId>maven-dependency-plugin</artifactId>
<version>3.8.1</version><configuration>
<outputFile>${project.basedir}/classpath</outputFile></configuration></plugin></plugins></build>"""


class NotFetched(Exception):
    """Maven could not fetch what is needed."""


def wanted():
    """What Maven is asked for, by the name of the class path."""
    paths = {f"compiler-{scala}": artifact for scala, (artifact, _) in COMPILER.items()}
    for scala in COMPILER:
        for cats, artifact in CATS.items():
            paths[f"cats{cats}-{scala}"] = artifact.format(scala)
    return {**paths, **KAMON1}


def fetch():
    """The class paths, which Maven has to say only once."""
    poms = MADE / "poms"
    paths = {name: poms / name / "classpath" for name in wanted()}
    known = poms / "known"
    asked = repr(sorted(wanted().items()))
    if known.exists() and known.read_text(encoding="utf-8") == asked:
        texts = {name: path.read_text(encoding="utf-8").strip() for name, path in paths.items()}
        if all(os.path.exists(entry) for text in texts.values() for entry in text.split(":")):
            return texts
    for name, artifact in wanted().items():
        group, identity, version = artifact.split(":")
        (poms / name).mkdir(parents=True, exist_ok=True)
        rest = (f"<dependencies><dependency><groupId>{group}</groupId><artifactId>{identity}"
                f"</artifactId><version>{version}</version></dependency></dependencies>{PLUGIN}")
        (poms / name / "pom.xml").write_text(POM.format(name=name, rest=rest), encoding="utf-8")
    modules = "".join(f"<module>{name}</module>" for name in wanted())
    rest = f"<modules>{modules}</modules>{PLUGIN}"
    (poms / "pom.xml").write_text(POM.format(name="all", rest=rest), encoding="utf-8")
    done = subprocess.run(
        [*os.environ.get("MVN", "mvn").split(), "-B", "-q", "-Dstyle.color=never", "-f",
         poms / "pom.xml", "dependency:build-classpath"], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise NotFetched(done.stdout[-4000:])
    known.write_text(asked, encoding="utf-8")
    return {name: path.read_text(encoding="utf-8").strip() for name, path in paths.items()}


def library(compiler):
    """The entries of a compiler's class path that a program needs."""
    return [entry for entry in compiler.split(":")
            if "/scala-library-" in entry or "/scala3-library_3-" in entry]


def sources(*lists):
    return [HERE / name for names in lists for name in names]


def compiled(java, paths, scala, files, path, into):
    """Compiles sources into a folder."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    compiler = paths[f"compiler-{scala}"]
    subprocess.run(
        [java, "-Xss8m", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp", compiler, COMPILER[scala][1],
         *OPTIONS[scala], "-d", into, "-classpath",
         ":".join(map(str, [*path, *library(compiler)])), *map(str, files)], check=True,
        timeout=TIMEOUT_S)
    return into


def jar_of(classes, name, version, wanted):
    """Packs the classes of a folder whose paths are wanted."""
    target = MADE / f"{name}-{version}.jar"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as jar:
        jar.write(ROOT / "LICENSE", "META-INF/LICENSE")
        for entry in sorted(classes.rglob("*")):
            inside = entry.relative_to(classes)
            if entry.is_file() and wanted(inside):
                jar.write(entry, inside)
    print(f"  SCALA {target.relative_to(ROOT)}", flush=True)
    return target


def of_cats(path):
    return "catseffect" in path.parts


def made(java, jar, scala, version, paths):
    """Makes the three jars for one Scala, by two calls of its compiler, which is slow to start."""
    classes = compiled(java, paths, scala, sources(CORE, OF_CATS["2"]),
                       [jar, *paths[f"cats2-{scala}"].split(":")], MADE / f"classes/{scala}")
    facade = jar_of(classes, f"crest-scala_{scala}", version, lambda path: not of_cats(path))
    jar_of(classes, f"crest-cats-effect2_{scala}", version, of_cats)
    classes = compiled(java, paths, scala, sources(OF_CATS["3"]),
                       [jar, facade, *paths[f"cats3-{scala}"].split(":")],
                       MADE / f"classes/{scala}")
    jar_of(classes, f"crest-cats-effect3_{scala}", version, of_cats)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--jar", required=True, type=pathlib.Path, help="crest-jvm's")
    parser.add_argument("--version", required=True)
    parser.add_argument("--java", default="java")
    parser.add_argument("--scala", nargs="*", default=list(COMPILER))
    given = parser.parse_args()
    try:
        paths = fetch()
    except NotFetched as error:
        sys.exit(f"no Scala compiler: Maven could not fetch it\n{error}")
    if "2.12" in given.scala:
        classes = compiled(given.java, paths, "2.12", sources(OF_KAMON1),
                           [given.jar, *paths["kamon1"].split(":")], MADE / "classes/kamon1")
        jar_of(classes, "crest-kamon1_2.12", given.version, lambda path: True)
    for scala in given.scala:
        made(given.java, given.jar, scala, given.version, paths)


if __name__ == "__main__":
    main()
