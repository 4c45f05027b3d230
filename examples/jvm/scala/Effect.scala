// SPDX-License-Identifier: Apache-2.0
package rnode.metrics

import scala.concurrent.{ExecutionContext, Future}
import scala.util.{Failure, Try}
import scala.util.control.NonFatal

/**
 * What the metrics need of an effect, so that this example needs no library of effects. With cats
 * it is two methods of Sync: `delay` and `bracketCase`.
 */
trait Effect[F[_]] {

  /** Does it when the effect runs. */
  def delay[A](a: => A): F[A]

  /**
   * `use`, between `acquire` and `release`, which is done exactly once however `use` ends, and is
   * told what it failed with.
   */
  def bracket[A, B](acquire: => F[A])(use: A => F[B])(
      release: (A, Option[Throwable]) => F[Unit]
  ): F[B]
}

object Effect {
  def apply[F[_]](implicit F: Effect[F]): Effect[F] = F

  /** Effects that are done where they stand. */
  implicit val ofTry: Effect[Try] = new Effect[Try] {
    def delay[A](a: => A): Try[A] = Try(a)

    def bracket[A, B](acquire: => Try[A])(use: A => Try[B])(
        release: (A, Option[Throwable]) => Try[Unit]
    ): Try[B] =
      acquire.flatMap { a =>
        val result = begun(use(a))(fatal => release(a, Some(fatal)))(Failure(_))
        release(a, result.failed.toOption).flatMap(_ => result)
      }
  }

  /** Effects that go on in other threads. */
  implicit def ofFuture(implicit threads: ExecutionContext): Effect[Future] = new Effect[Future] {
    def delay[A](a: => A): Future[A] = Future.fromTry(Try(a))

    def bracket[A, B](acquire: => Future[A])(use: A => Future[B])(
        release: (A, Option[Throwable]) => Future[Unit]
    ): Future[B] =
      acquire.flatMap { a =>
        val result = begun(use(a))(fatal => release(a, Some(fatal)))(Future.failed)
        result.transformWith { end =>
          release(a, end.failed.toOption).transform(released => released.flatMap(_ => end))
        }
      }
  }

  /** Begins an effect that may throw instead of failing; fatal errors are rethrown. */
  private def begun[F[_], A](fa: => F[A])(onFatal: Throwable => Any)(failed: Throwable => F[A]) =
    try fa
    catch {
      case NonFatal(e) => failed(e)
      case fatal: Throwable =>
        onFatal(fatal)
        throw fatal
    }
}
