/* SPDX-License-Identifier: Apache-2.0 */
/* What probe.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_PROBE_OFF_H
#define CREST_PROBE_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

CREST_API crest_probe *crest_probe_socket(const char *peer, int fd,
        const crest_probe_options *options, crest_error *error)
{
    (void)peer, (void)fd, (void)options;
    crest_off_fine(error);
    return CREST_NOTHING_(crest_probe);
}

CREST_API crest_probe *crest_probe_connect(const char *peer, const char *address,
        const crest_probe_options *options, crest_error *error)
{
    (void)peer, (void)address, (void)options;
    crest_off_fine(error);
    return CREST_NOTHING_(crest_probe);
}

CREST_API crest_probe *crest_probe_ping(const char *peer, crest_probe_send_fn *send,
        void *context, const crest_probe_options *options, crest_error *error)
{
    (void)peer, (void)send, (void)context, (void)options;
    crest_off_fine(error);
    return CREST_NOTHING_(crest_probe);
}

CREST_API crest_status crest_probe_ping_now(crest_probe *probe)
{
    (void)probe;
    return CREST_OK;
}

CREST_API crest_status crest_probe_pong(crest_probe *probe, uint64_t id)
{
    (void)probe, (void)id;
    return CREST_OK;
}

CREST_API crest_status crest_probe_stop(crest_probe *probe)
{
    (void)probe;
    return CREST_OK;
}

CREST_API crest_status crest_probe_read(const crest_probe *probe, crest_probe_state *state)
{
    (void)probe;
    if (state != NULL)
        __builtin_memset((void *)state, 0, sizeof *state);
    return CREST_NOT_FOUND;
}

CREST_API crest_status crest_tcp_info_read(int fd, crest_tcp_info *info, crest_error *error)
{
    (void)fd;
    if (info != NULL)
        __builtin_memset((void *)info, 0, sizeof *info);
    return crest_error_set(error, CREST_SYSTEM, "CREST_DISABLE");
}

CREST_END_C

#endif
