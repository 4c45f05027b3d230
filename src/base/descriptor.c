/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors above 2. See descriptor.h.
 */
#define _GNU_SOURCE
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int crest_descriptor_high(int descriptor)
{
    if (descriptor < 0 || descriptor > STDERR_FILENO)
        return descriptor;
    int before = errno;
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (high < 0)
        before = errno;
    close(descriptor);
    errno = before;
    return high;
}
