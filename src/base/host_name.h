/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This machine's name, as resources and options say it.
 */
#ifndef CREST_BASE_HOST_NAME_H
#define CREST_BASE_HOST_NAME_H

/* Bytes of a host's name, the end included. */
#define CREST_HOST_BYTES 256u

/* This machine's name as valid UTF-8, never empty: "localhost" where it has none. Thread-safe. */
void crest_host_name(char name[CREST_HOST_BYTES]);

#endif
