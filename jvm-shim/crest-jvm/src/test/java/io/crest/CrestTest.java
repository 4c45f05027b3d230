// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class CrestTest {
    static {
        assertTrue(Library.AVAILABLE, Library.problem());
    }

    private static final Duration SOON = Duration.ofSeconds(2);

    private static CrestException refused(String options) {
        CrestException e = assertThrows(CrestException.class, () -> Crest.start(options));
        // nothing was started
        assertEquals(
                Status.NOT_RUNNING,
                assertThrows(CrestException.class, () -> Crest.stop(SOON)).status());
        return e;
    }

    private static void contains(String text, String part) {
        assertTrue(text.contains(part), () -> "\"" + part + "\" is not in: " + text);
    }

    @Test
    void saysThatItIsThere() {
        assertTrue(Crest.available(), Crest.unavailableReason());
        assertNull(Crest.unavailableReason());
        assertEquals(Library.version(), Crest.version());
    }

    @Test
    void pagesHaveWhatWasCounted() {
        Counter.of("crest-test.pages").increment(3);
        contains(Crest.page(PageFormat.TEXT), "\ncrest_test_pages_total 3\n");
        String open = Crest.page(PageFormat.OPENMETRICS);
        contains(open, "\ncrest_test_pages_total 3\n");
        assertTrue(open.endsWith("# EOF\n"), "an OpenMetrics page ends with # EOF");
        assertFalse(Crest.page(PageFormat.TEXT).contains("# EOF"), "a text page does not");
    }

    @Test
    void aPageStopsAtItsStreamsException() {
        IOException mine = new IOException("the other side is gone");
        OutputStream broken =
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw mine;
                    }
                };
        assertEquals(
                mine,
                assertThrows(
                        IOException.class, () -> Crest.writePage(PageFormat.TEXT, broken)));
        assertThrows(NullPointerException.class, () -> Crest.page(null));
        assertThrows(
                NullPointerException.class, () -> Crest.writePage(PageFormat.TEXT, null));
    }

    @Test
    void formatsAreTheLibrarys() {
        for (PageFormat format : PageFormat.values()) {
            byte[] told = RunNatives.contentType(format.ordinal());
            assertEquals(
                    format.contentType(),
                    new String(told, 1, told.length - 1, StandardCharsets.UTF_8));
        }
        assertNull(RunNatives.contentType(PageFormat.values().length));
    }

    @Test
    void formatsAreNegotiated() {
        assertEquals(PageFormat.TEXT, PageFormat.negotiate(null));
        assertEquals(PageFormat.TEXT, PageFormat.negotiate(""));
        assertEquals(PageFormat.TEXT, PageFormat.negotiate("text/html, */*"));
        assertEquals(PageFormat.TEXT, PageFormat.negotiate("application/openmetrics-text\0"));
        assertEquals(PageFormat.TEXT, PageFormat.negotiate("é\ud800"));
        assertEquals(
                PageFormat.OPENMETRICS,
                PageFormat.negotiate(
                        "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"));
        assertEquals(
                PageFormat.PROTOBUF,
                PageFormat.negotiate(
                        "application/vnd.google.protobuf;encoding=delimited;"
                                + "proto=io.prometheus.client.MetricFamily,*/*;q=0.1"));
        assertThrows(IllegalArgumentException.class, () -> Crest.page(PageFormat.PROTOBUF));
    }

    @Test
    void startsAndStops() {
        Crest.start("windows=off");
        Crest.start();
        Crest.stop(SOON);
        Crest.stop(SOON);
        assertEquals(
                Status.NOT_RUNNING,
                assertThrows(CrestException.class, () -> Crest.stop(SOON)).status());
    }

    @Test
    void badOptionsAreNamed() {
        CrestException unknown = refused("intervall=10s");
        assertEquals(Status.INVALID_OPTIONS, unknown.status());
        contains(unknown.getMessage(), "intervall");
        contains(unknown.getMessage(), "\"interval\"");
        contains(refused("pushgatevay=http://127.0.0.1:9091").getMessage(), "\"pushgateway\"");
        contains(refused("interval=soon").getMessage(), "interval=soon");
        contains(refused("service=\u00fc\ud83d\ude00,jitter=9").getMessage(), "jitter=9");
        contains(refused("interval=\ud83d\ude00").getMessage(), "\ud83d\ude00");
    }

    @Test
    void badArgumentsAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> Crest.start(null));
        contains(
                assertThrows(
                                IllegalArgumentException.class,
                                () -> Crest.start("service=a\0,interval=1s"))
                        .getMessage(),
                "character 9");
        assertThrows(IllegalArgumentException.class, () -> Crest.stop(null));
        assertThrows(IllegalArgumentException.class, () -> Crest.stop(Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> Crest.stop(Duration.ofMillis(-5)));
        assertThrows(IllegalArgumentException.class, () -> Crest.retire(null, "x"));
        assertThrows(IllegalArgumentException.class, () -> Crest.retire("x", null));
        assertThrows(IllegalArgumentException.class, () -> Crest.retire("x", "\0"));
        assertEquals(0, Crest.retire("peer", "nobody"));
    }
}
