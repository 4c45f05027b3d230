/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example node's encodings and digest: what is written is read back, and no prefix, no flipped
 * byte and no random bytes make the reader go past the end or accept what is not whole. Includes
 * the sources, for the node is a program and not a library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../examples/node/node_base.c"
#include "../../../examples/node/node_hash.c"
#include "../../../examples/node/node_wire.c"
#include "support/random_numbers.h"

#define TRANSFERS 7
#define RANDOM_ROUNDS 20000
#define RANDOM_BYTES_MAX 200

static void digest_matches_the_standard(void **state)
{
    (void)state;
    static const struct {
        const char *text, *digest;
    } known[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint8_t digest[NODE_HASH_BYTES];
        char text[NODE_HEX_BYTES];
        node_hash(known[i].text, strlen(known[i].text), digest);
        assert_string_equal(node_hex(digest, text), known[i].digest);
    }
}

static void make_deploy(wire_out *out)
{
    wire_transfer transfers[TRANSFERS];
    for (unsigned i = 0; i < TRANSFERS; i++)
        transfers[i] = (wire_transfer){(uint16_t)i, (uint16_t)(i + 300), 70000 + i};
    wire_put_deploy(out, 3, UINT64_C(0x1122334455667788), transfers, TRANSFERS);
}

static void deploys_are_read_back(void **state)
{
    (void)state;
    wire_out out = {0};
    wire_deploy deploy;
    make_deploy(&out);
    wire_in in = wire_read(out.bytes, out.length);
    assert_true(wire_get_deploy(&in, &deploy));
    assert_true(wire_done(&in));
    assert_int_equal(deploy.origin, 3);
    assert_true(deploy.sequence == UINT64_C(0x1122334455667788));
    assert_int_equal(deploy.count, TRANSFERS);
    for (unsigned i = 0; i < TRANSFERS; i++) {
        wire_transfer t = wire_deploy_transfer(&deploy, i);
        assert_int_equal(t.from, i);
        assert_int_equal(t.to, i + 300);
        assert_int_equal(t.amount, 70000 + i);
    }
    assert_true(wire_deploy_seal_holds(&deploy));
    wire_out_free(&out);
}

static void blocks_are_read_back(void **state)
{
    (void)state;
    wire_out out = {0};
    wire_block block = {.slot = 99, .height = 12, .proposer = 2, .count = 5}, found;
    memset(block.parent, 0xaa, sizeof block.parent);
    memset(block.state, 0x55, sizeof block.state);
    wire_put_block(&out, &block);
    wire_in in = wire_read(out.bytes, out.length);
    memset(&found, 0, sizeof found);
    assert_true(wire_get_block(&in, &found));
    assert_true(wire_done(&in));
    assert_true(found.slot == 99 && found.height == 12 && found.proposer == 2 && found.count == 5);
    assert_memory_equal(found.parent, block.parent, NODE_HASH_BYTES);
    assert_memory_equal(found.state, block.state, NODE_HASH_BYTES);
    wire_out_free(&out);
}

static void times_are_read_back(void **state)
{
    (void)state;
    wire_out out = {0};
    const wire_pong pong = {7, UINT64_MAX, 1, UINT64_C(1) << 63};
    wire_pong found;
    wire_put_pong(&out, &pong);
    wire_in in = wire_read(out.bytes, out.length);
    assert_true(wire_get_pong(&in, &found));
    assert_memory_equal(&found, &pong, sizeof pong);
    for (size_t length = 0; length < out.length; length++) {
        in = wire_read(out.bytes, length);
        assert_false(wire_get_pong(&in, &found));
    }
    wire_put_u16(&out, 0);
    in = wire_read(out.bytes, out.length);
    assert_false(wire_get_pong(&in, &found));
    wire_out_free(&out);
}

static void envelopes_lie_ahead_of_blocks(void **state)
{
    (void)state;
    uint8_t stamp[WIRE_STAMP_BYTES];
    wire_out out = {0};
    wire_envelope envelope = {stamp, 123456789, 17}, found;
    memset(stamp, 0x3c, sizeof stamp);
    wire_put_envelope(&out, &envelope);
    size_t size = out.length;
    wire_put_u32(&out, 99); /* the block */
    wire_in in = wire_read(out.bytes, out.length);
    assert_true(wire_get_envelope(&in, &found));
    assert_memory_equal(found.stamp, stamp, sizeof stamp);
    assert_true(found.truth_ns == envelope.truth_ns && found.apart_ns == 17);
    assert_int_equal(wire_get_u32(&in), 99);
    assert_true(wire_done(&in));
    for (size_t length = 0; length < size; length++) {
        in = wire_read(out.bytes, length);
        assert_false(wire_get_envelope(&in, &found));
    }
    wire_out_free(&out);
}

static void arrivals_are_read_back(void **state)
{
    (void)state;
    uint8_t hash[NODE_HASH_BYTES];
    wire_out out = {0};
    wire_have have = {hash, 11, UINT64_MAX - 1, 19}, found;
    memset(hash, 0xc3, sizeof hash);
    wire_put_have(&out, &have);
    wire_in in = wire_read(out.bytes, out.length);
    assert_true(wire_get_have(&in, &found));
    assert_memory_equal(found.hash, hash, sizeof hash);
    assert_true(found.come_ns == 11 && found.truth_ns == UINT64_MAX - 1 && found.apart_ns == 19);
    for (size_t length = 0; length < out.length; length++) {
        in = wire_read(out.bytes, length);
        assert_false(wire_get_have(&in, &found));
    }
    wire_put_u16(&out, 0);
    in = wire_read(out.bytes, out.length);
    assert_false(wire_get_have(&in, &found));
    wire_out_free(&out);
}

/* In a heap block of exactly the right size, so that a sanitizer sees a read past the end. */
static bool deploy_is_good(const uint8_t *bytes, size_t length)
{
    uint8_t *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, length);
    wire_in in = wire_read(exact, length);
    wire_deploy deploy;
    bool good = wire_get_deploy(&in, &deploy) && wire_done(&in) && wire_deploy_seal_holds(&deploy);
    free(exact);
    return good;
}

static void damaged_deploys_are_refused(void **state)
{
    (void)state;
    wire_out out = {0};
    make_deploy(&out);
    assert_true(deploy_is_good(out.bytes, out.length));
    for (size_t length = 0; length < out.length; length++)
        assert_false(deploy_is_good(out.bytes, length));
    for (size_t at = 0; at < out.length; at++) {
        out.bytes[at] ^= 0x40;
        assert_false(deploy_is_good(out.bytes, out.length));
        out.bytes[at] ^= 0x40;
    }
    wire_put_u16(&out, 0);
    assert_false(deploy_is_good(out.bytes, out.length));
    wire_out_free(&out);
}

static void random_bytes_are_refused(void **state)
{
    (void)state;
    uint8_t bytes[RANDOM_BYTES_MAX];
    uint64_t random = 1;
    for (unsigned round = 0; round < RANDOM_ROUNDS; round++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)random_next(&random);
        bytes[1] = 0; /* an origin and a count that could be true, to get further */
        bytes[0] &= 7;
        memset(bytes + 11, 0, 3);
        assert_false(deploy_is_good(bytes, random_next(&random) % sizeof bytes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digest_matches_the_standard),   cmocka_unit_test(deploys_are_read_back),
        cmocka_unit_test(blocks_are_read_back),          cmocka_unit_test(times_are_read_back),
        cmocka_unit_test(envelopes_lie_ahead_of_blocks), cmocka_unit_test(arrivals_are_read_back),
        cmocka_unit_test(damaged_deploys_are_refused),   cmocka_unit_test(random_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
