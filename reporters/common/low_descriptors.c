/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeping 0, 1 and 2 taken for a moment. See low_descriptors.h.
 */
#define _GNU_SOURCE
#include "common/low_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A directory by its path only: it can be neither read nor written, and is always there. */
#define LOW_DESCRIPTORS_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

static int low_descriptors_closed(void)
{
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0)
            return 1;
    return 0;
}

void crest_low_descriptors_take(crest_low_descriptors *low)
{
    memset(low, 0, sizeof *low);
    while (low_descriptors_closed()) {
        int file = open("/", LOW_DESCRIPTORS_FLAGS);
        if (file >= 0 && file <= STDERR_FILENO) {
            low->taken[file] = 1;
            continue;
        }
        if (file >= 0)
            close(file); /* the host has opened the others meanwhile */
        return;
    }
}

void crest_low_descriptors_leave(const crest_low_descriptors *low)
{
    int before = errno;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        int flags = low->taken[i] ? fcntl(i, F_GETFL) : -1;
        if (flags >= 0 && (flags & O_PATH) != 0)
            close(i);
    }
    errno = before;
}
