/* SPDX-License-Identifier: Apache-2.0 */
/* What loop.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_LOOP_OFF_H
#define CREST_LOOP_OFF_H

#pragma GCC system_header

CREST_BEGIN_C

/* No descriptor and nothing that will be due: a host's loop goes on as if there were no Crest. */
CREST_API int crest_loop_fd(crest_error *error)
{
    crest_off_fine(error);
    return -1;
}

CREST_API crest_status crest_loop_run(int *wait_ms)
{
    if (wait_ms != NULL)
        *wait_ms = -1;
    return CREST_OK;
}

CREST_API int crest_loop_only(void)
{
    return 0;
}

CREST_API crest_status crest_loop_watch(int descriptor)
{
    (void)descriptor;
    return CREST_OK;
}

CREST_API crest_status crest_loop_unwatch(int descriptor)
{
    (void)descriptor;
    return CREST_OK;
}

CREST_END_C

#endif
