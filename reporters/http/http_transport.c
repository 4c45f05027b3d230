/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests over libcurl. See http_transport.h.
 *
 * A process that ends during a TLS transfer would crash, since OpenSSL takes itself apart in an
 * atexit handler. Handlers run in reverse order of registration:
 *
 *   1. handlers registered later than ours, such as crest_start's flush when the reporter was made
 *      before it: they still have TLS;
 *   2. ours, registered behind OpenSSL's: ends running TLS transfers and refuses new ones;
 *   3. OpenSSL's.
 */
#include "http/http_transport.h"
#include "common/low_descriptors.h"
#include "common/shown_text.h"
#include "http/http_explain.h"

#include <crest/clock.h>
#include <crest/reporter.h>
#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef CREST_BUILD_VERSION
#define CREST_BUILD_VERSION "0"
#endif

#define HTTP_NS_PER_MS UINT64_C(1000000)
/* Two clocks say when a deadline is, this one and the watchdog's; they may differ by this. */
#define HTTP_DEADLINE_SLACK_NS (20 * HTTP_NS_PER_MS)
/* A day: no deadline is later, and curl counts its timeouts in long. */
#define HTTP_TIMEOUT_MS_MAX UINT64_C(86400000)
/* Share of the time left for one address' connection: another address must still get its chance. */
#define HTTP_CONNECT_SHARE 2u
/* How often a waiting transfer wakes although nothing came; curl's own timers come on top. */
#define HTTP_POLL_MS 1000
/* How long the end of the process waits for running TLS transfers to stop. */
#define HTTP_EXIT_WAIT_S 1

typedef enum http_end { HTTP_NOT_ENDED, HTTP_ENDED_BY_CANCEL, HTTP_ENDED_BY_EXIT } http_end;

struct crest_http {
    CURL *easy;
    CURLM *multi; /* keeps the connections */
    char curl_words[CURL_ERROR_SIZE];
    crest_http_answer *answer; /* the running request's */
    size_t answer_bytes;       /* of its body, received so far */
    int head_is_whole;         /* the empty line behind the head has come */
    http_end ended;            /* why the last transfer was broken off */
    pid_t process;             /* the process that made these connections */
    /* guarded by http_lock */
    int cancelled; /* until crest_http_renew */
    int listed;    /* in http_running, the list of TLS transfers */
    struct crest_http *next, **before;
};

/* ---- once a process ---- */

static pthread_once_t http_once = PTHREAD_ONCE_INIT;
static CURLcode http_global = CURLE_FAILED_INIT;

/* Guards http_exiting, http_running, http_left and each transfer's `cancelled`. */
static pthread_mutex_t http_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t http_none_running = PTHREAD_COND_INITIALIZER;
static int http_exiting;
static pid_t http_process; /* the process that these transfers belong to */
static crest_http *http_running;
static crest_http *http_left; /* handles that could not be freed, for leak checkers */

static void http_at_exit(void)
{
    struct timespec until;
    if (http_process != getpid()) /* a child of _Fork(), which ran no fork handlers */
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += HTTP_EXIT_WAIT_S;
    pthread_mutex_lock(&http_lock);
    http_exiting = 1;
    for (crest_http *http = http_running; http != NULL; http = http->next)
        curl_multi_wakeup(http->multi);
    while (http_running != NULL)
        if (pthread_cond_timedwait(&http_none_running, &http_lock, &until) != 0)
            break;
    pthread_mutex_unlock(&http_lock);
}

/* Fork handler: in the child no transfer runs, and the lock may be held by a thread that is
 * gone. */
static void http_forked(void)
{
    static const pthread_mutex_t fresh_lock = PTHREAD_MUTEX_INITIALIZER;
    static const pthread_cond_t fresh_condition = PTHREAD_COND_INITIALIZER;
    http_lock = fresh_lock;
    http_none_running = fresh_condition;
    http_running = NULL;
    http_process = getpid();
}

static void http_init_once(void)
{
    http_global = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (http_global != CURLE_OK)
        return;
    http_process = getpid();
    (void)pthread_atfork(NULL, NULL, http_forked);
    /* Behind OpenSSL's handler, which curl_global_init has registered. Without room for another
     * handler only this protection is missing. */
    (void)atexit(http_at_exit);
}

/* Lists a TLS transfer; 0, or -1 when the process is already ending. */
static int http_list(crest_http *http)
{
    pthread_mutex_lock(&http_lock);
    int exiting = http_exiting;
    if (!exiting) {
        http->next = http_running;
        http->before = &http_running;
        if (http_running != NULL)
            http_running->before = &http->next;
        http_running = http;
        http->listed = 1;
    }
    pthread_mutex_unlock(&http_lock);
    return exiting ? -1 : 0;
}

static void http_unlist(crest_http *http)
{
    pthread_mutex_lock(&http_lock);
    if (http->listed) {
        *http->before = http->next;
        if (http->next != NULL)
            http->next->before = http->before;
        http->listed = 0;
        if (http_running == NULL)
            pthread_cond_broadcast(&http_none_running);
    }
    pthread_mutex_unlock(&http_lock);
}

static http_end http_must_end(const crest_http *http)
{
    pthread_mutex_lock(&http_lock);
    http_end end = http->cancelled                ? HTTP_ENDED_BY_CANCEL
                   : http->listed && http_exiting ? HTTP_ENDED_BY_EXIT
                                                  : HTTP_NOT_ENDED;
    pthread_mutex_unlock(&http_lock);
    return end;
}

void crest_http_cancel(crest_http *http)
{
    pthread_mutex_lock(&http_lock);
    http->cancelled = 1;
    pthread_mutex_unlock(&http_lock);
    curl_multi_wakeup(http->multi);
}

void crest_http_renew(crest_http *http)
{
    pthread_mutex_lock(&http_lock);
    http->cancelled = 0;
    pthread_mutex_unlock(&http_lock);
}

/* ---- making one ---- */

crest_http *crest_http_new(crest_error *error)
{
    pthread_once(&http_once, http_init_once);
    if (http_global != CURLE_OK) {
        crest_error_set(error, CREST_SYSTEM, "libcurl cannot be used: %s",
                        curl_easy_strerror(http_global));
        return NULL;
    }
    crest_http *http = calloc(1, sizeof *http);
    if (http != NULL) {
        http->process = getpid();
        http->easy = curl_easy_init();
        crest_low_descriptors low;
        crest_low_descriptors_take(&low); /* the multi handle keeps descriptors that wake it */
        http->multi = curl_multi_init();
        crest_low_descriptors_leave(&low);
    }
    if (http == NULL || http->easy == NULL || http->multi == NULL) {
        crest_http_free(http);
        crest_error_set(error, CREST_NO_MEMORY, "No memory for an HTTP connection");
        return NULL;
    }
    return http;
}

void crest_http_free(crest_http *http)
{
    if (http == NULL)
        return;
    /* The multi handle owns the connections and closes them; a TLS connection sends a goodbye. That
     * must not meet an OpenSSL that is gone: the process is ending, so the kernel closes them. Nor
     * may a fork's child send it in the middle of its parent's connection. */
    pthread_mutex_lock(&http_lock);
    int leave = http_exiting || http->process != getpid();
    if (leave) {
        http->next = http_left;
        http_left = http;
    }
    pthread_mutex_unlock(&http_lock);
    if (leave)
        return;
    if (http->easy != NULL)
        curl_easy_cleanup(http->easy);
    if (http->multi != NULL)
        curl_multi_cleanup(http->multi);
    free(http);
}

/* ---- what comes back ---- */

static size_t http_take_body(char *bytes, size_t size, size_t count, void *context)
{
    crest_http *http = context;
    crest_http_answer *answer = http->answer;
    size_t length = size * count, room = sizeof answer->words - answer->length;
    size_t keep = length < room ? length : room;
    memcpy(answer->words + answer->length, bytes, keep);
    answer->length += keep;
    http->answer_bytes += length;
    if (http->answer_bytes > CREST_HTTP_ANSWER_BYTES_MAX) {
        answer->cut = 1;
        return 0; /* curl ends the transfer and closes the connection */
    }
    return length;
}

static size_t http_take_header(char *bytes, size_t size, size_t count, void *context)
{
    static const char name[] = "location:";
    crest_http *http = context;
    size_t length = size * count;
    /* Also for a 100 Continue before the real answer; the last status line stands. */
    if (length >= 5 && memcmp(bytes, "HTTP/", 5) == 0)
        http->answer->location[0] = '\0';
    http->head_is_whole = bytes[0] == '\r' || bytes[0] == '\n';
    if (length >= sizeof name - 1 && strncasecmp(bytes, name, sizeof name - 1) == 0)
        crest_push_text_show(bytes + sizeof name - 1, length - (sizeof name - 1),
                             http->answer->location, sizeof http->answer->location);
    return length;
}

/* ---- what goes out ---- */

/* Opens a socket as curl would, but closed on exec in the host's children. */
static curl_socket_t http_open_socket(void *context, curlsocktype purpose,
                                      struct curl_sockaddr *address)
{
    (void)context;
    (void)purpose;
    return crest_reporter_descriptor(
        socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol));
}

/* Appends a line; frees the list, and returns NULL, without memory. NULL does nothing. */
static struct curl_slist *http_header(struct curl_slist *headers, const char *line)
{
    struct curl_slist *longer = headers != NULL ? curl_slist_append(headers, line) : NULL;
    if (longer == NULL)
        curl_slist_free_all(headers);
    return longer;
}

static struct curl_slist *http_headers(const crest_http_request *request)
{
    const char *const names[] = {"Content-Type", "Content-Encoding"};
    const char *const values[] = {request->content_type, request->content_encoding};
    /* Curl would wait a second for a "100 Continue" that few servers send. */
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    for (unsigned i = 0; headers != NULL && i < 2; i++) {
        if (values[i] == NULL)
            continue;
        char line[256];
        strcpy(line, names[i]);
        strcat(line, ": ");
        strncat(line, values[i], sizeof line - strlen(line) - 1);
        headers = http_header(headers, line);
    }
    for (unsigned i = 0; i < request->header_count; i++)
        headers = http_header(headers, request->headers[i]);
    return headers;
}

static CURLcode http_limit_protocols(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

#define HTTP_SET(option, value) bad = bad ? bad : curl_easy_setopt(easy, option, value)

/* Sets trust, our certificate, login and proxy: none of them from the environment. */
static CURLcode http_set_identity(CURL *easy, const crest_http_request *request)
{
    CURLcode bad = 0;
    if (request->ca_file != NULL)
        HTTP_SET(CURLOPT_CAINFO, request->ca_file);
    if (request->cert_file != NULL) {
        HTTP_SET(CURLOPT_SSLCERT, request->cert_file);
        HTTP_SET(CURLOPT_SSLKEY, request->key_file ? request->key_file : request->cert_file);
        /* Without a password, OpenSSL would ask for it at the terminal. */
        HTTP_SET(CURLOPT_KEYPASSWD, request->key_password ? request->key_password : "");
    }
    if (request->user != NULL) {
        HTTP_SET(CURLOPT_USERNAME, request->user);
        HTTP_SET(CURLOPT_PASSWORD, request->password);
    }
    if (request->bearer != NULL)
        HTTP_SET(CURLOPT_XOAUTH2_BEARER, request->bearer);
    HTTP_SET(CURLOPT_HTTPAUTH, (long)(request->bearer != NULL ? CURLAUTH_BEARER : CURLAUTH_BASIC));
    HTTP_SET(CURLOPT_PROXY, request->proxy != NULL ? request->proxy : "");
    HTTP_SET(CURLOPT_NOPROXY, "");
    HTTP_SET(CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
    HTTP_SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    return bad;
}

/* Sets everything for each request: curl_easy_reset keeps the connections and forgets all
 * settings. */
static CURLcode http_set_up(crest_http *http, const crest_http_request *request,
                            struct curl_slist *headers, uint64_t left_ms, int fresh)
{
    CURL *easy = http->easy;
    CURLcode bad = 0;
    curl_easy_reset(easy);
    HTTP_SET(CURLOPT_ERRORBUFFER, http->curl_words);
    HTTP_SET(CURLOPT_NOSIGNAL, 1L);
    bad = bad ? bad : http_limit_protocols(easy);
    HTTP_SET(CURLOPT_URL, request->url);
    bad = bad ? bad : http_set_identity(easy, request);
    HTTP_SET(CURLOPT_PATH_AS_IS, 1L);
    HTTP_SET(CURLOPT_FOLLOWLOCATION, 0L);
    HTTP_SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    HTTP_SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    HTTP_SET(CURLOPT_USERAGENT, "crest/" CREST_BUILD_VERSION);
    HTTP_SET(CURLOPT_TIMEOUT_MS, (long)left_ms);
    HTTP_SET(CURLOPT_CONNECTTIMEOUT_MS,
             (long)(left_ms / HTTP_CONNECT_SHARE ? left_ms / HTTP_CONNECT_SHARE : 1));
    HTTP_SET(CURLOPT_WRITEFUNCTION, http_take_body);
    HTTP_SET(CURLOPT_WRITEDATA, http);
    HTTP_SET(CURLOPT_HEADERFUNCTION, http_take_header);
    HTTP_SET(CURLOPT_HEADERDATA, http);
    HTTP_SET(CURLOPT_OPENSOCKETFUNCTION, http_open_socket);
    HTTP_SET(CURLOPT_HTTPHEADER, headers);
    HTTP_SET(CURLOPT_TCP_KEEPALIVE, 1L);
    HTTP_SET(CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
    HTTP_SET(CURLOPT_FORBID_REUSE, request->once ? 1L : 0L);
    if (request->body != NULL) {
        /* Not a read callback: curl can send these bytes again when a kept connection turns out
         * dead. */
        HTTP_SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
        HTTP_SET(CURLOPT_POSTFIELDS, request->body);
    }
    HTTP_SET(CURLOPT_CUSTOMREQUEST, request->method);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* The deadline holds while a name server hangs: curl's resolver thread is left to end by
     * itself. */
    HTTP_SET(CURLOPT_QUICK_EXIT, 1L);
#endif
    return bad;
}
#undef HTTP_SET

/* ---- running it ---- */

/* Blocks SIGPIPE, which OpenSSL's writes to a closed connection raise, so the host does not get it.
 * Only this signal: the thread may be the caller's own. */
static void http_block_pipe(sigset_t *before, int *pending)
{
    sigset_t pipe_only, waiting;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigemptyset(&waiting);
    sigpending(&waiting);
    *pending = sigismember(&waiting, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, before);
}

static void http_unblock_pipe(const sigset_t *before, int pending)
{
    const struct timespec at_once = {0, 0};
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    if (!pending)
        while (sigtimedwait(&pipe_only, NULL, &at_once) == SIGPIPE)
            continue;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Runs the transfer to its end. CURLE_ABORTED_BY_CALLBACK when it is cancelled or the process ends
 * meanwhile; http->ended says which. */
static CURLcode http_run(crest_http *http)
{
    if (curl_multi_add_handle(http->multi, http->easy) != CURLM_OK)
        return CURLE_FAILED_INIT;
    CURLcode result = CURLE_OK;
    CURLMcode wrong = CURLM_OK;
    int running = 1;
    http->ended = http_must_end(http);
    while (running && wrong == CURLM_OK && !http->ended) {
        wrong = curl_multi_perform(http->multi, &running);
        if (wrong == CURLM_OK && running)
            wrong = curl_multi_poll(http->multi, NULL, 0, HTTP_POLL_MS, NULL);
        http->ended = running ? http_must_end(http) : HTTP_NOT_ENDED;
    }
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(http->multi, &left)) != NULL;)
        if (message->msg == CURLMSG_DONE && message->easy_handle == http->easy)
            result = message->data.result;
    if (http->ended)
        result = CURLE_ABORTED_BY_CALLBACK;
    else if (wrong != CURLM_OK)
        result = wrong == CURLM_OUT_OF_MEMORY ? CURLE_OUT_OF_MEMORY : CURLE_FAILED_INIT;
    curl_multi_remove_handle(http->multi, http->easy);
    return result;
}

/* ---- what went wrong ---- */

static crest_status http_explain(crest_http *http, const crest_http_request *request, CURLcode code,
                                 uint64_t began_ns, crest_error *error)
{
    curl_off_t sent = 0;
    long proxy_code = 0;
    crest_http_failure failure = {
        .code = (int)code,
        .words = http->curl_words[0] ? http->curl_words : curl_easy_strerror(code),
        .waited_ns = crest_now() - began_ns,
        .cancelled = http->ended == HTTP_ENDED_BY_CANCEL,
        .late = crest_now() + HTTP_DEADLINE_SLACK_NS >= request->deadline_ns,
    };
    const CURLINFO steps[CREST_HTTP_STEPS] = {CURLINFO_NAMELOOKUP_TIME_T, CURLINFO_CONNECT_TIME_T,
                                              CURLINFO_PRETRANSFER_TIME_T};
    for (unsigned i = 0; i < CREST_HTTP_STEPS; i++) {
        curl_off_t took = 0;
        curl_easy_getinfo(http->easy, steps[i], &took);
        /* Not a kept connection's: it has a time for the last step only. */
        if (took != 0)
            failure.steps_done = i + 1;
    }
    curl_easy_getinfo(http->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    curl_easy_getinfo(http->easy, CURLINFO_HTTP_CONNECTCODE, &proxy_code);
    failure.sent = (size_t)sent;
    failure.proxy_code = (unsigned)proxy_code;
    return crest_http_explain(request, &failure, error);
}

/* ---- the whole ---- */

/* Whether an answer counts although the transfer failed. We break off an over-long body ourselves.
 * And a server that refuses before it has read all of a request resets the connection, perhaps
 * before its reason has come whole; better half of the reason than none. */
static int http_answer_stands(const crest_http *http, const crest_http_answer *answer,
                              CURLcode code)
{
    if (code == CURLE_WRITE_ERROR)
        return answer->cut;
    return http->head_is_whole && answer->code >= 300 &&
           (code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_PARTIAL_FILE);
}

static void http_read_head(CURL *easy, crest_http_answer *answer)
{
    long status_line = 0;
    curl_off_t retry_after_s = 0;
    const char *type = NULL;
    long request_bytes = 0;
    curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &request_bytes);
    answer->sent = request_bytes > 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status_line);
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
    answer->code = (unsigned)status_line;
    answer->retry_after_s = retry_after_s > 0 ? (uint64_t)retry_after_s : 0;
    if (type != NULL)
        crest_push_text_show(type, strlen(type), answer->type, sizeof answer->type);
}

/* One try. The answer's code is in *answer, also when the transfer was broken off. */
static CURLcode http_try(crest_http *http, const crest_http_request *request,
                         struct curl_slist *headers, crest_http_answer *answer, int fresh)
{
    memset(answer, 0, sizeof *answer);
    http->curl_words[0] = '\0';
    http->answer_bytes = 0;
    http->head_is_whole = 0;
    http->ended = HTTP_NOT_ENDED;
    uint64_t now_ns = crest_now();
    uint64_t left_ms =
        now_ns < request->deadline_ns ? (request->deadline_ns - now_ns) / HTTP_NS_PER_MS : 0;
    if (left_ms == 0)
        return CURLE_OPERATION_TIMEDOUT;
    CURLcode code =
        http_set_up(http, request, headers,
                    left_ms < HTTP_TIMEOUT_MS_MAX ? left_ms : HTTP_TIMEOUT_MS_MAX, fresh);
    if (code == CURLE_OK)
        code = http_run(http);
    /* Curl accepts an answer that ends within its head. */
    if (code == CURLE_OK && !http->head_is_whole)
        code = CURLE_PARTIAL_FILE;
    http_read_head(http->easy, answer);
    return code;
}

/* Whether the server had closed the kept connection before it answered a byte: between two pushes,
 * or while this request was on its way. The same bytes may then be sent again on another
 * connection: to a Pushgateway, a repeated PUT, POST or DELETE of the same bytes changes nothing.
 * Curl retries most of these itself, but not if the connection breaks while it is still sending. */
static int http_was_stale(crest_http *http, CURLcode code)
{
    long connections = 1, header_bytes = 0;
    curl_easy_getinfo(http->easy, CURLINFO_NUM_CONNECTS, &connections);
    curl_easy_getinfo(http->easy, CURLINFO_HEADER_SIZE, &header_bytes);
    return connections == 0 && header_bytes == 0 && http->answer_bytes == 0 &&
           (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING);
}

static crest_status http_perform(crest_http *http, const crest_http_request *request,
                                 crest_http_answer *answer, crest_error *error)
{
    uint64_t began_ns = crest_now();
    answer->sent = 0;
    if (began_ns + HTTP_NS_PER_MS > request->deadline_ns)
        return crest_error_set(error, CREST_TIMED_OUT,
                               "%s %s: not tried, no time was left before the deadline",
                               request->method, request->shown);
    struct curl_slist *headers = http_headers(request);
    if (headers == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "%s %s: no memory for the request",
                               request->method, request->shown);
    CURLcode code = http_try(http, request, headers, answer, request->once);
    if (http_was_stale(http, code))
        code = http_try(http, request, headers, answer, 1);
    crest_status status = CREST_OK;
    if (code != CURLE_OK && !http_answer_stands(http, answer, code))
        status = http_explain(http, request, code, began_ns, error);
    /* Nothing borrowed may stay in the handle. */
    curl_easy_reset(http->easy);
    curl_slist_free_all(headers);
    return status;
}

crest_status crest_http_send(crest_http *http, const crest_http_request *request,
                             crest_http_answer *answer, crest_error *error)
{
    int tls = strncasecmp(request->url, "https:", 6) == 0;
    if (tls && http_list(http) != 0)
        return crest_error_set(
            error, CREST_TIMED_OUT,
            "%s %s: not tried, the process is ending and TLS has been shut down. "
            "Make the reporter before crest_start, or stop before exit",
            request->method, request->shown);
    sigset_t before;
    int pending;
    http_block_pipe(&before, &pending);
    http->answer = answer;
    crest_status status = http_perform(http, request, answer, error);
    http->answer = NULL;
    http_unblock_pipe(&before, pending);
    if (tls)
        http_unlist(http);
    return status;
}
