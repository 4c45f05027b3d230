// SPDX-License-Identifier: Apache-2.0
package checks

import io.crest.scala._
import io.crest.{Context, Crest, Op, PageFormat, SpanTiming}
import java.util.concurrent.{Executors, TimeUnit}
import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.Try

/** What every program of these checks does: trees of futures, and the words of the facade. */
object Facade {
  val Block = timer("tree.block-time", "A block.")
  val Part = timer("tree.part-time")
  val Store = timer("tree.store-time")

  def named(timing: SpanTiming, self: String, wants: String): Unit = {
    timing.set("self", self).set("wants", wants)
    ()
  }

  def hash(number: Int): Op = Op.of(Array.tabulate[Byte](32)(i => (number * 31 + i * 7 + 1).toByte))

  /** The words, whose names hide none of Scala's. */
  def words(): Unit = {
    val nothing: Unit = ()
    val numbers: Range = 1 to 3
    counter("words.blocks", "Blocks.").increment(numbers.sum.toLong)
    gauge("words.level").set(2)
    rangeSampler("words.queue").increment()
    histogram("words.size", "Bytes.", io.crest.Unit.BYTES).record(64)
    val family = io.crest.Metric.named("words.messages").labelled("kind", "peer").counter()
    family.labelled("ping", "10.0.0.7").increment()
    nothing
  }

  /** Callbacks run where they were registered for, however late their future is completed. */
  def futures(): Unit = {
    val pool = Executors.newFixedThreadPool(4)
    implicit val threads: ExecutionContext = carrying(ExecutionContext.fromExecutor(pool))
    def store(self: String, wants: String): String = {
      val timing = Store.startSpan()
      named(timing, self, wants)
      timing.end(io.crest.Outcome.OK)
      self
    }
    def block(number: Int): Future[Int] = {
      val self = s"future-$number"
      Block.future(hash(number)) {
        val begun = Block.spanned(hash(number))(())
        val context = Context.current()
        Future.sequence((1 to 5).map { i =>
          Future(context).map { seen =>
            assert(seen eq context, begun)
            val part = Part.startSpan()
            named(part, s"$self/$i", "")
            val wants = s"$self/$i"
            part.context().run[String, RuntimeException](() => store(s"$wants/store", wants))
            part.end(io.crest.Outcome.OK)
          }
        }).map(_.size)
      }
    }
    val all = Future.sequence((1 to 10).map(block))
    assert(Await.result(all, 60.seconds).sum == 50)
    val failed = Block.future(hash(11))(Future.failed[Int](new IllegalStateException("no quorum")))
    assert(Try(Await.result(failed, 60.seconds)).isFailure)
    assert(Try(Part.spanned(Op.of(12L))(sys.error("thrown"))).isFailure)
    pool.shutdown()
    assert(pool.awaitTermination(60, TimeUnit.SECONDS))
  }

  def run(options: String)(more: => Unit): Unit = {
    Crest.start(options)
    words()
    futures()
    more
    assert(Context.current() eq Context.none())
    Crest.stop(java.time.Duration.ofSeconds(60))
    println(Crest.page(PageFormat.TEXT))
  }
}
