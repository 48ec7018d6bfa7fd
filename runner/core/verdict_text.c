/* Facts -> JSON and prose: see verdict_text.h. One row of a table for each kind of fact. */
#include "core/verdict_text.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/present.h"
#include "base/text.h"

#define CLAUSE_SIZE 400

/* A fact, and the text that is made of it. */
struct clause {
	const struct tk_fact *fact;
	const char *text;
	char *out; /* CLAUSE_SIZE */
};

static double percent(const struct clause *c, size_t number)
{
	return tk_percent_tenths(c->fact->number[number]);
}

static const char *plural(double count)
{
	return count == 1 ? "" : "s";
}

static const char *day_of(const struct clause *c, char day[TK_TIME_ISO_SIZE])
{
	return tk_time_format_day(c->fact->time_s, day);
}

/* ---- clauses with numbers ---- */

static void write_last_measured(const struct clause *c)
{
	const double nights = c->fact->number[0], rotation = c->fact->number[1];
	char day[TK_TIME_ISO_SIZE];

	if (rotation > 1)
		snprintf(c->out, CLAUSE_SIZE,
		        "last measured %.0f night%s ago, %s; its turn is one night in %.0f", nights,
		        plural(nights), day_of(c, day), rotation);
	else
		snprintf(c->out, CLAUSE_SIZE, "last measured %s", day_of(c, day));
}

static void write_data_age(const struct clause *c)
{
	char age[64];

	snprintf(c->out, CLAUSE_SIZE, "newest data is %s old",
	        tk_duration_format(c->fact->number[0], age, sizeof age));
}

static void write_monitor_step(const struct clause *c)
{
	char day[TK_TIME_ISO_SIZE];

	snprintf(c->out, CLAUSE_SIZE, "level changed on %s (log-likelihood ratio %.1f)",
	        day_of(c, day), c->fact->number[0]);
}

static void write_nightly_medians(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE, "nightly medians alone: %+.1f %%", percent(c, 0));
}

static void write_shared_shift(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE,
	        "%.0f series of this device with unchanged code%s shifted by %+.1f %% that night; "
	        "without that %+.1f %%",
	        c->fact->number[0], c->fact->number[1] > 0 ? ", the control among them," : "",
	        percent(c, 2), percent(c, 3));
}

static void write_unadjusted(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE, "its timings changed by %+.1f %%", percent(c, 0));
}

static void write_too_early(const struct clause *c)
{
	const double nights = c->fact->number[1];

	snprintf(c->out, CLAUSE_SIZE,
	        "%+.1f %% since %.0f night%s, but the code is not known to be new and the monitor "
	        "has not confirmed the step; more nights needed",
	        percent(c, 0), nights, plural(nights));
}

static void write_few_nights(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE, "%+.1f %%, seen on %.0f of %.0f nights required by --confirm",
	        percent(c, 0), c->fact->number[1], c->fact->number[2]);
}

static void write_few_samples(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE, "%+.1f %%, but %.0f and %.0f samples are fewer than %.0f",
	        percent(c, 0), c->fact->number[1], c->fact->number[2], c->fact->number[3]);
}

static void write_spike(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE,
	        "one night, no %s than an earlier spike of this series; the next night decides",
	        c->fact->number[0] > 0 ? "slower" : "faster");
}

static void write_back_since(const struct clause *c)
{
	char newest[48] = "";

	if (c->fact->number[2] > 0)
		snprintf(newest, sizeof newest, ", the newest %.0f among them", c->fact->number[2]);
	snprintf(c->out, CLAUSE_SIZE,
	        "%.0f of %.0f night%s since %s at the level before%s; more nights needed",
	        c->fact->number[0], c->fact->number[1], plural(c->fact->number[1]),
	        c->fact->number[0] == 1 ? "is" : "are", newest);
}

static void write_still_at_alert(const struct clause *c)
{
	char day[TK_TIME_ISO_SIZE];

	snprintf(c->out, CLAUSE_SIZE, "still at the level of the alert of %s (%.40s)",
	        day_of(c, day), c->text);
}

static void write_back_to_baseline(const struct clause *c)
{
	char day[TK_TIME_ISO_SIZE];

	snprintf(c->out, CLAUSE_SIZE, "back at the level before the alert of %s (%.40s)",
	        day_of(c, day), c->text);
}

static void write_step_retracted(const struct clause *c)
{
	char day[TK_TIME_ISO_SIZE];

	snprintf(c->out, CLAUSE_SIZE, "retracted: the step of %s lasted at most a week",
	        day_of(c, day));
}

static void write_shared_step(const struct clause *c)
{
	char day[TK_TIME_ISO_SIZE];

	snprintf(c->out, CLAUSE_SIZE, "%+.1f %% since %s, together with the machine's other series",
	        percent(c, 0), day_of(c, day));
}

static void write_changed_before(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE, "changed before %s",
	        c->fact->number[0] > 0 ? "this night" : "the range");
}

static void write_more_nights(const struct clause *c)
{
	const double nights = c->fact->number[1];

	snprintf(c->out, CLAUSE_SIZE, "%+.1f %% may be noise; about %.0f more night%s needed",
	        percent(c, 0), nights, plural(nights));
}

static void write_within_noise(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE,
	        "%+.1f %% is within this series' noise of %.1f %% between nights", percent(c, 0),
	        percent(c, 1));
}

static void write_too_noisy(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE,
	        "noise of %.1f %% between nights; minimum detectable change: %.0f %%",
	        percent(c, 0), percent(c, 1));
}

static void write_nightly_estimate(const struct clause *c)
{
	snprintf(c->out, CLAUSE_SIZE, "nightly estimate %+.1f %%", percent(c, 0));
}

/* ---- clauses about A/B runs ---- */

static void write_ab(const struct clause *c, const char *prefix)
{
	const double *n = c->fact->number;
	const struct tk_ab_result ab = {.count = (uint32_t)n[3],
	        .fastest = *c->text,
	        .change = n[0],
	        .lo = n[1],
	        .hi = n[2]};
	char result[TK_AB_RESULT_TEXT_SIZE];

	snprintf(c->out, CLAUSE_SIZE, "%s: %s", prefix, tk_ab_result_format(&ab, result));
}

static void write_ab_change(const struct clause *c)
{
	write_ab(c, "A/B confirmed");
}

static void write_ab_no_change(const struct clause *c)
{
	write_ab(c, "A/B runs show no change");
}

static void write_ab_retracted(const struct clause *c)
{
	write_ab(c, "retracted: A/B runs show no change");
}

static void write_ab_inconclusive(const struct clause *c)
{
	write_ab(c, "A/B inconclusive");
}

/* prefix, text of the fact, suffix; or a function if the fact has numbers. */
static const struct {
	const char *prefix, *suffix;
	void (*write)(const struct clause *c);
} clauses[TK_FACT_COUNT] = {
        [TK_FACT_NOT_MEASURED] = {"not measured yet", "", NULL},
        [TK_FACT_WAS_UNSUPPORTED] = {"unsupported when last measured", "", NULL},
        [TK_FACT_LAST_MEASURED] = {"", "", write_last_measured},
        [TK_FACT_DATA_AGE] = {"", "", write_data_age},
        [TK_FACT_OUTCOME] = {"", "", NULL},
        [TK_FACT_OUTCOME_BEFORE] = {"no timing before: ", "", NULL},
        [TK_FACT_NO_TIMING_YET] = {"no timing yet", "", NULL},
        [TK_FACT_NEVER_TIMED] = {"never had a timing", "", NULL},
        [TK_FACT_BASELINE_NOT_MEASURED] = {"baseline \"", "\" was not measured before the range",
                NULL},
        [TK_FACT_MONITOR_STEP] = {"", "", write_monitor_step},
        [TK_FACT_NIGHTLY_MEDIANS] = {"", "", write_nightly_medians},
        [TK_FACT_SHARED_SHIFT] = {"", "", write_shared_shift},
        [TK_FACT_ENVIRONMENT] = {"environment changed: ", "", NULL},
        [TK_FACT_NO_CONTROL] =
                {"no control and too few unchanged series to separate it from the code", "", NULL},
        [TK_FACT_UNADJUSTED] = {"", "", write_unadjusted},
        [TK_FACT_TOO_EARLY] = {"", "", write_too_early},
        [TK_FACT_FEW_NIGHTS] = {"", "", write_few_nights},
        [TK_FACT_FEW_SAMPLES] = {"", "", write_few_samples},
        [TK_FACT_SAME_CODE] = {"same machine code before and after", "", NULL},
        [TK_FACT_CODE_CHANGED_LATER] =
                {"the machine code changed only after that night; cause unknown", "", NULL},
        [TK_FACT_CODE_CHANGE] = {"machine code: ", "", NULL},
        [TK_FACT_CONFIG_CHANGE] = {"configuration changed: ", "", NULL},
        [TK_FACT_REGIONS] = {"traced: ", "", NULL},
        [TK_FACT_SPIKE] = {"", "", write_spike},
        [TK_FACT_BACK_SINCE] = {"", "", write_back_since},
        [TK_FACT_STILL_AT_ALERT] = {"", "", write_still_at_alert},
        [TK_FACT_BACK_TO_BASELINE] = {"", "", write_back_to_baseline},
        [TK_FACT_STEP_RETRACTED] = {"", "", write_step_retracted},
        [TK_FACT_SHARED_STEP] = {"", "", write_shared_step},
        [TK_FACT_CHANGED_BEFORE] = {"", "", write_changed_before},
        [TK_FACT_MORE_NIGHTS] = {"", "", write_more_nights},
        [TK_FACT_WITHIN_NOISE] = {"", "", write_within_noise},
        [TK_FACT_TOO_NOISY] = {"", "", write_too_noisy},
        [TK_FACT_AB_CHANGE] = {"", "", write_ab_change},
        [TK_FACT_AB_NO_CHANGE] = {"", "", write_ab_no_change},
        [TK_FACT_AB_RETRACTED] = {"", "", write_ab_retracted},
        [TK_FACT_AB_INCONCLUSIVE] = {"", "", write_ab_inconclusive},
        [TK_FACT_NIGHTLY_ESTIMATE] = {"", "", write_nightly_estimate},
        [TK_FACT_ALREADY_REPORTED] = {"better since ", ", already reported", NULL},
        [TK_FACT_ACKNOWLEDGED] = {"", "", NULL},
};

const char *tk_verdict_format_reason(const struct tk_verdict *v, char out[TK_REASON_SIZE])
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < v->fact_count; i++) {
		char clause[CLAUSE_SIZE];
		const struct clause c = {&v->facts[i], tk_fact_text(v, &v->facts[i]), clause};
		int written;

		if (clauses[c.fact->kind].write)
			clauses[c.fact->kind].write(&c);
		else
			snprintf(clause, sizeof clause, "%s%s%s", clauses[c.fact->kind].prefix,
			        c.text, clauses[c.fact->kind].suffix);
		tk_text_sanitize(clause, "", '?'); /* it may be cut within a character */
		written = snprintf(
		        out + length, TK_REASON_SIZE - length, "%s%s", length ? "; " : "", clause);
		if (written < 0 || (size_t)written >= TK_REASON_SIZE - length) {
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
