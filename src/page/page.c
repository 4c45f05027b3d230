/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages: which encoder a format has, and the snapshot of a registry on its way through it. See
 * <crest/page.h>; the encoders themselves know neither registries nor streams.
 */
#include <crest/page.h>

#include "base/uncancelled.h"
#include "page/exposition.h"
#include "snapshot/snapshot_inside.h"
#include "windows/snapshot_take.h"

#include <errno.h>

crest_status crest_snapshot_write(const crest_snapshot *snapshot, crest_format format,
                                  const crest_page_options *options, crest_write_fn *write,
                                  void *context, crest_error *error)
{
    CREST_UNCANCELLED;
    switch (format) {
    case CREST_FORMAT_PROMETHEUS_TEXT:
    case CREST_FORMAT_OPENMETRICS:
    case CREST_FORMAT_PROMETHEUS_PROTOBUF:
        return crest_exposition_write(&crest_page_source_snapshot, snapshot, format, options, write,
                                      context, error);
    }
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "The page was not written: there is no format %d.", (int)format);
}

crest_status crest_page_write(crest_registry *registry, crest_format format, crest_write_fn *write,
                              void *context, crest_error *error)
{
    CREST_UNCANCELLED;
    /* a family's length stands before it: its values must not change while the page is written */
    crest_snapshot *snapshot =
        format == CREST_FORMAT_PROMETHEUS_PROTOBUF
            ? crest_snapshot_take_windows(registry, CREST_PAGE_WINDOWS_RANGES)
            : crest_snapshot_take_passing(registry);
    if (snapshot == NULL)
        return crest_error_set(error, CREST_NO_MEMORY,
                               "The page was not written: there is no memory for a snapshot. "
                               "Nothing recorded is lost; write it again.");
    crest_status status = crest_snapshot_write(snapshot, format, NULL, write, context, error);
    if (status == CREST_OK && crest_snapshot_lacked(snapshot))
        status =
            crest_error_set(error, CREST_NO_MEMORY,
                            "The page is wrong: memory ran out while it was being written, and "
                            "histograms in it are empty. Nothing recorded is lost; write it "
                            "again.");
    crest_snapshot_free(snapshot);
    return status;
}

/* A stream to write to, and the errno of its first failure. */
typedef struct page_stream {
    FILE *stream;
    int failure;
} page_stream;

static int page_stream_write(void *context, const void *bytes, size_t length)
{
    page_stream *into = context;
    errno = 0;
    if (fwrite(bytes, 1, length, into->stream) == length)
        return 0;
    into->failure = errno != 0 ? errno : EIO;
    return -1;
}

/* Flushes the stream, because a full disk shows itself only then. */
int crest_prometheus_write(crest_registry *registry, FILE *stream)
{
    page_stream into = {stream, 0};
    if (stream == NULL) {
        errno = EINVAL;
        return -1;
    }
    crest_status status =
        crest_page_write(registry, CREST_FORMAT_PROMETHEUS_TEXT, page_stream_write, &into, NULL);
    if (status == CREST_OK)
        return fflush(stream) == 0 ? 0 : -1;
    errno = into.failure != 0 ? into.failure : status == CREST_NO_MEMORY ? ENOMEM : EINVAL;
    return -1;
}
