// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import io.crest.Crest;
import io.crest.CrestException;
import io.crest.LogLevel;
import io.crest.Status;
import kamon.metric.PeriodSnapshot;
import kamon.module.CombinedReporter;
import kamon.trace.Span;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.immutable.Seq;

/**
 * A Kamon module that forwards every period's snapshot, and every finished span, to Crest, which
 * exports them through its reporters. It starts Crest with the options {@code
 * kamon.crest.options}; {@code docs/kamon.md} says what becomes of which metric.
 *
 * <p>Kamon makes one and calls it, from one thread at a time. Nothing is thrown into Kamon: each
 * failure is logged once, in the log of this class.
 */
public final class CrestReporter implements CombinedReporter {
    private static final Logger LOG = LoggerFactory.getLogger(CrestReporter.class);

    /**
     * Shared by all modules that Kamon makes in turn: a metric's name and labels in Crest stay the
     * same for the life of the process.
     */
    private static Forwarder forwarder;

    private final ForwardedSpans spans = new ForwardedSpans(LOG);
    private CrestSettings settings;
    private boolean started;

    /**
     * Starts Crest.
     *
     * @param config Kamon's, with the settings {@code kamon.crest} and {@code kamon.environment}
     */
    public CrestReporter(Config config) {
        settings = new CrestSettings(config);
        synchronized (CrestReporter.class) {
            if (forwarder == null) forwarder = new Forwarder(settings, LOG);
        }
        if (!Crest.available()) LOG.error("{}", Crest.unavailableReason());
        start();
    }

    /** What the library tells, as of a gateway that cannot be reached. */
    private static void log(LogLevel level, String message) {
        if (level == LogLevel.ERROR) LOG.error("{}", message);
        else if (level == LogLevel.WARNING) LOG.warn("{}", message);
        else LOG.info("{}", message);
    }

    /** Whether there is nothing to be mended: it runs, or cannot. */
    private boolean start() {
        if (!Crest.available()) return true;
        try {
            Crest.onLogIfNone(CrestReporter::log);
            Crest.start(settings.options);
            started = true;
        } catch (CrestException e) {
            started = e.status() == Status.ALREADY;
            // refused with options, it does not count; without options it does, and needs its stop
            if (started) Crest.start();
            if (started)
                LOG.warn(
                        "Crest was started before Kamon: what Kamon records is reported as that"
                                + " start asked for, and not by kamon.crest.options");
            else LOG.error("Crest reports nothing: {}", e.getMessage());
        } catch (IllegalArgumentException e) {
            LOG.error("Crest reports nothing: {}", e.getMessage());
        }
        return started;
    }

    /**
     * Forwards what was recorded in the period.
     *
     * @param snapshot of all instruments
     */
    @Override
    public void reportPeriodSnapshot(PeriodSnapshot snapshot) {
        if (!Crest.available()) return;
        synchronized (CrestReporter.class) {
            forwarder.forward(snapshot);
        }
    }

    /**
     * Forwards the spans that Kamon's sampler kept. They are dropped where no reporter takes spans.
     *
     * @param finished since the last call
     */
    @Override
    public void reportSpans(Seq<Span.Finished> finished) {
        if (Crest.available()) spans.forward(finished);
    }

    /**
     * Delivers what was forwarded to every reporter and stops them, within {@code
     * kamon.crest.stop-timeout}. Kamon forwards the last period before.
     */
    @Override
    public synchronized void stop() {
        if (!started) return;
        started = false;
        try {
            Crest.stop(settings.stopTimeout);
        } catch (CrestException | IllegalArgumentException e) {
            LOG.error("{}", e.getMessage());
        }
    }

    /**
     * Stops Crest and starts it with the new options, if they differ. With options that are wrong,
     * or that cannot be started with, it goes on with those it has. Buckets stay as they are.
     *
     * @param config as of the constructor
     */
    @Override
    public synchronized void reconfigure(Config config) {
        CrestSettings before = settings;
        try {
            CrestSettings wanted = new CrestSettings(config);
            if (!wanted.options.equals(before.options)) Crest.check(wanted.options);
            settings = wanted;
        } catch (CrestException | IllegalArgumentException | ConfigException e) {
            LOG.error("Crest goes on with the options it has: {}", e.getMessage());
            return;
        }
        if (settings.options.equals(before.options)) return;
        stop();
        if (start()) return;
        settings = before;
        LOG.error("Crest goes on with the options it had");
        start();
    }
}
