/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter: how many times something happened. Declared at file scope, it exists, and is exported
 * as zero, before the first event; counting costs what adding to a variable costs.
 */
#include <crest/crest.h>
#include <inttypes.h>
#include <stdio.h>

CREST_COUNTER(blocks_created, "casper.blocks-created", "Blocks this node proposed.");
CREST_COUNTER(bytes_sent, "comm.transport.sent", "Payload handed to the network.",
              .unit = CREST_BYTES);

static void send_block(const char *block, int64_t bytes)
{
    (void)block;
    crest_counter_add(&bytes_sent, bytes);
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        crest_counter_inc(&blocks_created);
        send_block("…", 1200 + i);
    }

    /* an amount that is negative is a mistake: it is not applied, and counted as misuse */
    crest_counter_add(&bytes_sent, -1);

    printf("blocks created: %" PRIu64 "\n", crest_counter_value(&blocks_created));
    printf("bytes sent: %" PRIu64 "\n", crest_counter_value(&bytes_sent));
    return 0;
}
