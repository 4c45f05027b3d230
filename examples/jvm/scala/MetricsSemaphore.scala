// SPDX-License-Identifier: Apache-2.0
package rnode.metrics

import java.util.concurrent.{Semaphore => JavaSemaphore}
import scala.collection.immutable.Queue
import scala.concurrent.{Future, Promise}
import scala.util.Try

/** Permits that callers wait for and give back. */
trait Permits[F[_]] {
  def acquire: F[Unit]
  def release: F[Unit]
}

/**
 * A semaphore with figures under its source: `lock.queue` and `lock.permit`, how many callers wait
 * and how many are in, now and at the most; and `lock.acquire`, how long it took to get in.
 *
 * RNode counts the first two with gauges, which a block that fails or is cancelled leaves one too
 * high for ever, and counts waiting callers as being in. Here each count is taken back however the
 * block ends, and they are range samplers: a queue that was there between two reports is on the
 * page.
 */
final class MetricsSemaphore[F[_]](permits: Permits[F])(implicit
    F: Effect[F],
    M: Metrics[F],
    ev: Metrics.Source
) {
  import Metrics.syntax._

  def withPermit[A](block: => F[A]): F[A] =
    F.bracket(acquire)(_ => counted("lock.permit")(block))((_, _) => permits.release)

  private def acquire: F[Unit] =
    counted("lock.queue")(permits.acquire.timer("lock.acquire"))

  private def counted[A](name: String)(block: => F[A]): F[A] =
    F.bracket(M.incrementSampler(name))(_ => block)((_, _) => M.incrementSampler(name, -1))
}

object MetricsSemaphore {

  /** One that blocks its thread. */
  def blocking(permits: Int)(implicit
      M: Metrics[Try],
      ev: Metrics.Source
  ): MetricsSemaphore[Try] =
    new MetricsSemaphore(new Permits[Try] {
      private val semaphore = new JavaSemaphore(permits, true)
      def acquire: Try[Unit] = Try(semaphore.acquire())
      def release: Try[Unit] = Try(semaphore.release())
    })

  /** One that blocks no thread: a waiting caller is a promise. */
  def async(permits: Int)(implicit
      F: Effect[Future],
      M: Metrics[Future],
      ev: Metrics.Source
  ): MetricsSemaphore[Future] =
    new MetricsSemaphore(new Permits[Future] {
      private var free = permits
      private var waiting = Queue.empty[Promise[Unit]]

      def acquire: Future[Unit] = synchronized {
        if (free > 0) {
          free -= 1
          Future.unit
        } else {
          val turn = Promise[Unit]()
          waiting = waiting.enqueue(turn)
          turn.future
        }
      }

      def release: Future[Unit] = {
        val next = synchronized {
          if (waiting.isEmpty) free += 1
          val first = waiting.headOption
          waiting = waiting.drop(1)
          first
        }
        next.foreach(_.success(()))
        Future.unit
      }
    })
}
