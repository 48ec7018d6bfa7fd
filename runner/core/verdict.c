/* See verdict.h. */
#include "core/verdict.h"

#include <math.h>

#define CLAUSE_SIZE 400

void tk_verdict_init(struct tk_verdict *v)
{
	const struct tk_estimate none = {NAN, NAN, NAN};

	*v = (struct tk_verdict){.status = TK_VERDICT_SAME,
	        .status_before_ack = TK_VERDICT_SAME,
	        .decided_by = TK_RULE_NO_CHANGE,
	        .before = none,
	        .after = none,
	        .change = none,
	        .threshold = NAN,
	        .severity = NAN,
	        .p = NAN,
	        .q = NAN};
}

/* Offset 0 always holds the empty text. */
static uint16_t store_text(struct tk_verdict *v, const char *text)
{
	size_t at = v->text_size ? v->text_size : 1;

	if (!text || !*text || at + 4 >= sizeof v->text)
		return 0;
	tk_text_copy_line(v->text + at, sizeof v->text - at, text);
	v->text_size = at + strlen(v->text + at) + 1;
	return (uint16_t)at;
}

void tk_verdict_add_fact(struct tk_verdict *v, struct tk_fact fact, const char *text)
{
	if (v->fact_count == TK_VERDICT_FACTS_MAX)
		return;
	fact.text = store_text(v, text);
	v->facts[v->fact_count++] = fact;
}

void tk_verdict_clear_facts(struct tk_verdict *v)
{
	v->fact_count = v->text_size = 0;
}

const struct tk_fact *tk_verdict_find_fact(const struct tk_verdict *v, enum tk_fact_kind kind)
{
	for (size_t i = 0; i < v->fact_count; i++)
		if (v->facts[i].kind == kind)
			return &v->facts[i];
	return NULL;
}

const char *tk_fact_text(const struct tk_verdict *v, const struct tk_fact *fact)
{
	return v->text + fact->text;
}

void tk_verdict_accept(
        struct tk_verdict *v, enum tk_triage_state state, const char *author, const char *note)
{
	char text[300];

	snprintf(text, sizeof text, "%s, %s by %.60s%s%.200s",
	        tk_verdict_status_name(v->status_before_ack), tk_triage_state_name(state), author,
	        *note ? ": " : "", note);
	tk_verdict_add_fact(v, (struct tk_fact){.kind = TK_FACT_ACKNOWLEDGED}, text);
	v->status = TK_VERDICT_ACKED;
}

/* ---- prose ----------------------------------------------------------------------------------- */

/* The clause of a fact; `otherwise`, where there is one, if number[number] is not above `above`.
 * {KIND INDEX} is a number of the fact: n 12, f 1.5, c a change with its sign, p and P a percentage
 * with and without a digit, q a time in ns, s the s of a plural, v is or are, a an age. {d} is its
 * day, {t} its text, {r} the start of it, {A} its A/B runs. */
static const struct {
	const char *text, *otherwise;
	size_t number;
	double above;
} clauses[TK_FACT_COUNT] = {
        [TK_FACT_NOT_MEASURED] = {"not measured yet"},
        [TK_FACT_RETIRED] = {"no longer in a suite of this machine"},
        [TK_FACT_WAS_UNSUPPORTED] = {"unsupported when last measured"},
        [TK_FACT_LAST_MEASURED] =
                {"last measured {n0} night{s0} ago, {d}; its turn is one night in {n1}",
                        "last measured {d}", 1, 1},
        [TK_FACT_DATA_AGE] = {"newest data is {a0} old"},
        [TK_FACT_OUTCOME] = {"{t}"},
        [TK_FACT_OUTCOME_BEFORE] = {"no timing before: {t}"},
        [TK_FACT_NO_TIMING_YET] = {"no timing yet"},
        [TK_FACT_NEVER_TIMED] = {"never had a timing"},
        [TK_FACT_BASELINE_NOT_MEASURED] = {"baseline \"{t}\" was not measured before the range"},
        [TK_FACT_ZERO_STEP] = {"is 0 since {d}", "was 0 until {d}", 0, 0},
        [TK_FACT_ZERO_OPEN] = {"0 may alternate with other values; more nights needed"},
        [TK_FACT_MONITOR_STEP] = {"level changed on {d} (log-likelihood ratio {f0})"},
        [TK_FACT_DRIFT] = {"slow drift since {d}, over {a0}: none of its steps exceeds the "
                           "threshold alone (log-likelihood ratio {f1})"},
        [TK_FACT_NIGHTLY_MEDIANS] = {"nightly medians alone: {c0}"},
        [TK_FACT_SHARED_SHIFT] = {"{n0} series of this device with unchanged code, the control "
                                  "among them, shifted by {c2} that night; without that {c3}",
                "{n0} series of this device with unchanged code shifted by {c2} that night; "
                "without that {c3}",
                1, 0},
        [TK_FACT_ENVIRONMENT] = {"environment changed: {t}"},
        [TK_FACT_NO_CONTROL] =
                {"no control and too few unchanged series to separate it from the code"},
        [TK_FACT_UNADJUSTED] = {"its timings changed by {c0}"},
        [TK_FACT_TOO_EARLY] = {"{c0} since {n1} night{s1}, but the code is not known to be new and "
                               "the monitor has not confirmed the step; more nights needed"},
        [TK_FACT_FEW_NIGHTS] = {"{c0}, seen on {n1} of {n2} nights required by --confirm"},
        [TK_FACT_FEW_SAMPLES] = {"{c0}, but {n1} and {n2} samples are fewer than {n3}"},
        [TK_FACT_SAME_CODE] = {"same machine code before and after"},
        [TK_FACT_CODE_CHANGED_LATER] =
                {"the machine code changed only after that night; cause unknown"},
        [TK_FACT_CODE_CHANGE] = {"machine code: {t}"},
        [TK_FACT_CONFIG_CHANGE] = {"configuration changed: {t}"},
        [TK_FACT_REGIONS] = {"traced: {t}"},
        [TK_FACT_SPIKE] = {"one night, no slower than an earlier spike of this series; the next "
                           "night decides",
                "one night, no faster than an earlier spike of this series; the next night decides",
                0, 0},
        [TK_FACT_BACK_SINCE] = {"{n0} of {n1} night{s1} since {v0} at the level before, the newest "
                                "{n2} among them; more nights needed",
                "{n0} of {n1} night{s1} since {v0} at the level before; more nights needed", 2, 0},
        [TK_FACT_STILL_AT_ALERT] = {"still at the level of the alert of {d} ({r})"},
        [TK_FACT_BACK_TO_BASELINE] = {"back at the level before the alert of {d} ({r})"},
        [TK_FACT_STEP_RETRACTED] = {"retracted: the step of {d} lasted at most a week"},
        [TK_FACT_SHARED_STEP] = {"{c0} since {d}, together with the machine's other series"},
        [TK_FACT_CHANGED_BEFORE] = {"changed before this night", "changed before the range", 0, 0},
        [TK_FACT_BELOW_MIN_TIME] = {"changed by {q0}, less than thresholds.min_effect_time ({q1})"},
        [TK_FACT_MORE_NIGHTS] = {"{c0} may be noise; about {n1} more night{s1} needed"},
        [TK_FACT_WITHIN_NOISE] = {"{c0} is within this series' noise of {p1} between nights"},
        [TK_FACT_TOO_NOISY] = {"noise of {p0} between nights; minimum detectable change: {P1}"},
        [TK_FACT_AB_CHANGE] = {"A/B confirmed: {A}"},
        [TK_FACT_AB_NO_CHANGE] = {"A/B runs show no change: {A}"},
        [TK_FACT_AB_RETRACTED] = {"retracted: A/B runs show no change: {A}"},
        [TK_FACT_AB_INCONCLUSIVE] = {"A/B inconclusive: {A}"},
        [TK_FACT_NIGHTLY_ESTIMATE] = {"nightly estimate {c0}"},
        [TK_FACT_ALREADY_REPORTED] = {"so since {t}, already reported"},
        [TK_FACT_RENAMED_FROM] = {"perhaps \"{t}\" renamed, which ended the night before ({c0}): "
                                  "`tracker series rename`"},
        [TK_FACT_RENAMED_TO] = {"perhaps renamed to \"{t}\", which began the night after ({c0}): "
                                "`tracker series rename`"},
        [TK_FACT_NEW_VERSION] = {"a new version of the benchmark: older results are not compared"},
        [TK_FACT_ACKNOWLEDGED] = {"{t}"},
};

static const char *format_ab(
        const struct tk_fact *f, bool fastest, char out[TK_AB_RESULT_TEXT_SIZE])
{
	const double *n = f->number;
	const struct tk_ab_result ab = {.count = (uint32_t)n[3],
	        .fastest = fastest,
	        .change = n[0],
	        .lo = n[1],
	        .hi = n[2]};

	return tk_ab_result_format(&ab, out);
}

/* `value`: "n0}", see above. */
static void add_value(
        struct tk_buf *out, const struct tk_verdict *v, const struct tk_fact *f, const char *value)
{
	const char *text = tk_fact_text(v, f);
	const double x = value[1] == '}' ? 0 : f->number[value[1] - '0'],
	             percent = tk_percent_tenths(x);
	char buffer[TK_AB_RESULT_TEXT_SIZE];

	switch (*value) {
	case 'n':
		tk_buf_add_printf(out, "%.0f", x);
		break;
	case 'f':
		tk_buf_add_printf(out, "%.1f", x);
		break;
	case 'c':
		tk_buf_add_printf(out, "%+.1f %%", percent);
		break;
	case 'p':
	case 'P':
		tk_buf_add_printf(out, "%.*f %%", *value == 'p', percent);
		break;
	case 'q':
		tk_buf_add_str(out, tk_format_value(x, "ns", buffer));
		break;
	case 's':
		tk_buf_add_str(out, x == 1 ? "" : "s");
		break;
	case 'v':
		tk_buf_add_str(out, x == 1 ? "is" : "are");
		break;
	case 'a':
		tk_buf_add_str(out, tk_duration_format(x, buffer, sizeof buffer));
		break;
	case 'd':
		tk_buf_add_str(out, tk_time_format_day(f->time_s, buffer));
		break;
	case 'A':
		tk_buf_add_str(out, format_ab(f, *text, buffer));
		break;
	default:
		tk_buf_add_printf(out, "%.*s", *value == 'r' ? 40 : CLAUSE_SIZE, text);
	}
}

static void write_clause(const struct tk_verdict *v, const struct tk_fact *f, char out[CLAUSE_SIZE])
{
	const char *at = clauses[f->kind].text;
	AUTO(tk_buf) b = TK_BUF_INIT;

	if (clauses[f->kind].otherwise &&
	        !(f->number[clauses[f->kind].number] > clauses[f->kind].above))
		at = clauses[f->kind].otherwise;
	while (*at) {
		size_t plain = strcspn(at, "{");

		tk_buf_add(&b, at, plain);
		at += plain;
		if (*at) {
			add_value(&b, v, f, at + 1);
			at = strchr(at, '}') + 1;
		}
	}
	snprintf(out, CLAUSE_SIZE, "%s", tk_buf_cstr(&b));
	tk_text_sanitize(out, "", '?'); /* it may be cut within a character */
}

const char *tk_verdict_format_reason(const struct tk_verdict *v, char out[TK_REASON_SIZE])
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < v->fact_count; i++) {
		char clause[CLAUSE_SIZE];
		int written;

		write_clause(v, &v->facts[i], clause);
		written = snprintf(
		        out + length, TK_REASON_SIZE - length, "%s%s", length ? "; " : "", clause);
		if ((size_t)written >= TK_REASON_SIZE - length) {
			out[length] = '\0'; /* whole clauses only */
			break;
		}
		length += (size_t)written;
	}
	return out;
}

const char *tk_ab_result_format(const struct tk_ab_result *r, char out[TK_AB_RESULT_TEXT_SIZE])
{
	if (isnan(r->change))
		snprintf(out, TK_AB_RESULT_TEXT_SIZE, "no timings");
	else
		snprintf(out, TK_AB_RESULT_TEXT_SIZE,
		        "%+.1f %% (95 %% CI %.1f to %.1f, %u pair%s%s)",
		        tk_percent_tenths(r->change), tk_percent_tenths(r->lo),
		        tk_percent_tenths(r->hi), r->count, r->count == 1 ? "" : "s",
		        r->fastest ? ", fastest samples" : "");
	return out;
}

const char *tk_ab_result_statistic_name(const struct tk_ab_result *r)
{
	return r->fastest ? "min" : "median";
}

/* ---- JSON ---- */

static json_t *fact_object(const struct tk_verdict *v, const struct tk_fact *fact)
{
	const char *text = tk_fact_text(v, fact);
	json_t *o = json_pack("{s:s, s:[o, o, o, o]}", "kind", tk_fact_kind_name(fact->kind),
	        "numbers", tk_json_number(fact->number[0]), tk_json_number(fact->number[1]),
	        tk_json_number(fact->number[2]), tk_json_number(fact->number[3]));

	if (fact->time_s)
		json_object_set_new(o, "time_s", json_integer(fact->time_s));
	if (*text)
		json_object_set_new(o, "text", json_string(text));
	return o;
}

json_t *tk_verdict_facts_to_json(const struct tk_verdict *v)
{
	json_t *facts = json_array();

	for (size_t i = 0; i < v->fact_count; i++)
		json_array_append_new(facts, fact_object(v, &v->facts[i]));
	return facts;
}

char *tk_verdict_facts_write(const struct tk_verdict *v)
{
	json_t *facts = tk_verdict_facts_to_json(v);
	char *text = json_dumps(facts, JSON_COMPACT | JSON_SORT_KEYS);

	json_decref(facts);
	return text;
}

static void read_fact(const json_t *o, struct tk_verdict *v)
{
	const char *kind = json_string_value(json_object_get(o, "kind"));
	const json_t *numbers = json_object_get(o, "numbers");
	struct tk_fact fact = {.time_s = json_integer_value(json_object_get(o, "time_s"))};

	if (!kind || tk_fact_kind_parse(kind, &fact.kind))
		return;
	for (size_t i = 0; i < TK_FACT_NUMBERS_MAX; i++) {
		const json_t *x = json_array_get(numbers, i);

		fact.number[i] = json_is_number(x) ? json_number_value(x) : NAN;
	}
	tk_verdict_add_fact(v, fact, json_string_value(json_object_get(o, "text")));
}

void tk_verdict_facts_read(const char *json, struct tk_verdict *v)
{
	json_t *facts = json_loads(json, 0, NULL);
	const json_t *fact;
	size_t i;

	json_array_foreach (facts, i, fact)
		read_fact(fact, v);
	json_decref(facts);
}
