// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon

import java.nio.charset.StandardCharsets
import java.util.{Map => JMap, TreeMap}

import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.util.control.NonFatal

import _root_.kamon.{Kamon, MetricReporter}
import _root_.kamon.metric._
import com.typesafe.config.{Config, ConfigUtil}
import io.crest.{Buckets, Counter, Crest, CrestException, Gauge, Histogram, Instrument, LogLevel}
import io.crest.{Metric => Declared, RangeSampler => Ranges, Status}
import org.slf4j.LoggerFactory

/** For applications of Kamon 1.x on Scala 2.12: a reporter that forwards every period's snapshot to
  * Crest, as [[CrestReporter]] does for Kamon 2.x, under the same settings `kamon.crest`.
  *
  * `kamon.reporters = ["io.crest.kamon.Kamon1Reporter"]` and `Kamon.loadReportersFromConfig()`, or
  * `Kamon.addReporter(new Kamon1Reporter)`. Kamon calls it, one call at a time; nothing is thrown
  * into Kamon, each failure is logged once.
  */
final class Kamon1Reporter extends MetricReporter {
  private val log = LoggerFactory.getLogger(classOf[Kamon1Reporter])
  private val metrics = mutable.Map.empty[String, Forward[_ <: Instrument, _]]
  private val refused = mutable.Set.empty[String]
  private var config: Config = Kamon.config()
  private var options = ""
  private var started = false
  private var tick = 0L

  override def start(): Unit = synchronized {
    options = wanted(config)
    if (!Crest.available) log.error(Crest.unavailableReason)
    else begin(options)
  }

  private def begin(options: String): Unit =
    try {
      Crest.onLogIfNone((level: LogLevel, message: String) => tell(level, message))
      Crest.start(options)
      started = true
    } catch {
      case e: CrestException if e.status == Status.ALREADY =>
        Crest.start() // without options it counts, and needs its stop
        started = true
        log.warn("Crest was started before Kamon, whose kamon.crest.options do not hold")
      case NonFatal(e) => log.error("Crest reports nothing: {}", e.getMessage)
    }

  private def tell(level: LogLevel, message: String): Unit = level match {
    case LogLevel.ERROR => log.error(message)
    case LogLevel.WARNING => log.warn(message)
    case _ => log.info(message)
  }

  /** Delivers what was forwarded; Kamon 1.x makes no last snapshot before. */
  override def stop(): Unit = synchronized {
    if (started) {
      started = false
      try Crest.stop(config.getDuration("kamon.crest.stop-timeout"))
      catch { case NonFatal(e) => log.error(e.getMessage) }
    }
  }

  /** Wrong options leave those that are in force. */
  override def reconfigure(changed: Config): Unit = synchronized {
    try {
      val next = wanted(changed)
      if (next != options && started) {
        Crest.check(next)
        stop()
        begin(next)
        if (!started) begin(options) else options = next
      }
      config = changed
    } catch {
      case NonFatal(e) => log.error("Crest goes on with the options it has: {}", e.getMessage)
    }
  }

  /** Who reports, as Kamon has it, and then the options that were given, which win. */
  private def wanted(from: Config): String = {
    val who = _root_.kamon.Environment.fromConfig(from)
    val own = Seq("service" -> who.service, "instance" -> who.instance, "resource.host" -> who.host)
    val words = new Words
    val tags = who.tags.toSeq.take(Kamon1Reporter.TagsMax).map {
      case ("version", value) => "version" -> value
      case (key, value) => ("resource." + words.key(key).take(Kamon1Reporter.KeyMax)) -> value
    }
    val texts = (own ++ tags).map { case (key, value) => key + "=\"" + quoted(value) + "\"" }
    val given = from.getString("kamon.crest.options").trim
    (if (given.isEmpty) texts else texts :+ given).mkString(",")
  }

  private def quoted(value: String): String = {
    var cut = value.replaceAll("[\u0000\r\n]", " ")
    while (cut.getBytes(StandardCharsets.UTF_8).length > Kamon1Reporter.ValueBytesMax)
      cut = cut.init
    cut.replace("\"", "\"\"").replace("${", "$${")
  }

  override def reportPeriodSnapshot(snapshot: PeriodSnapshot): Unit = synchronized {
    if (Crest.available) {
      tick += 1
      val all = snapshot.metrics
      val asHistograms = config.getString("kamon.crest.range-samplers") == "histogram"
      for (one <- all.counters) give(one.name, one.tags, one.value)(counter(one.name, one.unit))
      for (one <- all.gauges) give(one.name, one.tags, one.value)(gauge(one.name, one.unit))
      for (one <- all.histograms) give(one.name, one.tags, one.distribution)(histogram(one))
      for (one <- all.rangeSamplers)
        give(one.name, one.tags, one.distribution) {
          if (asHistograms) histogram(one) else range(one.name, one.unit)
        }
      metrics.values.foreach(_.release(tick))
    }
  }

  private def give[V](name: String, tags: Map[String, String], value: V)(
      make: => Forward[_ <: Instrument, V]
  ): Unit =
    try {
      val metric = metrics.getOrElseUpdate(name, make).asInstanceOf[Forward[Instrument, V]]
      metric.take(tags, value, tick)
    } catch {
      case NonFatal(e) if refused.add(name) =>
        log.error("Kamon's metric {} is not forwarded to Crest", name: Any, e)
      case NonFatal(_) => () // told before
    }

  private def counter(name: String, unit: MeasurementUnit): Forward[Counter, Long] = {
    val scale = Scale.of(unit)
    forward[Counter, Long](name, _.in(scale.unit), _.counter(_),
      (counter, value) => if (value != 0) counter.increment(scale.scaled(value)))
  }

  private def gauge(name: String, unit: MeasurementUnit): Forward[Gauge, Long] = {
    val scale = Scale.of(unit)
    forward[Gauge, Long](name, _.in(scale.unit), _.gauge(_),
      (gauge, value) => gauge.set(scale.scaled(value.toDouble)))
  }

  /** The extremes of a period's samples, and their mean for the value now. */
  private def range(name: String, unit: MeasurementUnit): Forward[Ranges, Distribution] = {
    val scale = Scale.of(unit)
    forward[Ranges, Distribution](name, _.in(scale.unit), _.rangeSampler(_),
      (sampler, values) =>
        if (values.count != 0) {
          val mean = math.round(values.sum.toDouble / values.count)
          for (value <- Seq(values.min, values.max, mean)) sampler.set(scale.scaled(value))
        })
  }

  private def histogram(of: MetricDistribution): Forward[Histogram, Distribution] = {
    val scale = Scale.of(of.unit)
    val limits = bounds(of)
    val settings = (named: Declared) => {
      named.in(scale.unit).range(scale.range(of.dynamicRange))
      limits.fold(named)(named.buckets)
    }
    forward[Histogram, Distribution](of.name, settings, _.histogram(_),
      (histogram, values) =>
        for (bucket <- values.bucketsIterator)
          histogram.record(scale.scaled(bucket.value), bucket.frequency))
  }

  /** Of the configuration: the metric's own, or those of what it counts. */
  private def bounds(of: MetricDistribution): Option[Buckets] = {
    val own = ConfigUtil.joinPath(of.name)
    val dimension = of.unit.dimension.name
    val kind = (if (dimension == "none") "default" else dimension) + "-buckets"
    val default = "default-buckets"
    val paths = Seq("kamon.crest.buckets." + own, "kamon.prometheus.buckets.custom." + own,
      "kamon.prometheus.buckets." + kind, "kamon.crest.default-buckets." + kind,
      "kamon.crest.default-buckets." + default)
    paths.find(config.hasPath).map { path =>
      Buckets.of(config.getDoubleList(path).asScala.map(_.doubleValue): _*)
    }
  }

  /** A metric whose name, if another has it already, gets `-kamon`. */
  private def forward[I <: Instrument, V](
      kamon: String, settings: Declared => Declared,
      end: (Declared, JMap[String, String]) => I, give: (I, V) => Unit
  ): Forward[I, V] = {
    var settled = Seq(Words.name(kamon), Words.name(kamon) + "-kamon")
    def make(labels: JMap[String, String]): I =
      try {
        val made = end(settings(Declared.named(settled.head)), labels)
        settled = settled.take(1)
        made
      } catch {
        case NonFatal(_) if settled.size > 1 =>
          settled = settled.tail
          log.info("Kamon's metric {} is {} in Crest", kamon: Any, settled.head)
          make(labels)
      }
    new Forward(make, give)
  }
}

private object Kamon1Reporter {
  val TagsMax = 12
  val KeyMax = 64
  val ValueBytesMax = 255
}

/** A metric of Kamon's, and its series in Crest by their tags. */
private final class Forward[I <: Instrument, V](
    make: JMap[String, String] => I, give: (I, V) => Unit
) {
  private val words = new Words
  private val series = mutable.Map.empty[Map[String, String], I]
  private val seen = mutable.Map.empty[Map[String, String], Long]

  def take(tags: Map[String, String], value: V, tick: Long): Unit = {
    seen(tags) = tick
    give(series.getOrElseUpdate(tags, make(labels(tags))), value)
  }

  private def labels(tags: Map[String, String]): JMap[String, String] = {
    val labels = new TreeMap[String, String]
    for ((key, value) <- tags if value.nonEmpty) labels.put(words.key(key), value)
    labels
  }

  /** Those that Kamon has removed: they are exported once more, and go. */
  def release(tick: Long): Unit =
    for ((tags, last) <- seen.toSeq if last != tick) {
      seen.remove(tags)
      series.remove(tags).foreach(_.close())
    }
}
