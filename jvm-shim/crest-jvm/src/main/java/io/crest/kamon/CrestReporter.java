// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import com.typesafe.config.Config;
import io.crest.Crest;
import io.crest.CrestException;
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
            if (forwarder == null) forwarder = new Forwarder(settings.buckets, LOG);
        }
        if (!Crest.available()) LOG.error("{}", Crest.unavailableReason());
        start();
    }

    private void start() {
        if (!Crest.available()) return;
        try {
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
     * Stops Crest and starts it with the new options, if they differ. Buckets stay as they are.
     *
     * @param config as of the constructor
     */
    @Override
    public synchronized void reconfigure(Config config) {
        CrestSettings before = settings;
        settings = new CrestSettings(config);
        if (settings.options.equals(before.options)) return;
        stop();
        start();
    }
}
