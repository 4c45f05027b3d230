/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains failed requests. See http_explain.h.
 *
 * Source of the words looked for: libcurl 7.88's lib/vtls/openssl.c, and OpenSSL 3.0's
 * ssl/ssl_err.c and crypto/x509/x509_txt.c.
 */
#include "http/http_explain.h"
#include "common/shown_text.h"
#include "http/http_words.h"

#include <curl/curl.h>
#include <string.h>
#include <strings.h>

#define HTTP_EXPLAIN_NS_PER_MS UINT64_C(1000000)

/* Text of a message: " through the proxy X", or "". */
typedef struct http_explain_way {
    const char *through, *proxy;
} http_explain_way;

static http_explain_way http_explain_through(const crest_http_request *request)
{
    if (request->proxy == NULL)
        return (http_explain_way){"", ""};
    return (http_explain_way){" through the proxy ", request->proxy_shown};
}

static crest_status http_explain_timeout(const crest_http_request *request,
                                         const crest_http_failure *failure, crest_error *error)
{
    static const char *const steps[CREST_HTTP_STEPS] = {"looking up the host's name", "connecting",
                                                        "agreeing on TLS"};
    http_explain_way way = http_explain_through(request);
    const char *doing = failure->steps_done < CREST_HTTP_STEPS ? steps[failure->steps_done]
                        : request->body != NULL && failure->sent < request->length
                            ? "sending"
                            : "waiting for the answer";
    unsigned long ms = (unsigned long)(failure->waited_ns / HTTP_EXPLAIN_NS_PER_MS);
    return crest_error_set(
        error, CREST_TIMED_OUT,
        "%s %s%s%s: not done after %lu.%03lu s, still %s. Is the server overloaded, or "
        "does something on the way swallow packets? The timeout can be raised",
        request->method, request->shown, way.through, way.proxy, ms / 1000, ms % 1000, doing);
}

/* Explains that the proxy refused the tunnel. */
static crest_status http_explain_proxy(const crest_http_request *request, unsigned code,
                                       crest_error *error)
{
    const char *advice =
        code == 407 ? "Put the user and password that it wants into the option: "
                      "http://user:password@host:port"
        : code >= 500
            ? "It could not reach the server itself: is that running, and is its address right?"
            : "It does not let this host connect there; ask its operator";
    return crest_error_set(error, code >= 500 ? CREST_UNREACHABLE : CREST_REFUSED,
                           "%s %s: the proxy %s answered with code %u. %s", request->method,
                           request->shown, request->proxy_shown, code, advice);
}

static int http_explain_says(const crest_http_failure *failure, const char *part)
{
    return strstr(failure->words, part) != NULL;
}

/* Whether the server rejects our certificate, or its absence: a TLS alert. With TLS 1.3 it comes
 * only after curl has taken the connection for established. */
static int http_explain_unwanted(const crest_http_failure *failure)
{
    return http_explain_says(failure, "alert") &&
           (http_explain_says(failure, "certificate") || http_explain_says(failure, "unknown ca") ||
            http_explain_says(failure, "handshake failure"));
}

/* Says what is wrong with the server's certificate. */
static const char *http_explain_certificate(const crest_http_failure *failure)
{
    if (http_explain_says(failure, "expired") || http_explain_says(failure, "not yet valid"))
        return "Have the server's certificate renewed; or is this machine's clock wrong?";
    if (http_explain_says(failure, "subject name") || http_explain_says(failure, "does not match"))
        return "Its certificate was issued for another name: use that name in the URL, or have one "
               "issued for this";
    return "Its certificate must be issued for this host by an authority this system trusts: add "
           "yours to the system's store (Debian: a .crt file in "
           "/usr/local/share/ca-certificates, then update-ca-certificates), or set $.ca-file to it";
}

/* Advice for failures of TLS; NULL for others. */
static const char *http_explain_tls(const crest_http_failure *failure)
{
    switch (failure->code) {
    case CURLE_SSL_CACERT_BADFILE:
        return "Without its list of authorities no server's certificate can be checked; install it "
               "(Debian: ca-certificates), or set $.ca-file to the authority's own";
    case CURLE_SSL_CERTPROBLEM:
        return "Our own certificate and its key must be PEM files that belong together: "
               "$.cert-file, $.key-file, and for a key with a password "
               "$.key-password-file";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR: return http_explain_certificate(failure);
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR: break;
    default: return NULL;
    }
    if (http_explain_unwanted(failure))
        return "The server wants a certificate of ours, by an authority that it trusts: set "
               "$.cert-file and $.key-file to one";
    return failure->code == CURLE_RECV_ERROR || failure->code == CURLE_SEND_ERROR
               ? NULL
               : "Does this port speak TLS? If not, use http://";
}

/* Advice for other failures; the status in *status. */
static const char *http_explain_other(const crest_http_request *request,
                                      const crest_http_failure *failure, crest_status *status)
{
    int proxied = request->proxy != NULL;
    *status = CREST_IO;
    switch (failure->code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        *status = CREST_UNREACHABLE;
        return "Is the host's name right, and does it resolve here?";
    case CURLE_COULDNT_RESOLVE_PROXY:
        *status = CREST_UNREACHABLE;
        return "Is the proxy's name right, and does it resolve here?";
    case CURLE_COULDNT_CONNECT:
        *status = CREST_UNREACHABLE;
        return proxied ? "Is the proxy running, and is this its address and port?"
                       : "Is it running, and is this its address and port?";
    case CURLE_OUT_OF_MEMORY: *status = CREST_NO_MEMORY; return "There was no memory";
    case CURLE_URL_MALFORMAT: *status = CREST_INVALID_ARGUMENT; return "Check the URL";
    case CURLE_UNSUPPORTED_PROTOCOL: /* also an answer without a status line, which is HTTP/0.9 */
        return "What answers at this address does not speak HTTP; is the port right, or should it "
               "be https://?";
    case CURLE_GOT_NOTHING:
        /* Pushgateway 1.11.0 panics while it logs why it refuses a push. */
        if (strcmp(request->kind, "pushgateway") != 0)
            return "It broke the connection instead of answering. So may a server that wants "
                   "https:// or a certificate of ours ($.cert-file), or one that is just being "
                   "stopped";
        return "It broke the connection instead of answering. Pushgateway 1.11 does, with a panic "
               "in its log, where it should refuse a metric that another group has with another "
               "type: rename the metric, or delete the old group. So may a server that wants "
               "https:// or a certificate of ours ($.cert-file), or one that is just "
               "being stopped";
    case CURLE_WEIRD_SERVER_REPLY:
        return "What answers at this address does not speak HTTP as it should; is the port right?";
    default: break;
    }
    /* With TLS 1.3 the server's alert comes after the handshake, and a reset may overtake it. */
    if (strncasecmp(request->url, "https:", 6) == 0)
        return "The connection broke before the answer was complete. A server that wants a "
               "certificate of ours, or another one ($.cert-file), may do that, or one "
               "that is just being stopped";
    return "The connection broke before the answer was complete. A server that wants https:// may "
           "do that, or one that is just being stopped";
}

crest_status crest_http_explain(const crest_http_request *request,
                                const crest_http_failure *failure, crest_error *error)
{
    if (failure->code == CURLE_OPERATION_TIMEDOUT ||
        (failure->code == CURLE_ABORTED_BY_CALLBACK && failure->cancelled && failure->late))
        return http_explain_timeout(request, failure, error);
    if (failure->code == CURLE_ABORTED_BY_CALLBACK)
        return crest_error_set(
            error, CREST_TIMED_OUT, "%s %s: broken off. %s", request->method, request->shown,
            failure->cancelled ? "The reporter is being stopped" : "The process is ending");
    if (failure->proxy_code >= 300)
        return http_explain_proxy(request, failure->proxy_code, error);
    crest_status status = CREST_UNREACHABLE;
    const char *advice = http_explain_tls(failure);
    if (advice == NULL)
        advice = http_explain_other(request, failure, &status);
    char words[CURL_ERROR_SIZE], worded[CREST_HTTP_WORDED_BYTES];
    crest_push_text_show(failure->words, strlen(failure->words), words, sizeof words);
    crest_http_words(request->kind, advice, worded);
    http_explain_way way = http_explain_through(request);
    return crest_error_set(error, status, "%s %s%s%s: %s. %s", request->method, request->shown,
                           way.through, way.proxy, words, worded);
}
