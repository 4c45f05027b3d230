// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs tasks in the context that the thread is in which hands them over. */
class ContextExecutor<E extends ExecutorService> implements ExecutorService {
    final E executor;

    ContextExecutor(E executor) {
        this.executor = executor;
    }

    static Runnable wrapped(Runnable task) {
        return Context.current().wrap(task);
    }

    static <T> Callable<T> wrapped(Callable<T> task) {
        return Context.current().wrap(task);
    }

    private static <T> List<Callable<T>> wrapped(Collection<? extends Callable<T>> tasks) {
        List<Callable<T>> all = new ArrayList<>(tasks.size());
        for (Callable<T> task : tasks) all.add(wrapped(task));
        return all;
    }

    @Override
    public void execute(Runnable task) {
        executor.execute(wrapped(task));
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
        return executor.submit(wrapped(task));
    }

    @Override
    public <T> Future<T> submit(Runnable task, T result) {
        return executor.submit(wrapped(task), result);
    }

    @Override
    public Future<?> submit(Runnable task) {
        return executor.submit(wrapped(task));
    }

    @Override
    public <T> List<Future<T>> invokeAll(Collection<? extends Callable<T>> tasks)
            throws InterruptedException {
        return executor.invokeAll(wrapped(tasks));
    }

    @Override
    public <T> List<Future<T>> invokeAll(
            Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException {
        return executor.invokeAll(wrapped(tasks), timeout, unit);
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks)
            throws InterruptedException, ExecutionException {
        return executor.invokeAny(wrapped(tasks));
    }

    @Override
    public <T> T invokeAny(Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return executor.invokeAny(wrapped(tasks), timeout, unit);
    }

    @Override
    public void shutdown() {
        executor.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        return executor.shutdownNow();
    }

    @Override
    public boolean isShutdown() {
        return executor.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return executor.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return executor.awaitTermination(timeout, unit);
    }
}
