// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * Hears of each collection as it ends, on a thread of the virtual machine's, which is held up by
 * as little as can be. A collection counts in its bean as it ends, and is heard of a moment later;
 * so {@link #close} first waits for those that the beans have counted and that are not heard of.
 * Only to be loaded where there is the module jdk.management.
 */
final class GcEvents implements NotificationListener {
    private final GcFigures figures;
    private final Cost cost;
    private final List<NotificationEmitter> emitters = new ArrayList<>();
    /** Up to which one each bean's collections are heard of, or need not be; guarded by this. */
    private final Map<String, Long> heard = new HashMap<>();
    private boolean closed; // guarded by this
    private volatile Thread teller;

    GcEvents(GcFigures figures, Cost cost) {
        this.figures = figures;
        this.cost = cost;
    }

    /** Begins to listen; whether there is anything to listen to. */
    boolean start() {
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (!(bean instanceof NotificationEmitter)) continue;
            NotificationEmitter emitter = (NotificationEmitter) bean;
            emitter.addNotificationListener(this, null, null);
            emitters.add(emitter);
            heardUpTo(bean.getName(), bean.getCollectionCount());
        }
        if (!emitters.isEmpty()) figures.told();
        return !emitters.isEmpty();
    }

    private synchronized void heardUpTo(String bean, long collection) {
        heard.merge(bean, collection, Math::max);
        notifyAll();
    }

    /**
     * Hears of what has ended until now, and of no more: nothing is recorded when this returns, and
     * the virtual machine holds nothing of ours. Whether there was an interrupt meanwhile.
     */
    boolean close() {
        boolean interrupted = awaitHeard();
        synchronized (this) {
            closed = true; // one may be on its way here although nobody listens
        }
        for (NotificationEmitter emitter : emitters) {
            try {
                emitter.removeNotificationListener(this);
            } catch (ListenerNotFoundException e) {
                // somebody else took it away, and it is away
            }
        }
        emitters.clear();
        return interrupted;
    }

    /** Waits, but not for ever, until what the beans count now is heard of. */
    private boolean awaitHeard() {
        if (Thread.currentThread() == teller) return false; // it would wait for itself
        Map<String, Long> counted = new HashMap<>();
        for (NotificationEmitter emitter : emitters) {
            GarbageCollectorMXBean bean = (GarbageCollectorMXBean) emitter;
            counted.put(bean.getName(), bean.getCollectionCount());
        }
        boolean interrupted = false;
        long until = System.nanoTime() + JvmMetrics.JOIN_MILLIS * 1_000_000;
        synchronized (this) {
            for (long left = JvmMetrics.JOIN_MILLIS; left > 0 && isBehind(counted); ) {
                try {
                    wait(left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
                left = (until - System.nanoTime()) / 1_000_000;
            }
        }
        return interrupted;
    }

    private boolean isBehind(Map<String, Long> counted) {
        return counted.entrySet().stream().anyMatch(bean -> heard.get(bean.getKey())
                < bean.getValue());
    }

    /** Null when nothing has failed. */
    Throwable lastFailure() {
        return cost.lastFailure();
    }

    @Override
    public void handleNotification(Notification notification, Object handback) {
        String type = GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION;
        if (!notification.getType().equals(type)) return;
        teller = Thread.currentThread();
        synchronized (this) {
            if (closed) return;
            cost.of(() -> tell((CompositeData) notification.getUserData()));
        }
    }

    private void tell(CompositeData data) {
        GarbageCollectionNotificationInfo event = GarbageCollectionNotificationInfo.from(data);
        GcInfo info = event.getGcInfo();
        heardUpTo(event.getGcName(), info.getId()); // also if it then cannot be recorded
        figures.collected(event.getGcName(), event.getGcCause(), event.getGcAction(),
                info.getDuration(), info.getEndTime(), info.getMemoryUsageBeforeGc(),
                info.getMemoryUsageAfterGc());
    }
}
