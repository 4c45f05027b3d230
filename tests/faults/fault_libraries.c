/* SPDX-License-Identifier: Apache-2.0 */
/* As fault_wrappers.c, of what the libraries import of Concurrency Kit, libcurl, libmicrohttpd and
 * zlib. */
#define _GNU_SOURCE
#include "fault_rows.h"

#include <ck_hs.h>
#include <curl/curl.h>
#include <microhttpd.h>
#include <zlib.h>

/* macros in some versions, which check types that a wrapper does not have */
#undef curl_easy_setopt
#undef curl_easy_getinfo

ROW(bool, ck_hs_init,
    (ck_hs_t * table, unsigned mode, ck_hs_hash_cb_t *hash, ck_hs_compare_cb_t *same,
     struct ck_malloc *memory, unsigned long n, unsigned long seed),
    (table, mode, hash, same, memory, n, seed), return false)
ROW(bool, ck_hs_put, (ck_hs_t * table, unsigned long hash, const void *key), (table, hash, key),
    return false)

/* ---- libcurl ---- */

ROW(CURLcode, curl_global_init, (long flags), (flags), return CURLE_OUT_OF_MEMORY)
ROW_MAKES(CURL *, curl_easy_init, (void), (), return NULL)
GOES(void, curl_easy_cleanup, CURL *)
ROW_MAKES(CURLM *, curl_multi_init, (void), (), return NULL)
GOES(CURLMcode, curl_multi_cleanup, CURLM *)
ROW(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL *easy), (multi, easy),
    return CURLM_OUT_OF_MEMORY)
ROW(CURLMcode, curl_multi_perform, (CURLM * multi, int *running), (multi, running),
    return CURLM_OUT_OF_MEMORY)
ROW(CURLMcode, curl_multi_poll,
    (CURLM * multi, struct curl_waitfd *fds, unsigned n, int ms, int *ready),
    (multi, fds, n, ms, ready), return CURLM_OUT_OF_MEMORY)
ROW(CURLMcode, curl_multi_wakeup, (CURLM * multi), (multi), return CURLM_WAKEUP_FAILURE)
ROW(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left), *left = 0;
    return NULL)
GOES(void, curl_slist_free_all, struct curl_slist *)

FAULT_DECLARE(struct curl_slist *, curl_slist_append, (struct curl_slist *list, const char *text))
struct curl_slist *__wrap_curl_slist_append(struct curl_slist *list, const char *text)
{
    if (faults_now(&fault_curl_slist_append))
        return NULL;
    struct curl_slist *longer = __real_curl_slist_append(list, text);
    faults_live(list == NULL && longer != NULL);
    return longer;
}

FAULT_DECLARE(CURLcode, curl_easy_setopt, (CURL * easy, CURLoption what, ...))
CURLcode __wrap_curl_easy_setopt(CURL *easy, CURLoption what, ...)
{
    if (faults_now(&fault_curl_easy_setopt))
        return CURLE_OUT_OF_MEMORY;
    va_list list;
    va_start(list, what);
    void *value = va_arg(list, void *); /* or a long, or a curl_off_t: as wide */
    va_end(list);
    return __real_curl_easy_setopt(easy, what, value);
}

FAULT_DECLARE(CURLcode, curl_easy_getinfo, (CURL * easy, CURLINFO what, ...))
CURLcode __wrap_curl_easy_getinfo(CURL *easy, CURLINFO what, ...)
{
    if (faults_now(&fault_curl_easy_getinfo))
        return CURLE_BAD_FUNCTION_ARGUMENT;
    va_list list;
    va_start(list, what);
    void *to = va_arg(list, void *);
    va_end(list);
    return __real_curl_easy_getinfo(easy, what, to);
}

/* ---- zlib ---- */

FAULT_DECLARE(int, deflateInit2_,
              (z_streamp stream, int level, int method, int bits, int memory, int strategy,
               const char *version, int size))
int __wrap_deflateInit2_(z_streamp stream, int level, int method, int bits, int memory,
                         int strategy, const char *version, int size)
{
    if (faults_now(&fault_deflateInit2_))
        return Z_MEM_ERROR;
    int result =
        __real_deflateInit2_(stream, level, method, bits, memory, strategy, version, size);
    faults_live(result == Z_OK);
    return result;
}

WRAPS(int, deflateEnd, (z_streamp stream))
int __wrap_deflateEnd(z_streamp stream)
{
    int result = __real_deflateEnd(stream);
    faults_live(-(result != Z_STREAM_ERROR));
    return result;
}

FAULT_DECLARE(int, inflateInit_, (z_streamp stream, const char *version, int size))
int __wrap_inflateInit_(z_streamp stream, const char *version, int size)
{
    if (faults_now(&fault_inflateInit_))
        return Z_MEM_ERROR;
    int result = __real_inflateInit_(stream, version, size);
    faults_live(result == Z_OK);
    return result;
}

WRAPS(int, inflateEnd, (z_streamp stream))
int __wrap_inflateEnd(z_streamp stream)
{
    int result = __real_inflateEnd(stream);
    faults_live(-(result != Z_STREAM_ERROR));
    return result;
}
ROW(int, compress, (Bytef * to, uLongf *room, const Bytef *from, uLong n), (to, room, from, n),
    return Z_MEM_ERROR)

/* ---- libmicrohttpd ---- */

FAULT_DECLARE(struct MHD_Daemon *, MHD_start_daemon,
              (unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept, void *accept_cls,
               MHD_AccessHandlerCallback access, void *access_cls, ...))
struct MHD_Daemon *__wrap_MHD_start_daemon(unsigned flags, uint16_t port,
                                           MHD_AcceptPolicyCallback accept, void *accept_cls,
                                           MHD_AccessHandlerCallback access, void *access_cls, ...)
{
    if (faults_now(&fault_MHD_start_daemon))
        return NULL;
    va_list list;
    va_start(list, access_cls);
    struct MHD_Daemon *daemon =
        MHD_start_daemon_va(flags, port, accept, accept_cls, access, access_cls, list);
    va_end(list);
    faults_live(daemon != NULL);
    return daemon;
}
GOES(void, MHD_stop_daemon, struct MHD_Daemon *)
ROW(enum MHD_Result, MHD_add_connection,
    (struct MHD_Daemon * daemon, MHD_socket fd, const struct sockaddr *from, socklen_t n),
    (daemon, fd, from, n), close(fd);
    SAYS(EMFILE, MHD_NO))
ROW_MAKES(struct MHD_Response *, MHD_create_response_from_buffer,
          (size_t n, void *from, enum MHD_ResponseMemoryMode mode), (n, from, mode), return NULL)
ROW_MAKES(struct MHD_Response *, MHD_create_response_from_callback,
          (uint64_t n, size_t block, MHD_ContentReaderCallback read, void *cls,
           MHD_ContentReaderFreeCallback end),
          (n, block, read, cls, end), return NULL)
GOES(void, MHD_destroy_response, struct MHD_Response *)
ROW(enum MHD_Result, MHD_add_response_header,
    (struct MHD_Response * response, const char *name, const char *value), (response, name, value),
    return MHD_NO)
ROW(enum MHD_Result, MHD_queue_response,
    (struct MHD_Connection * connection, unsigned code, struct MHD_Response *response),
    (connection, code, response), return MHD_NO)
