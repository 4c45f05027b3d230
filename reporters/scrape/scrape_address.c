/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading addresses and listening on one. See scrape_address.h.
 */
#define _GNU_SOURCE
#include "scrape/scrape_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCRAPE_ADDRESS_SEPARATORS " \t|"
#define SCRAPE_ADDRESS_PORT_MAX 65535u
#define SCRAPE_ADDRESS_BACKLOG 128

/* ---- reading ---- */

static crest_status scrape_address_refuse(const char *text, int length, const char *why,
                                          crest_error *error)
{
    return crest_error_set(error, CREST_INVALID_ARGUMENT,
                           "\"%.*s\" is no address to listen on: %s. Write PORT, HOST:PORT or "
                           "HOST:FIRST-LAST, several of them separated by | or blanks; an IPv6 "
                           "address in brackets, as in [::1]:27378",
                           length, text, why);
}

/* Reads digits at **at; -1 if there are none, or too many. */
static long scrape_address_number(const char **at, const char *end)
{
    long number = 0;
    const char *begin = *at;
    while (*at < end && **at >= '0' && **at <= '9' && number <= (long)SCRAPE_ADDRESS_PORT_MAX)
        number = number * 10 + (*(*at)++ - '0');
    return *at > begin && number <= (long)SCRAPE_ADDRESS_PORT_MAX ? number : -1;
}

/* Reads the ports between `begin` and the end of the word; NULL, or what is wrong with them. */
static const char *scrape_address_ports(const char *begin, const char *end,
                                        crest_scrape_address *address)
{
    const char *at = begin;
    long first = scrape_address_number(&at, end), last = first;
    if (first < 0)
        return "a port is a number from 0 to 65535";
    if (at < end && *at == '-') {
        at++;
        last = scrape_address_number(&at, end);
        if (last < first || first == 0)
            return "a range of ports goes from one above 0 to a higher one, up to 65535";
    }
    if (at < end)
        return "something follows the port";
    address->first = (unsigned)first;
    address->last = (unsigned)last;
    return NULL;
}

/* Reads the host before `colon`, which is NULL if there is only a port. */
static const char *scrape_address_host(const char *begin, const char *colon,
                                       crest_scrape_address *address)
{
    if (colon == NULL) {
        strcpy(address->host, "127.0.0.1");
        return NULL;
    }
    size_t length = (size_t)(colon - begin);
    if (length > CREST_SCRAPE_HOST_BYTES_MAX)
        return "the host's name is too long";
    if (length == 0)
        return "there is no host before the colon (* means every interface)";
    if (length == 1 && *begin == '*') {
        address->host[0] = '\0';
        return NULL;
    }
    if (*begin == '[' && length > 2 && colon[-1] == ']') {
        begin++;
        length -= 2;
    } else if (memchr(begin, ':', length) != NULL) {
        return "an IPv6 address is written in brackets";
    }
    memcpy(address->host, begin, length);
    address->host[length] = '\0';
    return NULL;
}

int crest_scrape_address_next(const char **list, crest_scrape_address *address, crest_error *error)
{
    *list += strspn(*list, SCRAPE_ADDRESS_SEPARATORS);
    const char *begin = *list;
    size_t length = strcspn(begin, SCRAPE_ADDRESS_SEPARATORS);
    if (length == 0)
        return 0;
    const char *end = begin + length, *colon = memrchr(begin, ':', length);
    *list = end;
    const char *wrong = memmem(begin, length, "://", 3) != NULL
                            ? "it is a URL; leave out the scheme and the path"
                            : scrape_address_host(begin, colon, address);
    if (wrong == NULL)
        wrong = scrape_address_ports(colon != NULL ? colon + 1 : begin, end, address);
    if (wrong == NULL)
        return 1;
    scrape_address_refuse(begin, length > 60 ? 60 : (int)length, wrong, error);
    return -1;
}

crest_status crest_scrape_address_check(const char *list, crest_error *error)
{
    crest_scrape_address address;
    unsigned count = 0;
    int more = 1;
    if (strnlen(list, CREST_PROMETHEUS_LISTEN_BYTES_MAX + 1) > CREST_PROMETHEUS_LISTEN_BYTES_MAX)
        return crest_error_set(error, CREST_INVALID_ARGUMENT,
                               "The list of addresses to listen on is longer than %u bytes",
                               CREST_PROMETHEUS_LISTEN_BYTES_MAX);
    for (; (more = crest_scrape_address_next(&list, &address, error)) > 0; count++)
        continue;
    if (more < 0)
        return CREST_INVALID_ARGUMENT;
    return count > 0 ? CREST_OK : scrape_address_refuse("", 0, "there is none", error);
}

/* ---- listening ---- */

/* The addresses tried, and the first failure. */
typedef struct scrape_address_search {
    unsigned tried;
    int problem; /* an errno; 0: nothing yet */
    char shown[CREST_SCRAPE_SHOWN_BYTES];
    char unknown[CREST_SCRAPE_SHOWN_BYTES]; /* a host that could not be looked up, and why */
    const char *unknown_why;
} scrape_address_search;

static void scrape_address_show(const struct sockaddr *address, socklen_t size, unsigned port,
                                char *shown)
{
    char host[CREST_SCRAPE_HOST_BYTES_MAX + 1] = "?";
    (void)getnameinfo(address, size, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    const char *format = strchr(host, ':') != NULL ? "[%.200s]:%u" : "%.200s:%u";
    snprintf(shown, CREST_SCRAPE_SHOWN_BYTES, format, host, port);
}

static void scrape_address_set_port(struct sockaddr *address, unsigned port)
{
    if (address->sa_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
}

/* 0, and errno, when the system does not tell. */
static unsigned scrape_address_port(int bound)
{
    struct sockaddr_storage own = {0};
    socklen_t size = sizeof own;
    if (getsockname(bound, (struct sockaddr *)&own, &size) != 0)
        return 0;
    return ntohs(own.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
                                           : ((struct sockaddr_in *)&own)->sin_port);
}

static int scrape_address_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
    return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* 0, or an errno. Reusing the address allows a restart while old connections linger, but no second
 * server beside a running one. */
static int scrape_address_bind(const struct sockaddr *address, socklen_t size,
                               crest_scrape_listener *listener)
{
    int yes = 1;
    int bound = crest_reporter_descriptor(
        socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (bound < 0)
        return errno;
    if (setsockopt(bound, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(bound, address, size) != 0 || listen(bound, SCRAPE_ADDRESS_BACKLOG) != 0 ||
        (listener->port = scrape_address_port(bound)) == 0) {
        int problem = errno;
        close(bound);
        return problem;
    }
    listener->socket = bound;
    listener->loopback = scrape_address_is_loopback(address);
    scrape_address_show(address, size, listener->port, listener->shown);
    return 0;
}

/* 1 when it listens on one of the address' ports. */
static int scrape_address_try(struct sockaddr *address, socklen_t size,
                              const crest_scrape_address *wanted, scrape_address_search *search,
                              crest_scrape_listener *listener)
{
    for (unsigned port = wanted->first; port <= wanted->last; port++) {
        if (search->tried++ == CREST_PROMETHEUS_ADDRESSES_MAX)
            return 0;
        scrape_address_set_port(address, port);
        int problem = scrape_address_bind(address, size, listener);
        if (problem == 0)
            return 1;
        if (search->problem == 0) {
            search->problem = problem;
            scrape_address_show(address, size, port, search->shown);
        }
        if (problem != EADDRINUSE && problem != EACCES)
            return 0; /* another port will not help */
    }
    return 0;
}

static int scrape_address_try_host(const crest_scrape_address *wanted,
                                   scrape_address_search *search, crest_scrape_listener *listener)
{
    const struct addrinfo hints = {.ai_family = wanted->host[0] != '\0' ? AF_UNSPEC : AF_INET,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    int unknown = getaddrinfo(wanted->host[0] != '\0' ? wanted->host : NULL, "0", &hints, &found);
    if (unknown != 0) {
        if (search->unknown_why == NULL) {
            search->unknown_why = gai_strerror(unknown);
            snprintf(search->unknown, sizeof search->unknown, "%s", wanted->host);
        }
        return 0;
    }
    int done = 0;
    for (const struct addrinfo *at = found; at != NULL && !done; at = at->ai_next)
        done = scrape_address_try(at->ai_addr, at->ai_addrlen, wanted, search, listener);
    freeaddrinfo(found);
    return done;
}

/* Advice for an errno of bind. */
static const char *scrape_address_advice(int problem)
{
    switch (problem) {
    case EADDRINUSE:
        return "Another program listens there (ss -ltnp shows which): stop it, choose another "
               "port, or allow a range, as in prometheus=127.0.0.1:27378-27386";
    case EACCES: return "Ports below 1024 are for privileged programs: choose a higher one";
    case EADDRNOTAVAIL:
        return "No interface of this machine has that address (ip address shows those it has); "
               "* stands for all of them";
    case EAFNOSUPPORT:
        return "This machine does not speak that protocol: choose an address of "
               "the other one, 127.0.0.1 or [::1]";
    case EMFILE:
    case ENFILE: return "There are too many open files: raise the limit (ulimit -n)";
    default: return "Choose another address or port";
    }
}

static crest_status scrape_address_explain(const scrape_address_search *search, crest_error *error)
{
    if (search->problem == 0)
        return crest_error_set(error, CREST_UNREACHABLE,
                               "The host \"%s\", on which to listen for scrapes, is not known: %s. "
                               "Write an address of this machine, such as 127.0.0.1",
                               search->unknown, search->unknown_why);
    crest_status status = search->problem == EMFILE || search->problem == ENFILE ||
                                  search->problem == ENOBUFS || search->problem == ENOMEM
                              ? CREST_SYSTEM
                              : CREST_UNREACHABLE;
    char others[64] = "";
    if (search->tried > 1)
        snprintf(others, sizeof others, " (the first of %u that were tried)",
                 search->tried < CREST_PROMETHEUS_ADDRESSES_MAX ? search->tried
                                                                : CREST_PROMETHEUS_ADDRESSES_MAX);
    return crest_error_set(error, status, "Cannot listen for scrapes on %s%s: %s. %s",
                           search->shown, others, strerror(search->problem),
                           scrape_address_advice(search->problem));
}

crest_status crest_scrape_address_listen(const char *list, crest_scrape_listener *listener,
                                         crest_error *error)
{
    scrape_address_search search = {0};
    crest_scrape_address address;
    crest_status status = crest_scrape_address_check(list, error);
    if (status != CREST_OK)
        return status;
    while (crest_scrape_address_next(&list, &address, error) > 0)
        if (scrape_address_try_host(&address, &search, listener))
            return CREST_OK;
    return scrape_address_explain(&search, error);
}
