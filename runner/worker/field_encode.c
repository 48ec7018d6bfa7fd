/* Writes the members of a C struct as JSON, by the tables of fields.h. */
#include "base/json.h"
#include "measure/measure.h"
#include "worker/fields.h"
#include "worker/wire.h"
#include <math.h>
#include <stdint.h>

static json_t *encode_count(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

/* Text that is no JSON object becomes an empty one: backends write it. */
static json_t *encode_json(const char *text, size_t size)
{
	json_t *object = json_loadb(text, size, JSON_DISABLE_EOF_CHECK, NULL);
	if (json_is_object(object))
		return object;
	json_decref(object);
	return json_object();
}

#define VALUE(type) (*(const type *)at)

static json_t *encode_value(const struct tk_field *f, const void *at, bool is_timed)
{
	switch (f->storage) {
	case TK_STORED_DOUBLE:
		return tk_json_number(VALUE(double));
	case TK_STORED_U64:
		return encode_count(VALUE(uint64_t));
	case TK_STORED_I64:
		return encode_count((uint64_t)VALUE(int64_t));
	case TK_STORED_U32:
		return f->type == TK_FIELD_FLAG ? json_boolean(VALUE(uint32_t))
		                                : encode_count(VALUE(uint32_t));
	case TK_STORED_BOOL:
		return json_boolean(VALUE(bool));
	case TK_STORED_CHARS:
		return tk_wire_json_string(at, f->size);
	case TK_STORED_POINTER:
		return tk_wire_json_string(VALUE(const char *), (size_t)f->max);
	case TK_STORED_JSON:
		return encode_json(at, f->size);
	case TK_STORED_OUTCOME:
		return json_string(tk_outcome_name(VALUE(enum tk_outcome)));
	case TK_STORED_MODE:
		return json_string(tk_mode_name(VALUE(enum tk_mode)));
	case TK_STORED_STOP:
		return json_string(tk_stop_name(VALUE(enum tk_stop)));
	default:
		return tk_fields_encode(f->fields, at, is_timed);
	}
}

static bool is_known(const struct tk_field *f, const void *at)
{
	return f->storage == TK_STORED_DOUBLE ? isfinite(VALUE(double)) : VALUE(uint64_t) != 0;
}

json_t *tk_fields_encode(const struct tk_field *fields, const void *source, bool is_timed)
{
	json_t *object = json_object();
	for (const struct tk_field *f = fields; f->name; f++) {
		const void *at = (const char *)source + f->offset;
		if (f->storage == TK_STORED_ELSEWHERE ||
		        (f->flags & TK_FIELD_ONLY_IF_TIMED && !is_timed) ||
		        (f->flags & TK_FIELD_ONLY_IF_KNOWN && !is_known(f, at)))
			continue;
		json_object_set_new(object, f->name, encode_value(f, at, is_timed));
	}
	return object;
}
