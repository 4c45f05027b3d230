// SPDX-License-Identifier: Apache-2.0
package checks

import cats.effect.IO
import cats.effect.unsafe.implicits.global
import cats.implicits._
import io.crest.scala.catseffect.{CatsEffect, IOSpans}
import io.crest.scala.{Span, Spans}
import io.crest.{Context, Op, Source}
import scala.concurrent.duration._

/** Fibers of cats-effect 3, each with the context of the one that made it. */
object Cats3Checks {
  import CatsEffect.effect

  private def part(spans: Spans[IO], self: String, wants: String): IO[Unit] =
    spans.spanned(Facade.Part, null) { timing =>
      Facade.named(timing, self, wants)
      IO.cede *> spans.spanned(Facade.Store, null) { store =>
        Facade.named(store, s"$self/store", self)
        IO.sleep(1.millis)
      }
    }

  private def block(spans: Spans[IO])(number: Int): IO[Unit] = {
    val self = s"fiber-$number"
    spans.spanned(Facade.Block, Facade.hash(number)) { timing =>
      Facade.named(timing, self, "")
      (1 to 8).toList.parTraverse_(i => part(spans, s"$self/$i", self))
    }
  }

  private def ends(spans: Spans[IO]): IO[Unit] = {
    implicit val source: Source = Source.of("tree.source")
    val span = new Span[IO](spans)
    val fails = spans.span(Facade.Block, Op.of(1001L))(
      IO.raiseError[Unit](new IllegalStateException("invalid"))
    )
    val hangs = spans.span(Facade.Block, Op.of(1002L))(IO.never[Unit])
    for {
      _ <- fails.attempt
      _ <- hangs.timeout(100.millis).attempt
      _ <- spans.in(Context.of(Op.of(1003L)))(span.trace(source)(span.withMarks("block")(IO.unit)))
      seen <- spans.in(Context.of(Op.of(1004L)))(spans.delay(Context.current().operation()))
      left <- spans.context
    } yield assert(seen == Op.of(1004L) && (left eq Context.none()))
  }

  def main(arguments: Array[String]): Unit =
    Facade.run(arguments(0)) {
      val all = for {
        spans <- IOSpans.make
        _ <- (100 until 130).toList.parTraverse_(block(spans))
        _ <- ends(spans)
      } yield ()
      all.unsafeRunSync()
    }
}
