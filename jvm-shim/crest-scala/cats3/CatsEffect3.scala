// SPDX-License-Identifier: Apache-2.0
package io.crest.scala.catseffect

import cats.effect.kernel.{Outcome, Sync}
import cats.effect.{IO, IOLocal}
import io.crest.Context
import io.crest.scala.{Carrier, Effect, Ended, Spans}

/** Effects of cats-effect 3, and readers over them. */
object CatsEffect {
  implicit def effect[F[_]](implicit F: Sync[F]): Effect[F] = new Effect[F] {
    def delay[A](a: => A): F[A] = F.delay(a)

    def bracket[A, B](acquire: => F[A])(use: A => F[B])(release: (A, Ended) => F[Unit]): F[B] =
      F.bracketCase(F.defer(acquire))(use) { (a, how) =>
        release(
          a,
          how match {
            case Outcome.Succeeded(_) => Ended.Well
            case Outcome.Errored(why) => Ended.Failed(why)
            case Outcome.Canceled()   => Ended.Cancelled
          }
        )
      }
  }
}

/** Spans of IO: the context is the fiber's, and a fiber begins in that of the one it is made by. */
object IOSpans {
  def make: IO[Spans[IO]] = IOLocal(Context.none()).map { local =>
    implicit val carrier: Carrier[IO] = new Carrier[IO] {
      def context: IO[Context] = local.get
      def in[A](context: Context)(body: => IO[A]): IO[A] =
        local.getAndSet(context).bracket(_ => IO.defer(body))(local.set)
    }
    import CatsEffect.effect
    new Spans[IO]
  }
}
