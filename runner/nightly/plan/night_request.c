/* See night_request.h. */
#include "nightly/plan/night_request.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "suite/rotation.h"

/* ---- options to JSON ---- */

static int set_option(json_t *request, const char *name, json_t *value, struct tk_error *err)
{
	return value && json_object_set_new(request, name, value) == 0
	               ? TK_OK
	               : tk_fail(err, TK_ENOMEM, "out of memory");
}

static int check_text(const char *name, const char *text, struct tk_error *err)
{
	return tk_utf8_is_valid(text)
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE, "--%s: the value is not UTF-8", name);
}

static int set_text(json_t *request, const char *name, const char *text, struct tk_error *err)
{
	int status = check_text(name, text, err);

	return status ? status : set_option(request, name, json_string(text), err);
}

static int set_list(json_t *request, const char *name, char *const *texts, struct tk_error *err)
{
	json_t *list = json_array();
	int status = list ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");

	for (; !status && *texts; texts++) {
		status = check_text(name, *texts, err);
		if (!status && json_array_append_new(list, json_string(*texts)) != 0)
			status = tk_fail(err, TK_ENOMEM, "out of memory");
	}
	if (!status)
		return set_option(request, name, list, err);
	json_decref(list);
	return status;
}

/* As an absolute path, because the night may be resumed in another folder. */
static int set_bundle(json_t *request, const char *path, struct tk_error *err)
{
	char *absolute = tk_path_make_absolute(path);
	int status = absolute ? set_text(request, "import", absolute, err)
	                      : tk_fail_errno(err, "the current folder, which %s is in", path);
	free(absolute);
	return status;
}

static int set_part(json_t *request, const struct tk_night_options *o, struct tk_error *err)
{
	char text[32];
	snprintf(text, sizeof text, "%u/%u", o->part, o->parts);
	return set_text(request, "part", text, err);
}

static int set_options(json_t *request, const struct tk_night_options *o, struct tk_error *err)
{
	int status = TK_OK;
	if (o->devices)
		status = set_list(request, "devices", o->devices, err);
	if (!status && o->import_file)
		status = set_bundle(request, o->import_file, err);
	if (!status && o->parts)
		status = set_part(request, o, err);
	if (!status && o->split)
		status = set_option(request, "split", json_true(), err);
	if (!status && o->only_upstream)
		status = set_text(request, "upstream", o->only_upstream, err);
	return status;
}

int tk_night_request_encode(const struct tk_night_options *o, json_t **out, struct tk_error *err)
{
	json_t *request = json_object();
	int status =
	        request ? set_options(request, o, err) : tk_fail(err, TK_ENOMEM, "out of memory");
	if (status) {
		json_decref(request);
		request = NULL;
	}
	*out = request;
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
	struct tk_buf now = TK_BUF_INIT, then = TK_BUF_INIT;
	add_value(&now, given);
	add_value(&then, stored);
	int status = tk_fail(err, TK_EUSAGE,
	        "--%s%s: the stopped night was started with%s%s%s; leave the option out to resume "
	        "it, or leave out --resume to start another",
	        name, tk_buf_cstr(&now), stored ? " --" : "out it", stored ? name : "",
	        tk_buf_cstr(&then));
	tk_buf_free(&now);
	tk_buf_free(&then);
	return status;
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

static int restore_devices(
        const json_t *list, struct tk_night_options *o, char ***devices, struct tk_error *err)
{
	size_t i;
	json_t *item;
	*devices = tk_calloc(json_array_size(list) + 1, sizeof **devices);
	json_array_foreach ((json_t *)list, i, item)
		(*devices)[i] = (char *)json_string_value(item);
	o->devices = *devices;
	return TK_OK;
}

static void restore_part(const char *text, struct tk_night_options *o)
{
	o->part = o->parts = 0;
	if (text)
		tk_part_parse(text, &o->part, &o->parts);
}

int tk_night_request_restore(
        const json_t *request, struct tk_night_options *o, char ***devices, struct tk_error *err)
{
	const json_t *list = json_object_get(request, "devices");
	json_t *given;
	int status = tk_night_request_encode(o, &given, err);
	*devices = NULL;
	if (!status)
		status = check_given(request, given, err);
	json_decref(given);
	if (status)
		return status;
	restore_part(json_string_value(json_object_get(request, "part")), o);
	o->split = json_is_true(json_object_get(request, "split"));
	o->import_file = json_string_value(json_object_get(request, "import"));
	o->only_upstream = json_string_value(json_object_get(request, "upstream"));
	return list ? restore_devices(list, o, devices, err) : TK_OK;
}
