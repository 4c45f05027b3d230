// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** The same for tasks that run later, or again and again. */
final class ContextScheduler extends ContextExecutor<ScheduledExecutorService>
        implements ScheduledExecutorService {
    ContextScheduler(ScheduledExecutorService executor) {
        super(executor);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return executor.schedule(wrapped(task), delay, unit);
    }

    @Override
    public <T> ScheduledFuture<T> schedule(Callable<T> task, long delay, TimeUnit unit) {
        return executor.schedule(wrapped(task), delay, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(
            Runnable task, long first, long period, TimeUnit unit) {
        return executor.scheduleAtFixedRate(wrapped(task), first, period, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(
            Runnable task, long first, long delay, TimeUnit unit) {
        return executor.scheduleWithFixedDelay(wrapped(task), first, delay, unit);
    }
}
