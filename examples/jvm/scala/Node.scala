// SPDX-License-Identifier: Apache-2.0
package rnode

import io.crest.{Crest, PageFormat}
import java.util.concurrent.TimeoutException
import rnode.metrics.{Effect, Metrics, MetricsSemaphore}
import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.util.Try

/** RNode's sources: packages have theirs below one another's, and each file makes its own. */
object Sources {
  val Comm: Metrics.Source = Metrics.Source(Metrics.BaseSource, "comm")
  val Rp: Metrics.Source = Metrics.Source(Comm, "rp")
  val BlockStorage: Metrics.Source = Metrics.Source(Metrics.BaseSource, "block-storage")
}

/** Code as RNode's reads: of any effect, with the metrics and a source that are in scope. */
class Connect[F[_]](implicit F: Effect[F], M: Metrics[F]) {
  import Metrics.syntax._

  implicit private val MetricsSource: Metrics.Source = Metrics.Source(Sources.Rp, "connect")

  def connect(peer: String): F[String] =
    F.bracket(Metrics[F].incrementCounter("connect"))(_ => dial(peer).timer("connect-time")) {
      (_, failure) =>
        if (failure.isEmpty) Metrics[F].incrementGauge("peers") else F.delay(())
    }

  def disconnect: F[Unit] = Metrics[F].decrementGauge("peers")

  private def dial(peer: String): F[String] = F.delay {
    if (peer.startsWith("down")) throw new java.io.IOException(s"$peer refuses")
    if (peer.startsWith("slow")) throw new TimeoutException(s"$peer does not answer")
    s"connected to $peer"
  }
}

class Transport[F[_]](implicit M: Metrics[F]) {
  implicit private val MetricsSource: Metrics.Source = Metrics.Source(Sources.Rp, "transport")

  def enqueue: F[Unit] = Metrics[F].incrementSampler("inbound-queue")
  def dequeue: F[Unit] = Metrics[F].incrementSampler("inbound-queue", -1)
  def send(bytes: Long, times: Long): F[Unit] = Metrics[F].record("packet-size", bytes, times)
  def probe: F[Unit] = Metrics[F].sample("idle-queue")
  def limit(packets: Long): F[Unit] = Metrics[F].setGauge("queue-limit", packets)
}

class DagStorage[F[_]](lock: Metrics.Source => MetricsSemaphore[F])(implicit F: Effect[F]) {
  private val MetricsSource: Metrics.Source =
    Metrics.Source(Sources.BlockStorage, "dag-key-value-store")
  private val semaphore = lock(MetricsSource)

  def insert(block: Int): F[Int] = semaphore.withPermit(F.delay {
    if (block % 10 == 7) throw new IllegalStateException(s"block $block is not valid")
    block
  })
}

object Node {
  def main(arguments: Array[String]): Unit = {
    implicit val ofTry: Metrics[Try] = Metrics.crest[Try]
    implicit val ofFuture: Metrics[Future] = Metrics.crest[Future]

    val connect = new Connect[Try]
    println(connect.connect("peer-1").get)
    println(connect.connect("peer-2").get)
    println(connect.connect("down-1").failed.get.getMessage)
    println(connect.connect("slow-1").failed.get.getMessage)
    connect.disconnect

    val transport = new Transport[Try]
    for (_ <- 1 to 5) transport.enqueue
    for (_ <- 1 to 3) transport.dequeue
    transport.send(512, times = 3)
    transport.send(64, times = 1)
    transport.probe
    transport.limit(1024)

    // a hundred blocks at once, of which ten fail, through two permits
    val storage = new DagStorage[Future](source =>
      MetricsSemaphore.async(2)(Effect.ofFuture, ofFuture, source)
    )
    val inserted = Future.sequence((1 to 100).map(i => storage.insert(i).map(_ => 1).recover {
      case _: IllegalStateException => 0
    }))
    println(s"${Await.result(inserted, 30.seconds).sum} blocks inserted")

    figures()
  }

  /** What a server would get, without the lines that depend on the machine's speed. */
  private def figures(): Unit =
    Crest
      .page(PageFormat.TEXT)
      .split('\n')
      .filter(_.startsWith("rchain_"))
      .filterNot(line => line.contains("_bucket{") || line.contains("_seconds_sum"))
      .foreach(println)
}
