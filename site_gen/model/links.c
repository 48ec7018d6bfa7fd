/* URLs of forges, and differences between environments. */
#include "site_gen/model/model.h"

#include <ctype.h>

#include "base/base.h"
#include "site_gen/render/escape.h"

/* "https://user:secret@host/owner/name.git" -> "https://host/owner/name"; "" if it is not such a
 * URL or has other characters than those of a path. */
static const char *forge_base(const char *url, char out[TK_LINK_SIZE])
{
	out[0] = 0;
	size_t scheme = !strncmp(url, "https://", 8) ? 8 : !strncmp(url, "http://", 7) ? 7 : 0;
	if (!scheme || strlen(url) > TK_LINK_SIZE / 2)
		return out;
	const char *host = url + scheme, *path = strchr(host, '/');
	if (!path)
		return out;
	const char *at = memrchr(host, '@', (size_t)(path - host));
	host = at ? at + 1 : host;
	snprintf(out, TK_LINK_SIZE, "%.*s%s", (int)scheme, url, host);
	size_t len = strlen(out);
	while (len && out[len - 1] == '/')
		out[--len] = 0;
	if (len > 4 && !strcmp(out + len - 4, ".git"))
		out[len - 4] = 0;
	for (const char *p = out; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("/:._-~", *p))
			out[0] = 0;
	return out;
}

/* What the forge puts before "commit/" and "compare/"; NULL: unknown forge. */
static const char *forge_infix(const char *base)
{
	if (strstr(base, "gitlab"))
		return "/-/";
	if (strstr(base, "//github.com/") || strstr(base, "//codeberg.org/") ||
	        strstr(base, "gitea") || strstr(base, "forgejo"))
		return "/";
	return NULL;
}

static bool rev_is_plain(const char *rev)
{
	size_t len = strspn(rev, "0123456789abcdefABCDEF");
	return len >= 7 && len <= 64 && !rev[len];
}

const char *tk_link_commit(const char *url, const char *rev, char out[TK_LINK_SIZE])
{
	char base[TK_LINK_SIZE];
	const char *infix = forge_infix(forge_base(url, base));
	out[0] = 0;
	if (infix && *base && rev_is_plain(rev))
		snprintf(out, TK_LINK_SIZE, "%.380s%scommit/%.64s", base, infix, rev);
	return out;
}

const char *tk_link_range(
        const char *url, const char *good, const char *bad, char out[TK_LINK_SIZE])
{
	char base[TK_LINK_SIZE];
	const char *infix = forge_infix(forge_base(url, base));
	out[0] = 0;
	if (infix && *base && rev_is_plain(good) && rev_is_plain(bad))
		snprintf(
		        out, TK_LINK_SIZE, "%.300s%scompare/%.64s...%.64s", base, infix, good, bad);
	return out;
}

const char *tk_link_strip_user(const char *url, char out[TK_LINK_SIZE])
{
	const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url;
	const char *at = scheme ? memrchr(host, '@', strcspn(host, "/")) : NULL;
	int scheme_len = scheme ? (int)(host - url > 32 ? 32 : host - url) : 0;
	host = at ? at + 1 : host;
	snprintf(out, TK_LINK_SIZE, "%.*s%.*s", scheme_len, url, (int)tk_utf8_clip_len(host, 200),
	        host);
	return out;
}

const char *tk_rev_abbreviate(const char *rev, char out[TK_LINK_SIZE])
{
	size_t keep = rev_is_plain(rev) && strlen(rev) > 12 ? 12 : tk_utf8_clip_len(rev, 24);
	snprintf(out, TK_LINK_SIZE, "%.*s%s", (int)keep, rev,
	        !rev_is_plain(rev) && rev[keep] ? "…" : "");
	return out;
}

#define FLAT_DEPTH 4

static void flatten(json_t *into, json_t *from, const char *parent, int depth)
{
	const char *key;
	json_t *value;
	json_object_foreach (from, key, value) {
		char name[160];
		if (json_is_object(value) && depth < FLAT_DEPTH) {
			flatten(into, value, key, depth + 1);
			continue;
		}
		snprintf(name, sizeof name, "%.60s%s%.*s", json_object_get(into, key) ? parent : "",
		        json_object_get(into, key) ? " " : "", (int)tk_utf8_clip_len(key, 90), key);
		json_object_set(into, name, value);
	}
}

json_t *tk_attributes_flatten(const char *json)
{
	json_t *from = json_loads(json, 0, NULL),
	       *flat = json_is_object(from) ? json_object() : NULL;
	if (flat)
		flatten(flat, from, "", 0);
	json_decref(from);
	return flat;
}

static void add_scalar(struct tk_buf *out, const json_t *v)
{
	if (!v || json_is_null(v))
		tk_buf_add_str(out, "–");
	else if (json_is_string(v))
		tk_buf_add(out, json_string_value(v), tk_utf8_clip_len(json_string_value(v), 60));
	else if (json_is_integer(v))
		tk_buf_add_printf(out, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		tk_buf_add_printf(out, "%.6g", json_real_value(v));
	else
		tk_buf_add_str(out, json_is_true(v)    ? "yes"
		                    : json_is_false(v) ? "no"
		                                       : "(several)");
}

static void difference_add(struct tk_buf *out, const char *key, const json_t *before,
        const json_t *after, size_t *count)
{
	if (json_equal((json_t *)before, (json_t *)after) || ++*count > 6)
		return;
	if (*count > 1)
		tk_buf_add_str(out, ", ");
	tk_buf_add(out, key, tk_utf8_clip_len(key, 40));
	tk_buf_add_char(out, ' ');
	add_scalar(out, before);
	tk_buf_add_str(out, " → ");
	add_scalar(out, after);
}

void tk_environment_add_diff(struct tk_buf *out, const char *before, const char *after)
{
	json_t *b = tk_attributes_flatten(before), *a = tk_attributes_flatten(after), *value;
	const char *key;
	size_t count = 0;
	json_object_foreach (a, key, value)
		difference_add(out, key, json_object_get(b, key), value, &count);
	json_object_foreach (b, key, value)
		if (!json_object_get(a, key))
			difference_add(out, key, value, NULL, &count);
	if (count > 6)
		tk_buf_add_printf(out, " and %zu more", count - 6);
	json_decref(a);
	json_decref(b);
}
