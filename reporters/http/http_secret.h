/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A password or token from a file or the environment: read, checked, wiped. It is never part of a
 * message; a message names the file or the variable.
 *
 *     crest_http_secret secret;
 *     if (crest_http_secret_read(&secret, "pushgateway.bearer-file", path, &mode, &error) == ...)
 *         ... secret.text ...
 *     crest_http_secret_wipe(&secret);
 */
#ifndef CREST_REPORTERS_HTTP_SECRET_H
#define CREST_REPORTERS_HTTP_SECRET_H

#include <crest/status.h>
#include <sys/types.h>

/* Bytes of a password or token. */
#define CREST_HTTP_SECRET_BYTES_MAX 8192u

typedef struct crest_http_secret {
    char text[CREST_HTTP_SECRET_BYTES_MAX + 1]; /* NUL-terminated; "" when wiped */
} crest_http_secret;

/* Reads a regular file that holds one line; a line feed at its end, alone or after a carriage
 * return, is dropped. *mode gets the file's. CREST_IO with a message that names the option and the
 * file when it cannot be read, is empty, too large or more than one line; the secret is "" then. */
crest_status crest_http_secret_read(crest_http_secret *secret, const char *option, const char *path,
                                    mode_t *mode, crest_error *error);

/* CREST_OK for a text that can be a secret; CREST_INVALID_ARGUMENT naming the option and `name`,
 * where it is from. */
crest_status crest_http_secret_check(const char *text, const char *option, const char *name,
                                     crest_error *error);

/* Overwrites it, in a way that a compiler does not leave out. */
void crest_http_secret_wipe(crest_http_secret *secret);

/* The same for a text of malloc's, then frees it. NULL does nothing. */
void crest_http_secret_free(char *text);

#endif
