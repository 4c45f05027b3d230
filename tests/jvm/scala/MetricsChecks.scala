// SPDX-License-Identifier: Apache-2.0
package rnode.metrics

import io.crest.{Crest, PageFormat, Source => CrestSource}
import java.io.IOException
import java.util.concurrent.{Callable, CancellationException, CountDownLatch, TimeoutException}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.{Await, Future, Promise}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}

/** What the trait of examples/jvm/scala promises; run by tests/jvm/test_scala.py. */
object MetricsChecks {
  import Metrics.syntax._

  private val Root = CrestSource.of("checks")
  private implicit val ofTry: Metrics[Try] = Metrics.crest[Try]
  private implicit val ofFuture: Metrics[Future] = Metrics.crest[Future]

  private var passed, failed = 0

  private def value(sample: String): Double =
    Crest
      .page(PageFormat.TEXT)
      .split('\n')
      .find(_.startsWith(sample + " "))
      .fold(0.0)(line => line.substring(sample.length + 1).toDouble)

  private def ended(timer: String, outcome: String): Double =
    value(s"""checks_${timer}_seconds_count{outcome="$outcome"}""")

  private def misuse(cause: String): Double = value(s"""crest_misuse_total{cause="$cause"}""")

  private def same(what: String, found: Any, wanted: Any): Unit =
    if (found != wanted) throw new AssertionError(s"$what: found $found, wanted $wanted")

  private def wait[A](future: Future[A]): Try[A] =
    Await.ready(future, 30.seconds).value.getOrElse(Failure(new TimeoutException))

  private def check(name: String)(body: => Unit): Unit =
    try {
      body
      passed += 1
      println(s"ok   $name")
    } catch {
      case wrong: Throwable =>
        failed += 1
        println(s"FAIL $name: $wrong")
        wrong.printStackTrace(System.out)
    }

  private def words(): Unit = {
    implicit val source: Metrics.Source = Metrics.Source(Root, "words")
    val M = Metrics[Try]
    M.incrementCounter("events")
    M.incrementCounter("events", 4)
    M.incrementSampler("queue")
    M.incrementSampler("queue", 2)
    M.incrementSampler("queue", -1)
    M.sample("idle")
    M.setGauge("level", 10)
    M.incrementGauge("level")
    M.incrementGauge("level", 4)
    M.decrementGauge("level")
    M.decrementGauge("level", 2)
    M.record("size", 100)
    M.record("size", 50, 3)
    same("counter", value("checks_words_events_total"), 5.0)
    same("sampler", value("checks_words_queue"), 2.0)
    same("gauge", value("checks_words_level"), 12.0)
    same("count", value("checks_words_size_count"), 4.0)
    same("sum", value("checks_words_size_sum"), 250.0)
    same("nested", Metrics.Source(Metrics.Source(Root, "a"), "b").name, "checks.a.b")
    same("base", Metrics.BaseSource.name, "rchain")
  }

  private def blocksThatFail(): Unit = {
    implicit val source: Metrics.Source = Root
    val refused = new IOException("refused")
    same("a result", Try(7).timer("tried"), Success(7))
    same("a failure", Try[Int](throw refused).timer("tried"), Failure(refused))
    same("a deadline", Try[Int](throw new TimeoutException).timer("tried").isFailure, true)
    val fatal = new NoClassDefFoundError("nobody should catch it")
    val seen =
      try {
        ofTry.timer[Int]("tried", throw fatal)
        None
      } catch { case thrown: NoClassDefFoundError => Some(thrown) }
    same("what is fatal", seen, Some(fatal))
    same("ok", ended("tried", "ok"), 1.0)
    same("error", ended("tried", "error"), 2.0)
    same("timeout", ended("tried", "timeout"), 1.0)
  }

  private def futuresThatFail(): Unit = {
    implicit val source: Metrics.Source = Root
    val promised = Promise[Int]()
    val pending = promised.future.timer("future")
    same("not yet", ended("future", "ok"), 0.0)
    promised.success(1)
    same("a result", wait(pending), Success(1))
    same("elsewhere", wait(Future[Int](throw new IOException).timer("future")).isFailure, true)
    val stopped = Future.failed[Int](new CancellationException).timer("future")
    same("cancelled", wait(stopped).isFailure, true)
    val thrown = ofFuture.timer[Int]("future", throw new IllegalStateException("not even begun"))
    same("thrown instead", wait(thrown).isFailure, true)
    same("ok", ended("future", "ok"), 1.0)
    same("error", ended("future", "error"), 2.0)
    same("cancelled", ended("future", "cancelled"), 1.0)
  }

  private def blocksAreDoneOnce(): Unit = {
    implicit val source: Metrics.Source = Root
    val times = new AtomicInteger
    Try(times.incrementAndGet()).timer("once")
    wait(Future(times.incrementAndGet()).timer("once"))
    Metrics[Try].incrementCounter("taken")
    val before = misuse("type-clash")
    same("no such timer", Try(times.incrementAndGet()).timer("taken"), Success(3))
    same("counted", misuse("type-clash"), before + 1)
    val names = misuse("invalid-name")
    same("no name", Try(times.incrementAndGet()).timer("no name"), Success(4))
    same("null", Metrics[Try].incrementCounter(null), Success(()))
    same("counted", misuse("invalid-name"), names + 2)
  }

  private def lock(name: String, metric: String) = value(s"checks_${name}_lock_$metric")

  private def locksThatBlock(): Unit = {
    implicit val source: Metrics.Source = Metrics.Source(Root, "blocking")
    val semaphore = MetricsSemaphore.blocking(1)
    for (i <- 1 to 20) {
      val result = semaphore.withPermit(Try {
        same("one is in", lock("blocking", "permit"), 1.0)
        same("nobody waits", lock("blocking", "queue"), 0.0)
        if (i % 2 == 0) throw new IOException("failed inside")
        i
      })
      same("comes out", result.isFailure, i % 2 == 0)
    }
    same("fatal", Try(try {
      semaphore.withPermit[Int](throw new NoClassDefFoundError)
      "nothing"
    } catch { case _: NoClassDefFoundError => "thrown" }), Success("thrown"))
    same("the permit came back", semaphore.withPermit(Try("in")), Success("in"))
    same("permit", lock("blocking", "permit"), 0.0)
    same("queue", lock("blocking", "queue"), 0.0)
    same("acquired", ended("blocking_lock_acquire", "ok"), 22.0)
  }

  private def locksWithWaiters(): Unit = {
    implicit val source: Metrics.Source = Metrics.Source(Root, "waiting")
    val semaphore = MetricsSemaphore.async(3)
    val inside, most = new AtomicInteger
    val open = Promise[Unit]()
    val all = (1 to 200).map { i =>
      semaphore.withPermit {
        most.accumulateAndGet(inside.incrementAndGet(), (a, b) => a max b)
        open.future.map { _ =>
          inside.decrementAndGet()
          if (i % 3 == 0) throw new IOException("failed inside")
        }
      }
    }
    eventually(lock("waiting", "queue") == 197.0 && lock("waiting", "permit") == 3.0)
    open.success(())
    same("failed", all.count(wait(_).isFailure), 66)
    same("at most", most.get, 3)
    same("permit", lock("waiting", "permit"), 0.0)
    same("queue", lock("waiting", "queue"), 0.0)
    same("acquired", ended("waiting_lock_acquire", "ok"), 200.0)
    same("all came back", wait(Future.sequence((1 to 3).map(_ => semaphore.withPermit(Future(1))))),
      Success(Vector(1, 1, 1)))
  }

  private def eventually(holds: => Boolean): Unit = {
    val deadline = 20.seconds.fromNow
    while (!holds) {
      if (deadline.isOverdue()) throw new AssertionError("it never came to that")
      Thread.sleep(5)
    }
  }

  private def acquiringFails(): Unit = {
    implicit val source: Metrics.Source = Metrics.Source(Root, "refusing")
    val refusing = new MetricsSemaphore[Try](new Permits[Try] {
      def acquire: Try[Unit] = Failure(new InterruptedException)
      def release: Try[Unit] = throw new AssertionError("nothing to give back")
    })
    same("not in", refusing.withPermit(Try("in")).isFailure, true)
    same("queue", lock("refusing", "queue"), 0.0)
    same("permit", lock("refusing", "permit"), 0.0)
    same("cancelled", ended("refusing_lock_acquire", "cancelled"), 1.0)
  }

  private def nothing(): Unit = {
    implicit val source: Metrics.Source = Metrics.Source(Root, "nop")
    implicit val nop: Metrics[Try] = Metrics.nop[Try]
    val quiet = Metrics[Try](nop)
    quiet.incrementCounter("events")
    quiet.setGauge("level", 1)
    same("a block", quiet.timer("time", Try(3)), Success(3))
    same("nothing", Crest.page(PageFormat.TEXT).contains("checks_nop_"), false)
  }

  /** io.crest.Source as it is, from Scala: lambdas find their overload, numbers theirs. */
  private def theJarFromScala(): Unit = {
    val source = Root.in("jar")
    val timed: Int = source.timer("time", () => 7)
    same("a lambda", timed, 7)
    val callable: Callable[String] = () => "called"
    same("a callable", source.timer("time", callable), "called")
    same("thrown", Try(source.timer("time", () => throw new IOException)).isFailure, true)
    source.setGauge("level", 3L)
    source.incrementGauge("level", 0.5)
    source.incrementGauge("level", 2)
    source.record("size", 4, 2)
    same("ok", ended("jar_time", "ok"), 2.0)
    same("error", ended("jar_time", "error"), 1.0)
    same("level", value("checks_jar_level"), 5.5)
    same("size", value("checks_jar_size_sum"), 8.0)
  }

  /** RNode's Span: a timer named as the source, whose records name the block; marks are counts. */
  private def spans(): Unit = {
    implicit val source: Metrics.Source = Metrics.Source(Root, "span")
    val block = Span.of[Try](Array.fill[Byte](32)(7))
    same("result", block.trace(source)(Try(41)), Success(41))
    same("named", block.span("replay-time")(Try(42)), Success(42))
    same("failed", block.withMarks("validation")(Failure[Int](new IllegalStateException)).isFailure,
      true)
    same("marked", block.withMarks("validation")(Try(1)), Success(1))
    same("traced", ended("span_time", "ok"), 1.0)
    same("below its name", ended("span_replay_time", "ok"), 1.0)
    for ((mark, times) <- Seq("started" -> 2.0, "finished" -> 1.0, "failed" -> 1.0))
      same(mark, value(s"checks_span_${mark}_validation_total"), times)
  }

  private def exactTotals(): Unit = {
    implicit val source: Metrics.Source = Metrics.Source(Root, "many")
    val ready = new CountDownLatch(8)
    val threads = (1 to 8).map(_ => new Thread(() => {
      ready.countDown()
      ready.await()
      for (_ <- 1 to 10000) {
        Metrics[Try].incrementCounter("events")
        Try(()).timer("time")
      }
    }))
    threads.foreach(_.start())
    threads.foreach(_.join())
    same("counter", value("checks_many_events_total"), 80000.0)
    same("timer", ended("many_time", "ok"), 80000.0)
  }

  def main(arguments: Array[String]): Unit = {
    check("every word reaches its series")(words())
    check("blocks that fail are timed under their outcome")(blocksThatFail())
    check("futures that fail are timed under their outcome")(futuresThatFail())
    check("blocks are done once, whatever their timer's name")(blocksAreDoneOnce())
    check("a lock that blocks leaks nothing")(locksThatBlock())
    check("a lock with waiters leaks nothing")(locksWithWaiters())
    check("a lock that nobody gets leaks nothing")(acquiringFails())
    check("the one that does nothing records nothing")(nothing())
    check("spans are timed by their operation, and marked")(spans())
    check("the jar's own Source is natural from Scala")(theJarFromScala())
    check("totals are exact")(exactTotals())
    println(s"$passed passed, $failed failed, 0 skipped")
    sys.exit(if (failed == 0) 0 else 1)
  }
}
