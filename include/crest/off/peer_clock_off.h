/* SPDX-License-Identifier: Apache-2.0 */
/* What peer_clock.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_PEER_CLOCK_OFF_H
#define CREST_PEER_CLOCK_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_peer_clock *crest_peer_clock_new(crest_registry *registry, const char *peer,
        const crest_peer_clock_options *options, crest_error *error)
{
    (void)registry, (void)peer, (void)options;
    crest_off_fine(error);
    return CREST_NOTHING_(crest_peer_clock);
}

CREST_API void crest_peer_clock_free(crest_peer_clock *clock)
{
    (void)clock;
}

CREST_API crest_status crest_peer_clock_add(crest_peer_clock *clock, uint64_t t1, uint64_t t2,
        uint64_t t3, uint64_t t4, crest_error *error)
{
    (void)clock, (void)t1, (void)t2, (void)t3, (void)t4;
    crest_off_fine(error);
    return CREST_OK;
}

CREST_API crest_status crest_peer_clock_read(const crest_peer_clock *clock,
        crest_peer_clock_state *state)
{
    (void)clock;
    if (state != NULL)
        __builtin_memset((void *)state, 0, sizeof *state);
    return CREST_NOT_FOUND;
}

CREST_END_C

#endif
