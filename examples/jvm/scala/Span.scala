// SPDX-License-Identifier: Apache-2.0
package rnode.metrics

import io.crest.{Op, Outcome}

/**
 * RNode's `Span[F]`, for an operation: what is traced is a timer named as its source, whose records
 * name the operation. The option `spans=rchain.*` makes spans of them; without it they are metrics.
 * RNode carries its trace in a context of its own; here the operation, a block by its hash, is the
 * trace, on every node.
 */
trait Span[F[_]] {

  /** Times the block as a part of the operation. */
  def trace[A](source: Metrics.Source)(block: => F[A]): F[A]

  /** The same below `name`: Kamon's `span` and `withSpan`. */
  def span[A](name: String)(block: => F[A])(implicit ev: Metrics.Source): F[A]

  /** Counts that the operation came here. */
  def mark(name: String)(implicit ev: Metrics.Source): F[Unit]

  /** Marks the begin of the block, and how it ended. */
  def withMarks[A](label: String)(block: => F[A])(implicit ev: Metrics.Source): F[A]
}

object Span {
  def apply[F[_]](implicit S: Span[F]): Span[F] = S

  /** Of a block, by its hash. */
  def of[F[_]](hash: Array[Byte])(implicit F: Effect[F], M: Metrics[F]): Span[F] =
    new CrestSpan[F](Op.of(hash))
}

final class CrestSpan[F[_]](op: Op)(implicit F: Effect[F], M: Metrics[F]) extends Span[F] {
  def trace[A](source: Metrics.Source)(block: => F[A]): F[A] = timed("time", source)(block)

  def span[A](name: String)(block: => F[A])(implicit ev: Metrics.Source): F[A] =
    timed(name, ev)(block)

  private def timed[A](name: String, source: Metrics.Source)(block: => F[A]): F[A] =
    F.bracket(F.delay(source.timer(name).start(op)))(_ => block) { (timing, failure) =>
      F.delay {
        timing.end(op, Outcome.of(failure.orNull))
        ()
      }
    }

  def mark(name: String)(implicit ev: Metrics.Source): F[Unit] = M.incrementCounter(name)

  def withMarks[A](label: String)(block: => F[A])(implicit ev: Metrics.Source): F[A] =
    F.bracket(mark(s"started-$label"))(_ => block) { (_, failure) =>
      mark(if (failure.isEmpty) s"finished-$label" else s"failed-$label")
    }
}
