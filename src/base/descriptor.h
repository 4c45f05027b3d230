/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors above those of standard input, output and error. A host may have closed these; what
 * opens then gets their numbers, and the host's next fprintf(stderr) would go into our socket.
 *
 *     int file = crest_descriptor_high(open(path, O_RDONLY | O_CLOEXEC));
 *
 * The kernel always gives the lowest number that is free, so a descriptor has a low one between the
 * two calls, and no longer. Reporters have it as crest_reporter_descriptor.
 */
#ifndef CREST_BASE_DESCRIPTOR_H
#define CREST_BASE_DESCRIPTOR_H

/* The same descriptor, or one of the same file above 2, closed on exec, in place of one that was
 * not; below 0 it is returned as it is. -1 with errno when there is none, and then it is closed.
 * errno stays otherwise. Thread-safe and signal-safe. */
int crest_descriptor_high(int descriptor);

#endif
