/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of a Pushgateway: is its URL usable, and where does a group live. Pure functions of
 * their arguments; no network, no allocation.
 *
 *     char url[CREST_PUSHGATEWAY_URL_BYTES_MAX];
 *     crest_push_url_group("http://gw:9091", "rnode", "a/b", NULL, 0, url, sizeof url, &error);
 *     -> http://gw:9091/metrics/job/rnode/instance@base64/YS9i
 *
 * Source: the Pushgateway's README, "URL" and "base64 encoding"; RFC 4648 section 5.
 */
#ifndef CREST_REPORTERS_PUSH_URL_H
#define CREST_REPORTERS_PUSH_URL_H

#include <crest/pushgateway.h>

/* The job of a group when no option gives one. */
#define CREST_PUSH_URL_JOB_DEFAULT "crest"

/* CREST_OK when the text is http:// or https:// with a host, at most a port and a path, and nothing
 * else; CREST_INVALID_ARGUMENT with a message that never shows a password. */
crest_status crest_push_url_check(const char *url, crest_error *error);

/* CREST_OK when the key can name a group: letters, digits and _, not first a digit or _, and not
 * job, instance (they are given apart), le or quantile; CREST_INVALID_LABEL. */
crest_status crest_push_url_key_check(const char *key, crest_error *error);

/*
 * Writes the address of a group, job first: URL/metrics/job/JOB/instance/INSTANCE[/KEY/VALUE...].
 * Every value but one of letters, digits, - and _ is base64, because the gateway, proxies and curl
 * rewrite paths with //, . and .. in them, and a rewritten path is another group. Checks job,
 * instance and labels: CREST_INVALID_LABEL; CREST_LIMIT when it does not fit into `size`.
 */
crest_status crest_push_url_group(const char *url, const char *job, const char *instance,
                                  const crest_page_label *labels, unsigned count, char *text,
                                  size_t size, crest_error *error);

#endif
