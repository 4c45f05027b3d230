// SPDX-License-Identifier: Apache-2.0
package io.crest.scala

import io.crest.{Context, Outcome, SpanTiming}
import scala.concurrent.{ExecutionContext, Future}
import scala.util.{Failure, Try}
import scala.util.control.NonFatal

/** How the use of a resource ended. */
sealed trait Ended
object Ended {
  case object Well extends Ended
  final case class Failed(why: Throwable) extends Ended
  case object Cancelled extends Ended
}

/**
 * What spans need of an effect. Instances for cats-effect are in `crest-cats-effect2` and
 * `crest-cats-effect3`; those of Try and Future are here.
 */
trait Effect[F[_]] {

  /** Does it when the effect runs. */
  def delay[A](a: => A): F[A]

  /** `use`, and then `release`, exactly once however `use` ends. */
  def bracket[A, B](acquire: => F[A])(use: A => F[B])(release: (A, Ended) => F[Unit]): F[B]
}

object Effect {
  def apply[F[_]](implicit F: Effect[F]): Effect[F] = F

  implicit val ofTry: Effect[Try] = new Effect[Try] {
    def delay[A](a: => A): Try[A] = Try(a)

    def bracket[A, B](acquire: => Try[A])(use: A => Try[B])(
        release: (A, Ended) => Try[Unit]
    ): Try[B] =
      acquire.flatMap { a =>
        val result = begun(use(a))(fatal => release(a, Ended.Failed(fatal)))(Failure(_))
        release(a, ended(result)).flatMap(_ => result)
      }
  }

  implicit def ofFuture(implicit threads: ExecutionContext): Effect[Future] = new Effect[Future] {
    def delay[A](a: => A): Future[A] = Future.fromTry(Try(a))

    def bracket[A, B](acquire: => Future[A])(use: A => Future[B])(
        release: (A, Ended) => Future[Unit]
    ): Future[B] =
      acquire.flatMap { a =>
        val result = begun(use(a))(fatal => release(a, Ended.Failed(fatal)))(Future.failed)
        result.transformWith { end =>
          release(a, ended(end)).transform(released => released.flatMap(_ => end))
        }
      }
  }

  private def ended(result: Try[_]): Ended =
    result.fold(Ended.Failed(_), _ => Ended.Well)

  /** Begins an effect that may throw instead of failing; fatal errors are rethrown. */
  private def begun[F[_], A](fa: => F[A])(onFatal: Throwable => Any)(failed: Throwable => F[A]) =
    try fa
    catch {
      case NonFatal(e) => failed(e)
      case fatal: Throwable =>
        onFatal(fatal)
        throw fatal
    }

  /** Ends a span as its effect has ended. */
  private[scala] def end(timing: SpanTiming, how: Ended): Unit = {
    how match {
      case Ended.Well        => timing.outcome(Outcome.OK)
      case Ended.Failed(why) => timing.fail(why)
      case Ended.Cancelled   => timing.outcome(Outcome.CANCELLED)
    }
    timing.close()
  }
}

/** Where an effect has the context that it is in: a reader's environment, a fiber's local. */
trait Carrier[F[_]] {
  def context: F[Context]
  def in[A](context: Context)(body: => F[A]): F[A]
}
