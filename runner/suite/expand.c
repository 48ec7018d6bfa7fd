/* From one entry of a suite to all its problems: every combination of the lists, with computed
 * values. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "base/yaml.h"
#include "core/problem.h"
#include "suite/builder.h"

#define VALUE_MAX 64
#define NUMBER_MAX INT64_C(1000000000000)

/* One combination of values: at[i] is the index in the list of parameter i. */
struct combination {
	struct tk_suite_builder *b;
	const char *op;
	const struct tk_suite_param *params;
	size_t count;
	size_t at[TK_SUITE_KEYS_MAX];
	char value[TK_SUITE_KEYS_MAX][VALUE_MAX];
};

static size_t count_choices(const struct tk_suite_builder *b, const struct tk_suite_param *p)
{
	return !p->fixed && tk_yaml_kind(b->y, p->value_node) == TK_YAML_LIST
	               ? tk_yaml_count(b->y, p->value_node)
	               : 1;
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

/* The value that `$key` refers to. NULL: there is no such parameter, or it is an expression itself.
 * */
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
	if (strcmp(c->params[i].key, "causal") == 0 &&
	        tk_units_parse_bool(text, &flag, NULL) == TK_OK)
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
	struct tk_buf text = TK_BUF_INIT;
	int status = TK_OK;

	tk_buf_add_printf(&text, "%s:", c->op);
	for (size_t i = 0; !status && i < c->count; i++) {
		struct tk_error why = {0};

		status = compute_value(c, i);
		if (!status && tk_problem_check_key(c->op, c->params[i].key, c->value[i], &why))
			status = tk_yaml_fail(
			        c->b->y, param_node(c, i), c->b->err, "%s", why.message);
		tk_buf_add_printf(&text, "%s%s=%s", i ? "," : "", c->params[i].key, c->value[i]);
	}
	if (!status)
		status = tk_buf_status(&text, c->b->err);
	if (!status)
		status = tk_suite_add_problem(c->b, tk_buf_cstr(&text), at, source, group);
	tk_buf_free(&text);
	return status;
}

/* Checks keys and values, and limits the number of combinations. */
static int check_params(const struct combination *c, int at, size_t *total)
{
	struct tk_suite_builder *b = c->b;

	*total = 1;
	for (size_t i = 0; i < c->count; i++) {
		const struct tk_suite_param *p = &c->params[i];
		size_t n = count_choices(b, p);
		struct tk_error why = {0};

		if (tk_problem_check_key(c->op, p->key, NULL, &why))
			return tk_yaml_fail(b->y, p->key_node, b->err, "%s", why.message);
		if (!n)
			return tk_yaml_fail(b->y, p->value_node, b->err,
			        "%s is an empty list; expected values", p->key);
		for (size_t j = 0; !p->fixed && j < n; j++) {
			int node = tk_yaml_kind(b->y, p->value_node) == TK_YAML_LIST
			                   ? tk_yaml_item(b->y, p->value_node, j)
			                   : p->value_node;

			if (tk_yaml_kind(b->y, node) != TK_YAML_SCALAR ||
			        tk_yaml_is_empty(b->y, node))
				return tk_yaml_fail(b->y, node, b->err,
				        "%s is %s; expected a value or a list of values", p->key,
				        tk_yaml_kind_name(b->y, node));
		}
		if (__builtin_mul_overflow(*total, n, total) || *total > TK_SUITE_PROBLEMS_MAX)
			return tk_yaml_fail(b->y, at, b->err,
			        "the lists of this entry multiply to more than %d problems",
			        TK_SUITE_PROBLEMS_MAX);
	}
	return TK_OK;
}

int tk_suite_expand(struct tk_suite_builder *b, const char *op, const struct tk_suite_param *params,
        size_t count, int at, const char *source, const char *group)
{
	struct combination c = {.b = b, .op = op, .params = params, .count = count};
	size_t total;
	int status = check_params(&c, at, &total);

	for (size_t n = 0; !status && n < total; n++) {
		size_t rest = n;

		for (size_t i = count; i-- > 0;) {
			size_t of = count_choices(b, &params[i]);

			c.at[i] = rest % of;
			rest /= of;
		}
		status = add_combination(&c, at, source, group);
	}
	return status;
}
