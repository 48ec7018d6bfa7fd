/* See night_request.h. */
#include "nightly/plan/night_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/try.h"
#include "suite/rotation.h"

/* ---- options to JSON ---- */

static int check_text(const char *name, const char *text, struct tk_error *err)
{
	return tk_utf8_is_valid(text)
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE, "--%s: the value is not UTF-8", name);
}

static int set_text(json_t *request, const char *name, const char *text, struct tk_error *err)
{
	TRY(check_text(name, text, err));
	json_object_set_new(request, name, json_string(text));
	return TK_OK;
}

static int set_list(json_t *request, const char *name, char *const *texts, struct tk_error *err)
{
	json_t *list = json_array();
	json_object_set_new(request, name, list);
	for (; *texts; texts++) {
		TRY(check_text(name, *texts, err));
		json_array_append_new(list, json_string(*texts));
	}
	return TK_OK;
}

static int set_options(json_t *request, const struct tk_night_options *o, struct tk_error *err)
{
	if (o->devices)
		TRY(set_list(request, "devices", o->devices, err));
	if (o->import_file) { /* absolute, because the night may be resumed in another folder */
		AUTO_TEXT path = tk_path_make_absolute(o->import_file);
		TRY(path ? set_text(request, "import", path, err)
		         : tk_fail_errno(
		                   err, "the current folder, which %s is in", o->import_file));
	}
	if (o->parts) {
		char text[32];
		snprintf(text, sizeof text, "%u/%u", o->part, o->parts);
		TRY(set_text(request, "part", text, err));
	}
	if (o->split)
		json_object_set_new(request, "split", json_true());
	return o->only_upstream ? set_text(request, "upstream", o->only_upstream, err) : TK_OK;
}

int tk_night_request_encode(const struct tk_night_options *o, json_t **out, struct tk_error *err)
{
	*out = tk_check_memory(json_object());
	int status = set_options(*out, o, err);
	if (status) {
		json_decref(*out);
		*out = NULL;
	}
	return status;
}

/* ---- JSON to options ---- */

/* "=a,b" for a list, "=a" for a string, nothing for a flag. */
static void add_value(struct tk_buf *b, const json_t *value)
{
	const json_t *item;
	size_t i;
	if (json_is_string(value))
		tk_buf_add_printf(b, "=%s", json_string_value(value));
	json_array_foreach (value, i, item)
		tk_buf_add_printf(b, "%c%s", i ? ',' : '=', json_string_value(item));
}

static int fail_different(
        const char *name, const json_t *given, const json_t *stored, struct tk_error *err)
{
	AUTO(tk_buf) now = TK_BUF_INIT, then = TK_BUF_INIT;
	add_value(&now, given);
	add_value(&then, stored);
	return tk_fail(err, TK_EUSAGE,
	        "--%s%s: the stopped night was started with%s%s%s; leave the option out to resume "
	        "it, or leave out --resume to start another",
	        name, tk_buf_cstr(&now), stored ? " --" : "out it", stored ? name : "",
	        tk_buf_cstr(&then));
}

/* An option that is given must have its stored value. One that is not given is restored. */
static int check_given(const json_t *stored, const json_t *given, struct tk_error *err)
{
	const char *name;
	json_t *value;
	json_object_foreach ((json_t *)given, name, value) {
		const json_t *old = json_object_get(stored, name);
		if (!old || !json_equal(old, value))
			return fail_different(name, value, old, err);
	}
	return TK_OK;
}

int tk_night_request_restore(
        const json_t *request, struct tk_night_options *o, char ***devices, struct tk_error *err)
{
	const json_t *list = json_object_get(request, "devices"), *item;
	const char *part = json_string_value(json_object_get(request, "part"));
	json_t *given;
	size_t i;
	*devices = NULL;
	TRY(tk_night_request_encode(o, &given, err));
	int status = check_given(request, given, err);
	json_decref(given);
	TRY(status);
	o->part = o->parts = 0;
	if (part)
		tk_part_parse(part, &o->part, &o->parts);
	o->split = json_is_true(json_object_get(request, "split"));
	o->import_file = json_string_value(json_object_get(request, "import"));
	o->only_upstream = json_string_value(json_object_get(request, "upstream"));
	if (!list)
		return TK_OK;
	*devices = tk_calloc(json_array_size(list) + 1, sizeof **devices);
	json_array_foreach (list, i, item)
		(*devices)[i] = (char *)json_string_value(item);
	o->devices = *devices;
	return TK_OK;
}
