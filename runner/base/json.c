#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/try.h"

json_t *tk_json_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

json_t *tk_json_text(const char *s)
{
	json_t *v = *s ? json_string(s) : json_null();

	return v ? v : json_string("?");
}

json_t *tk_json_valid_text(const char *s)
{
	AUTO(tk_buf) valid = TK_BUF_INIT;

	tk_buf_add_utf8(&valid, s, strlen(s));
	return json_string(tk_buf_cstr(&valid));
}
