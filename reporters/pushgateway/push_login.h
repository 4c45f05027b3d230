/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A push's credentials: user and password, a bearer token, a client certificate with its key. Their
 * sources are checked once; secrets in files are read anew for each push, so that they can be
 * exchanged without a restart, and wiped after it.
 *
 *     crest_push_login_init(&login, options, &error);
 *     if (crest_push_login_read(&login, &error) == CREST_OK) {
 *         crest_push_login_into(&login, &request);
 *         ... send the request ...
 *     }
 *     crest_push_login_wipe(&login);
 *     crest_push_login_fini(&login);
 *
 * A secret from the environment is copied when the reporter is made, and kept: the environment does
 * not change by itself, and reading it while the host changes it would be a race.
 */
#ifndef CREST_REPORTERS_PUSH_LOGIN_H
#define CREST_REPORTERS_PUSH_LOGIN_H

#include "http/http_transport.h"
#include "pushgateway/push_secret.h"

typedef enum crest_push_login_file {
    CREST_PUSH_LOGIN_PASSWORD,
    CREST_PUSH_LOGIN_BEARER,
    CREST_PUSH_LOGIN_KEY_PASSWORD,
    CREST_PUSH_LOGIN_FILES
} crest_push_login_file;

typedef struct crest_push_login {
    char *user;                          /* NULL: none, or in the URL */
    char *given[CREST_PUSH_LOGIN_FILES]; /* from the environment; NULL: not */
    char *files[CREST_PUSH_LOGIN_FILES]; /* their paths; NULL: not from a file */
    char *cert_file, *key_file;
    unsigned told; /* bits of the files, and one more for the key: the log was warned of it */
    crest_push_secret secrets[CREST_PUSH_LOGIN_FILES]; /* between read and wipe */
} crest_push_login;

/* Checks and copies what the options say, and reads each file once to see that it can be; the login
 * is zeroed before. CREST_INVALID_ARGUMENT, CREST_NO_MEMORY; fini is due in any case. Warns the log
 * of a secret's file that other users can read. */
crest_status crest_push_login_init(crest_push_login *login,
                                   const crest_pushgateway_options *options, crest_error *error);

/* Reads the files. CREST_IO, with a message that names the file that could not be read. */
crest_status crest_push_login_read(crest_push_login *login, crest_error *error);

/* Lends the request what was read, until wipe. */
void crest_push_login_into(const crest_push_login *login, crest_http_request *request);

void crest_push_login_wipe(crest_push_login *login);

void crest_push_login_fini(crest_push_login *login);

#endif
