// SPDX-License-Identifier: Apache-2.0
package io.crest.scala

import io.crest.{
  Buckets,
  Counter,
  Family,
  Gauge,
  Histogram,
  Instrument,
  Metric,
  Op,
  RangeSampler,
  SpanTiming,
  Stages,
  Timer,
  Context
}
import scala.concurrent.{ExecutionContext, Future}
import scala.util.{Failure, Success}

/**
 * What `import io.crest.scala._` brings: makers of instruments, a family's series by `labelled`
 * (for `with` is a word of Scala's), times and spans of blocks and of futures. It hides no name of
 * Scala's own, as `import io.crest._` does with `Unit`, `Range` and `scala`.
 */
trait Words {

  /** `io.crest.Unit`, `io.crest.Range`: names that Scala has for something else. */
  type MetricUnit = io.crest.Unit
  type MetricRange = io.crest.Range

  def counter(name: String, help: String = ""): Counter = described(name, help).counter()
  def gauge(name: String, help: String = ""): Gauge = described(name, help).gauge()
  def rangeSampler(name: String, help: String = ""): RangeSampler =
    described(name, help).rangeSampler()
  def timer(name: String, help: String = ""): Timer = described(name, help).timer()

  /** `histogram("comm.packet-size", "Bytes of a packet.", io.crest.Unit.BYTES)` */
  def histogram(
      name: String,
      help: String = "",
      unit: MetricUnit = io.crest.Unit.NONE,
      buckets: Option[Buckets] = None
  ): Histogram = {
    val metric = described(name, help).in(unit)
    buckets.fold(metric)(metric.buckets(_)).histogram()
  }

  private def described(name: String, help: String): Metric = {
    val metric = Metric.named(name)
    if (help.isEmpty) metric else metric.describedAs(help)
  }

  implicit def familyWords[A <: Instrument](family: Family[A]): FamilyWords[A] =
    new FamilyWords[A](family)

  implicit def timerWords(timer: Timer): TimerWords = new TimerWords(timer)

  /** Runs and starts tasks in the context of the thread that hands them over. */
  def carrying(threads: ExecutionContext): ExecutionContext = new CarryingContext(threads)
}

final class FamilyWords[A <: Instrument](private val family: Family[A]) {

  /** The series of these values, in the order of its keys. */
  def labelled(values: String*): A = family.`with`(values: _*)
}

final class TimerWords(private val timer: Timer) {

  /** A block as a span below the one that this thread is in; see `io.crest.Timer.span`. */
  def spanned[A](body: => A): A = spanned(null: Op)(body)

  /** The same for an operation. */
  def spanned[A](op: Op)(body: => A): A = {
    val timing = timer.startSpan(op).enter()
    try timing.done(body)
    catch {
      case thrown: Throwable =>
        timing.fail(thrown)
        throw thrown
    } finally timing.close()
  }

  /**
   * A future as a span, until it has ended. What it is made of is below the span where its
   * execution context is a `carrying` one.
   */
  def future[A](op: Op)(body: => Future[A])(implicit threads: ExecutionContext): Future[A] = {
    val timing = timer.startSpan(op)
    val scope = timing.context().enter()
    val made =
      try body
      catch {
        case thrown: Throwable =>
          timing.fail(thrown).close()
          throw thrown
      } finally scope.close()
    made.transform { result =>
      end(timing, result.failed.toOption)
      result
    }
  }

  /** The same below the span that this thread is in. */
  def future[A](body: => Future[A])(implicit threads: ExecutionContext): Future[A] =
    future(null: Op)(body)

  private def end(timing: SpanTiming, failure: Option[Throwable]): Unit = {
    failure.fold(timing.outcome(io.crest.Outcome.OK))(timing.fail(_))
    timing.close()
  }
}

/** Captures the context where a task, or a callback of a future, is handed over. */
private final class CarryingContext(threads: ExecutionContext) extends ExecutionContext {
  def execute(task: Runnable): Unit = threads.execute(Context.current().wrap(task))
  def reportFailure(cause: Throwable): Unit = threads.reportFailure(cause)

  // futures ask for it where a callback is registered, and execute it where they are completed
  @deprecated("as in ExecutionContext", "2.12")
  override def prepare(): ExecutionContext = {
    val context = Context.current()
    new ExecutionContext {
      def execute(task: Runnable): Unit = threads.execute(context.wrap(task))
      def reportFailure(cause: Throwable): Unit = threads.reportFailure(cause)
    }
  }
}
