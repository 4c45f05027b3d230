// SPDX-License-Identifier: Apache-2.0
package io.crest.jvm;

import io.crest.Metric;
import io.crest.RangeSampler;
import io.crest.Unit;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;

/** Classes, the just-in-time compiler, and what this virtual machine is. */
final class RuntimeFigures implements Figures {
    private final ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
    private final CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    private final Total loaded = new Total(Metric.named("jvm.class-loading.loaded")
            .describedAs("Classes loaded.").counter());
    private final Total unloaded = new Total(Metric.named("jvm.class-loading.unloaded")
            .describedAs("Classes unloaded.").counter());
    private final RangeSampler present = Metric.named("jvm.class-loading.currently-loaded")
            .describedAs("Classes that are loaded.").rangeSampler();
    private final Total compilation;

    RuntimeFigures() {
        boolean told = compiler != null && compiler.isCompilationTimeMonitoringSupported();
        compilation = !told ? null : new Total(Metric.named("jvm.compilation")
                .describedAs("Time that the just-in-time compiler worked.")
                .in(Unit.NANOSECONDS).counter());
        Metric.named("jvm.info").describedAs("What this virtual machine is; always 1.")
                .labelled("version", "vendor", "runtime").gauge()
                .with(property("java.runtime.version"), property("java.vendor"),
                        property("java.runtime.name"))
                .set(1);
    }

    private static String property(String key) {
        String value = System.getProperty(key);
        return value == null || value.isEmpty() ? "unknown" : value;
    }

    @Override
    public void read() {
        loaded.is(classes.getTotalLoadedClassCount());
        unloaded.is(classes.getUnloadedClassCount());
        present.set(classes.getLoadedClassCount());
        if (compilation != null) compilation.is(compiler.getTotalCompilationTime() * 1_000_000);
    }
}
