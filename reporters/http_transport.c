/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests over libcurl. See http_transport.h.
 *
 * A process that ends while a TLS transfer is running would crash: OpenSSL takes itself apart in an
 * atexit handler. So this file has one of its own, registered behind OpenSSL's and therefore called
 * before it, which ends running TLS transfers and refuses new ones. What is registered later still,
 * such as the flush of crest_start when the reporter was made first, runs before that and has TLS.
 */
#include "http_transport.h"
#include "push_text.h"

#include <crest/clock.h>
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
/* A day: no deadline is later, and curl counts its timeouts in long. */
#define HTTP_TIMEOUT_MS_MAX UINT64_C(86400000)
/* Of the time left, for the connection: another address must still get its chance. */
#define HTTP_CONNECT_SHARE 2u
/* How often a waiting transfer looks up although nothing came; curl's own timers come on top. */
#define HTTP_POLL_MS 1000
/* How long the end of the process waits for TLS transfers to notice it. */
#define HTTP_EXIT_WAIT_S 1

struct crest_http {
    CURL *easy;
    CURLM *multi; /* keeps the connections */
    char curl_words[CURL_ERROR_SIZE];
    crest_http_answer *answer; /* of the running request */
    size_t answer_bytes;       /* of its body, so far */
    int head_is_whole;         /* the empty line behind it has come */
    /* guarded by http_exit_lock: in the list of running TLS transfers */
    int listed;
    struct crest_http *next, **before;
};

/* ---- once a process ---- */

static pthread_once_t http_once = PTHREAD_ONCE_INIT;
static CURLcode http_global = CURLE_FAILED_INIT;
static pid_t http_process;

/* Guards http_exiting, http_running and http_left. */
static pthread_mutex_t http_exit_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t http_none_running = PTHREAD_COND_INITIALIZER;
static int http_exiting;
static crest_http *http_running;
static crest_http *http_left; /* what was to be freed too late; kept in sight of leak checkers */

static void http_at_exit(void)
{
    /* In a fork's child no transfer runs, and a lock may be held by a thread that is not there. */
    if (getpid() != http_process)
        return;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += HTTP_EXIT_WAIT_S;
    pthread_mutex_lock(&http_exit_lock);
    http_exiting = 1;
    for (crest_http *http = http_running; http != NULL; http = http->next)
        curl_multi_wakeup(http->multi);
    while (http_running != NULL)
        if (pthread_cond_timedwait(&http_none_running, &http_exit_lock, &until) != 0)
            break;
    pthread_mutex_unlock(&http_exit_lock);
}

static void http_init_once(void)
{
    http_global = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (http_global != CURLE_OK)
        return;
    http_process = getpid();
    /* Behind OpenSSL's handler, which curl_global_init has registered. Without room for another
       handler nothing is lost but this protection. */
    (void)atexit(http_at_exit);
}

/* Lists a transfer; 0, or -1 when the process is ending already. */
static int http_list(crest_http *http)
{
    pthread_mutex_lock(&http_exit_lock);
    int exiting = http_exiting;
    if (!exiting) {
        http->next = http_running;
        http->before = &http_running;
        if (http_running != NULL)
            http_running->before = &http->next;
        http_running = http;
        http->listed = 1;
    }
    pthread_mutex_unlock(&http_exit_lock);
    return exiting ? -1 : 0;
}

static void http_unlist(crest_http *http)
{
    pthread_mutex_lock(&http_exit_lock);
    if (http->listed) {
        *http->before = http->next;
        if (http->next != NULL)
            http->next->before = http->before;
        http->listed = 0;
        if (http_running == NULL)
            pthread_cond_broadcast(&http_none_running);
    }
    pthread_mutex_unlock(&http_exit_lock);
}

static int http_must_end(const crest_http *http)
{
    if (!http->listed)
        return 0;
    pthread_mutex_lock(&http_exit_lock);
    int exiting = http_exiting;
    pthread_mutex_unlock(&http_exit_lock);
    return exiting;
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
        http->easy = curl_easy_init();
        http->multi = curl_multi_init();
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
    /* The multi handle owns the connections and closes them; a TLS one says goodbye, and that must
       not meet an OpenSSL that has gone. The process is ending, so the kernel closes them. */
    pthread_mutex_lock(&http_exit_lock);
    int exiting = http_exiting;
    if (exiting) {
        http->next = http_left;
        http_left = http;
    }
    pthread_mutex_unlock(&http_exit_lock);
    if (exiting)
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
    /* Also of a 100 Continue before the real answer; the last one stands. */
    if (length >= 5 && memcmp(bytes, "HTTP/", 5) == 0)
        http->answer->location[0] = '\0';
    http->head_is_whole = bytes[0] == '\r' || bytes[0] == '\n';
    if (length >= sizeof name - 1 && strncasecmp(bytes, name, sizeof name - 1) == 0)
        crest_push_text_show(bytes + sizeof name - 1, length - (sizeof name - 1),
                             http->answer->location, sizeof http->answer->location);
    return length;
}

/* ---- what goes out ---- */

/* As curl would, but not inherited by what the host executes. */
static curl_socket_t http_open_socket(void *context, curlsocktype purpose,
                                      struct curl_sockaddr *address)
{
    (void)context;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
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
        struct curl_slist *longer = curl_slist_append(headers, line);
        if (longer == NULL)
            curl_slist_free_all(headers);
        headers = longer;
    }
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

/* curl_easy_reset keeps the connections and forgets all settings, so each request sets all. */
static CURLcode http_set_up(crest_http *http, const crest_http_request *request,
                            struct curl_slist *headers, uint64_t left_ms)
{
    CURL *easy = http->easy;
    CURLcode bad = 0;
#define HTTP_SET(option, value) bad = bad ? bad : curl_easy_setopt(easy, option, value)
    curl_easy_reset(easy);
    HTTP_SET(CURLOPT_ERRORBUFFER, http->curl_words);
    HTTP_SET(CURLOPT_NOSIGNAL, 1L);
    bad = bad ? bad : http_limit_protocols(easy);
    HTTP_SET(CURLOPT_URL, request->url);
    if (request->ca_file != NULL)
        HTTP_SET(CURLOPT_CAINFO, request->ca_file);
    HTTP_SET(CURLOPT_PATH_AS_IS, 1L);
    HTTP_SET(CURLOPT_FOLLOWLOCATION, 0L);
    HTTP_SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    HTTP_SET(CURLOPT_PROXY, "");
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
    if (request->body != NULL) {
        /* Not a read callback: curl can send these again when a kept connection turns out dead. */
        HTTP_SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
        HTTP_SET(CURLOPT_POSTFIELDS, request->body);
    }
    HTTP_SET(CURLOPT_CUSTOMREQUEST, request->method);
#if LIBCURL_VERSION_NUM >= 0x075700
    HTTP_SET(CURLOPT_QUICK_EXIT, request->last ? 1L : 0L);
#endif
#undef HTTP_SET
    return bad;
}

/* ---- running it ---- */

/* Keeps SIGPIPE, which OpenSSL's writes to a closed connection raise, from the host. Only this one:
 * the thread may be the caller's own. */
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

/* Runs the transfer to its end. CURLE_ABORTED_BY_CALLBACK when the process ends meanwhile. */
static CURLcode http_run(crest_http *http)
{
    if (curl_multi_add_handle(http->multi, http->easy) != CURLM_OK)
        return CURLE_FAILED_INIT;
    CURLcode result = CURLE_OK;
    CURLMcode wrong = CURLM_OK;
    int running = 1, aborted = 0;
    while (running && wrong == CURLM_OK && !aborted) {
        wrong = curl_multi_perform(http->multi, &running);
        if (wrong == CURLM_OK && running)
            wrong = curl_multi_poll(http->multi, NULL, 0, HTTP_POLL_MS, NULL);
        aborted = running && http_must_end(http);
    }
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(http->multi, &left)) != NULL;)
        if (message->msg == CURLMSG_DONE && message->easy_handle == http->easy)
            result = message->data.result;
    if (aborted)
        result = CURLE_ABORTED_BY_CALLBACK;
    else if (wrong != CURLM_OK)
        result = wrong == CURLM_OUT_OF_MEMORY ? CURLE_OUT_OF_MEMORY : CURLE_FAILED_INIT;
    curl_multi_remove_handle(http->multi, http->easy);
    return result;
}

/* ---- what went wrong ---- */

static crest_status http_explain_timeout(crest_http *http, const crest_http_request *request,
                                         double waited_s, crest_error *error)
{
    curl_off_t resolved = 0, connected = 0, ready = 0, sent = 0;
    curl_easy_getinfo(http->easy, CURLINFO_NAMELOOKUP_TIME_T, &resolved);
    curl_easy_getinfo(http->easy, CURLINFO_CONNECT_TIME_T, &connected);
    curl_easy_getinfo(http->easy, CURLINFO_PRETRANSFER_TIME_T, &ready);
    curl_easy_getinfo(http->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    const char *doing = resolved == 0    ? "looking up the host's name"
                        : connected == 0 ? "connecting"
                        : ready == 0     ? "agreeing on TLS"
                        : (size_t)sent < request->length && request->body != NULL
                            ? "sending"
                            : "waiting for the answer";
    unsigned ms = (unsigned)(waited_s * 1000);
    return crest_error_set(
        error, CREST_TIMED_OUT,
        "%s %s: not done after %u.%03u s, still %s. Is the server overloaded, or "
        "does something on the way swallow packets? The timeout can be raised",
        request->method, request->shown, ms / 1000, ms % 1000, doing);
}

static int http_is_tls_problem(CURLcode code)
{
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR ||
           code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CERTPROBLEM ||
           code == CURLE_SSL_CIPHER || code == CURLE_SSL_ISSUER_ERROR;
}

/* Advice, by what curl says; the status in *status. */
static const char *http_advice(CURLcode code, crest_status *status)
{
    *status = CREST_IO;
    if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT) {
        *status = CREST_UNREACHABLE;
        return code == CURLE_COULDNT_CONNECT
                   ? "Is it running, and is this its address and port?"
                   : "Is the host's name right, and does it resolve here?";
    }
    if (http_is_tls_problem(code)) {
        *status = CREST_UNREACHABLE;
        if (code == CURLE_SSL_CACERT_BADFILE)
            return "Without its list of authorities nobody's certificate can be checked; install "
                   "it "
                   "(Debian: ca-certificates), or set pushgateway.ca-file to the authority's own";
        return code == CURLE_SSL_CONNECT_ERROR
                   ? "Does this port speak TLS? If not, use http://"
                   : "Its certificate must be issued for this host by an authority this system "
                     "trusts; add yours to the system's store (Debian: a .crt file in "
                     "/usr/local/share/ca-certificates, then update-ca-certificates)";
    }
    switch (code) {
    case CURLE_OUT_OF_MEMORY: *status = CREST_NO_MEMORY; return "There was no memory";
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        /* The latter also for an answer without a status line, which is HTTP/0.9. */
        *status = code == CURLE_URL_MALFORMAT ? CREST_INVALID_ARGUMENT : CREST_IO;
        return code == CURLE_URL_MALFORMAT ? "Check the URL"
                                           : "What answers at this address does not speak HTTP; is "
                                             "the port right, or should it be https://?";
    case CURLE_WEIRD_SERVER_REPLY:
        return "What answers at this address does not speak HTTP as it should; is the port right?";
    case CURLE_ABORTED_BY_CALLBACK: *status = CREST_TIMED_OUT; return "The process is ending";
    default:
        return "The connection broke before the answer was complete. A server that wants https:// "
               "may do that, or one that is just being stopped";
    }
}

static crest_status http_explain(crest_http *http, const crest_http_request *request, CURLcode code,
                                 double waited_s, crest_error *error)
{
    if (code == CURLE_OPERATION_TIMEDOUT)
        return http_explain_timeout(http, request, waited_s, error);
    crest_status status;
    const char *advice = http_advice(code, &status);
    char words[CURL_ERROR_SIZE];
    const char *said = http->curl_words[0] ? http->curl_words : curl_easy_strerror(code);
    crest_push_text_show(said, strlen(said), words, sizeof words);
    return crest_error_set(error, status, "%s %s: %s. %s", request->method, request->shown, words,
                           advice);
}

/* ---- the whole ---- */

/* An over-long body is broken off by us. And who refuses before having read all of a request resets
 * the connection, perhaps before the reason has come whole; better half of it than none. */
static int http_answer_stands(const crest_http *http, const crest_http_answer *answer,
                              CURLcode code)
{
    if (code == CURLE_WRITE_ERROR)
        return answer->cut;
    return http->head_is_whole && answer->code >= 300 &&
           (code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_PARTIAL_FILE);
}

static crest_status http_perform(crest_http *http, const crest_http_request *request,
                                 crest_http_answer *answer, crest_error *error)
{
    uint64_t began_ns = crest_now();
    if (began_ns + HTTP_NS_PER_MS > request->deadline_ns)
        return crest_error_set(error, CREST_TIMED_OUT,
                               "%s %s: not tried, no time was left before the deadline",
                               request->method, request->shown);
    struct curl_slist *headers = http_headers(request);
    if (headers == NULL)
        return crest_error_set(error, CREST_NO_MEMORY, "%s %s: no memory for the request",
                               request->method, request->shown);
    http->curl_words[0] = '\0';
    http->answer_bytes = 0;
    http->head_is_whole = 0;
    uint64_t left_ms = (request->deadline_ns - began_ns) / HTTP_NS_PER_MS;
    CURLcode code = http_set_up(http, request, headers,
                                left_ms < HTTP_TIMEOUT_MS_MAX ? left_ms : HTTP_TIMEOUT_MS_MAX);
    if (code == CURLE_OK)
        code = http_run(http);
    /* Curl is content with an answer that ends within its head. */
    if (code == CURLE_OK && !http->head_is_whole)
        code = CURLE_PARTIAL_FILE;
    long status_line = 0;
    curl_easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status_line);
    answer->code = (unsigned)status_line;
    crest_status status = CREST_OK;
    if (code != CURLE_OK && !http_answer_stands(http, answer, code))
        status = http_explain(http, request, code, (double)(crest_now() - began_ns) / 1e9, error);
    /* What is borrowed must not stay in the handle. */
    curl_easy_reset(http->easy);
    curl_slist_free_all(headers);
    return status;
}

crest_status crest_http_send(crest_http *http, const crest_http_request *request,
                             crest_http_answer *answer, crest_error *error)
{
    memset(answer, 0, sizeof *answer);
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
