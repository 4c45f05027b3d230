// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** A system property that has another value for a while, for one try block. */
final class WithProperty implements AutoCloseable {
    private final String key;
    private final String before;

    WithProperty(String key, String value) {
        this.key = key;
        before = value == null ? System.clearProperty(key) : System.setProperty(key, value);
    }

    @Override
    public void close() {
        if (before == null) System.clearProperty(key);
        else System.setProperty(key, before);
    }
}
