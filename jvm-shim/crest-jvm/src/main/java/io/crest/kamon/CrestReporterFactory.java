// SPDX-License-Identifier: Apache-2.0
package io.crest.kamon;

import kamon.module.Module;
import kamon.module.ModuleFactory;

/**
 * Makes the {@link CrestReporter} of a Kamon application. Kamon finds it by the jar's {@code
 * reference.conf}; the application need not name it.
 */
public final class CrestReporterFactory implements ModuleFactory {
    /** For Kamon. */
    public CrestReporterFactory() {}

    /**
     * The module, which has started Crest already.
     *
     * @param settings Kamon's
     * @return never null
     */
    @Override
    public Module create(ModuleFactory.Settings settings) {
        return new CrestReporter(settings.config());
    }
}
