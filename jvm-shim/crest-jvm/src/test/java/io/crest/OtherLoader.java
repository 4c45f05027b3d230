// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/**
 * The jar and the tests once more, in a class loader of their own. Crest's static state begins anew
 * there, and the library is loaded again, with the system properties as they are then. Only JDK
 * classes are passed between the two.
 */
final class OtherLoader implements AutoCloseable {
    private final URLClassLoader loader;

    /** With the jar that this test runs with. */
    OtherLoader() {
        this(ChildJvm.of(Library.class));
    }

    OtherLoader(Path jar) {
        try {
            URL[] path = {jar.toUri().toURL(), ChildJvm.of(ChildJvm.class).toUri().toURL()};
            loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader());
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(e);
        }
    }

    ClassLoader loader() {
        return loader;
    }

    /** The answer of that loader's own class of this name, made without parameters. */
    Object call(Class<?> callable) throws Exception {
        return make(callable).call();
    }

    /** An object of that loader's own class of this name. */
    Callable<?> make(Class<?> callable) throws ReflectiveOperationException {
        var constructor = loader.loadClass(callable.getName()).getDeclaredConstructor();
        constructor.setAccessible(true);
        return (Callable<?>) constructor.newInstance();
    }

    /** Why that loader's Crest has no library; null if it has. */
    String problem() throws Exception {
        return (String) call(Problem.class);
    }

    /** The library's problem, there. */
    static final class Problem implements Callable<String> {
        @Override
        public String call() {
            return Library.AVAILABLE ? null : Library.problem();
        }
    }

    @Override
    public void close() {
        try {
            loader.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
