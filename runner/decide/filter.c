/* --filter: see decide.h. */
#include <fnmatch.h>

#include "base/base.h"
#include "decide/decide.h"

static const struct {
	const char *key;
	size_t member, other;
} keys[] = {
#define KEY(name) \
	{ \
#name, offsetof(struct tk_filter_fields, name), \
		        offsetof(struct tk_filter_fields, name) \
	}
        KEY(backend),
        KEY(op),
        KEY(dtype),
        KEY(machine),
        KEY(upstream),
        KEY(metric),
        KEY(mode),
        KEY(config),
        KEY(role),
        KEY(series),
        {"problem", offsetof(struct tk_filter_fields, problem),
                offsetof(struct tk_filter_fields, title)},
        {"device", offsetof(struct tk_filter_fields, device),
                offsetof(struct tk_filter_fields, device_name)},
#undef KEY
};
#define KEY_COUNT (sizeof keys / sizeof *keys)

const char *const *tk_filter_keys(void)
{
	static const char *names[KEY_COUNT + 1];

	for (size_t i = 0; i < KEY_COUNT; i++)
		names[i] = keys[i].key;
	return names;
}

static size_t find_key(const char *filter, size_t len)
{
	size_t i = 0;

	while (i < KEY_COUNT &&
	        (strlen(keys[i].key) != len || strncmp(keys[i].key, filter, len) != 0))
		i++;
	return i;
}

static int unknown_key(const char *filter, size_t len, struct tk_error *err)
{
	const char *near;
	char key[64];

	if (len >= sizeof key)
		len = sizeof key - 1;
	memcpy(key, filter, len);
	key[len] = '\0';
	near = tk_suggest_name(key, tk_filter_keys());
	return tk_fail(err, TK_EUSAGE,
	        "filter \"%.200s\": unknown key \"%s\"%s%s%s; the keys are backend, problem, op, "
	        "dtype, device, "
	        "machine, "
	        "upstream, metric, mode, config, role, series",
	        filter, key, near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

int tk_filter_check(const char *const *filters, struct tk_error *err)
{
	for (; filters && *filters; filters++) {
		const char *colon = strchr(*filters, ':');

		if (!colon || !colon[1])
			return tk_fail(err, TK_EUSAGE,
			        "filter \"%.200s\": expected KEY:GLOB, for example "
			        "backend:openblas or problem:'gemm*'",
			        *filters);
		if (find_key(*filters, (size_t)(colon - *filters)) == KEY_COUNT)
			return unknown_key(*filters, (size_t)(colon - *filters), err);
	}
	return TK_OK;
}

static bool matches(const char *filter, size_t key, const struct tk_filter_fields *s)
{
	const char *glob = strchr(filter, ':') + 1;
	const char *value = *(const char *const *)((const char *)s + keys[key].member);
	const char *other = *(const char *const *)((const char *)s + keys[key].other);

	return fnmatch(glob, value, FNM_CASEFOLD) == 0 || fnmatch(glob, other, FNM_CASEFOLD) == 0;
}

bool tk_filter_match(const char *const *filters, const struct tk_filter_fields *s)
{
	for (size_t key = 0; key < KEY_COUNT; key++) {
		bool used = false, found = false;

		for (const char *const *f = filters; f && *f; f++)
			if (find_key(*f, (size_t)(strchr(*f, ':') - *f)) == key) {
				used = true;
				found |= matches(*f, key, s);
			}
		if (used && !found)
			return false;
	}
	return true;
}

bool tk_filter_match_any(const char *const *filters, const struct tk_filter_fields *s)
{
	for (; filters && *filters; filters++)
		if (tk_filter_match((const char *const[]){*filters, NULL}, s))
			return true;
	return false;
}
