// SPDX-License-Identifier: Apache-2.0
package rnode.metrics

import io.crest.Outcome

/**
 * RNode's `Metrics[F]`, word for word: what a node that has it keeps, while what is recorded goes
 * to Crest. It differs in three things. A block that fails is timed too, under its outcome; a count
 * is a count; and `timer` takes its block by name, so that it also times effects that are done
 * where they stand, as Try and Future are.
 */
trait Metrics[F[_]] {
  def incrementCounter(name: String, delta: Long = 1)(implicit ev: Metrics.Source): F[Unit]

  def incrementSampler(name: String, delta: Long = 1)(implicit ev: Metrics.Source): F[Unit]
  def sample(name: String)(implicit ev: Metrics.Source): F[Unit]

  def setGauge(name: String, value: Long)(implicit ev: Metrics.Source): F[Unit]
  def incrementGauge(name: String, delta: Long = 1)(implicit ev: Metrics.Source): F[Unit]
  def decrementGauge(name: String, delta: Long = 1)(implicit ev: Metrics.Source): F[Unit]

  def record(name: String, value: Long, count: Long = 1)(implicit ev: Metrics.Source): F[Unit]

  def timer[A](name: String, block: => F[A])(implicit ev: Metrics.Source): F[A]
}

object Metrics {
  def apply[F[_]](implicit M: Metrics[F]): Metrics[F] = M

  /** What RNode tags a string for: a text that is put before every name, and nothing else. */
  type Source = io.crest.Source

  def Source(prefix: Source, name: String): Source = prefix.in(name)

  val BaseSource: Source = io.crest.Source.of("rchain")

  /** Records with Crest. */
  def crest[F[_]](implicit F: Effect[F]): Metrics[F] = new CrestMetrics[F]

  /** Records nothing. */
  def nop[F[_]](implicit F: Effect[F]): Metrics[F] = new MetricsNOP[F]

  object syntax {

    /** `block.timer("name")`. */
    implicit final class TimedBlock[F[_], A](block: => F[A]) {
      def timer(name: String)(implicit M: Metrics[F], ev: Source): F[A] = M.timer(name, block)
    }
  }
}

/** Each call becomes an effect, and is one of `io.crest.Source`'s, which never throws. */
final class CrestMetrics[F[_]](implicit F: Effect[F]) extends Metrics[F] {
  def incrementCounter(name: String, delta: Long)(implicit ev: Metrics.Source): F[Unit] =
    F.delay(ev.incrementCounter(name, delta))

  def incrementSampler(name: String, delta: Long)(implicit ev: Metrics.Source): F[Unit] =
    F.delay(ev.incrementSampler(name, delta))

  def sample(name: String)(implicit ev: Metrics.Source): F[Unit] =
    F.delay(ev.sample(name))

  def setGauge(name: String, value: Long)(implicit ev: Metrics.Source): F[Unit] =
    F.delay(ev.setGauge(name, value))

  def incrementGauge(name: String, delta: Long)(implicit ev: Metrics.Source): F[Unit] =
    F.delay(ev.incrementGauge(name, delta))

  def decrementGauge(name: String, delta: Long)(implicit ev: Metrics.Source): F[Unit] =
    F.delay(ev.decrementGauge(name, delta))

  def record(name: String, value: Long, count: Long)(implicit ev: Metrics.Source): F[Unit] =
    F.delay(ev.record(name, value, count))

  def timer[A](name: String, block: => F[A])(implicit ev: Metrics.Source): F[A] =
    F.bracket(F.delay(System.nanoTime()))(_ => block) { (from, failure) =>
      F.delay(ev.recordTimer(name, System.nanoTime() - from, Outcome.of(failure.orNull)))
    }
}

/** For tests that are not about metrics. */
final class MetricsNOP[F[_]](implicit F: Effect[F]) extends Metrics[F] {
  private def nothing: F[Unit] = F.delay(())

  def incrementCounter(name: String, delta: Long)(implicit ev: Metrics.Source): F[Unit] = nothing
  def incrementSampler(name: String, delta: Long)(implicit ev: Metrics.Source): F[Unit] = nothing
  def sample(name: String)(implicit ev: Metrics.Source): F[Unit] = nothing
  def setGauge(name: String, value: Long)(implicit ev: Metrics.Source): F[Unit] = nothing
  def incrementGauge(name: String, delta: Long)(implicit ev: Metrics.Source): F[Unit] = nothing
  def decrementGauge(name: String, delta: Long)(implicit ev: Metrics.Source): F[Unit] = nothing
  def record(name: String, value: Long, count: Long)(implicit ev: Metrics.Source): F[Unit] = nothing
  def timer[A](name: String, block: => F[A])(implicit ev: Metrics.Source): F[A] = block
}
