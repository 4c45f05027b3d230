/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.h against the published vectors of SipHash-2-4 with 128 bits of output, and byte by byte
 * against all at once.
 */
#include "support/core_fixture.h"
#include "base/siphash.h"

/* Under the key 00 01 … 0f, the hash of 00 01 … of this many bytes; from vectors.h of the reference
 * implementation. */
static const struct {
    unsigned length;
    unsigned char hash[16];
} vectors[] = {
    {0, "\xa3\x81\x7f\x04\xba\x25\xa8\xe6\x6d\xf6\x72\x14\xc7\x55\x02\x93"},
    {1, "\xda\x87\xc1\xd8\x6b\x99\xaf\x44\x34\x76\x59\x11\x9b\x22\xfc\x45"},
    {2, "\x81\x77\x22\x8d\xa4\xa4\x5d\xc7\xfc\xa3\x8b\xde\xf6\x0a\xff\xe4"},
    {3, "\x9c\x70\xb6\x0c\x52\x67\xa9\x4e\x5f\x33\xb6\xb0\x29\x85\xed\x51"},
    {4, "\xf8\x81\x64\xc1\x2d\x9c\x8f\xaf\x7d\x0f\x6e\x7c\x7b\xcd\x55\x79"},
    {5, "\x13\x68\x87\x59\x80\x77\x6f\x88\x54\x52\x7a\x07\x69\x0e\x96\x27"},
    {6, "\x14\xee\xca\x33\x8b\x20\x86\x13\x48\x5e\xa0\x30\x8f\xd7\xa1\x5e"},
    {7, "\xa1\xf1\xeb\xbe\xd8\xdb\xc1\x53\xc0\xb8\x4a\xa6\x1f\xf0\x82\x39"},
    {8, "\x3b\x62\xa9\xba\x62\x58\xf5\x61\x0f\x83\xe2\x64\xf3\x14\x97\xb4"},
    {15, "\x54\x93\xe9\x99\x33\xb0\xa8\x11\x7e\x08\xec\x0f\x97\xcf\xc3\xd9"},
};

static void test_published_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        crest_siphash hash;
        uint64_t out[2];
        crest_siphash_begin_key(&hash, UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908));
        for (unsigned byte = 0; byte < vectors[i].length; byte++)
            crest_siphash_byte(&hash, (unsigned char)byte);
        crest_siphash_end(&hash, out);
        assert_memory_equal(out, vectors[i].hash, sizeof out);
    }
}

static void test_all_at_once(void **state)
{
    (void)state;
    unsigned char bytes[300];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7);
    uint64_t before[2] = {0, 0};
    for (size_t length = 0; length <= sizeof bytes; length++) {
        uint64_t whole[2], parts[2];
        crest_siphash128(bytes, length, whole);
        crest_siphash hash;
        crest_siphash_begin(&hash);
        for (size_t i = 0; i < length; i++)
            crest_siphash_byte(&hash, bytes[i]);
        crest_siphash_end(&hash, parts);
        assert_memory_equal(whole, parts, sizeof whole);
        assert_memory_not_equal(whole, before, sizeof whole);
        memcpy(before, whole, sizeof whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_vectors),
        cmocka_unit_test(test_all_at_once),
    };
    return cmocka_run_group_tests_name("siphash", tests, NULL, NULL);
}
