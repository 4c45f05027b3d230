/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials of a push. See http_login.h.
 *
 * Source: RFC 7617 section 2 (a user has no colon) and RFC 6750 section 2.1 (a token's letters).
 */
#include "http/http_login.h"
#include "http/http_words.h"

#include <crest/registry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HTTP_LOGIN_TOKEN_LETTERS                                                                   \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/="
#define HTTP_LOGIN_TOLD_KEY CREST_HTTP_LOGIN_FILES

static const char *const http_login_options[CREST_HTTP_LOGIN_FILES] = {
    [CREST_HTTP_LOGIN_PASSWORD] = "$.password-file",
    [CREST_HTTP_LOGIN_BEARER] = "$.bearer-file",
    [CREST_HTTP_LOGIN_KEY_PASSWORD] = "$.key-password-file",
};

/* ---- what the options may say ---- */

static const char *http_login_problem(const crest_http_login_options *options)
{
    int password = options->password_file != NULL || options->password_env != NULL;
    int bearer = options->bearer_file != NULL || options->bearer_env != NULL;
    if (options->password_file != NULL && options->password_env != NULL)
        return "$.password-file and $.password-env are both given; give one";
    if (options->bearer_file != NULL && options->bearer_env != NULL)
        return "$.bearer-file and $.bearer-env are both given; give one";
    if (options->user != NULL && !password)
        return "$.user has no password: give $.password-file or "
               "$.password-env";
    if (password && options->user == NULL)
        return "There is a password, but no $.user that it belongs to";
    if (password && bearer)
        return "There are a password and a bearer token, and a request can have one of the two";
    if ((password || bearer) && strchr(options->url, '@') != NULL)
        return "The URL has a user already; leave it there, or give it by options";
    if (options->user != NULL &&
        (options->user[0] == '\0' || options->user[strcspn(options->user, ":\r\n\t\x7f")] != '\0'))
        return "$.user is empty, or has a colon or a control character, which a user's "
               "name cannot have";
    if (options->cert_file == NULL &&
        (options->key_file != NULL || options->key_password_file != NULL))
        return "$.key-file and $.key-password-file belong to a "
               "$.cert-file, and there is none";
    return NULL;
}

static crest_status http_login_check_token(const char *text, const char *name, crest_error *error)
{
    if (text[strspn(text, HTTP_LOGIN_TOKEN_LETTERS)] == '\0')
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "%s does not hold a bearer token: tokens are letters, digits and "
                           "-._~+/=",
                           name);
}

/* ---- making one ---- */

static int http_login_copy(char **copy, const char *text)
{
    return text == NULL || (*copy = strdup(text)) != NULL ? 0 : -1;
}

/* Copies a secret from the environment; no variable asked for is fine. */
static crest_status http_login_take_given(crest_http_login *login, crest_http_login_file which,
                                          const char *option, const char *variable,
                                          crest_error *error)
{
    char named[CREST_HTTP_WORDED_BYTES];
    if (variable == NULL)
        return CREST_OK;
    crest_http_words(login->kind, option, named);
    const char *text = getenv(variable);
    if (text == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "%s: the environment variable %s is not set", named, variable);
    crest_status status = crest_http_secret_check(text, named, variable, error);
    if (status == CREST_OK && which == CREST_HTTP_LOGIN_BEARER)
        status = http_login_check_token(text, named, error);
    if (status == CREST_OK && http_login_copy(&login->given[which], text) != 0)
        status = crest_error_set(error, CREST_NO_MEMORY, "No memory for a secret");
    return status;
}

/* Tells the log once of a file that others may read too. */
static void http_login_tell(crest_http_login *login, unsigned which, const char *path, mode_t mode)
{
    if ((mode & S_IROTH) == 0 || (login->told & 1u << which) != 0)
        return;
    login->told |= 1u << which;
    crest_log_write(CREST_LOG_WARNING,
                    "crest: %s: the file %s holds a secret, and everybody on this machine "
                    "can read it (mode %04o); chmod o-rwx it",
                    login->kind, path, (unsigned)mode & 07777u);
}

static crest_status http_login_check_file(const crest_http_login *login, const char *option,
                                          const char *path, mode_t *mode, crest_error *error)
{
    struct stat about;
    if (path == NULL)
        return CREST_OK;
    if (access(path, R_OK) != 0 || stat(path, &about) != 0)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "%s.%s: the file %s cannot be read: %s", login->kind, option, path,
                               strerror(errno));
    *mode = about.st_mode;
    return CREST_OK;
}

static crest_status http_login_check_files(crest_http_login *login, crest_error *error)
{
    mode_t cert_mode = 0, key_mode = 0;
    crest_status status =
        http_login_check_file(login, "cert-file", login->cert_file, &cert_mode, error);
    if (status == CREST_OK)
        status = http_login_check_file(login, "key-file", login->key_file, &key_mode, error);
    if (status == CREST_OK)
        status = crest_http_login_read(login, error);
    crest_http_login_wipe(login);
    if (status == CREST_IO)
        status = CREST_INVALID_ARGUMENT;
    if (status == CREST_OK && login->key_file != NULL)
        http_login_tell(login, HTTP_LOGIN_TOLD_KEY, login->key_file, key_mode);
    if (error != NULL)
        error->status = status;
    return status;
}

crest_status crest_http_login_init(crest_http_login *login, const crest_http_login_options *options,
                                   crest_error *error)
{
    char words[CREST_HTTP_WORDED_BYTES];
    const char *problem = http_login_problem(options);
    if (problem != NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "%s",
                               crest_http_words(options->kind, problem, words));
    login->kind = options->kind;
    if (http_login_copy(&login->user, options->user) != 0 ||
        http_login_copy(&login->cert_file, options->cert_file) != 0 ||
        http_login_copy(&login->key_file, options->key_file) != 0 ||
        http_login_copy(&login->files[CREST_HTTP_LOGIN_PASSWORD], options->password_file) != 0 ||
        http_login_copy(&login->files[CREST_HTTP_LOGIN_BEARER], options->bearer_file) != 0 ||
        http_login_copy(&login->files[CREST_HTTP_LOGIN_KEY_PASSWORD], options->key_password_file) !=
            0)
        return crest_error_set(error, CREST_NO_MEMORY, "No memory for credentials");
    crest_status status = http_login_take_given(login, CREST_HTTP_LOGIN_PASSWORD, "$.password-env",
                                                options->password_env, error);
    if (status == CREST_OK)
        status = http_login_take_given(login, CREST_HTTP_LOGIN_BEARER, "$.bearer-env",
                                       options->bearer_env, error);
    if (status == CREST_OK)
        status = http_login_check_files(login, error);
    return status;
}

/* ---- a push ---- */

crest_status crest_http_login_read(crest_http_login *login, crest_error *error)
{
    for (unsigned i = 0; i < CREST_HTTP_LOGIN_FILES; i++) {
        const char *path = login->files[i];
        if (path == NULL)
            continue;
        mode_t mode;
        char option[CREST_HTTP_WORDED_BYTES];
        crest_status status = crest_http_secret_read(
            &login->secrets[i], crest_http_words(login->kind, http_login_options[i], option), path,
            &mode, error);
        if (status == CREST_OK && i == CREST_HTTP_LOGIN_BEARER &&
            http_login_check_token(login->secrets[i].text, path, error) != CREST_OK)
            status = CREST_IO;
        if (status != CREST_OK) {
            crest_http_login_wipe(login);
            if (error != NULL)
                error->status = status;
            return status;
        }
        http_login_tell(login, i, path, mode);
    }
    return CREST_OK;
}

static const char *http_login_secret(const crest_http_login *login, crest_http_login_file which)
{
    return login->files[which] != NULL ? login->secrets[which].text : login->given[which];
}

void crest_http_login_into(const crest_http_login *login, crest_http_request *request)
{
    request->user = login->user;
    request->password = http_login_secret(login, CREST_HTTP_LOGIN_PASSWORD);
    request->bearer = http_login_secret(login, CREST_HTTP_LOGIN_BEARER);
    request->cert_file = login->cert_file;
    request->key_file = login->key_file;
    request->key_password = http_login_secret(login, CREST_HTTP_LOGIN_KEY_PASSWORD);
}

void crest_http_login_wipe(crest_http_login *login)
{
    for (unsigned i = 0; i < CREST_HTTP_LOGIN_FILES; i++)
        crest_http_secret_wipe(&login->secrets[i]);
}

void crest_http_login_fini(crest_http_login *login)
{
    crest_http_login_wipe(login);
    for (unsigned i = 0; i < CREST_HTTP_LOGIN_FILES; i++) {
        crest_http_secret_free(login->given[i]);
        free(login->files[i]);
    }
    free(login->user);
    free(login->cert_file);
    free(login->key_file);
}
