/* SPDX-License-Identifier: Apache-2.0 */
/* What status.h has with CREST_DISABLE; made by scripts/make-off, not by hand. */
#ifndef CREST_STATUS_OFF_H
#define CREST_STATUS_OFF_H

#pragma GCC system_header

#include <stdarg.h>
#include <stdio.h>

CREST_BEGIN_C

/* What a function that cannot fail leaves in an error. */
CREST_API void crest_off_fine(crest_error *error)
{
    if (error != NULL) {
        error->status = CREST_OK;
        error->message[0] = '\0';
    }
}

#define CREST_OFF_TEXT_(name, text) text,
CREST_API const char *crest_status_text(crest_status status)
{
    static const char *const texts[] = {CREST_STATUS_TABLE(CREST_OFF_TEXT_)};
    return (unsigned)status < CREST_STATUS_COUNT ? texts[status] : "no status";
}
#undef CREST_OFF_TEXT_

CREST_API crest_status crest_error_set(crest_error *error, crest_status status, const char *format,
                                       ...)
{
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

CREST_API void crest_log_to(crest_log_fn *log, void *context)
{
    (void)log, (void)context;
}

CREST_API void crest_log_write(crest_log_level level, const char *format, ...)
{
    (void)level, (void)format;
}

CREST_END_C

#endif
