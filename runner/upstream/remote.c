/* See remote.h. */
#include "upstream/remote.h"
#include "base/base.h"
#include "upstream/http.h"
#include <sys/stat.h>

#define S3_SCHEME "s3://"
#define DEFAULT_REGION "us-east-1"
#define LIST_MAX_BYTES (4u << 20)
#define LIST_MAX_KEYS "1000" /* a page of the protocol; there are not as many machines */
#define PUT_MAX_BYTES (5ll << 30)
#define RETRIES 6 /* half a second, one, two, ...: half a minute in all */

#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct tk_remote {
	char *folder;       /* URL of the folder, with a "/" at its end */
	char *object;       /* the name that the URL itself has, or NULL */
	char *bucket, *key; /* of S3: URL of the bucket; folder inside it, "" or with a "/" */
	struct tk_http_signing signing;
	char *token_header; /* or NULL */
};

/* *out = the text; NULL where there is no memory. */
static int format_text(char **out, struct tk_error *err, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static int format_text(char **out, struct tk_error *err, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	if (vasprintf(out, format, ap) < 0)
		*out = NULL;
	va_end(ap);
	return TK_OK;
}

/* ---- opening ---- */

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_' || c == '.';
}

/* The name of an object without its suffix, as tk_path_make_slug makes them. */
static bool is_name(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_name_byte(s[i]))
			return false;
	return len > 0 && len < TK_REMOTE_NAME_MAX && s[0] != '.';
}

static bool ends_with_suffix(const char *s, size_t len)
{
	const size_t suffix = strlen(TK_REMOTE_SUFFIX);
	return len > suffix && strncmp(s + len - suffix, TK_REMOTE_SUFFIX, suffix) == 0;
}

/* "https://h/a/x.tar.zst" is the folder "https://h/a/" and the object "x". */
static int split_url(struct tk_remote *r, const char *url, struct tk_error *err)
{
	const char *slash = strrchr(url, '/');
	const size_t len = strlen(url), name = strlen(slash + 1);
	if (ends_with_suffix(slash + 1, name)) {
		const size_t bare = name - strlen(TK_REMOTE_SUFFIX);
		if (!is_name(slash + 1, bare))
			return tk_fail(err, TK_EUSAGE,
			        "\"%.120s\" is not the name of an object; expected letters, "
			        "digits and -_.",
			        slash + 1);
		r->object = tk_strndup(slash + 1, bare);
		r->folder = tk_strndup(url, len - name);
		return TK_OK;
	}
	return format_text(&r->folder, err, "%s%s", url, url[len - 1] == '/' ? "" : "/");
}

static int copy_variable(const char *name, char **out, struct tk_error *err)
{
	const char *value = getenv(name);
	if (!value || !*value)
		return tk_fail(err, TK_ECONFIG, "%s is not set; s3:// needs it", name);
	*out = tk_strdup(value);
	return TK_OK;
}

static int read_environment(struct tk_remote *r, struct tk_error *err)
{
	const char *region = getenv("AWS_REGION"), *token = getenv("AWS_SESSION_TOKEN");
	TRY(copy_variable("AWS_ACCESS_KEY_ID", &r->signing.access_key, err));
	TRY(copy_variable("AWS_SECRET_ACCESS_KEY", &r->signing.secret_key, err));
	r->signing.region = tk_strdup(tk_text_or(region, DEFAULT_REGION));
	if (token && *token)
		TRY(format_text(&r->token_header, err, "x-amz-security-token: %s", token));
	return TK_OK;
}

/* What is signed is the URL as it stands: nothing in it may need an escape, or be taken out. */
static bool is_plain_url(const char *url)
{
	if (strstr(url, "/."))
		return false;
	for (; *url; url++)
		if (!is_name_byte(*url) && !strchr(":/", *url))
			return false;
	return true;
}

static bool is_http(const char *url)
{
	return strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0;
}

static int check_endpoint(const char *url, struct tk_error *err)
{
	const char *host = is_http(url) ? strstr(url, "://") + 3 : "";
	if (is_name_byte(*host) && is_plain_url(url) && url[strlen(url) - 1] != '/')
		return TK_OK;
	return tk_fail(err, TK_ECONFIG,
	        "AWS_ENDPOINT_URL is \"%.120s\", expected https://HOST or https://HOST:PORT "
	        "without a \"/\" at the end",
	        url);
}

/* https://ENDPOINT/BUCKET/FOLDER/: a bucket in the path, as servers of one's own have it. */
static int open_s3(struct tk_remote *r, const char *path, struct tk_error *err)
{
	const char *endpoint = getenv("AWS_ENDPOINT_URL");
	const size_t bucket = strcspn(path, "/");
	char *standard = NULL, *url = NULL;
	if (!is_name(path, bucket) || ends_with_suffix(path, bucket))
		return tk_fail(err, TK_EUSAGE, "s3://%s: expected s3://BUCKET/FOLDER", path);
	int status = read_environment(r, err);
	if (!status && endpoint && *endpoint)
		status = check_endpoint(endpoint, err);
	if (!status && (!endpoint || !*endpoint)) {
		status = format_text(
		        &standard, err, "https://s3.%s.amazonaws.com", r->signing.region);
		endpoint = standard;
	}
	if (!status)
		status = format_text(&url, err, "%s/%s", endpoint, path);
	if (!status)
		status = format_text(&r->bucket, err, "%s/%.*s", endpoint, (int)bucket, path);
	if (!status)
		status = split_url(r, url, err);
	if (!status)
		r->key = tk_strdup(r->folder + strlen(r->bucket) + 1);
	free(standard);
	free(url);
	return status;
}

int tk_remote_open(const char *url, struct tk_remote **out, struct tk_error *err)
{
	const bool is_s3 = strncmp(url, S3_SCHEME, strlen(S3_SCHEME)) == 0;
	int status = TK_OK;
	*out = NULL;
	if (!is_s3 && !is_http(url))
		status = tk_fail(err, TK_EUSAGE,
		        "\"%.120s\" cannot hold histories; expected s3://BUCKET/FOLDER or "
		        "https://HOST/FOLDER",
		        url);
	else if (!is_plain_url(url))
		status = tk_fail(err, TK_EUSAGE,
		        "\"%.120s\": expected letters, digits and -_.:/ only, no part that begins "
		        "with a dot",
		        url);
	struct tk_remote *r = status ? NULL : tk_calloc(1, sizeof *r);
	if (!status)
		status = is_s3 ? open_s3(r, url + strlen(S3_SCHEME), err) : split_url(r, url, err);
	if (status)
		tk_remote_close(r);
	else
		*out = r;
	return status;
}

bool tk_remote_is_object(const struct tk_remote *r)
{
	return r->object != NULL;
}

void tk_remote_close(struct tk_remote *r)
{
	if (!r)
		return;
	char *const texts[] = {r->folder, r->object, r->bucket, r->key, r->signing.region,
	        r->signing.access_key, r->signing.secret_key, r->token_header};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		free(texts[i]);
	free(r);
}

/* ---- requests ---- */

struct headers {
	char sha256[96];
	const char *list[3];
	struct tk_http_options options;
};

/* The body's hash is part of the signature: a server refuses a body that arrives damaged. */
static const struct tk_http_options *make_options(
        const struct tk_remote *r, const char *sha256, struct headers *h)
{
	size_t n = 0;
	*h = (struct headers){.options = {.retries = RETRIES}};
	if (r->bucket) {
		snprintf(h->sha256, sizeof h->sha256, "x-amz-content-sha256: %s", sha256);
		h->list[n++] = h->sha256;
		if (r->token_header)
			h->list[n++] = r->token_header;
		h->options.signing = &r->signing;
		h->options.headers = h->list;
	}
	return &h->options;
}

static int make_url(const struct tk_remote *r, const char *name, char **url, struct tk_error *err)
{
	if (!is_name(name, strlen(name)))
		return tk_fail(err, TK_EUSAGE,
		        "\"%.120s\" is not the name of an object; expected letters, digits and "
		        "-_.",
		        name);
	return format_text(url, err, "%s%s" TK_REMOTE_SUFFIX, r->folder, name);
}

int tk_remote_put(struct tk_remote *r, const char *name, const char *file, struct tk_error *err)
{
	char *url = NULL, sha256[TK_HASH_HEX_SIZE];
	struct headers h;
	struct stat st;
	int status = make_url(r, r->object ? r->object : name, &url, err);
	if (!status && stat(file, &st))
		status = tk_fail_errno(err, "%s", file);
	if (!status && st.st_size > PUT_MAX_BYTES)
		status = tk_fail(err, TK_EDATA,
		        "the packed history has %lld bytes, more than the 5 GiB of one upload; "
		        "`tracker db vacuum --drop-samples-older` makes it smaller",
		        (long long)st.st_size);
	if (!status)
		status = tk_hash_file(file, sha256, err);
	if (!status)
		status = tk_http_put_file(url, file, make_options(r, sha256, &h), err);
	free(url);
	return status;
}

int tk_remote_get(struct tk_remote *r, const char *name, const char *file, int64_t max_bytes,
        struct tk_error *err)
{
	AUTO_TEXT url = NULL;
	struct headers h;
	TRY(make_url(r, name, &url, err));
	return tk_http_get_file(url, file, max_bytes, make_options(r, EMPTY_SHA256, &h), err);
}

/* ---- lists ---- */

struct names {
	char **at;
	size_t count;
};

static void add_name(struct names *n, const char *name, size_t len)
{
	n->at = tk_reallocarray(n->at, n->count + 1, sizeof *n->at);
	n->at[n->count++] = tk_strndup(name, len);
}

/* The keys of an answer to ListObjectsV2. Those that could be ours hold nothing that XML escapes,
 * so any other text is the key of something else. */
static int parse_list(
        const struct tk_remote *r, const char *xml, struct names *n, struct tk_error *err)
{
	static const char begin[] = "<Key>", end[] = "</Key>";
	const size_t folder = strlen(r->key);
	int status = TK_OK;
	if (!strstr(xml, "<ListBucketResult"))
		return tk_fail(err, TK_EDATA, "the server's answer is not a list of objects");
	if (strstr(xml, "<IsTruncated>true"))
		return tk_fail(err, TK_EDATA,
		        "the folder has more than " LIST_MAX_KEYS
		        " objects; expected one for each machine");
	while (!status && (xml = strstr(xml, begin))) {
		const char *key = xml + strlen(begin), *stop = strstr(key, end);
		if (!stop)
			return tk_fail(err, TK_EDATA, "the server's list of objects is cut off");
		xml = stop;
		if ((size_t)(stop - key) <= folder || strncmp(key, r->key, folder) != 0)
			continue;
		key += folder;
		if (!ends_with_suffix(key, (size_t)(stop - key)))
			continue;
		const size_t len = (size_t)(stop - key) - strlen(TK_REMOTE_SUFFIX);
		if (is_name(key, len))
			add_name(n, key, len);
	}
	return status;
}

/* The folder in a query, as S3 signs it. */
static void add_escaped(struct tk_buf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '/')
			tk_buf_add_str(out, "%2F");
		else
			tk_buf_add_char(out, *text);
}

static int list_bucket(struct tk_remote *r, struct names *n, struct tk_error *err)
{
	struct tk_buf url = TK_BUF_INIT, answer = TK_BUF_INIT;
	struct headers h;
	/* in the order of the alphabet, as they are signed */
	tk_buf_add_printf(&url,
	        "%s?delimiter=%%2F&list-type=2&max-keys=" LIST_MAX_KEYS "&prefix=", r->bucket);
	add_escaped(&url, r->key);
	int status = tk_buf_status(&url, err);
	if (!status)
		status = tk_http_get(
		        url.data, LIST_MAX_BYTES, make_options(r, EMPTY_SHA256, &h), &answer, err);
	if (!status)
		status = parse_list(r, tk_buf_cstr(&answer), n, err);
	tk_buf_free(&answer);
	tk_buf_free(&url);
	return status;
}

int tk_remote_list(struct tk_remote *r, char ***names, size_t *count, struct tk_error *err)
{
	struct names n = {0};
	int status = TK_OK;
	if (r->object)
		add_name(&n, r->object, strlen(r->object));
	else if (r->bucket)
		status = list_bucket(r, &n, err);
	else
		status = tk_fail(err, TK_EUSAGE,
		        "an HTTP server does not list its files; expected the URL of one, "
		        "%sMACHINE" TK_REMOTE_SUFFIX,
		        r->folder);
	if (status) {
		tk_names_free(n.at, n.count);
		return status;
	}
	tk_names_sort((const char **)n.at, n.count);
	*names = n.at;
	*count = n.count;
	return TK_OK;
}
