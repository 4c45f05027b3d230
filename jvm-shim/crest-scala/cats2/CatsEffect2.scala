// SPDX-License-Identifier: Apache-2.0
package io.crest.scala.catseffect

import cats.effect.{ExitCase, Sync}
import io.crest.scala.{Effect, Ended}

/** Effects of cats-effect 2: IO, monix's Task, and readers over them. */
object CatsEffect {
  implicit def effect[F[_]](implicit F: Sync[F]): Effect[F] = new Effect[F] {
    def delay[A](a: => A): F[A] = F.delay(a)

    def bracket[A, B](acquire: => F[A])(use: A => F[B])(release: (A, Ended) => F[Unit]): F[B] =
      F.bracketCase(F.defer(acquire))(use) { (a, how) =>
        release(
          a,
          how match {
            case ExitCase.Completed  => Ended.Well
            case ExitCase.Error(why) => Ended.Failed(why)
            case ExitCase.Canceled   => Ended.Cancelled
          }
        )
      }
  }
}
