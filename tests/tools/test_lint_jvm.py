#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=400
"""`crest lint source` over Java and Scala: Kamon, Crest's jar and shims of one's own, and RNode's
Metrics with its implicit sources, wherever these come from."""

import toolslib
from lintlib import lint, manifest, place_files
from toolslib import contains, equal

MANIFEST = manifest(
    "comm.sends, instrument: counter", "comm.peers, instrument: gauge",
    "comm.rp.connect.peers, instrument: gauge", "comm.rp.connect.connect-time, instrument: timer",
    "comm.queue, instrument: range-sampler", "comm.size, instrument: histogram, unit: bytes",
    "comm.kinds, instrument: counter, labels: {kind: {bound: 5}}",
    "comm.a.lock.queue, instrument: gauge", "comm.b.lock.queue, instrument: gauge",
    "comm.rounds, instrument: stages, stages: ['0', '1/3', '1']",
    "comm.rp.blocks, instrument: gauge", "blocks, instrument: counter, status: lost",
    prefixes="comm, blocks").replace("}\n", ", meaning: What it is.}\n")

JAVA = [
    ("a shim", 'class A { void f() { Crest.incrementCounter("comm.sends"); } }', []),
    ("a shim, undeclared", 'class A { void f() { Crest.incrementCounter("comm.sent"); } }',
     [("undeclared-name", 1, "comm.sends")]),
    ("another instrument", 'class A { void f() { Crest.setGauge("comm.sends", 1); } }',
     [("wrong-instrument", 1, "setGauge() makes 'comm.sends' a gauge")]),
    ("a static import", 'import static crest.Crest.*;\nclass A { void f() { setGauge("comm.peer", '
     '1); } }', [("undeclared-name", 2, "comm.peers")]),
    ("the shim itself", 'class Crest { static void incrementCounter(String name) { x(name); } }',
     []),
    ("all verbs", 'class A { void f() { crest.incrementSampler("comm.queue", 1);\n'
     'crest.record("comm.size", 5); metrics.timer("comm.rp.connect.connect-time");\n'
     'crest.decrementGauge("comm.peers"); } }', []),
    ("others' words", 'class A { void f() { video.record("comm.sent"); swing.timer("x"); '
     'crest(); } }', []),
    ("Kamon", 'class A { Object c = Kamon.counter("comm.sends"), g = Kamon.gauge("comm.sends"); }',
     [("wrong-instrument", 1, "Kamon.gauge()")]),
    ("Kamon with a tag", 'class A { Object c = Kamon.counter("comm.kinds").withTag("kind", "x"); }',
     []),
    ("Kamon with another tag", 'class A { Object c = Kamon.counter("comm.kinds")\n  '
     '.withTag("peer", "x"); }', [("wrong-labels", 1, "the label peer here")]),
    ("a constant", 'class A { static final String N = "comm." + "sent";\n'
     'void f() { Crest.incrementCounter(A.N); } }', [("undeclared-name", 2, "comm.sent")]),
    ("a comment", 'class A { /* Crest.incrementCounter("comm.sent") */ // setGauge("x", 1)\n'
     'String s = "Crest.incrementCounter(\\"comm.sent\\")"; }', []),
    ("a text block", 'class A { String s = """\n  Crest.setGauge("comm.sent")\n  """; }', []),
    ("a name in a text block", 'class A { void f() { Crest.incrementCounter("""\n    comm.se\\\n'
     '    nds"""); } }', []),
    ("another one in a text block", 'class A { void f() { Crest.incrementCounter("""\n'
     '  comm.sent"""); } }', [("undeclared-name", 1, "'comm.sent'")]),
    ("a name made at run time", 'class A { void f(int i) { Crest.incrementCounter("x" + i); } }',
     [("run-time-name", 1, "")]),
    ("a method that hands it on", 'class A { void count(String name) { '
     'Crest.incrementCounter(name); }\nvoid g() { count("comm.sent"); } }',
     [("undeclared-name", 2, "comm.sent")]),
]

HEAD = ("import coop.rchain.metrics.Metrics\n"
        "package object comm { val Base: Metrics.Source = Metrics.Source(Root, \"rp.connect\") }\n"
        "object Roots { val Root: Source = Source(\"comm\") }\n")

SCALA = [
    ("an implicit source", 'object A {\n  implicit val s: Metrics.Source =\n    '
     'Metrics.Source(Root, "rp")\n'
     'def f = Metrics[F].setGauge("connect.peers", 1) }', []),
    ("a source by its name", 'object A { implicit private val s: Metrics.Source = Base\n'
     'def f = Metrics[F].setGauge("peers", 1)\ndef g = Metrics[F].setGauge("pears", 1) }',
     [("undeclared-name", 6, "comm.rp.connect.peers")]),
    ("the innermost source", 'object A { implicit val s: Source = Base\nobject B { '
     'implicit val t: Source = Source(Root, "rp")\ndef f = Metrics[F].setGauge("peers", 1) } }',
     [("undeclared-name", 6, "comm.rp.peers")]),
    ("a timer", 'object A { implicit val s: Metrics.Source = Base\n'
     'def f = (for { x <- y } yield x).timer("connect-time") }', []),
    ("a timer with its source", 'object A {\ndef f = x.timer("connect-time")(Metrics[F], Base) }',
     []),
    ("on a line of its own", 'object A { implicit val s: Metrics.Source = Base\n'
     'def f = Metrics[F]\n  .incrementCounter("peers") >> x }', [("wrong-instrument", 6, "")]),
    ("a label handed over", 'class A { implicit val s: Source = Root\nval l = "sent"\n'
     'def log(x: Int, label: String): F[Unit] = Metrics[F].incrementCounter(label)\n'
     'def g = log(1, l)\ndef h = log(2, "sends") }', [("undeclared-name", 6, "comm.sent")]),
    ("a source handed over", 'class Lock[F[_]](m: Metrics.Source) { implicit val s: Source = m\n'
     'def f = Metrics[F].incrementGauge("lock.queue") }\n'
     'object U { new Lock[F](Metrics.Source(Root, "a")); new Lock[F](Metrics.Source(Root, "b")) }',
     []),
    ("an implicit parameter", 'class Lock[F[_]](x: Int)(implicit s: Metrics.Source) {\n'
     'def f = Metrics[F].incrementGauge("lock.queue") }\nobject Lock {\n'
     'def single(implicit s: Metrics.Source) = new Lock(1) }\n'
     'object A { implicit val s: Metrics.Source = Source(Root, "a")\nval l = Lock.single }', []),
    ("interpolated", 'object A { implicit val s: Source = Root\nval p = "se"\n'
     'def f = Metrics[F].incrementCounter(s"${p}nt") }', [("undeclared-name", 6, "comm.sent")]),
    ("interpolated at run time", 'object A { implicit val s: Source = Root\n'
     'def f(i: Int) = Metrics[F].incrementCounter(s"x$i") }', [("run-time-name", 5, "")]),
    ("a comment in a comment", '/* /* */ Metrics[F].incrementCounter("comm.sent") */\n'
     'object A { val c = \'"\'; val t = """Metrics.incrementCounter("x")""" }', []),
    ("strings in strings", 'object A { val t = s"${f("}")} Metrics.incrementCounter("; '
     'val u = Kamon.counter("comm.sent") }', [("undeclared-name", 4, "comm.sent")]),
    ("Kamon", 'object A { val c = Kamon.rangeSampler("comm.queue").refine("kind" -> "x") }',
     [("wrong-labels", 4, "the label kind here")]),
    ("no source at all", 'object A { def f = Metrics[F].incrementCounter("nowhere") }',
     [("run-time-name", 4, "'nowhere' under a source")]),
    ("no source, and an end that a lost name has", 'object A { def f = '
     'Metrics[F].setGauge("blocks", 1) }', []),
    ("an allowed name", 'object A { def f(n: String) =\n// crest-lint: name comm.s*\n'
     'Metrics[F].incrementCounter(n) }', []),
    ("the interface", 'trait Metrics[F[_]] { def incrementCounter(name: String, delta: Long = 1)'
     '(implicit ev: Metrics.Source): F[Unit]\n'
     'def timer[A](name: String, block: F[A]): F[A] = block\n'
     'def incrementSampler(name: String) = m.incrementSampler(name)(ev) }', []),
]


IMPORT = "import io.crest.*;\n"
CREST_JAVA = [
    ("a source", 'class A { static final Source COMM = Source.of("comm");\n'
     'void f() { COMM.incrementCounter("sends"); COMM.setGauge("pears", 1); } }',
     [("undeclared-name", 3, "'comm.pears'")]),
    ("another instrument", 'class A { private static final Source COMM = Source.of("comm");\n'
     'void f() { A.COMM.decrementSampler("sends"); this.COMM.timer("peers", () -> 1); } }',
     [("wrong-instrument", 3, "decrementSampler() makes 'comm.sends' a range-sampler"),
      ("wrong-instrument", 3, "timer() makes 'comm.peers' a timer")]),
    ("a source below a source", 'class A { Source comm = Source.of("comm"), o;\n'
     'Source rp = comm.in("rp"); Source deep = comm.in("rp").in("connect");\n'
     'void f() { rp.setGauge("connect.peers", 1); deep.timer("connect-time", () -> g());\n'
     'deep.record("sizes", 3); } }', [("undeclared-name", 5, "'comm.rp.connect.sizes'")]),
    ("sources in place", 'class A { void f() { Source.of("comm").in("rp." + "connect")\n'
     '.incrementGauge("peers"); Source.root().incrementCounter("comm.sends");\n'
     'Source.root().in("comm").sample("queue"); Source.of("").in("com").sample("queue"); } }',
     [("undeclared-name", 4, "'com.queue'")]),
    ("a stage of a promise", 'class A { Source c = Source.of("comm.rp.connect"); Object f() {\n'
     'return c.timerStage("connect-time", () -> dial()); } }', []),
    ("a duration", 'class A { Source c = Source.of("comm"); void f() {\n'
     'c.recordTimer("rp.connect.connect-time", 5, x); c.recordTimer("size", 5, x); } }',
     [("wrong-instrument", 3, "recordTimer() makes 'comm.size' a timer")]),
    ("a source handed over", 'class A { private final Source s; A(Source of) { this.s = of; }\n'
     'void f() { s.incrementCounter("sent"); s.incrementCounter("sends"); } }\n'
     'class B { Object a = new A(Source.of("comm")); }', [("undeclared-name", 3, "'comm.sent'")]),
    ("a source that is not known", 'class A { void f(Source s) { s.incrementCounter("sends");\n'
     's.incrementCounter("nowhere"); } }', [("run-time-name", 3, "'nowhere' under a source")]),
    ("a name that is not known", 'class A { void f(String x) { Source.of("comm").record(x, 1); } }',
     [("run-time-name", 2, "")]),
    ("a source of others", 'class A { void f() { akka.Source.single(1).record("x"); '
     'source.timer("x"); comm.in("x").counter("y"); } }', []),
    ("the jar itself", 'public final class Source { public void incrementCounter(String name) {\n'
     'incrementCounter(name, 1); }\npublic void incrementCounter(String name, long delta) { '
     'Counter c = counters.find(name); } }', []),
    ("handles", 'class A { Counter c = Counter.of("comm.sent"), d = Counter.of("comm.sends");\n'
     'Gauge g = Gauge.of("comm.peers", "What it is."), h = Gauge.of("comm.sends"); }',
     [("undeclared-name", 2, "'comm.sent'"), ("wrong-instrument", 3, "Gauge.of() makes")]),
    ("others' of", 'class A { List l = List.of("comm.sent"); Object o = Stream.of("comm.x"); }',
     []),
    ("a description", 'class A { Counter c = Counter.of("comm.sends", "What" + " it was."); }',
     [("wrong-description", 2, "'What it was.' here")]),
    ("handles of a source", 'class A { static final Source COMM = Source.of("comm");\n'
     'Counter c = COMM.counter("sends"); Timer t = COMM.timer("sends"), u = COMM.in("rp")\n'
     '.timer("connect.connect-time"); RangeSampler r = COMM.rangeSampler("kinds"); }',
     [("wrong-instrument", 3, "Source.timer() makes 'comm.sends' a timer"),
      ("wrong-instrument", 4, "Source.rangeSampler()")]),
    ("a metric", 'class A { Histogram h = Metric.named("comm.size").describedAs("What it is.")\n'
     '.in(Unit.BYTES).histogram(); }', []),
    ("a metric with other settings", 'class A { Object h = Metric.named("comm.size")\n'
     '.describedAs("Size.").in(Unit.SECONDS).buckets(Buckets.FAST).range(Range.FINE)\n'
     '.labelled("peer").histogram(); }',
     [("wrong-buckets", 2, "the buckets 'fast' here"), ("wrong-description", 2, "'Size.'"),
      ("wrong-labels", 2, "the label peer here"), ("wrong-unit", 2, "the unit seconds here")]),
    ("a metric with bounds of its own", 'class A { Object h = Metric.named("comm.size")\n'
     '.in(io.crest.Unit.BYTES).buckets(1, 2).histogram(); }',
     [("wrong-buckets", 2, "buckets of its own")]),
    ("a family", 'class A { static final String KIND = "kind";\n'
     'Family<Counter> f = Metric.named("comm.kinds").labelled(KIND).counter();\n'
     'Family<Counter> g = Metric.named("comm.sends").labelled("kind", "peer").counter();\n'
     'void f() { Source.of("comm").incrementCounter("kinds"); } }',
     [("wrong-labels", 4, "the labels kind, peer here"), ("wrong-labels", 5, "no labels here")]),
    ("stages", 'class A { Stages s = Stages.of("comm.rounds", "What it is.", "0", "1/3", "1");\n'
     'Stages t = Metric.named("comm.rounds").stages("0", "1");\n'
     'Stages u = Source.of("comm").stages("rounds", "0", "1/3", "1"); }',
     [("wrong-stages", 3, "0, 1 here")]),
    ("a metric of a source", 'class A { static final Source COMM = Source.of("comm");\n'
     'Family<Counter> f = COMM.metric("kinds").labelled("peer").counter();\n'
     'Histogram h = Source.root().in("comm").metric("size").in(Unit.BYTES).histogram();\n'
     'Object o = other.metric("sent"); }',
     [("wrong-labels", 3, "'comm.kinds' has the label peer here")]),
    ("a metric in a variable", 'class A { Metric m = Metric.named("comm.sent"); }',
     [("undeclared-name", 2, "")]),
    ("a metric with a name made at run time", 'class A { Object f(int i) { '
     'return Metric.named("comm.x" + i).counter(); } }', [("run-time-name", 2, "")]),
]

CREST_SCALA = [
    ("a source", 'object A { val comm = Source.of("comm")\nval rp = comm.in("rp")\n'
     'def f = { comm.incrementCounter("sends"); comm.incrementCounter("sent")\n'
     'rp.timer("connect.connect-time", () => 1); rp.setGauge("connect.pears", 1) } }',
     [("undeclared-name", 4, "'comm.sent'"), ("undeclared-name", 5, "'comm.rp.connect.pears'")]),
    ("a source handed over", 'class Peers(source: Source) {\n'
     'def f = source.setGauge("peers", 1)\ndef g = source.setGauge("pears", 1) }\n'
     'object A { new Peers(Source.of("comm").in("rp.connect")) }',
     [("undeclared-name", 4, "'comm.rp.connect.pears'")]),
    ("not the implicit one", 'object A { implicit val s: Metrics.Source = Metrics.Source(x, "b")\n'
     'val comm: Source = Source.of("comm")\ndef f = comm.incrementCounter("sends") }', []),
    ("handles", 'object A { val c = Counter.of("comm.sent")\n'
     'val k = Metric.named("comm.kinds").labelled("peer").counter() }',
     [("undeclared-name", 2, "'comm.sent'"), ("wrong-labels", 3, "the label peer here")]),
    ("in backquotes", 'object A { val rp = Source.of("comm").`in`("rp")\n'
     'def f = rp.`in`("connect").setGauge("pears", 1) }',
     [("undeclared-name", 3, "'comm.rp.connect.pears'")]),
]


def check(place, what, text, wanted, suffix):
    place_files(place, {"m.yaml": MANIFEST, f"x{suffix}": text + "\n"})
    found = lint(place, "source", "-m", "m.yaml", "--partial", "--", f"x{suffix}")
    equal([(rule, line) for rule, _, line, _, _ in sorted(found)],
          [(rule, line) for rule, line, _ in sorted(wanted)], f"{what}:\n{text}\n{found}")
    for (_, _, words), finding in zip(sorted(wanted), sorted(found)):
        contains(finding[4], words, what)


def java_is_understood(place):
    for case in JAVA:
        check(place, *case, ".java")


def scala_is_understood(place):
    for what, text, wanted in SCALA:
        check(place, what, HEAD + text, wanted, ".scala")


def the_jar_is_understood_from_java(place):
    for what, text, wanted in CREST_JAVA:
        check(place, what, IMPORT + text, wanted, ".java")


def the_jar_is_understood_from_scala(place):
    for what, text, wanted in CREST_SCALA:
        check(place, what, IMPORT + text, wanted, ".scala")


def sources_of_the_jar_are_followed_over_files(place):
    place_files(place, {
        "m.yaml": MANIFEST,
        "a/Sources.java": "package a;\nimport io.crest.Source;\nfinal class Sources {\n"
                          'static final Source COMM = Source.of("comm"); }\n',
        "a/Use.java": "package a;\nclass Use { io.crest.Source rp = Sources.COMM.in(\"rp\");\n"
                      'void f() { Sources.COMM.setGauge("pears", 1);\n'
                      'rp.setGauge("connect.pears", 1); } }\n',
        "a/Other.java": "package a;\nclass Other {\n"
                        'void f() { Sources.COMM.incrementCounter("sent"); } }\n'})
    found = lint(place, "source", "-m", "m.yaml", "--partial", "--", "a")
    equal([(finding[1], finding[2], finding[4].split("'")[1]) for finding in sorted(found)],
          [("a/Other.java", 3, "comm.sent"), ("a/Use.java", 3, "comm.pears"),
           ("a/Use.java", 4, "comm.rp.connect.pears")], f"{found}")


def sources_are_followed_over_files(place):
    place_files(place, {
        "m.yaml": MANIFEST,
        "a/package.scala": 'package object a { val Root: Source = Source("comm")\n'
                           'val ASource: Metrics.Source = Metrics.Source(Root, "a") }\n',
        "a/Ops.scala": "abstract class Ops(x: Metrics[F]) { def TheSource: Source\n"
                       "val lock = new Lock(TheSource) }\n",
        "a/Lock.scala": "class Lock(m: Metrics.Source) { implicit val s: Source = m\n"
                        'def f = Metrics[F].setGauge("lock.queue", 1) }\n',
        "a/One.scala": "class One extends Ops(Metrics[F]) {\n"
                       "implicit lazy val TheSource: Source = ASource }\n",
        "a/Two.scala": "class Two extends One(Metrics[F]) {\n"
                       'override implicit lazy val TheSource: Metrics.Source =\n'
                       '  Metrics.Source(Root, "b") }\n'})
    found = lint(place, "source", "-m", "m.yaml", "--", "a")
    told = {finding[4].split("'")[1] for finding in found if finding[0] == "unused-name"}
    equal(told & {"comm.a.lock.queue", "comm.b.lock.queue"}, set(), f"{found}")
    equal([finding for finding in found if finding[0] != "unused-name"], [])


toolslib.main([java_is_understood, scala_is_understood, the_jar_is_understood_from_java,
               the_jar_is_understood_from_scala, sources_of_the_jar_are_followed_over_files,
               sources_are_followed_over_files])
