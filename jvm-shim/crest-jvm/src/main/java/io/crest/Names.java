// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** The library's functions for recording by name. Called at the first use of a name. */
final class Names {
    private Names() {}

    /**
     * The source with this text, never 0. Past the limit of sources: a source that records nowhere.
     *
     * @throws IllegalArgumentException if the text is not valid as a source
     */
    static native long source(String text);

    /**
     * The handle of a name under a source (0: none), made if need be. 0 if there is none, which has
     * been counted as misuse: the name is null, invalid, of another kind, or past the limit.
     * {@code kind} is a {@link Kind#number}.
     */
    static native long handle(long source, String name, int kind);
}
