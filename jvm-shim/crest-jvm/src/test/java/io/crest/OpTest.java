// SPDX-License-Identifier: Apache-2.0
package io.crest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class OpTest {
    static { assertTrue(Library.AVAILABLE, Library.problem()); }

    @Test
    void hasTheWordsThatTheLibraryMakes() {
        for (int length = 1; length <= 100; length++) {
            byte[] bytes = new byte[length];
            for (int i = 0; i < length; i++) bytes[i] = (byte) ('a' + i % 26);
            long[] words = new long[4];
            TimerNatives.hash(bytes, length, words);
            Op op = Op.of(bytes);
            assertEquals(new Op(3, length, words[0], words[1], words[2], words[3]), op);
            Op text = Op.of(new String(bytes, StandardCharsets.US_ASCII));
            assertEquals(new Op(4, length, words[0], words[1], words[2], words[3]), text);
            assertNotEquals(op, text);
        }
    }

    @Test
    void isWrittenAsTheLibraryWritesIt() {
        assertEquals("7", Op.of(7).toString());
        assertEquals("18446744073709551615", Op.of(-1).toString());
        assertEquals("7:8", Op.of(7, 8).toString());
        assertEquals("0x00ff", Op.of(new byte[] {0, -1}).toString());
        assertEquals("0x" + "00".repeat(16) + "…", Op.of(new byte[33]).toString());
        assertEquals("täxt", Op.of("täxt").toString());
        assertEquals("x".repeat(32), Op.of("x".repeat(32)).toString());
        assertEquals("x".repeat(16) + "…", Op.of("x".repeat(33)).toString());
        assertEquals("ö".repeat(8) + "…", Op.of("ö".repeat(20)).toString());
        assertEquals("x" + "ö".repeat(7) + "…", Op.of("x" + "ö".repeat(20)).toString());
        assertEquals("x" + "\ud83d\ude00".repeat(3) + "…",
                Op.of("x" + "\ud83d\ude00".repeat(9)).toString());
        assertEquals("-", Op.of((String) null).toString());
        assertEquals(Op.of(""), Op.of(new byte[0]));
    }

    @Test
    void isAValue() {
        assertEquals(Op.of(7), Op.of(7L));
        assertEquals(Op.of(7).hashCode(), Op.of(7L).hashCode());
        assertNotEquals(Op.of(7), Op.of("7"));
        assertNotEquals(Op.of(7), Op.of(7, 0));
        assertNotEquals(Op.of(new byte[] {1}), Op.of(new byte[] {1, 0}));
        assertNotEquals(Op.of(7), "7");
    }
}
