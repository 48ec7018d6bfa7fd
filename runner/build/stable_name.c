/* Names that compilers make from the path of a file or the ID of a process, made independent of
 * both: two builds of one source in different folders then have the same names. */
#include "build/build_internal.h"
#include <ctype.h>

/* Anonymous namespaces of nvcc, with their length before them as in every mangled name:
 * "31_GLOBAL__N__5706e64a_4_k_cu_run". */
static const struct {
	const char *text, *instead;
} scopes[] = {{"_GLOBAL__N_", "12_GLOBAL__N_1"}, {"_INTERNAL_", "9_INTERNAL"}};

/* What is followed by hashes in hexadecimal digits: of nvcc, then of Clang for HIP. */
static const char *const markers[] = {"_GLOBAL__N_", "_INTERNAL_", "_nv_static_", "__fatbinwrap_",
        "__cudaRegisterLinkedBinary_", "tmpxft_", "__hip_cuid_", "__hip_fatbin_",
        "__hip_gpubin_handle_", ".static.", ".intern.", ".anon."};

enum { HASH_DIGITS_MIN = 8, TOKENS = 4 };
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool begins_with(const char *text, size_t len, const char *prefix)
{
	const size_t n = strlen(prefix);
	return len >= n && memcmp(text, prefix, n) == 0;
}

/* Replaces a scope at `at`, whose length is the number before it, after `first`, and has been
 * copied to `out`. Returns its end, or `at`: there is none. */
static size_t replace_scope(
        const char *text, size_t len, size_t first, size_t at, struct tk_buf *out)
{
	size_t digits = 0, length = 0, power = 1;
	while (digits < 4 && first + digits < at && isdigit((unsigned char)text[at - digits - 1])) {
		length += power * (size_t)(text[at - ++digits] - '0');
		power *= 10;
	}
	for (size_t i = 0; i < COUNT(scopes); i++) {
		if (!begins_with(text + at, len - at, scopes[i].text) ||
		        length <= strlen(scopes[i].text) || length > len - at)
			continue;
		out->len -= digits;
		tk_buf_add_str(out, scopes[i].instead);
		return at + length;
	}
	return at;
}

/* The end of the marker at text[at] and of up to TOKENS words after it; copied without those that
 * are hashes. `at`: there is none. */
static size_t copy_marker(const char *text, size_t len, size_t at, struct tk_buf *out)
{
	size_t i = 0;
	while (i < COUNT(markers) && !begins_with(text + at, len - at, markers[i]))
		i++;
	if (i == COUNT(markers))
		return at;
	tk_buf_add_str(out, markers[i]);
	at += strlen(markers[i]);
	for (int token = 0; token < TOKENS; token++) {
		size_t digits = 0;
		while (at < len && text[at] == '_')
			tk_buf_add(out, &text[at++], 1);
		while (at + digits < len && isxdigit((unsigned char)text[at + digits]) &&
		        !isupper((unsigned char)text[at + digits]))
			digits++;
		if (digits >= HASH_DIGITS_MIN)
			at += digits;
		while (at < len && isalnum((unsigned char)text[at]))
			tk_buf_add(out, &text[at++], 1);
		if (at == len || (text[at] != '_' && text[at] != '-'))
			break;
	}
	return at;
}

void tk_stable_text(const char *text, size_t len, struct tk_buf *out)
{
	size_t at = 0, copied = 0, first = 0;
	while (at < len) {
		if (text[at] != '_' && text[at] != '.' && text[at] != 't') {
			at++;
			continue;
		}
		tk_buf_add(out, text + copied, at - copied);
		copied = replace_scope(text, len, first, at, out);
		if (copied == at)
			copied = copy_marker(text, len, at, out);
		if (copied > at)
			first = copied;
		at = copied > at ? copied : at + 1;
	}
	tk_buf_add(out, text + copied, len - copied);
}

char *tk_stable_name(const char *name)
{
	AUTO(tk_buf) out = TK_BUF_INIT;
	tk_stable_text(name, strlen(name), &out);
	return tk_strdup(tk_buf_cstr(&out));
}
