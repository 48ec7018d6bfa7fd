/* See tune_rule.h. */
#include "core/tune_rule.h"

#include <ctype.h>
#include <inttypes.h>

#include "core/problem.h"

/* ---- parameters in a name -------------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

/* "NAME=VALUE,...": 0 unless all of it is. */
static size_t parse_assignments(
        const char *config, struct tk_tune_parameter out[TK_TUNE_PARAMETERS_MAX])
{
	size_t count = 0;
	for (const char *at = config; *at;) {
		size_t name = strcspn(at, "=,");
		char *end;
		if (at[name] != '=' || !name || count == TK_TUNE_PARAMETERS_MAX)
			return 0;
		int64_t value = strtoll(at + name + 1, &end, 10);
		if (end == at + name + 1 || (*end && *end != ','))
			return 0;
		snprintf(out[count].name, sizeof out[count].name, "%.*s", (int)name, at);
		out[count++].value = value;
		at = *end ? end + 1 : end;
	}
	return count;
}

/* Several numbers after one word are told apart by their place. */
static void number_names(struct tk_tune_parameter *out, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && !strcmp(out[end].name, out[i].name); end++)
			;
		for (size_t k = i; end - i > 1 && k < end; k++) {
			size_t len = strnlen(out[k].name, TK_TUNE_PARAMETER_SIZE - 5);
			snprintf(out[k].name + len, TK_TUNE_PARAMETER_SIZE - len, " %zu",
			        (k - i + 1) % 100);
		}
	}
}

static size_t parse_words(const char *config, struct tk_tune_parameter out[TK_TUNE_PARAMETERS_MAX])
{
	char word[TK_TUNE_PARAMETER_SIZE] = "size";
	size_t count = 0;
	for (const char *at = config; *at && count < TK_TUNE_PARAMETERS_MAX;) {
		if (isdigit((unsigned char)*at)) {
			char *end;
			out[count].value = strtoll(at, &end, 10);
			memcpy(out[count++].name, word, sizeof word);
			at = end;
			continue;
		}
		size_t len = 0;
		while (is_word(at[len]))
			len++;
		/* the x of 64x128 separates two numbers, and so do "_" and "-" */
		size_t first = strspn(at, "_"), last = len;
		while (last > first && at[last - 1] == '_')
			last--;
		bool separates = last - first == 1 && at[first] == 'x' && count;
		if (last > first && !separates)
			snprintf(word, sizeof word, "%.*s", (int)(last - first), at + first);
		at += len ? len : 1;
	}
	number_names(out, count);
	return count;
}

size_t tk_tune_config_parse(
        const char *config, struct tk_tune_parameter out[TK_TUNE_PARAMETERS_MAX])
{
	size_t count = parse_assignments(config, out);
	return count ? count : parse_words(config, out);
}

#define KEYS_MAX 3
#define REST_SIZE (TK_PROBLEM_TEXT_MAX + 32)

/* Sizes that change together, or alone, and their name. */
struct axis {
	const char *name;
	size_t count;
	const char *keys[KEYS_MAX]; /* all have the same value */
};
static const struct axis axes[] = {
        {"m = n = k", 3, {"m", "n", "k"}},
        {"S", 2, {"sq", "skv"}},
        {"m", 1, {"m"}},
        {"n", 1, {"n"}},
        {"k", 1, {"k"}},
        {"S", 1, {"s"}},
        {"S_q", 1, {"sq"}},
        {"S_kv", 1, {"skv"}},
        {"B", 1, {"b"}},
        {"batch", 1, {"batch"}},
        {"H", 2, {"h", "hkv"}},
        {"H", 1, {"h"}},
        {"D", 1, {"d"}},
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
	for (size_t i = 0; i < axis->count; i++)
		if (strlen(axis->keys[i]) == len && !strncmp(axis->keys[i], key, len))
			return true;
	return false;
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
	return found == axis->count;
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
	snprintf(rule->sweep, sizeof rule->sweep, "%.190s", rest);
	if (!replace_size(axis, fact->problem, STAND_IN, text, &x) ||
	        tk_problem_parse(&spec, text, NULL))
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

static void find_on_axis(const struct axis *axis, const struct tk_tune_fact *facts, size_t count,
        struct place *places, struct tk_tune_rules *out)
{
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		struct place *p = &places[used];
		p->fact = i;
		used += replace_size(axis, facts[i].problem, "*", p->rest, &p->x);
	}
	if (used)
		tk_sort(places, used, sizeof *places, compare_places);
	for (size_t first = 0, end; first < used; first = end) {
		for (end = first + 1; end < used && !strcmp(places[end].rest, places[first].rest);
		        end++)
			;
		if (end - first < TK_TUNE_RULE_SIZES_MIN)
			continue;
		out->at = tk_reallocarray(out->at, out->count + 1, sizeof *out->at);
		struct tk_tune_rule *rule = &out->at[out->count++];
		*rule = (struct tk_tune_rule){0};
		snprintf(rule->key, sizeof rule->key, "%s", axis->name);
		set_sweep(axis, &facts[places[first].fact], places[first].rest, rule);
		add_steps(rule, &places[first], end - first, facts);
	}
}

static int most_sizes_first(const void *a, const void *b)
{
	const struct tk_tune_rule *x = a, *y = b;
	if (x->sizes != y->sizes)
		return x->sizes > y->sizes ? -1 : 1;
	return strcmp(x->sweep, y->sweep);
}

void tk_tune_rules_find(const struct tk_tune_fact *facts, size_t count, struct tk_tune_rules *out)
{
	struct place *places = tk_malloc((count + 1) * sizeof *places);
	*out = (struct tk_tune_rules){0};
	for (size_t i = 0; i < AXES; i++)
		find_on_axis(&axes[i], facts, count, places, out);
	tk_sort(out->at, out->count, sizeof *out->at, most_sizes_first);
	free(places);
}

void tk_tune_rules_free(struct tk_tune_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		free(rules->at[i].steps);
	free(rules->at);
	*rules = (struct tk_tune_rules){0};
}

const char *tk_tune_rule_format(const struct tk_tune_rule *rule, char *out, size_t size)
{
	size_t len = 0;
	*out = 0;
	for (size_t i = 0; i < rule->count && len + 1 < size; i++) {
		const struct tk_tune_step *s = &rule->steps[i];
		const bool is_first = i == 0, is_last = i + 1 == rule->count;
		const bool has_to = is_first == is_last && (is_last || s->from != s->to);
		len += (size_t)snprintf(out + len, size - len, "%s%s %s %s = %" PRId64,
		        is_first ? "" : ", ", s->choice,
		        is_first && !is_last           ? "up to"
		        : !is_last && s->from == s->to ? "at"
		                                       : "from",
		        rule->key, is_first && !is_last ? s->to : s->from);
		if (has_to && len + 1 < size)
			len += (size_t)snprintf(out + len, size - len, " to %" PRId64, s->to);
	}
	return out;
}
