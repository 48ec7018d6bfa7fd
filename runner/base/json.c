#include "base/json.h"

#include <math.h>

bool tk_json_is_out_of_memory(const json_error_t *why)
{
	return !why->text[0] || json_error_code(why) == json_error_out_of_memory;
}

json_t *tk_json_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

json_t *tk_json_text(const char *s)
{
	json_t *v = *s ? json_string(s) : json_null();

	return v ? v : json_string("?");
}
