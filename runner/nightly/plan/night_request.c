/* See asked.h. */
#include "nightly/plan/night_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"

static json_t *list_of(char *const *words)
{
	json_t *list = json_array();

	for (; list && *words; words++)
		if (json_array_append_new(list, json_string(*words)) != 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* `value` is NULL where JSON does not take it. */
static int put(json_t *asked, const char *name, json_t *value, struct tk_error *err)
{
	if (value && json_object_set_new(asked, name, value) == 0)
		return TK_OK;
	return tk_fail(
	        err, TK_EUSAGE, "--%s: what is kept with the night is UTF-8, this is not", name);
}

static int put_bundle(json_t *asked, const char *path, struct tk_error *err)
{
	char *whole = tk_path_make_absolute(path);
	int status = whole ? put(asked, "import", json_string(whole), err)
	                   : tk_fail_errno(err, "the current folder, which %s is in", path);

	free(whole);
	return status;
}

int tk_night_request_encode(const struct tk_night_options *o, json_t **out, struct tk_error *err)
{
	json_t *asked = json_object();
	int status = asked ? TK_OK : tk_fail(err, TK_ENOMEM, "out of memory");

	if (status == TK_OK && o->devices)
		status = put(asked, "devices", list_of(o->devices), err);
	if (status == TK_OK && o->import_file)
		status = put_bundle(asked, o->import_file, err);
	if (status == TK_OK && o->split)
		status = put(asked, "split", json_true(), err);
	if (status == TK_OK && o->only_upstream)
		status = put(asked, "upstream", json_string(o->only_upstream), err);
	if (status != TK_OK) {
		json_decref(asked);
		asked = NULL;
	}
	*out = asked;
	return status;
}

static void add_value(struct tk_buf *b, const json_t *value)
{
	const json_t *word;
	size_t i;

	if (json_is_string(value))
		tk_buf_add_printf(b, "=%s", json_string_value(value));
	json_array_foreach (value, i, word)
		tk_buf_add_printf(b, "%c%s", i ? ',' : '=', json_string_value(word));
}

/* What is given must be what the night has; what is not given is taken from it. */
static int check(const json_t *had, const json_t *given, struct tk_error *err)
{
	const char *name;
	json_t *value;
	int status = TK_OK;

	json_object_foreach ((json_t *)given, name, value) {
		const json_t *old = json_object_get(had, name);
		struct tk_buf now = TK_BUF_INIT, then = TK_BUF_INIT;

		if (status != TK_OK || (old && json_equal(old, value)))
			continue;
		add_value(&now, value);
		add_value(&then, old);
		status = tk_fail(err, TK_EUSAGE,
		        "--%s%s: the night that is stopped was begun with%s%s%s; leave that out to "
		        "go on as it was "
		        "begun, or "
		        "leave out --resume to begin another",
		        name, tk_buf_cstr(&now), old ? " --" : "out it", old ? name : "",
		        tk_buf_cstr(&then));
		tk_buf_free(&now);
		tk_buf_free(&then);
	}
	return status;
}

static int take_devices(
        const json_t *list, struct tk_night_options *o, char ***devices, struct tk_error *err)
{
	size_t n = json_array_size(list), i;
	json_t *word;

	if (!(*devices = calloc(n + 1, sizeof **devices)))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	json_array_foreach ((json_t *)list, i, word)
		(*devices)[i] = (char *)json_string_value(word);
	o->devices = *devices;
	return TK_OK;
}

int tk_night_request_restore(
        const json_t *asked, struct tk_night_options *o, char ***devices, struct tk_error *err)
{
	const json_t *list = json_object_get(asked, "devices");
	json_t *given;
	int status = tk_night_request_encode(o, &given, err);

	if (status == TK_OK)
		status = check(asked, given, err);
	json_decref(given);
	*devices = NULL;
	if (status != TK_OK)
		return status;
	o->split = json_is_true(json_object_get(asked, "split"));
	o->import_file = json_string_value(json_object_get(asked, "import"));
	o->only_upstream = json_string_value(json_object_get(asked, "upstream"));
	return list ? take_devices(list, o, devices, err) : TK_OK;
}
