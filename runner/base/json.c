#include "base/json.h"

#include <math.h>

json_t *tk_json_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

json_t *tk_json_text(const char *s)
{
	json_t *v = *s ? json_string(s) : json_null();

	return v ? v : json_string("?");
}
