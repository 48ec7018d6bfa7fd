/* From one entry of a suite to its problems: every combination of the lists and ranges, or some of
 * them, with computed values. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/suite_internal.h"

#define NUMBER_MAX INT64_C(1000000000000)

/* ---- ranges and numbers ---------------------------------------------------------------------- */

/* { from: 16, to: 4096, step: 16 } or, with `times`, a geometric walk. */
struct range {
	int64_t from, step, times; /* step 0: each value is `times` the one before */
	size_t count;
};

static const char *const range_keys[] = {"from", "to", "step", "times", NULL};

static bool read_number(const char **at, int64_t *out)
{
	int64_t v = 0;

	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); ++*at)
		v = v > NUMBER_MAX ? v : v * 10 + (**at - '0');
	*out = v;
	return v <= NUMBER_MAX;
}

int tk_suite_find_number(const struct tk_yaml *y, int map, const char *key, int64_t least,
        int64_t missing, int64_t *out, struct tk_error *err)
{
	int node = tk_yaml_find(y, map, key);
	const char *text = node ? tk_yaml_text(y, node) : "";
	int64_t v = missing;

	if (node && (tk_yaml_kind(y, node) != TK_YAML_SCALAR || !read_number(&text, &v) || *text ||
	                    v < least))
		return tk_yaml_fail(y, node, err,
		        "%s is not a whole number from %lld to %lld as expected", key,
		        (long long)least, (long long)NUMBER_MAX);
	*out = v;
	return TK_OK;
}

static size_t count_values(const struct range *r, int64_t to)
{
	size_t count = 0;

	if (r->step)
		return (size_t)((to - r->from) / r->step) + 1;
	for (int64_t v = r->from; v <= to / r->times; v *= r->times)
		count++;
	return count + 1;
}

static int range_read(const struct tk_yaml *y, int map, struct range *out, struct tk_error *err)
{
	int64_t to = 0;
	bool is_walk = tk_yaml_find(y, map, "times"), has_step = tk_yaml_find(y, map, "step");
	TRY(tk_yaml_check_keys(y, map, "a range", range_keys, err));
	if (!tk_yaml_find(y, map, "from") || !tk_yaml_find(y, map, "to") || (is_walk && has_step))
		return tk_yaml_fail(y, map, err,
		        "expected from, to, and step or times, such as { from: 16, to: 4096, "
		        "times: 2 }");
	TRY(tk_suite_find_number(y, map, "from", is_walk ? 1 : 0, 0, &out->from, err));
	TRY(tk_suite_find_number(y, map, "to", out->from, 0, &to, err));
	TRY(tk_suite_find_number(y, map, "step", 1, is_walk ? 0 : 1, &out->step, err));
	TRY(tk_suite_find_number(y, map, "times", 2, 1, &out->times, err));
	out->count = count_values(out, to);
	return TK_OK;
}

static int64_t range_value(const struct range *r, size_t index)
{
	int64_t v = r->from;

	if (r->step)
		return v + (int64_t)index * r->step;
	while (index--)
		v *= r->times;
	return v;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool has_number(const uint64_t *list, size_t count, uint64_t number)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == number)
			return true;
	return false;
}

/* Floyd's algorithm: as many draws as numbers. */
static uint64_t *pick(uint64_t total, size_t count, uint64_t seed)
{
	uint64_t *list = tk_calloc(count + 1, sizeof *list);
	struct tk_rng rng;

	tk_rng_seed(&rng, seed);
	for (size_t i = 0; i < count; i++) {
		uint64_t last = total - count + i, drawn = tk_rng_below(&rng, last + 1);

		list[i] = has_number(list, i, drawn) ? last : drawn;
	}
	tk_sort(list, count, sizeof *list, compare_numbers);
	return list;
}

/* ---- combinations ---------------------------------------------------------------------------- */

#define VALUE_MAX 64

/* One combination of values: at[i] is the index in the list of parameter i. */
struct combination {
	struct tk_suite_builder *b;
	const char *op;
	const struct tk_suite_param *params;
	size_t count;
	size_t at[TK_SUITE_KEYS_MAX];
	char value[TK_SUITE_KEYS_MAX][VALUE_MAX];
	struct range ranges[TK_SUITE_KEYS_MAX]; /* of the parameters that are ranges */
	char generated[TK_SUITE_KEYS_MAX][24];  /* their values */
};

static enum tk_yaml_kind param_kind(const struct combination *c, size_t i)
{
	const struct tk_suite_param *p = &c->params[i];

	return p->fixed ? TK_YAML_SCALAR : tk_yaml_kind(c->b->y, p->value_node);
}

static size_t count_choices(const struct combination *c, size_t i)
{
	switch (param_kind(c, i)) {
	case TK_YAML_LIST:
		return tk_yaml_count(c->b->y, c->params[i].value_node);
	case TK_YAML_MAP:
		return c->ranges[i].count;
	default:
		return 1;
	}
}

/* The node of the value of parameter i in this combination. */
static int param_node(const struct combination *c, size_t i)
{
	int node = c->params[i].value_node;

	return tk_yaml_kind(c->b->y, node) == TK_YAML_LIST ? tk_yaml_item(c->b->y, node, c->at[i])
	                                                   : node;
}

static const char *param_text(const struct combination *c, size_t i)
{
	if (param_kind(c, i) == TK_YAML_MAP)
		return c->generated[i];
	return c->params[i].fixed ? c->params[i].fixed : tk_yaml_text(c->b->y, param_node(c, i));
}

static bool is_expression(const char *text)
{
	return strchr(text, '$') != NULL;
}

static int bad_expression(const struct combination *c, size_t i, const char *why)
{
	char shown[TK_TEXT_EXCERPT_SIZE];

	return tk_yaml_fail(c->b->y, param_node(c, i), c->b->err,
	        "%s: cannot compute \"%s\" (%s); expected a value such as $m, 2*$m or 16384/$sq",
	        c->params[i].key, tk_text_format_excerpt(param_text(c, i), shown), why);
}

/* The value that `$key` refers to. NULL: no such parameter, or it is an expression itself. */
static const char *resolve_reference(const struct combination *c, const char **at)
{
	size_t len = strspn(++*at, "abcdefghijklmnopqrstuvwxyz_");
	const char *name = *at;

	*at += len;
	for (size_t i = 0; i < c->count; i++)
		if (strlen(c->params[i].key) == len && memcmp(c->params[i].key, name, len) == 0)
			return is_expression(param_text(c, i)) ? NULL : param_text(c, i);
	return NULL;
}

static bool read_factor(const struct combination *c, const char **at, int64_t *out)
{
	const char *text = **at == '$' ? resolve_reference(c, at) : NULL;

	if (text)
		return read_number(&text, out) && !*text;
	return read_number(at, out);
}

/* factor { (*|/) factor }, from the left; divisions must be exact. */
static int evaluate(const struct combination *c, size_t i, int64_t *out)
{
	const char *at = param_text(c, i);
	int64_t v, f;

	if (!read_factor(c, &at, &v))
		return bad_expression(c, i, "not a number and not the key of one");
	while (*at == '*' || *at == '/') {
		char sign = *at++;

		if (!read_factor(c, &at, &f))
			return bad_expression(c, i, "not a number and not the key of one");
		if (sign == '/' && (f == 0 || v % f != 0))
			return bad_expression(c, i, "the division leaves a remainder");
		if (sign == '*' && __builtin_mul_overflow(v, f, &v))
			return bad_expression(c, i, "the result is too large");
		v = sign == '/' ? v / f : v;
	}
	if (*at)
		return bad_expression(c, i, "the operators are * and /");
	*out = v;
	return TK_OK;
}

static int compute_value(struct combination *c, size_t i)
{
	const char *text = param_text(c, i), *at = text;
	const char *same = *at == '$' ? resolve_reference(c, &at) : NULL;
	int64_t v = 0;
	bool flag;

	if (same && !*at)
		text = same;
	else if (is_expression(text)) {
		if (evaluate(c, i, &v))
			return TK_ECONFIG;
		snprintf(c->value[i], VALUE_MAX, "%lld", (long long)v);
		return TK_OK;
	}
	if (strcmp(c->params[i].key, "causal") == 0 && !tk_units_parse_bool(text, &flag, NULL))
		text = flag ? "1" : "0";
	if ((size_t)snprintf(c->value[i], VALUE_MAX, "%s", text) >= VALUE_MAX ||
	        strpbrk(text, ",="))
		return tk_yaml_fail(c->b->y, param_node(c, i), c->b->err,
		        "%s: not a single value; expected one of at most %d characters without , "
		        "and =",
		        c->params[i].key, VALUE_MAX - 1);
	return TK_OK;
}

static int add_combination(struct combination *c, int at, const char *source, const char *group)
{
	AUTO(tk_buf) text = TK_BUF_INIT;

	tk_buf_add_printf(&text, "%s:", c->op);
	for (size_t i = 0; i < c->count; i++) {
		struct tk_error why = {0};
		TRY(compute_value(c, i));
		if (tk_problem_check_key(c->op, c->params[i].key, c->value[i], &why))
			return tk_yaml_fail(
			        c->b->y, param_node(c, i), c->b->err, "%s", why.message);
		tk_buf_add_printf(&text, "%s%s=%s", i ? "," : "", c->params[i].key, c->value[i]);
	}
	return tk_suite_add_problem(c->b, tk_buf_cstr(&text), at, source, group);
}

static int check_values(const struct combination *c, size_t i)
{
	const struct tk_suite_param *p = &c->params[i];
	const struct tk_yaml *y = c->b->y;
	bool is_list = param_kind(c, i) == TK_YAML_LIST;
	size_t n = count_choices(c, i);

	if (!n)
		return tk_yaml_fail(y, p->value_node, c->b->err,
		        "%s is an empty list; expected values", p->key);
	for (size_t j = 0; !p->fixed && j < n; j++) {
		int node = is_list ? tk_yaml_item(y, p->value_node, j) : p->value_node;

		if (tk_yaml_kind(y, node) != TK_YAML_SCALAR || tk_yaml_is_empty(y, node))
			return tk_yaml_fail(y, node, c->b->err,
			        "%s is %s; expected a value, a list of values or a range", p->key,
			        tk_yaml_kind_name(y, node));
	}
	return TK_OK;
}

/* Checks keys and values, and counts the combinations. */
static int check_params(struct combination *c, int at, uint64_t *total)
{
	struct tk_suite_builder *b = c->b;
	uint64_t most = b->pick.count ? INT64_MAX : TK_SUITE_PROBLEMS_MAX;

	*total = 1;
	for (size_t i = 0; i < c->count; i++) {
		const struct tk_suite_param *p = &c->params[i];
		struct tk_error why = {0};

		if (tk_problem_check_key(c->op, p->key, NULL, &why))
			return tk_yaml_fail(b->y, p->key_node, b->err, "%s", why.message);
		TRY(param_kind(c, i) == TK_YAML_MAP
		                ? range_read(b->y, p->value_node, &c->ranges[i], b->err)
		                : check_values(c, i));
		if (__builtin_mul_overflow(*total, count_choices(c, i), total) || *total > most)
			return tk_yaml_fail(b->y, at, b->err,
			        "the lists and ranges of this entry multiply to more than %llu "
			        "problems%s",
			        (unsigned long long)most,
			        b->pick.count ? "" : "; `pick: N` takes some of them at random");
	}
	return TK_OK;
}

static void set_combination(struct combination *c, uint64_t number)
{
	for (size_t i = c->count; i-- > 0;) {
		size_t of = count_choices(c, i);

		c->at[i] = number % of;
		number /= of;
		if (param_kind(c, i) == TK_YAML_MAP)
			snprintf(c->generated[i], sizeof c->generated[i], "%lld",
			        (long long)range_value(&c->ranges[i], c->at[i]));
	}
}

int tk_suite_expand(struct tk_suite_builder *b, const char *op, const struct tk_suite_param *params,
        size_t count, int at, const char *source, const char *group)
{
	struct combination c = {.b = b, .op = op, .params = params, .count = count};
	size_t wanted = b->pick.count;
	uint64_t total, *picked = NULL;
	int status = TK_OK;
	TRY(check_params(&c, at, &total));
	if (wanted > total)
		return tk_yaml_fail(b->y, at, b->err,
		        "pick is %zu, but this entry has only %llu combinations", wanted,
		        (unsigned long long)total);
	if (wanted)
		picked = pick(total, wanted, b->pick.seed);
	for (size_t n = 0; !status && n < (picked ? wanted : total); n++) {
		set_combination(&c, picked ? picked[n] : n);
		status = add_combination(&c, at, source, group);
	}
	free(picked);
	return status;
}
