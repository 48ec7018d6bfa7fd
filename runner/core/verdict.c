/* A verdict as data: see verdict.h. */
#include "core/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

TK_VOCABULARY(rule_id, "rule", TK_RULES);
TK_VOCABULARY(fact_kind, "fact", TK_FACTS);

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

/* Bytes of the longest start of a text that fits and does not end within a character. */
static size_t fitting_length(const char *text, size_t room)
{
	size_t length = 0;

	while (text[length]) {
		size_t step = tk_utf8_decode(text + length, SIZE_MAX, NULL);

		step = step ? step : 1;
		if (length + step > room)
			break;
		length += step;
	}
	return length;
}

/* Offset 0 always holds the empty text. */
static uint16_t store_text(struct tk_verdict *v, const char *text)
{
	size_t at = v->text_size ? v->text_size : 1, length;

	if (!text || !*text || at + 1 >= sizeof v->text)
		return 0;
	length = fitting_length(text, sizeof v->text - at - 1);
	memcpy(v->text + at, text, length);
	v->text[at + length] = '\0';
	tk_text_sanitize(v->text + at, "", ' ');
	v->text_size = at + length + 1;
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
