/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A push's credentials: user and password, a bearer token, a client certificate with its key. Their
 * sources are checked once; secrets in files are read anew for each push, so that they can be
 * exchanged without a restart, and wiped after it.
 *
 *     crest_http_login_init(&login, options, &error);
 *     if (crest_http_login_read(&login, &error) == CREST_OK) {
 *         crest_http_login_into(&login, &request);
 *         ... send the request ...
 *     }
 *     crest_http_login_wipe(&login);
 *     crest_http_login_fini(&login);
 *
 * A secret from the environment is copied when the reporter is made, and kept: the environment does
 * not change by itself, and reading it while the host changes it would be a race.
 */
#ifndef CREST_REPORTERS_HTTP_LOGIN_H
#define CREST_REPORTERS_HTTP_LOGIN_H

#include "http/http_secret.h"
#include "http/http_transport.h"

typedef enum crest_http_login_file {
    CREST_HTTP_LOGIN_PASSWORD,
    CREST_HTTP_LOGIN_BEARER,
    CREST_HTTP_LOGIN_KEY_PASSWORD,
    CREST_HTTP_LOGIN_FILES
} crest_http_login_file;

typedef struct crest_http_login {
    const char *kind;                    /* of the reporter */
    char *user;                          /* NULL: none, or in the URL */
    char *given[CREST_HTTP_LOGIN_FILES]; /* from the environment; NULL: not */
    char *files[CREST_HTTP_LOGIN_FILES]; /* their paths; NULL: not from a file */
    char *cert_file, *key_file;
    unsigned told; /* bits of the files, and one more for the key: the log was warned of it */
    crest_http_secret secrets[CREST_HTTP_LOGIN_FILES]; /* between read and wipe */
} crest_http_login;

/* Where the credentials are; see the options of the same names in <crest/pushgateway.h>. */
typedef struct crest_http_login_options {
    const char *kind; /* of the reporter: the prefix of its options in messages; kept */
    const char *url;  /* may have a user */
    const char *user;
    const char *password_file, *password_env;
    const char *bearer_file, *bearer_env;
    const char *cert_file, *key_file, *key_password_file;
} crest_http_login_options;

/* Those of the reporter `name`, from its options, whose fields have these names. */
#define CREST_HTTP_LOGIN_OF(name, from)                                                            \
    {.kind = (name),                                                                               \
     .url = (from)->url,                                                                           \
     .user = (from)->user,                                                                         \
     .password_file = (from)->password_file,                                                       \
     .password_env = (from)->password_env,                                                         \
     .bearer_file = (from)->bearer_file,                                                           \
     .bearer_env = (from)->bearer_env,                                                             \
     .cert_file = (from)->cert_file,                                                               \
     .key_file = (from)->key_file,                                                                 \
     .key_password_file = (from)->key_password_file}

/* Checks and copies what the options say, and reads each file once to see that it can be; the login
 * is zeroed before. CREST_INVALID_ARGUMENT, CREST_NO_MEMORY; fini is due in any case. Warns the log
 * of a secret's file that other users can read. */
crest_status crest_http_login_init(crest_http_login *login, const crest_http_login_options *options,
                                   crest_error *error);

/* Reads the files. CREST_IO, with a message that names the file that could not be read. */
crest_status crest_http_login_read(crest_http_login *login, crest_error *error);

/* Lends the request what was read, until wipe. */
void crest_http_login_into(const crest_http_login *login, crest_http_request *request);

void crest_http_login_wipe(crest_http_login *login);

void crest_http_login_fini(crest_http_login *login);

#endif
