/* HTTP for what the tracker sends: the one door to libcurl. */
#ifndef TK_UPSTREAM_HTTP_H
#define TK_UPSTREAM_HTTP_H

struct tk_error;

struct tk_http_options {
	double deadline_s; /* of all attempts together; 0: 30 s */
	unsigned retries;  /* further attempts after a failed connection, a 429 or a 5xx answer */
	const char *const *headers; /* "Name: value", NULL-terminated; may be NULL */
};

/* Posts a JSON text. 2xx is TK_OK; anything else is TK_EIO (TK_ETIMEOUT at the deadline, TK_ECONFIG
 * for a malformed URL or one that is neither http nor https) with the server's status and the first
 * words of its answer. Redirects are followed three times, from https never to http. *http_status
 * (may be NULL) is the last status, 0 where there was no answer. `options` may be NULL. The URL may
 * hold a secret (a webhook's): messages name only its host. */
int tk_http_post_json(const char *url, const char *body, const struct tk_http_options *options,
        long *http_status, struct tk_error *err);

#endif
