/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials of a push. See push_login.h.
 *
 * Source: RFC 7617 section 2 (a user has no colon) and RFC 6750 section 2.1 (a token's letters).
 */
#include "pushgateway/push_login.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PUSH_LOGIN_TOKEN_LETTERS                                                                   \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/="
#define PUSH_LOGIN_TOLD_KEY CREST_PUSH_LOGIN_FILES

static const char *const push_login_options[CREST_PUSH_LOGIN_FILES] = {
    [CREST_PUSH_LOGIN_PASSWORD] = "pushgateway.password-file",
    [CREST_PUSH_LOGIN_BEARER] = "pushgateway.bearer-file",
    [CREST_PUSH_LOGIN_KEY_PASSWORD] = "pushgateway.key-password-file",
};

/* ---- what the options may say ---- */

static const char *push_login_problem(const crest_pushgateway_options *options)
{
    int password = options->password_file != NULL || options->password_env != NULL;
    int bearer = options->bearer_file != NULL || options->bearer_env != NULL;
    if (options->password_file != NULL && options->password_env != NULL)
        return "pushgateway.password-file and pushgateway.password-env are both given; give one";
    if (options->bearer_file != NULL && options->bearer_env != NULL)
        return "pushgateway.bearer-file and pushgateway.bearer-env are both given; give one";
    if (options->user != NULL && !password)
        return "pushgateway.user has no password: give pushgateway.password-file or "
               "pushgateway.password-env";
    if (password && options->user == NULL)
        return "There is a password, but no pushgateway.user that it belongs to";
    if (password && bearer)
        return "There are a password and a bearer token, and a request can have one of the two";
    if ((password || bearer) && strchr(options->url, '@') != NULL)
        return "The URL has a user already; leave it there, or give it by options";
    if (options->user != NULL &&
        (options->user[0] == '\0' || options->user[strcspn(options->user, ":\r\n\t\x7f")] != '\0'))
        return "pushgateway.user is empty, or has a colon or a control character, which a user's "
               "name cannot have";
    if (options->cert_file == NULL &&
        (options->key_file != NULL || options->key_password_file != NULL))
        return "pushgateway.key-file and pushgateway.key-password-file belong to a "
               "pushgateway.cert-file, and there is none";
    return NULL;
}

static crest_status push_login_check_token(const char *text, const char *name, crest_error *error)
{
    if (text[strspn(text, PUSH_LOGIN_TOKEN_LETTERS)] == '\0')
        return CREST_OK;
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "%s does not hold a bearer token: tokens are letters, digits and "
                           "-._~+/=",
                           name);
}

/* ---- making one ---- */

static int push_login_copy(char **copy, const char *text)
{
    return text == NULL || (*copy = strdup(text)) != NULL ? 0 : -1;
}

/* Copies a secret from the environment; no variable asked for is fine. */
static crest_status push_login_take_given(crest_push_login *login, crest_push_login_file which,
                                          const char *option, const char *variable,
                                          crest_error *error)
{
    if (variable == NULL)
        return CREST_OK;
    const char *text = getenv(variable);
    if (text == NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "%s: the environment variable %s is not set", option, variable);
    crest_status status = crest_push_secret_check(text, option, variable, error);
    if (status == CREST_OK && which == CREST_PUSH_LOGIN_BEARER)
        status = push_login_check_token(text, option, error);
    if (status == CREST_OK && push_login_copy(&login->given[which], text) != 0)
        status = crest_error_set(error, CREST_NO_MEMORY, "No memory for a secret");
    return status;
}

/* Tells the log once of a file that others may read too. */
static void push_login_tell(crest_push_login *login, unsigned which, const char *path, mode_t mode)
{
    if ((mode & S_IROTH) == 0 || (login->told & 1u << which) != 0)
        return;
    login->told |= 1u << which;
    crest_log_write(CREST_LOG_WARNING,
                    "crest: pushgateway: the file %s holds a secret, and everybody on this machine "
                    "can read it (mode %04o); chmod o-rwx it",
                    path, (unsigned)mode & 07777u);
}

static crest_status push_login_check_file(const char *option, const char *path, mode_t *mode,
                                          crest_error *error)
{
    struct stat about;
    if (path == NULL)
        return CREST_OK;
    if (access(path, R_OK) != 0 || stat(path, &about) != 0)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "%s: the file %s cannot be read: %s",
                               option, path, strerror(errno));
    *mode = about.st_mode;
    return CREST_OK;
}

static crest_status push_login_check_files(crest_push_login *login, crest_error *error)
{
    mode_t cert_mode = 0, key_mode = 0;
    crest_status status =
        push_login_check_file("pushgateway.cert-file", login->cert_file, &cert_mode, error);
    if (status == CREST_OK)
        status = push_login_check_file("pushgateway.key-file", login->key_file, &key_mode, error);
    if (status == CREST_OK)
        status = crest_push_login_read(login, error);
    crest_push_login_wipe(login);
    if (status == CREST_IO)
        status = CREST_INVALID_ARGUMENT;
    if (status == CREST_OK && login->key_file != NULL)
        push_login_tell(login, PUSH_LOGIN_TOLD_KEY, login->key_file, key_mode);
    if (error != NULL)
        error->status = status;
    return status;
}

crest_status crest_push_login_init(crest_push_login *login,
                                   const crest_pushgateway_options *options, crest_error *error)
{
    const char *problem = push_login_problem(options);
    if (problem != NULL)
        return crest_error_set(error, CREST_INVALID_ARGUMENT, "%s", problem);
    if (push_login_copy(&login->user, options->user) != 0 ||
        push_login_copy(&login->cert_file, options->cert_file) != 0 ||
        push_login_copy(&login->key_file, options->key_file) != 0 ||
        push_login_copy(&login->files[CREST_PUSH_LOGIN_PASSWORD], options->password_file) != 0 ||
        push_login_copy(&login->files[CREST_PUSH_LOGIN_BEARER], options->bearer_file) != 0 ||
        push_login_copy(&login->files[CREST_PUSH_LOGIN_KEY_PASSWORD], options->key_password_file) !=
            0)
        return crest_error_set(error, CREST_NO_MEMORY, "No memory for a Pushgateway reporter");
    crest_status status = push_login_take_given(
        login, CREST_PUSH_LOGIN_PASSWORD, "pushgateway.password-env", options->password_env, error);
    if (status == CREST_OK)
        status = push_login_take_given(login, CREST_PUSH_LOGIN_BEARER, "pushgateway.bearer-env",
                                       options->bearer_env, error);
    if (status == CREST_OK)
        status = push_login_check_files(login, error);
    return status;
}

/* ---- a push ---- */

crest_status crest_push_login_read(crest_push_login *login, crest_error *error)
{
    for (unsigned i = 0; i < CREST_PUSH_LOGIN_FILES; i++) {
        const char *path = login->files[i];
        if (path == NULL)
            continue;
        mode_t mode;
        crest_status status =
            crest_push_secret_read(&login->secrets[i], push_login_options[i], path, &mode, error);
        if (status == CREST_OK && i == CREST_PUSH_LOGIN_BEARER &&
            push_login_check_token(login->secrets[i].text, path, error) != CREST_OK)
            status = CREST_IO;
        if (status != CREST_OK) {
            crest_push_login_wipe(login);
            if (error != NULL)
                error->status = status;
            return status;
        }
        push_login_tell(login, i, path, mode);
    }
    return CREST_OK;
}

static const char *push_login_secret(const crest_push_login *login, crest_push_login_file which)
{
    return login->files[which] != NULL ? login->secrets[which].text : login->given[which];
}

void crest_push_login_into(const crest_push_login *login, crest_http_request *request)
{
    request->user = login->user;
    request->password = push_login_secret(login, CREST_PUSH_LOGIN_PASSWORD);
    request->bearer = push_login_secret(login, CREST_PUSH_LOGIN_BEARER);
    request->cert_file = login->cert_file;
    request->key_file = login->key_file;
    request->key_password = push_login_secret(login, CREST_PUSH_LOGIN_KEY_PASSWORD);
}

void crest_push_login_wipe(crest_push_login *login)
{
    for (unsigned i = 0; i < CREST_PUSH_LOGIN_FILES; i++)
        crest_push_secret_wipe(&login->secrets[i]);
}

void crest_push_login_fini(crest_push_login *login)
{
    crest_push_login_wipe(login);
    for (unsigned i = 0; i < CREST_PUSH_LOGIN_FILES; i++) {
        crest_push_secret_free(login->given[i]);
        free(login->files[i]);
    }
    free(login->user);
    free(login->cert_file);
    free(login->key_file);
}
