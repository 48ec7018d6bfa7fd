#include "core/measurement_fields.h"

#include <math.h>

struct field_text {
	const char *key, *unit, *title;
};

static const struct field_text texts[] = {
#define TEXT_ROW(id, key, kind, presence, max, member, unit, title) [id] = {key, unit, title},
        TK_MEASUREMENT_FIELDS(TEXT_ROW) TK_MEASUREMENT_VERIFY_FIELDS(TEXT_ROW)
                TK_MEASUREMENT_PLAN_FIELDS(TEXT_ROW) TK_MEASUREMENT_TELEMETRY_PAIR_FIELDS(TEXT_ROW)
                        TK_TELEMETRY_FIELDS(TEXT_ROW)};

const char *tk_measurement_field_key(enum tk_measurement_field field)
{
	return texts[field].key;
}

const char *tk_measurement_field_unit(enum tk_measurement_field field)
{
	return texts[field].unit;
}

const char *tk_measurement_field_title(enum tk_measurement_field field)
{
	return texts[field].title;
}

json_t *tk_measurement_get_field(const json_t *object, enum tk_measurement_field field)
{
	return json_object_get(object, tk_measurement_field_key(field));
}

double tk_measurement_get_number(
        const json_t *object, enum tk_measurement_field field, double fallback)
{
	const json_t *v = tk_measurement_get_field(object, field);
	return json_is_number(v) ? json_number_value(v) : fallback;
}

void tk_measurement_set_text(json_t *object, enum tk_measurement_field field, const char *text)
{
	json_object_set_new(object, tk_measurement_field_key(field), json_string(text));
}

struct tk_measured_time tk_measurement_read_time(const json_t *result)
{
#define NUMBER(field) tk_measurement_get_number(result, TK_MEASUREMENT_##field, NAN)
	return (struct tk_measured_time){.median = NUMBER(MEDIAN),
	        .lo = NUMBER(LO),
	        .hi = NUMBER(HI),
	        .min = NUMBER(MIN),
	        .q25 = NUMBER(Q25),
	        .q75 = NUMBER(Q75),
	        .p95 = NUMBER(P95),
	        .clock_mhz = NUMBER(CLOCK_MHZ),
	        .n = json_integer_value(tk_measurement_get_field(result, TK_MEASUREMENT_N))};
#undef NUMBER
}
