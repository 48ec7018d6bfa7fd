/* HTTP requests. */
#ifndef TK_UPSTREAM_HTTP_H
#define TK_UPSTREAM_HTTP_H
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_error;

/* Signature Version 4 of AWS, which servers of the S3 protocol ask for. */
struct tk_http_signing {
	char *region, *access_key, *secret_key;
};

struct tk_http_options {
	double deadline_s; /* of all attempts together; 0: 30 s, for files a day */
	unsigned retries;  /* further attempts after a failed or stalled connection, a 429 or a 5xx
	                      answer */
	const char *const *headers;            /* "Name: value", NULL-terminated; may be NULL */
	const struct tk_http_signing *signing; /* NULL: credentials come from ~/.netrc. A signed
	                                          request follows no redirect */
};

/* Posts a JSON text. A 2xx answer is TK_OK; others are TK_EIO with the status and the beginning of
 * the answer, TK_ETIMEOUT at the deadline, TK_ECONFIG for a malformed URL or another scheme than
 * http and https. Follows up to three redirects, never from https to http. *http_status (may be
 * NULL): the last status, 0 without an answer. `options` may be NULL. Messages name only the host,
 * because the URL of a webhook can hold a secret. */
int tk_http_post_json(const char *url, const char *body, const struct tk_http_options *options,
        long *http_status, struct tk_error *err);

/* Reads a page of at most max_bytes (more is TK_EDATA) into *out, which is written on success only.
 * Answers and messages are as above; credentials come from ~/.netrc. */
int tk_http_get(const char *url, size_t max_bytes, const struct tk_http_options *options,
        struct tk_buf *out, struct tk_error *err);

/* PUTs a file. A server that takes part of it answers nothing: TK_OK means that it has all. Follows
 * no redirect. Errors and messages are those of posting; TK_ENOTFOUND, TK_EIO: the file cannot be
 * read. */
int tk_http_put_file(const char *url, const char *path, const struct tk_http_options *options,
        struct tk_error *err);

/* Reads at most max_bytes (more is TK_EDATA) into the new file `path`, which is there on success
 * only. */
int tk_http_get_file(const char *url, const char *path, int64_t max_bytes,
        const struct tk_http_options *options, struct tk_error *err);

/* A link of the page `base` as a whole URL; NULL: malformed, or out of memory. The caller frees
 * it. */
char *tk_http_resolve_url(const char *base, const char *reference);

#endif
