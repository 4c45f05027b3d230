// SPDX-License-Identifier: Apache-2.0
package io.crest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Calls every public method of io.crest once: static ones first, then those of every returned
 * object, with a value of each parameter's type. Returns how many were called, and the methods that
 * threw what no caller expects: an Error or a NullPointerException.
 */
final class EveryCall implements Callable<List<String>> {
    /** At least so many must have been called, or this class does not find them. */
    private static final int METHODS_MIN = 120;

    private final Map<Class<?>, Object> values = new HashMap<>();
    private final Deque<Object> objects = new ArrayDeque<>();
    private final Set<String> called = new TreeSet<>();
    private final List<String> problems = new ArrayList<>();

    EveryCall() {
        values.put(long.class, 7L);
        values.put(int.class, 1);
        values.put(double.class, 0.5);
        values.put(byte[].class, new byte[] {1, 2, 3});
        values.put(double[].class, new double[] {0.5, 1.0});
        values.put(Duration.class, Duration.ofSeconds(2));
        values.put(OutputStream.class, new ByteArrayOutputStream());
        values.put(Callable.class, (Callable<?>) () -> "called");
        values.put(Supplier.class, (Supplier<?>) () -> CompletableFuture.completedFuture("got"));
        values.put(Timed.class, (Timed<?, ?>) () -> "timed");
        values.put(Timed.Block.class, (Timed.Block<?>) () -> {});
    }

    @Override
    public List<String> call() throws Exception {
        List<Class<?>> types = new ArrayList<>();
        for (String name : classes()) {
            Class<?> type = Class.forName(name, false, EveryCall.class.getClassLoader());
            if (Modifier.isPublic(type.getModifiers())) types.add(type);
        }
        for (Class<?> type : types) {
            if (type.isEnum()) found(type.getEnumConstants()[1]);
        }
        for (int round = 0; round < 2; round++) { // an object may be a later parameter
            for (Class<?> type : types) invokeAll(type, null);
            while (!objects.isEmpty()) {
                Object object = objects.remove();
                invokeAll(object.getClass(), object);
            }
        }
        stop();
        if (called.size() < METHODS_MIN) problems.add("called no more than " + called);
        return problems;
    }

    /** As often as it was started, at most. */
    private static void stop() {
        try {
            for (int i = 0; i < 2; i++) Crest.stop(Duration.ofSeconds(60));
        } catch (CrestException e) {
            // it is not running any more
        }
    }

    /** The names of io.crest's classes, not of its packages below. */
    private static List<String> classes() throws IOException {
        Path jar = ChildJvm.of(Library.class);
        List<String> entries = new ArrayList<>();
        if (Files.isDirectory(jar)) {
            try (Stream<Path> files = Files.list(jar.resolve("io/crest"))) {
                files.forEach(file -> entries.add("io/crest/" + file.getFileName()));
            }
        } else {
            try (ZipInputStream in = new ZipInputStream(Files.newInputStream(jar))) {
                for (ZipEntry entry; (entry = in.getNextEntry()) != null; ) {
                    entries.add(entry.getName());
                }
            }
        }
        return entries.stream()
                .filter(entry -> entry.matches("io/crest/[A-Za-z$]+[.]class"))
                .map(entry -> entry.replace('/', '.').replace(".class", ""))
                .sorted()
                .collect(Collectors.toList());
    }

    private void found(Object object) {
        if (object == null || !object.getClass().getName().startsWith("io.crest.")) return;
        if (values.putIfAbsent(object.getClass(), object) == null) objects.add(object);
    }

    private void invokeAll(Class<?> type, Object object) {
        for (Method method : type.getMethods()) {
            boolean ours = method.getDeclaringClass().getName().startsWith("io.crest.");
            boolean meant = Modifier.isStatic(method.getModifiers()) == (object == null);
            Object[] arguments = ours && meant ? arguments(method) : null;
            if (arguments != null) invoke(method, object, arguments);
        }
    }

    /** Null if there is no object for a parameter yet. */
    private Object[] arguments(Method method) {
        // a name for each method, or a metric would be asked to be of two kinds
        values.put(String.class, "every.call-" + called.size());
        Class<?>[] types = method.getParameterTypes();
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            arguments[i] = values.get(types[i]);
            if (arguments[i] == null && types[i].isArray()) {
                Object one = values.get(types[i].getComponentType());
                if (one == null) return null;
                arguments[i] = Array.newInstance(types[i].getComponentType(), 2);
                Array.set(arguments[i], 0, one);
                Array.set(arguments[i], 1, one instanceof String ? one + ".other" : one);
            }
            if (arguments[i] == null) return null;
        }
        return arguments;
    }

    private void invoke(Method method, Object object, Object[] arguments) {
        String name = method.toGenericString();
        called.add(name);
        try {
            method.setAccessible(true);
            found(method.invoke(object, arguments));
        } catch (InvocationTargetException e) {
            Throwable thrown = e.getCause();
            boolean said = thrown instanceof IllegalArgumentException
                    || thrown instanceof IllegalStateException || thrown instanceof CrestException;
            if (!said || thrown.getMessage() == null) problems.add(name + ": " + thrown);
        } catch (IllegalAccessException e) {
            problems.add(name + ": " + e);
        }
    }
}
