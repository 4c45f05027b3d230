/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors above those of standard input, output and error. A host may have closed these. The
 * next file that Crest opens would get such a number, and the host's fprintf(stderr) would go into
 * our socket.
 *
 *     int file = crest_descriptor_high(open(path, O_RDONLY | O_CLOEXEC));
 *
 * The kernel gives the lowest free number, so a descriptor is low between the two calls and no
 * longer. Reporters have it as crest_reporter_descriptor.
 */
#ifndef CREST_BASE_DESCRIPTOR_H
#define CREST_BASE_DESCRIPTOR_H

/* A descriptor above 2 is returned as it is, and so is a negative one. A lower one is replaced: the
 * result is a duplicate above 2, closed on exec, and the lower one is closed. -1 with errno when no
 * number is free; the lower one is closed then, too. errno stays otherwise. Thread-safe and
 * signal-safe. */
int crest_descriptor_high(int descriptor);

#endif
