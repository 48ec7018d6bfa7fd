/* HTTP with libcurl; the only file that includes curl.h. */
#include "upstream/http.h"
#include "base/process.h"
#include <curl/curl.h>
#include <errno.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_DEADLINE_S 30.0
#define FILE_DEADLINE_S 86400.0
#define STALLED_S 60L   /* a transfer without a byte for this long has failed */
#define ANSWER_MAX 4096 /* bytes of the answer that are kept for messages */

struct request {
	const char *url, *body;  /* body NULL: GET */
	FILE *upload, *download; /* the file that is sent (PUT) or written; or NULL */
	int64_t file_bytes;      /* size of `upload`, most of `download` */
	const struct tk_http_signing *signing;
	const char *what;  /* of the URL, for messages */
	size_t answer_max; /* bytes of the answer that are kept */
	bool is_cut;       /* the answer was longer */
	char host[256];
	int64_t deadline_ns;
	struct curl_slist *headers;
	CURL *handle;
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

/* Answers that are no file are messages. */
static size_t keep_file(char *data, size_t size, size_t count, void *user)
{
	struct request *r = user;
	const size_t got = size * count;
	if (r->http_status == 0)
		curl_easy_getinfo(r->handle, CURLINFO_RESPONSE_CODE, &r->http_status);
	if (r->http_status < 200 || r->http_status > 299)
		return keep_answer(data, size, count, user);
	r->is_cut = ftello(r->download) + (int64_t)got > r->file_bytes;
	return r->is_cut ? 0 : fwrite(data, size, count, r->download) * size;
}

static int seek_file(void *user, curl_off_t offset, int origin)
{
	return fseeko(user, offset, origin) ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

static int find_host(struct request *r, struct tk_error *err)
{
	char *host = NULL, *scheme = NULL;
	CURLU *u = curl_url();
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

static void make_headers(struct request *r, const char *const *extra)
{
	r->headers = r->body ? curl_slist_append(NULL, "Content-Type: application/json") : NULL;
	for (size_t i = 0; extra && extra[i]; i++)
		r->headers = tk_check_memory(curl_slist_append(r->headers, extra[i]));
}

static void set_credentials(CURL *h, const struct request *r)
{
	char provider[128];
	if (!r->signing) {
		curl_easy_setopt(h, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		return;
	}
	/* The headers hold the session token, and the signature is for this host alone. */
	curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
	snprintf(provider, sizeof provider, "aws:amz:%s:s3", r->signing->region);
	curl_easy_setopt(h, CURLOPT_AWS_SIGV4, provider);
	curl_easy_setopt(h, CURLOPT_USERNAME, r->signing->access_key);
	curl_easy_setopt(h, CURLOPT_PASSWORD, r->signing->secret_key);
}

static void set_files(CURL *h, struct request *r)
{
	if (r->upload) {
		rewind(r->upload);
		curl_easy_setopt(h, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(h, CURLOPT_READDATA, r->upload);
		curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, seek_file);
		curl_easy_setopt(h, CURLOPT_SEEKDATA, r->upload);
		curl_easy_setopt(h, CURLOPT_INFILESIZE_LARGE, (curl_off_t)r->file_bytes);
		curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
	}
	if (r->download) {
		rewind(r->download);
		curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, keep_file);
		curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, NULL);
	}
	curl_easy_setopt(h, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(h, CURLOPT_LOW_SPEED_TIME, STALLED_S);
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
		set_credentials(h, r);
		curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, "");
	}
	curl_easy_setopt(h, CURLOPT_USERAGENT, "tracker");
	curl_easy_setopt(h, CURLOPT_ERRORBUFFER, r->detail);
	curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, keep_answer);
	curl_easy_setopt(h, CURLOPT_WRITEDATA, r);
	if (r->upload || r->download)
		set_files(h, r);
	r->handle = h;
	const CURLcode code = curl_easy_perform(h);
	curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &r->http_status);
	return code;
}

/* A server that has begun to answer has done what a POST asked for. */
static bool worth_retrying(const struct request *r, CURLcode code)
{
	if (code == CURLE_OK)
		return r->http_status == 429 || r->http_status >= 500;
	if (r->body && r->http_status)
		return false;
	return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
	       code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
	       code == CURLE_PARTIAL_FILE || code == CURLE_OPERATION_TIMEDOUT;
}

static const char *verb(const struct request *r)
{
	if (r->upload)
		return "send to";
	return r->body ? "post to" : "read";
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
		return tk_fail(err, TK_EIO, "cannot %s %s: %s", verb(r), r->host,
		        r->detail[0] ? r->detail : curl_easy_strerror(code));
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
	const bool is_file = r->upload || r->download;
	const double usual_s = is_file ? FILE_DEADLINE_S : DEFAULT_DEADLINE_S;
	const double deadline_s = o->deadline_s > 0 ? o->deadline_s : usual_s;
	r->signing = o->signing;
	r->deadline_ns = tk_clock_monotonic_ns() + (int64_t)(deadline_s * 1e9);
	int status = find_host(r, err);
	make_headers(r, o->headers);
	CURL *h = status ? NULL : curl_easy_init();
	if (!status) {
		CURLcode code = attempt(h, r);
		int64_t pause_ns = 500 * 1000 * 1000;
		for (unsigned i = 0; i < o->retries && worth_retrying(r, code);
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

int tk_http_put_file(const char *url, const char *path, const struct tk_http_options *options,
        struct tk_error *err)
{
	struct request r = {.url = url, .what = "server", .answer_max = ANSWER_MAX};
	struct stat st;
	r.upload = fopen(path, "rbe");
	if (!r.upload || fstat(fileno(r.upload), &st)) {
		const int status = tk_fail_errno(err, "%s", path);
		if (r.upload)
			fclose(r.upload);
		return status;
	}
	r.file_bytes = st.st_size;
	const int status = perform(&r, options ? options : &defaults, err);
	tk_buf_free(&r.answer);
	fclose(r.upload);
	return status;
}

int tk_http_get_file(const char *url, const char *path, int64_t max_bytes,
        const struct tk_http_options *options, struct tk_error *err)
{
	struct request r = {.url = url, .what = "server", .answer_max = ANSWER_MAX};
	r.file_bytes = max_bytes;
	r.download = fopen(path, "wbxe");
	if (!r.download)
		return tk_fail_errno(err, "%s", path);
	int status = perform(&r, options ? options : &defaults, err);
	if (r.is_cut && r.http_status / 100 == 2)
		status = tk_fail(
		        err, TK_EDATA, "%s has more than %lld bytes", r.host, (long long)max_bytes);
	else if (status && ferror(r.download))
		status = tk_fail(err, TK_EIO, "%s: cannot be written", path);
	tk_buf_free(&r.answer);
	if (!status && (fflush(r.download) || ftruncate(fileno(r.download), ftello(r.download))))
		status = tk_fail_errno(err, "%s", path);
	if (fclose(r.download) && !status)
		status = tk_fail_errno(err, "%s", path);
	if (status)
		unlink(path);
	return status;
}

char *tk_http_resolve_url(const char *base, const char *reference)
{
	char *resolved = NULL, *copy = NULL;
	CURLU *u = curl_url();
	if (u && !curl_url_set(u, CURLUPART_URL, base, 0) &&
	        !curl_url_set(u, CURLUPART_URL, reference, 0) &&
	        !curl_url_get(u, CURLUPART_URL, &resolved, 0))
		copy = tk_strdup(resolved);
	curl_free(resolved);
	curl_url_cleanup(u);
	return copy;
}
