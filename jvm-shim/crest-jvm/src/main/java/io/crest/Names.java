// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The library's functions for what is recorded by name. Called when a name is used first. */
final class Names {
    private Names() {}

    /**
     * The source with this text, never 0: one under which nothing is recorded where there are too
     * many.
     *
     * @throws IllegalArgumentException if the text is no source
     */
    static native long source(String text);

    /**
     * The handle of a name under a source (0: none), made if need be. 0 if there is none, which has
     * then been counted as misuse: the name is null, invalid, of another kind, or one too many.
     * {@code kind} is a {@link Kind#number}.
     */
    static native long handle(long source, String name, int kind);
}
