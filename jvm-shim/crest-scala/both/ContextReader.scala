// SPDX-License-Identifier: Apache-2.0
package io.crest.scala.catseffect

import cats.data.Kleisli
import cats.effect.Sync
import io.crest.Context
import io.crest.scala.{Carrier, Effect, Spans}

/**
 * Spans of effects that read their context, as RNode's do: `Traced` is `F` with a context to be
 * given, which each fiber has from the one that it is made by.
 *
 * {{{
 * val reader = new ContextReader[IO]
 * reader.spans.span(BLOCK, op)(reader.lift(validate)).run(Context.none())
 * }}}
 */
final class ContextReader[F[_]](implicit F: Sync[F]) {
  type Traced[A] = Kleisli[F, Context, A]

  implicit val effect: Effect[Traced] = CatsEffect.effect[Traced]

  implicit val carrier: Carrier[Traced] = new Carrier[Traced] {
    def context: Traced[Context] = Kleisli(seen => F.pure(seen))
    def in[A](context: Context)(body: => Traced[A]): Traced[A] =
      Kleisli(_ => F.flatMap(F.delay(body))(_.run(context)))
  }

  val spans: Spans[Traced] = new Spans[Traced]

  def lift[A](effect: F[A]): Traced[A] = Kleisli(_ => effect)
}
