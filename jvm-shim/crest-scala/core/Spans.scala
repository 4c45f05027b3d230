// SPDX-License-Identifier: Apache-2.0
package io.crest.scala

import io.crest.{Context, Op, Source, SpanTiming, Timer}

/**
 * Spans of effects: each below the one that its effect is in, on whatever threads and fibers it
 * runs. Which spans are made is said by the option `spans=…`; without it their timers only count.
 *
 * {{{
 * spans.span(BLOCK, Op.of(hash)) {
 *   deploys.parTraverse(deploy => spans.span(DEPLOY)(run(deploy))) // children of BLOCK's span
 * }
 * }}}
 */
final class Spans[F[_]](implicit F: Effect[F], carrier: Carrier[F]) {

  /** The effect's operation and span. */
  def context: F[Context] = carrier.context

  /** An effect in another context: `Context.of(op)`, or that of a `traceparent`. */
  def in[A](context: Context)(body: => F[A]): F[A] = carrier.in(context)(body)

  /** Code, as Java's: what it times with `Timer.span` is below the effect's span. */
  def delay[A](code: => A): F[A] =
    after(carrier.context) { context =>
      F.delay {
        val scope = context.enter()
        try code
        finally scope.close()
      }
    }

  /** A span of the operation that the effect is in. */
  def span[A](timer: Timer)(body: => F[A]): F[A] = spanned(timer, null)(_ => body)

  /** A span of an operation. */
  def span[A](timer: Timer, op: Op)(body: => F[A]): F[A] = spanned(timer, op)(_ => body)

  /** The same, with its timing for attributes and events; `op` null: the one it is in. */
  def spanned[A](timer: Timer, op: Op)(body: SpanTiming => F[A]): F[A] =
    F.bracket(after(carrier.context)(context => F.delay(timer.startSpan(op, context))))(timing =>
      carrier.in(timing.context())(body(timing))
    )((timing, how) => F.delay(Effect.end(timing, how)))

  private def after[A, B](first: F[A])(second: A => F[B]): F[B] =
    F.bracket(first)(second)((_, _) => F.delay(()))
}

/**
 * RNode's `Span[F]`, word for word, on Crest: a source's timer `time` is the span of `trace`, and
 * marks are counters and events of the span's log.
 */
final class Span[F[_]](spans: Spans[F])(implicit F: Effect[F]) {
  def trace[A](source: Source)(block: => F[A]): F[A] = spans.span(source.timer("time"))(block)

  /** Kamon's `span` and `withSpan`: a timer below the source. */
  def withSpan[A](name: String)(block: => F[A])(implicit source: Source): F[A] =
    spans.span(source.timer(name))(block)

  def mark(name: String)(implicit source: Source): F[Unit] =
    F.delay(source.incrementCounter(name))

  /** Marks the begin of the block, and how it ended. */
  def withMarks[A](label: String)(block: => F[A])(implicit source: Source): F[A] =
    F.bracket(mark(s"started-$label"))(_ => block) { (_, how) =>
      how match {
        case Ended.Well      => mark(s"finished-$label")
        case Ended.Failed(_) => mark(s"failed-$label")
        case Ended.Cancelled => mark(s"cancelled-$label")
      }
    }
}

object Span {
  def apply[F[_]](implicit S: Span[F]): Span[F] = S
}
