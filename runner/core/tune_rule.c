/* See tune_rule.h. */
#include "core/tune_rule.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/problem.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 3
#define REST_SIZE (TK_PROBLEM_TEXT_MAX + 32)

/* Sizes that change together, or alone, and their name. */
struct axis {
	const char *name;
	const char *keys[KEYS_MAX]; /* all have the same value */
};
static const struct axis axes[] = {
        {"m = n = k", {"m", "n", "k"}},
        {"S", {"sq", "skv", NULL}},
        {"m", {"m", NULL, NULL}},
        {"n", {"n", NULL, NULL}},
        {"k", {"k", NULL, NULL}},
        {"S", {"s", NULL, NULL}},
        {"S_q", {"sq", NULL, NULL}},
        {"S_kv", {"skv", NULL, NULL}},
        {"B", {"b", NULL, NULL}},
        {"batch", {"batch", NULL, NULL}},
        {"H", {"h", "hkv", NULL}},
        {"H", {"h", NULL, NULL}},
        {"D", {"d", NULL, NULL}},
};
#define AXES (sizeof axes / sizeof *axes)

/* A problem on one axis: its size there, and all else of it. */
struct place {
	size_t fact;
	int64_t x;
	char rest[REST_SIZE];
};

/* ---- problems on an axis ---- */

static bool is_key(const struct axis *axis, const char *key, size_t len)
{
	for (size_t i = 0; i < KEYS_MAX && axis->keys[i]; i++)
		if (strlen(axis->keys[i]) == len && !strncmp(axis->keys[i], key, len))
			return true;
	return false;
}

static size_t count_keys(const struct axis *axis)
{
	size_t count = 0;
	while (count < KEYS_MAX && axis->keys[count])
		count++;
	return count;
}

/* Replaces the values of the keys by `value`. false: one is missing, or they differ. */
static bool replace_size(
        const struct axis *axis, const char *text, const char *value, char *out, int64_t *x)
{
	size_t len = 0, found = 0;
	const char *at = strchr(text, ':');
	if (!at || strlen(text) >= TK_PROBLEM_TEXT_MAX)
		return false;
	len = (size_t)(++at - text);
	memcpy(out, text, len);
	while (*at) {
		size_t whole = strcspn(at, ","), key = strcspn(at, "=");
		if (key < whole && is_key(axis, at, key)) {
			int64_t own = strtoll(at + key + 1, NULL, 10);
			if (own <= 0 || (found && own != *x))
				return false;
			*x = own;
			found++;
			len += (size_t)snprintf(
			        out + len, REST_SIZE - len, "%.*s=%s", (int)key, at, value);
		} else {
			len += (size_t)snprintf(out + len, REST_SIZE - len, "%.*s", (int)whole, at);
		}
		at += whole;
		if (*at)
			out[len++] = *at++;
	}
	out[len] = 0;
	return found == count_keys(axis);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->rest, y->rest);
	return order ? order : (x->x > y->x) - (x->x < y->x);
}

/* ---- rules ---- */

/* The title of a problem whose size is a number that no other size has. */
#define STAND_IN "88883"

static void set_sweep(const struct axis *axis, const struct tk_tune_fact *fact, const char *rest,
        struct tk_tune_rule *rule)
{
	char text[REST_SIZE], title[200];
	int64_t x;
	struct tk_problem_spec spec;
	struct tk_error ignored = {0};
	snprintf(rule->sweep, sizeof rule->sweep, "%.190s", rest);
	if (!replace_size(axis, fact->problem, STAND_IN, text, &x) ||
	        tk_problem_parse(&spec, text, &ignored))
		return;
	tk_problem_format_title(&spec, title, sizeof title);
	size_t len = 0;
	for (const char *at = title, *found; *at && len + 16 < sizeof rule->sweep;) {
		found = strstr(at, STAND_IN);
		size_t before = found ? (size_t)(found - at) : strlen(at);
		len += (size_t)snprintf(rule->sweep + len, sizeof rule->sweep - len, "%.*s%s",
		        (int)before, at, found ? "*" : "");
		at += before + (found ? strlen(STAND_IN) : 0);
	}
}

static void add_steps(struct tk_tune_rule *rule, const struct place *places, size_t count,
        const struct tk_tune_fact *facts)
{
	rule->steps = tk_malloc(count * sizeof *rule->steps);
	for (size_t i = 0; i < count; i++) {
		const char *choice = facts[places[i].fact].choice;
		struct tk_tune_step *last = rule->count ? &rule->steps[rule->count - 1] : NULL;
		if (last && !strcmp(last->choice, choice))
			last->to = places[i].x;
		else
			rule->steps[rule->count++] =
			        (struct tk_tune_step){choice, places[i].x, places[i].x};
	}
	rule->sizes = count;
}

static int add_rule(struct tk_tune_rules *rules, const struct axis *axis,
        const struct place *places, size_t count, const struct tk_tune_fact *facts,
        struct tk_error *err)
{
	rules->at = tk_realloc(rules->at, (rules->count + 1) * sizeof *rules->at);
	struct tk_tune_rule *rule = &rules->at[rules->count];
	*rule = (struct tk_tune_rule){0};
	snprintf(rule->key, sizeof rule->key, "%s", axis->name);
	set_sweep(axis, &facts[places->fact], places->rest, rule);
	add_steps(rule, places, count, facts);
	int status = TK_OK;
	rules->count += !status;
	return status;
}

static int find_on_axis(const struct axis *axis, const struct tk_tune_fact *facts, size_t count,
        struct place *places, struct tk_tune_rules *out, struct tk_error *err)
{
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		struct place *p = &places[used];
		p->fact = i;
		used += replace_size(axis, facts[i].problem, "*", p->rest, &p->x);
	}
	if (used)
		qsort(places, used, sizeof *places, compare_places);
	for (size_t first = 0, end; first < used; first = end) {
		for (end = first + 1; end < used && !strcmp(places[end].rest, places[first].rest);
		        end++)
			;
		if (end - first >= TK_TUNE_RULE_SIZES_MIN)
			TRY(add_rule(out, axis, &places[first], end - first, facts, err));
	}
	return TK_OK;
}

static int most_sizes_first(const void *a, const void *b)
{
	const struct tk_tune_rule *x = a, *y = b;
	if (x->sizes != y->sizes)
		return x->sizes > y->sizes ? -1 : 1;
	return strcmp(x->sweep, y->sweep);
}

int tk_tune_rules_find(const struct tk_tune_fact *facts, size_t count, struct tk_tune_rules *out,
        struct tk_error *err)
{
	struct place *places = tk_malloc((count + 1) * sizeof *places);
	*out = (struct tk_tune_rules){0};
	int status = TK_OK;
	for (size_t i = 0; !status && i < AXES; i++)
		status = find_on_axis(&axes[i], facts, count, places, out, err);
	if (out->count)
		qsort(out->at, out->count, sizeof *out->at, most_sizes_first);
	free(places);
	return status;
}

void tk_tune_rules_free(struct tk_tune_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		free(rules->at[i].steps);
	free(rules->at);
	*rules = (struct tk_tune_rules){0};
}

static size_t format_step(const struct tk_tune_rule *rule, size_t i, char *out, size_t size)
{
	const struct tk_tune_step *s = &rule->steps[i];
	int len;
	if (rule->count == 1)
		len = snprintf(out, size, "%s from %s = %" PRId64 " to %" PRId64, s->choice,
		        rule->key, s->from, s->to);
	else if (i == 0)
		len = snprintf(out, size, "%s up to %s = %" PRId64, s->choice, rule->key, s->to);
	else if (i + 1 < rule->count && s->from != s->to)
		len = snprintf(out, size, ", %s from %s = %" PRId64 " to %" PRId64, s->choice,
		        rule->key, s->from, s->to);
	else if (i + 1 < rule->count)
		len = snprintf(out, size, ", %s at %s = %" PRId64, s->choice, rule->key, s->from);
	else
		len = snprintf(out, size, ", %s from %s = %" PRId64, s->choice, rule->key, s->from);
	return len < 0 ? 0 : (size_t)len;
}

const char *tk_tune_rule_format(const struct tk_tune_rule *rule, char *out, size_t size)
{
	size_t len = 0;
	*out = 0;
	for (size_t i = 0; i < rule->count && len + 1 < size; i++)
		len += format_step(rule, i, out + len, size - len);
	return out;
}
