// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * Hears of each collection as it ends, on a thread of the virtual machine's, which is held up by
 * as little as can be. Only to be loaded where there is the module jdk.management.
 */
final class GcEvents implements NotificationListener {
    private final GcFigures figures;
    private final Cost cost;
    private final List<NotificationEmitter> emitters = new ArrayList<>();

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
        }
        if (!emitters.isEmpty()) figures.told();
        return !emitters.isEmpty();
    }

    /** Hears of no more; the virtual machine then holds nothing of ours. */
    void close() {
        for (NotificationEmitter emitter : emitters) {
            try {
                emitter.removeNotificationListener(this);
            } catch (ListenerNotFoundException e) {
                // somebody else took it away, and it is away
            }
        }
        emitters.clear();
    }

    /** Null when nothing has failed. */
    Throwable lastFailure() {
        return cost.lastFailure();
    }

    @Override
    public void handleNotification(Notification notification, Object handback) {
        String type = GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION;
        if (notification.getType().equals(type))
            cost.of(() -> tell((CompositeData) notification.getUserData()));
    }

    private void tell(CompositeData data) {
        GarbageCollectionNotificationInfo event = GarbageCollectionNotificationInfo.from(data);
        GcInfo info = event.getGcInfo();
        figures.collected(event.getGcName(), event.getGcCause(), event.getGcAction(),
                info.getDuration(), info.getEndTime(), info.getMemoryUsageBeforeGc(),
                info.getMemoryUsageAfterGc());
    }
}
