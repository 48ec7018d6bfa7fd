/* HTTP with libcurl; the only file that includes curl.h. */
#include "upstream/http.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEFAULT_DEADLINE_S 30.0
#define ANSWER_MAX 4096 /* bytes of the answer that are kept for messages */

struct request {
	const char *url, *body; /* body NULL: GET */
	const char *what;       /* of the URL, for messages */
	size_t answer_max;      /* bytes of the answer that are kept */
	bool is_cut;            /* the answer was longer */
	char host[256];
	int64_t deadline_ns;
	struct curl_slist *headers;
	struct tk_buf answer;
	long http_status;
	char detail[CURL_ERROR_SIZE];
};

static size_t keep_answer(char *data, size_t size, size_t count, void *user)
{
	struct request *r = user;
	struct tk_buf *answer = &r->answer;
	const size_t room = r->answer_max - answer->len, got = size * count;
	tk_buf_add(answer, data, got < room ? got : room);
	r->is_cut = r->is_cut || got > room;
	return got;
}

static int find_host(struct request *r, struct tk_error *err)
{
	char *host = NULL, *scheme = NULL;
	CURLU *u = curl_url();
	if (!u)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	int status = TK_OK;
	if (curl_url_set(u, CURLUPART_URL, r->url, 0) ||
	        curl_url_get(u, CURLUPART_HOST, &host, 0) ||
	        curl_url_get(u, CURLUPART_SCHEME, &scheme, 0))
		status = tk_fail(err, TK_ECONFIG,
		        "the %s's URL is malformed; expected https://host/path", r->what);
	else if (strcasecmp(scheme, "https") && strcasecmp(scheme, "http"))
		status = tk_fail(err, TK_ECONFIG,
		        "the scheme \"%.20s\" of the %s's URL is not allowed; expected https or "
		        "http",
		        scheme, r->what);
	else
		snprintf(r->host, sizeof(r->host), "%s", host);
	curl_free(host);
	curl_free(scheme);
	curl_url_cleanup(u);
	return status;
}

static int make_headers(struct request *r, const char *const *extra, struct tk_error *err)
{
	struct curl_slist *list =
	        r->body ? curl_slist_append(NULL, "Content-Type: application/json") : NULL;
	bool complete = list || !r->body;
	for (size_t i = 0; complete && extra && extra[i]; i++) {
		struct curl_slist *longer = curl_slist_append(list, extra[i]);
		complete = longer != NULL;
		list = longer ? longer : list;
	}
	r->headers = list;
	return complete ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");
}

static CURLcode attempt(CURL *h, struct request *r)
{
	const int64_t left_ms = (r->deadline_ns - tk_clock_monotonic_ns()) / 1000000;
	const bool secure = !strncasecmp(r->url, "https:", 6);
	if (left_ms <= 0)
		return CURLE_OPERATION_TIMEDOUT;
	tk_buf_clear(&r->answer);
	r->is_cut = false;
	r->http_status = 0;
	r->detail[0] = '\0';
	curl_easy_reset(h);
	curl_easy_setopt(h, CURLOPT_URL, r->url);
	curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(h, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
	curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(h, CURLOPT_MAXREDIRS, 3L);
	curl_easy_setopt(h, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
	curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)left_ms);
	curl_easy_setopt(h, CURLOPT_HTTPHEADER, r->headers);
	if (r->body) {
		curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(r->body));
		curl_easy_setopt(h, CURLOPT_POSTFIELDS, r->body);
	} else {
		curl_easy_setopt(h, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, "");
	}
	curl_easy_setopt(h, CURLOPT_USERAGENT, "tracker");
	curl_easy_setopt(h, CURLOPT_ERRORBUFFER, r->detail);
	curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, keep_answer);
	curl_easy_setopt(h, CURLOPT_WRITEDATA, r);
	const CURLcode code = curl_easy_perform(h);
	curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &r->http_status);
	return code;
}

static bool worth_retrying(CURLcode code, long http_status)
{
	if (code == CURLE_OK)
		return http_status == 429 || http_status >= 500;
	return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
	       code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR;
}

static int conclude(const struct request *r, CURLcode code, struct tk_error *err)
{
	char words[128];
	if (code == CURLE_OPERATION_TIMEDOUT)
		return tk_fail(err, TK_ETIMEOUT, "%s did not answer in time", r->host);
	if (code == CURLE_UNSUPPORTED_PROTOCOL)
		return tk_fail(
		        err, TK_EIO, "%s redirects to a protocol that is not allowed", r->host);
	if (code != CURLE_OK)
		return tk_fail(err, TK_EIO, "cannot %s %s: %s", r->body ? "post to" : "read",
		        r->host, r->detail[0] ? r->detail : curl_easy_strerror(code));
	if (r->http_status >= 200 && r->http_status < 300)
		return TK_OK;
	tk_text_copy_line(
	        words, sizeof(words), tk_buf_cstr(&r->answer)); /* the beginning of the answer */
	return tk_fail(err, TK_EIO, "%s answered %ld%s%s", r->host, r->http_status,
	        words[0] ? ": " : "", words);
}

/* Fills r->http_status and, for a GET, r->answer. */
static int perform(struct request *r, const struct tk_http_options *o, struct tk_error *err)
{
	const double deadline_s = o->deadline_s > 0 ? o->deadline_s : DEFAULT_DEADLINE_S;
	r->deadline_ns = tk_clock_monotonic_ns() + (int64_t)(deadline_s * 1e9);
	int status = find_host(r, err);
	if (!status)
		status = make_headers(r, o->headers, err);
	CURL *h = status ? NULL : curl_easy_init();
	if (!status && !h)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status) {
		CURLcode code = attempt(h, r);
		int64_t pause_ns = 500 * 1000 * 1000;
		for (unsigned i = 0; i < o->retries && worth_retrying(code, r->http_status);
		        i++, pause_ns *= 2) {
			if (tk_cancel_is_requested() ||
			        tk_clock_monotonic_ns() + pause_ns >= r->deadline_ns)
				break;
			tk_clock_sleep_ns(pause_ns);
			code = attempt(h, r);
		}
		status = conclude(r, code, err);
	}
	curl_easy_cleanup(h);
	curl_slist_free_all(r->headers);
	return status;
}

static const struct tk_http_options defaults = {.retries = 2};

int tk_http_post_json(const char *url, const char *body, const struct tk_http_options *options,
        long *http_status, struct tk_error *err)
{
	struct request r = {.url = url, .body = body, .what = "webhook", .answer_max = ANSWER_MAX};
	int status = perform(&r, options ? options : &defaults, err);
	if (http_status)
		*http_status = r.http_status;
	tk_buf_free(&r.answer);
	return status;
}

int tk_http_get(const char *url, size_t max_bytes, const struct tk_http_options *options,
        struct tk_buf *out, struct tk_error *err)
{
	struct request r = {.url = url, .what = "index", .answer_max = max_bytes};
	int status = perform(&r, options ? options : &defaults, err);
	if (!status && r.is_cut)
		status = tk_fail(
		        err, TK_EDATA, "%s answered more than %zu bytes", r.host, max_bytes);
	if (status)
		tk_buf_free(&r.answer);
	else
		*out = r.answer;
	return status;
}

char *tk_http_resolve_url(const char *base, const char *reference)
{
	char *resolved = NULL, *copy = NULL;
	CURLU *u = curl_url();
	if (u && !curl_url_set(u, CURLUPART_URL, base, 0) &&
	        !curl_url_set(u, CURLUPART_URL, reference, 0) &&
	        !curl_url_get(u, CURLUPART_URL, &resolved, 0))
		copy = strdup(resolved);
	curl_free(resolved);
	curl_url_cleanup(u);
	return copy;
}
