// SPDX-License-Identifier: Apache-2.0
package io.crest;

/** How a page of all metrics is written: {@link Crest#page}. */
public enum PageFormat {
    /** The text format of Prometheus, version 0.0.4. */
    TEXT("text/plain; version=0.0.4; charset=utf-8"),
    /** OpenMetrics 1.0.0: the same series and values, with units and exemplars. */
    OPENMETRICS("application/openmetrics-text; version=1.0.0; charset=utf-8"),
    /** Prometheus' protobuf, with native histograms: bytes, not text. */
    PROTOBUF(
            "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;"
                    + " encoding=delimited");

    private static final PageFormat[] ALL = values();

    private final String contentType;

    PageFormat(String contentType) {
        this.contentType = contentType;
    }

    /** What to send as {@code Content-Type} with a page of this format. */
    public String contentType() {
        return contentType;
    }

    /**
     * The format that an HTTP client asks for. Any thread; one JNI call, no lock.
     *
     * @param accept its {@code Accept} header. Null, a header that accepts none, and one that
     *     cannot be parsed, give {@link #TEXT}; without the native library all do
     */
    public static PageFormat negotiate(String accept) {
        if (accept == null || !Library.AVAILABLE || accept.indexOf('\0') >= 0) return TEXT;
        return ALL[RunNatives.negotiate(Crest.utf8(accept, "the Accept header"))];
    }
}
