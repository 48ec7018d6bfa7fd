/* A page of a package index (PEP 691, PEP 700) -> releases. The page is untrusted. */
#include "base/base.h"
#include "upstream/package.h"
#include <ctype.h>
#include <strings.h>
#include <time.h>

#define FILES_MAX 100000

char *tk_package_normalize_name(const char *name)
{
	char *out = tk_malloc(strlen(name) + 1);
	size_t n = 0;
	for (const char *p = name; out && *p; p++) {
		if (!strchr("-_.", *p))
			out[n++] = (char)tolower((unsigned char)*p);
		else if (n && out[n - 1] != '-')
			out[n++] = '-';
	}
	if (out)
		out[n] = '\0';
	return out;
}

/* ---- one file ---- */

/* "3.6.0" of "triton-3.6.0-cp311-cp311-manylinux.whl"; false: not a wheel of this package. */
static bool parse_wheel(const char *file, const char *package, char *version, size_t size)
{
	const size_t len = strlen(file), name_len = strcspn(file, "-");
	if (len < 4 || strcmp(file + len - 4, ".whl") || file[name_len] != '-')
		return false;
	char *name = tk_strndup(file, name_len),
	     *normal = name ? tk_package_normalize_name(name) : NULL;
	const bool mine = normal && !strcmp(normal, package);
	free(normal);
	free(name);
	const char *at = file + name_len + 1;
	const size_t n = strcspn(at, "-");
	if (!mine || n == 0 || n >= size || at[n] != '-')
		return false;
	snprintf(version, size, "%.*s", (int)n, at);
	/* It becomes a revision, a part of a path and an argument of a program. */
	return version[strspn(version,
	               "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.!+_")] ==
	       '\0';
}

static int64_t parse_time(const char *text)
{
	struct tm t = {0};
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &t) : NULL;
	return end ? (int64_t)timegm(&t) : 0;
}

static bool is_sha256(const char *text)
{
	return text && strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

/* ---- releases ---- */

/* Of the same index only: the first index that has a version wins. NULL: out of memory. */
static struct tk_package_release *find_or_add(struct tk_package_index *p, const char *text,
        const struct tk_version *version, const char *index)
{
	for (size_t i = 0; i < p->count; i++)
		if (tk_version_compare(&p->releases[i].version, version) == 0)
			return &p->releases[i];
	struct tk_package_release *grown =
	        tk_realloc(p->releases, (p->count + 1) * sizeof(*p->releases));
	if (!grown)
		return NULL;
	p->releases = grown;
	struct tk_package_release *r = &grown[p->count];
	*r = (struct tk_package_release){
	        .version = *version, .yanked = true, .index = tk_strdup(index)};
	snprintf(r->text, sizeof(r->text), "%s", text);
	if (!r->index)
		return NULL;
	p->count++;
	return r;
}

static bool has_metadata(const json_t *file)
{
	const json_t *a = json_object_get(file, "core-metadata"),
	             *b = json_object_get(file, "dist-info-metadata");
	return json_is_true(a) || json_is_object(a) || json_is_true(b) || json_is_object(b);
}

static int add_wheel(struct tk_package_release *r, const json_t *file, struct tk_error *err)
{
	const char *sha256 =
	        json_string_value(json_object_get(json_object_get(file, "hashes"), "sha256"));
	const char *url = json_string_value(json_object_get(file, "url"));
	const json_t *yanked = json_object_get(file, "yanked");
	const int64_t time_s = parse_time(json_string_value(json_object_get(file, "upload-time")));
	if (!is_sha256(sha256))
		return TK_OK; /* it could not be checked */
	char(*grown)[TK_SHA256_SIZE] =
	        tk_realloc(r->sha256, (r->wheel_count + 1) * sizeof(*r->sha256));
	r->sha256 = grown;
	memcpy(grown[r->wheel_count++], sha256, TK_SHA256_SIZE);
	r->yanked = r->yanked && yanked && !json_is_false(yanked);
	if (time_s && (!r->time_s || time_s < r->time_s))
		r->time_s = time_s;
	if (!r->metadata_url && url && has_metadata(file) &&
	        asprintf(&r->metadata_url, "%s.metadata", url) < 0) {
		r->metadata_url = NULL;
		return tk_fail(err, TK_ENOMEM, "out of memory");
	}
	return TK_OK;
}

static int add_file(struct tk_package_index *p, const char *package, const char *index,
        const json_t *file, struct tk_error *err)
{
	const char *name = json_string_value(json_object_get(file, "filename"));
	struct tk_version version;
	char text[64];
	if (!name || !parse_wheel(name, package, text, sizeof(text)) ||
	        !tk_version_parse(text, &version))
		return TK_OK; /* a source distribution, or older than these rules */
	struct tk_package_release *r = find_or_add(p, text, &version, index);
	return strcmp(r->index, index) ? TK_OK : add_wheel(r, file, err);
}

static int by_version(const void *a, const void *b)
{
	const struct tk_package_release *x = a, *y = b;
	return tk_version_compare(&x->version, &y->version);
}

int tk_package_index_add(struct tk_package_index *p, const char *package, const char *index,
        const char *text, size_t len, struct tk_error *err)
{
	json_error_t at;
	json_auto_t *root = json_loadb(text, len, 0, &at);
	const json_t *files = json_object_get(root, "files"), *file;
	AUTO_TEXT normal = tk_package_normalize_name(package);
	size_t i;
	int status = TK_OK;
	if (!normal)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	else if (!root)
		status = tk_fail(
		        err, TK_EDATA, "the index did not answer with JSON (PEP 691): %s", at.text);
	else if (!json_is_array(files) || json_array_size(files) > FILES_MAX)
		status = tk_fail(err, TK_EDATA,
		        "the index's answer has no list \"files\" of at most %d", FILES_MAX);
	json_array_foreach (files, i, file) {
		if (status)
			break;
		status = add_file(p, normal, index, file, err);
	}
	tk_sort(p->releases, p->count, sizeof(*p->releases), by_version);
	return status;
}

void tk_package_index_free(struct tk_package_index *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->releases[i].sha256);
		free(p->releases[i].metadata_url);
		free(p->releases[i].index);
	}
	free(p->releases);
	*p = (struct tk_package_index){0};
}
