// SPDX-License-Identifier: Apache-2.0
package checks

import kamon.Kamon
import kamon.metric.MeasurementUnit

/** An application of Kamon 1.x, as RNode is one, which knows nothing of Crest but its reporter's
  * name: it records until it is told to end.
  */
object Kamon1Checks {
  def main(arguments: Array[String]): Unit = {
    Kamon.loadReportersFromConfig()
    Kamon.counter("app.events").increment(3)
    Kamon.counter("app.requests").refine("http.method" -> "GET").increment(4)
    Kamon.counter("app.sent", MeasurementUnit.information.kilobytes).increment(2)
    Kamon.gauge("app.level").set(7)
    val time = Kamon.histogram("app.time", MeasurementUnit.time.milliseconds)
    for (ms <- Seq(4, 60, 60, 2000)) time.record(ms)
    Kamon.rangeSampler("app.queue").increment(5)
    Kamon.counter("9 lives").increment(9)
    Kamon.gauge("app-events").set(1)
    System.in.read()
    Kamon.counter("app.events").increment(2)
    System.in.read()
    scala.concurrent.Await.result(Kamon.stopAllReporters(), scala.concurrent.duration.Duration.Inf)
    System.exit(0)
  }
}
