// SPDX-License-Identifier: Apache-2.0
package checks

import cats.data.Kleisli
import cats.effect.{ContextShift, IO, Timer => Clock}
import cats.implicits._
import io.crest.scala.catseffect.ContextReader
import io.crest.scala.{Span, Spans}
import io.crest.{Context, Op, Source}
import scala.concurrent.ExecutionContext
import scala.concurrent.duration._

/** Fibers of cats-effect 2, with the context in a reader, as RNode has it. */
object Cats2Checks {
  implicit val shift: ContextShift[IO] = IO.contextShift(ExecutionContext.global)
  implicit val clock: Clock[IO] = IO.timer(ExecutionContext.global)
  private val reader = new ContextReader[IO]
  import reader.{effect, Traced}
  private val spans: Spans[Traced] = reader.spans

  private def part(self: String, wants: String): Traced[Unit] =
    spans.spanned(Facade.Part, null) { timing =>
      Facade.named(timing, self, wants)
      reader
        .lift(IO.shift)
        .flatMap(_ => spans.spanned(Facade.Store, null) { store =>
          Facade.named(store, s"$self/store", self)
          reader.lift(IO.shift)
        })
    }

  private def block(number: Int): IO[Unit] = {
    val self = s"fiber-$number"
    spans
      .spanned(Facade.Block, Facade.hash(number)) { timing =>
        Facade.named(timing, self, "")
        Kleisli { (context: Context) =>
          (1 to 8).toList.parTraverse_(i => part(s"$self/$i", self).run(context))
        }
      }
      .run(Context.none())
  }

  private def ends: IO[Unit] = {
    val source = Source.of("tree.source")
    val span = new Span[Traced](spans)
    val fails = spans.span(Facade.Block, Op.of(1001L))(
      reader.lift(IO.raiseError[Unit](new IllegalStateException("invalid")))
    )
    val hangs = spans.span(Facade.Block, Op.of(1002L))(reader.lift(IO.never: IO[Unit]))
    val marked = span.trace(source)(span.withMarks("block")(reader.lift(IO.unit))(source))
    for {
      _ <- fails.run(Context.none()).attempt
      _ <- hangs.run(Context.none()).timeout(100.millis).attempt
      _ <- marked.run(Context.of(Op.of(1003L)))
    } yield ()
  }

  def main(arguments: Array[String]): Unit =
    Facade.run(arguments(0))(
      ((100 until 130).toList.parTraverse_(block) *> ends).unsafeRunSync()
    )
}
