/* The functions of SQL that make texts for people, for the queries of pages. */
#include <math.h>

#include "core/kernel_report.h"
#include "core/tune_rule.h"
#include "core/vocabulary.h"
#include "site_gen/charts/charts.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/query.h"
#include "site_gen/pages/tone.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/value.h"
#include "stats/compare.h"
#include "store/query/code_facts.h"

#define FIGURE_MAX 1e15
#define RETURN_TEXT(made) \
	char text[TK_LINK_SIZE]; \
	return tk_strdup(made)

/* clip(text, bytes): with an ellipsis where it was cut */
static char *clip(const struct tk_arg *a)
{
	size_t len = tk_utf8_clip_len(a[0].text, (size_t)a[1].i);
	return tk_sprintf("%.*s%s", (int)len, a[0].text, a[0].text[len] ? "…" : "");
}

/* default_mode(kind of device): the mode in which its series are ranked, if it was measured */
static char *default_mode(const struct tk_arg *a)
{
	return tk_strdup(tk_mode_name(tk_mode_default(a[0].text)));
}

/* clauses(text, bytes): the reason of a verdict, cut after a whole clause */
static char *clauses(const struct tk_arg *a)
{
	size_t len = tk_utf8_clip_clauses_len(a[0].text, (size_t)a[1].i);
	return tk_sprintf("%.*s%s", (int)len, a[0].text, a[0].text[len] ? " …" : "");
}

/* interval(axis_lo, axis_hi, change, lo, hi, class): a bar on an axis of logarithms, as markup */
static char *interval(const struct tk_arg *a)
{
	AUTO(tk_buf) out = TK_BUF_INIT;
	tk_svg_draw_interval(
	        &out, a[0].real, a[1].real, a[2].real, a[3].real, a[4].real, a[5].text);
	return tk_strdup(tk_buf_cstr(&out));
}

/* slug(text): a safe file name */
static char *slug(const struct tk_arg *a)
{
	return tk_path_make_slug(a[0].text);
}

/* minute(seconds since 1970): "2026-11-21 09:42"; a dash for 0 and NULL */
static char *minute(const struct tk_arg *a)
{
	RETURN_TEXT(a[0].i ? tk_format_minute(a[0].i, text) : "–");
}

/* day(seconds since 1970): "2026-11-21"; NULL for 0 and NULL */
static char *day(const struct tk_arg *a)
{
	char text[TK_TIME_ISO_SIZE];
	return a[0].i ? tk_strdup(tk_time_format_day(a[0].i, text)) : NULL;
}

/* iso(seconds since 1970): "2026-11-21T09:42:00Z" */
static char *iso(const struct tk_arg *a)
{
	RETURN_TEXT(tk_time_format_iso(a[0].i, text));
}

/* duration(seconds): "3 min 20 s"; NULL for NULL */
static char *duration(const struct tk_arg *a)
{
	char text[TK_FORMAT_SIZE];
	if (isnan(a[0].real))
		return NULL;
	return tk_strdup(tk_duration_format(a[0].real, text, sizeof text));
}

/* quantity(value, unit): "41.20 µs"; a dash for NULL */
static char *quantity(const struct tk_arg *a)
{
	RETURN_TEXT(tk_format_value(a[0].real, a[1].text, text));
}

/* rounded(value, unit): "41.2 µs": three digits, so that noise rarely changes a badge */
static char *rounded(const struct tk_arg *a)
{
	struct tk_format_scale scale = tk_format_choose_scale(a[0].real, a[1].text);
	double v = a[0].real / scale.divisor;
	return tk_sprintf("%.*f %.20s", v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, scale.unit);
}

/* nanos(ns): "12.3 µs"; a dash for NULL */
static char *nanos(const struct tk_arg *a)
{
	RETURN_TEXT(tk_format_value(fabs(a[0].real) < 0.05 ? 0 : a[0].real, "ns", text));
}

/* share(ratio): "62 %"; a dash for NULL, and for what another program wrote that is no share */
static char *share(const struct tk_arg *a)
{
	bool is_share = a[0].real >= 0 && a[0].real <= 1.0005;
	RETURN_TEXT(is_share ? tk_format_percent(a[0].real, text) : "–");
}

/* figure(value): a number that another program wrote; NULL: none, or absurd */
static double figure(const struct tk_arg *a)
{
	bool is_number = a[0].kind == TK_ARG_INT || a[0].kind == TK_ARG_REAL;
	return is_number && fabs(a[0].real) <= FIGURE_MAX ? a[0].real : NAN;
}

/* kernel_cause(json): what tk_kernel_change_read() says of a kernel of a stored trace */
static char *kernel_cause(const struct tk_arg *a)
{
	struct tk_kernel_change change;
	json_auto_t *kernel = json_loads(a[0].text, 0, NULL);
	tk_kernel_change_read(kernel, &change);
	return tk_strdup(change.cause);
}

/* tune_parameters(configuration): {"mc":768,"kc":128} */
static char *tune_parameters(const struct tk_arg *a)
{
	struct tk_tune_parameter parameters[TK_TUNE_PARAMETERS_MAX];
	size_t count = tk_tune_config_parse(a[0].text, parameters);
	json_auto_t *all = json_object();
	for (size_t i = 0; i < count; i++)
		json_object_set_new(all, parameters[i].name, json_integer(parameters[i].value));
	return json_dumps(all, JSON_COMPACT);
}

/* counted(integer): "12,345" */
static char *counted(const struct tk_arg *a)
{
	RETURN_TEXT(tk_format_count(a[0].i, text));
}

/* change(ratio): "+3.1 %"; a dash for NULL */
static char *change(const struct tk_arg *a)
{
	RETURN_TEXT(tk_format_change(a[0].real, text));
}

/* percent(ratio): "62 %"; NULL for NULL */
static char *percent(const struct tk_arg *a)
{
	char text[TK_FORMAT_SIZE];
	return isnan(a[0].real) ? NULL : tk_strdup(tk_format_percent(a[0].real, text));
}

/* environment_diff(before, after): "driver 550 → 560, ..." of two JSON objects */
static char *environment_diff(const struct tk_arg *a)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	if (a[0].kind == TK_ARG_NULL)
		return NULL;
	tk_environment_add_diff(&text, a[0].text, a[1].text);
	return tk_strdup(tk_buf_cstr(&text));
}

/* in_url(text): escaped */
static char *in_url(const struct tk_arg *a)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	tk_escape_url(&text, a[0].text);
	return tk_strdup(tk_buf_cstr(&text));
}

/* json_text(text, bytes): a JSON string of at most so many bytes of a text, for scripts */
static char *json_text(const struct tk_arg *a)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	tk_escape_json(&text, a[0].text, tk_utf8_clip_len(a[0].text, (size_t)a[1].i));
	return tk_strdup(tk_buf_cstr(&text));
}

/* change_span(a, b): "+5.8 % to +9.3 %", in one notation; once where they read the same */
static char *change_span(const struct tk_arg *a)
{
	char least[TK_FORMAT_SIZE], most[TK_FORMAT_SIZE];
	tk_format_change_pair(a[0].real, a[1].real, least, most);
	return strcmp(least, most) ? tk_sprintf("%s to %s", least, most) : tk_strdup(least);
}

/* change_range(change, lo, hi): "+2.9 to +4.1 %"; NULL where there is no interval */
static char *change_range(const struct tk_arg *a)
{
	char text[TK_FORMAT_SIZE];
	if (isnan(a[1].real))
		return NULL;
	return tk_strdup(tk_format_change_range(a[0].real, a[1].real, a[2].real, text));
}

/* half(value, lo, hi): "±0.4 %", half the width of an interval; NULL where there is none */
static char *half(const struct tk_arg *a)
{
	char text[TK_FORMAT_SIZE];
	if (isnan(a[1].real) || isnan(a[2].real))
		return NULL;
	return tk_strdup(tk_format_half_width(a[0].real, a[1].real, a[2].real, text));
}

/* Of the differences of logarithms of pairs, "0.1 -0.2 ...": the estimate at 95 % confidence.
 * Returns them, which the caller frees; *n 0: there are none. */
static double *read_pairs(const char *text, size_t *n, struct tk_paired_shift *p)
{
	double *d = tk_malloc((strlen(text) / 2 + 1) * sizeof *d);
	char *end;
	*n = 0;
	for (const char *at = text; *at; at = end + (*end == ' '))
		d[(*n)++] = strtod(at, &end);
	if (*n && tk_paired_estimate(d, *n, 0.95, p))
		*n = 0;
	return d;
}

/* paired_shift("0.1 -0.2 ...", -1, 0 or 1): the lower end, the middle or the upper end of the
 * change; NULL for none */
static char *paired_shift(const struct tk_arg *a)
{
	struct tk_paired_shift p;
	size_t n;
	free(read_pairs(a[0].text, &n, &p));
	return n ? tk_sprintf("%.17g", expm1(a[1].i < 0     ? p.lo
	                                       : a[1].i > 0 ? p.hi
	                                                    : p.shift))
	         : NULL;
}

/* pairs_bar("0.1 -0.2 ..."): their drawing, as markup */
static char *pairs_bar(const struct tk_arg *a)
{
	AUTO(tk_buf) out = TK_BUF_INIT;
	struct tk_paired_shift p;
	size_t n;
	double *d = read_pairs(a[0].text, &n, &p);
	tk_svg_draw_pairs(&out, d, n, p.lo, p.hi);
	free(d);
	return tk_strdup(tk_buf_cstr(&out));
}

/* code_change(registers, spill_bytes, shared_bytes, threads, occupancy_percent, instructions, and
 * the same after the change): "registers 168 -> 255, ..."; NULL: nothing known differs */
static char *code_change(const struct tk_arg *a)
{
	struct tk_kernel_row k[2];
	char text[TK_CODE_CHANGE_SIZE];
	for (int i = 0; i < 2; i++, a += 6) {
		int64_t facts[5];
		for (int f = 0; f < 5; f++)
			facts[f] = a[f].kind == TK_ARG_NULL ? -1 : a[f].i;
		k[i] = (struct tk_kernel_row){.registers = facts[0],
		        .spill_bytes = facts[1],
		        .shared_bytes = facts[2],
		        .threads = facts[3],
		        .occupancy_percent = facts[4],
		        .instructions = a[5].text};
	}
	return *tk_kernel_row_format_change(&k[0], &k[1], text) ? tk_strdup(text) : NULL;
}

/* version_key(rev): sorts versions as PEP 440 does; NULL: not a version */
static char *version_key(const struct tk_arg *a)
{
	struct tk_version v;
	AUTO(tk_buf) out = TK_BUF_INIT;
	if (!tk_version_parse(a[0].text, &v))
		return NULL;
	bool is_dev = v.pre == TK_VERSION_FINAL && v.post < 0 && v.dev >= 0;
	tk_buf_add_printf(&out, "%019lld", (long long)v.epoch);
	for (size_t i = 0; i < TK_VERSION_PARTS_MAX; i++)
		tk_buf_add_printf(&out, " %019lld", (long long)v.release[i]);
	tk_buf_add_printf(&out, " %d %019lld %019lld %019lld %s", is_dev ? 0 : (int)v.pre + 1,
	        (long long)v.pre_number, (long long)v.post + 1,
	        v.dev < 0 ? (long long)INT64_MAX : (long long)v.dev, v.local);
	return tk_strdup(tk_buf_cstr(&out));
}

/* step(before, after): "128 → 255"; the one that is known, or that both are; a dash: none is */
static char *step(const struct tk_arg *a)
{
	const struct tk_arg *known = a[1].kind == TK_ARG_NULL ? &a[0] : &a[1];
	if (known->kind == TK_ARG_NULL)
		return tk_strdup("–");
	if (a[0].kind == a[1].kind && a[0].i != a[1].i)
		return tk_sprintf("%lld → %lld", (long long)a[0].i, (long long)a[1].i);
	return tk_sprintf("%lld", (long long)known->i);
}

/* short_rev(rev): 12 digits of a hash */
static char *short_rev(const struct tk_arg *a)
{
	RETURN_TEXT(tk_rev_abbreviate(a[0].text, text));
}

/* commit_href(url, rev): its address at the forge; "": unknown */
static char *commit_href(const struct tk_arg *a)
{
	RETURN_TEXT(tk_link_commit(a[0].text, a[1].text, text));
}

/* range_href(url, base, head): the same of the commits between two revisions */
static char *range_href(const struct tk_arg *a)
{
	RETURN_TEXT(tk_link_range(a[0].text, a[1].text, a[2].text, text));
}

/* public_url(url): without the user's name and password */
static char *public_url(const struct tk_arg *a)
{
	RETURN_TEXT(tk_link_strip_user(a[0].text, text));
}

/* tone(list, word): the class of a word; tone.c has the lists */
static char *tone(const struct tk_arg *a)
{
	return tk_strdup(tk_tone_name(tk_tone_find(a[0].text, a[1].text)));
}

/* place(list, word): sorts by the order of the list, the most urgent first; NULL: not in it */
static char *place(const struct tk_arg *a)
{
	int found = tk_tone_find_place(a[0].text, a[1].text);
	return found < 0 ? NULL : tk_sprintf("%03d", found);
}

/* phrase(verdict): "new (no baseline yet)", for sentences that count series */
static char *phrase(const struct tk_arg *a)
{
	int value = tk_tone_find_place("verdict", a[0].text);
	if (value < 0)
		return NULL;
	return tk_strdup(tk_verdict_status_phrase((enum tk_verdict_status)value));
}

static char *flag(bool is_set)
{
	return tk_strdup(is_set ? "1" : "0");
}

/* is_cache(name, unit): of a ceiling */
static char *is_cache(const struct tk_arg *a)
{
	const struct tk_ceiling_row c = {.name = a[0].text, .unit = a[1].text};
	return flag(tk_ceiling_is_cache(&c));
}

/* is_timed(outcome): whether a run of this outcome has a time */
static char *is_timed(const struct tk_arg *a)
{
	int value = tk_tone_find_place("outcome", a[0].text);
	return flag(value >= 0 && tk_outcome_has_timing((enum tk_outcome)value));
}

/* is_unreliable(unstable, timed): whether too many runs of a night missed their interval */
static char *is_unreliable(const struct tk_arg *a)
{
	return flag(tk_outcome_is_night_unreliable((size_t)a[0].i, (size_t)a[1].i));
}

int tk_page_add_functions(struct tk_store *store, struct tk_error *err)
{
	static const struct tk_sql_function functions[] = {
	        {"change", 1, change},
	        {"change_range", 3, change_range},
	        {"change_span", 2, change_span},
	        {"clauses", 2, clauses},
	        {"clip", 2, clip},
	        {"code_change", 12, code_change},
	        {"commit_href", 2, commit_href},
	        {"counted", 1, counted},
	        {"day", 1, day},
	        {"default_mode", 1, default_mode},
	        {"duration", 1, duration},
	        {"environment_diff", 2, environment_diff},
	        {"half", 3, half},
	        {"figure", 1, .number = figure},
	        {"in_url", 1, in_url},
	        {"is_cache", 2, is_cache},
	        {"is_timed", 1, is_timed},
	        {"is_unreliable", 2, is_unreliable},
	        {"interval", 6, interval},
	        {"iso", 1, iso},
	        {"json_text", 2, json_text},
	        {"kernel_cause", 1, kernel_cause},
	        {"minute", 1, minute},
	        {"nanos", 1, nanos},
	        {"op_place", 1, tk_op_place},
	        {"paired_shift", 2, paired_shift},
	        {"pairs_bar", 1, pairs_bar},
	        {"percent", 1, percent},
	        {"phrase", 1, phrase},
	        {"place", 2, place},
	        {"public_url", 1, public_url},
	        {"quantity", 2, quantity},
	        {"range_href", 3, range_href},
	        {"rounded", 2, rounded},
	        {"share", 1, share},
	        {"short_rev", 1, short_rev},
	        {"slug", 1, slug},
	        {"step", 2, step},
	        {"tone", 2, tone},
	        {"tune_parameters", 1, tune_parameters},
	        {"version_key", 1, version_key},
	};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		TRY(tk_store_add_function(store, &functions[i], err));
	return 0;
}
