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
 * Receives a notification of each collection as it ends, on a thread of the virtual machine's,
 * which it holds up as little as possible. A collection counts in its bean as it ends, and its
 * notification comes a moment later. So {@link #close} first waits for the notifications of all
 * collections that the beans have counted. Only to be loaded where the module jdk.management is
 * present.
 */
final class GcEvents implements NotificationListener {
    private final GcFigures figures;
    private final Cost cost;
    private final List<NotificationEmitter> emitters = new ArrayList<>();
    /** Each bean's last collection that was notified, or need not be; guarded by this. */
    private final Map<String, Long> heard = new HashMap<>();
    private boolean closed; // guarded by this
    private volatile Thread teller;

    GcEvents(GcFigures figures, Cost cost) {
        this.figures = figures;
        this.cost = cost;
    }

    /** Begins to listen; returns whether any bean sends notifications. */
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
     * Waits for the notifications of collections that have ended by now, and stops listening. When
     * this returns nothing more is recorded, and the virtual machine refers to nothing of this
     * class loader's. Returns whether there was an interrupt meanwhile.
     */
    boolean close() {
        boolean interrupted = awaitHeard();
        synchronized (this) {
            closed = true; // a notification may be on its way although the listener is removed
        }
        for (NotificationEmitter emitter : emitters) {
            try {
                emitter.removeNotificationListener(this);
            } catch (ListenerNotFoundException e) {
                // another caller has removed it, which is as good
            }
        }
        emitters.clear();
        return interrupted;
    }

    /** Waits, but not for ever, for the notifications of all collections that the beans count. */
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
