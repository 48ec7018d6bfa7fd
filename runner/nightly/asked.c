/* See asked.h. */
#include "nightly/asked.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"

static json_t *list_of(char *const *words)
{
	json_t *list = json_array();

	for (; words && *words; words++)
		json_array_append_new(list, json_string(*words));
	return list;
}

json_t *tk_asked_of(const struct tk_night_options *o)
{
	json_t *asked = json_object();
	char *bundle = o->import_file ? tk_path_absolute(o->import_file) : NULL;

	if (o->devices)
		json_object_set_new(asked, "devices", list_of(o->devices));
	if (o->import_file)
		json_object_set_new(asked, "import", json_string(bundle));
	if (o->split)
		json_object_set_new(asked, "split", json_true());
	if (o->only_upstream)
		json_object_set_new(asked, "upstream", json_string(o->only_upstream));
	free(bundle);
	return asked;
}

static void add_value(struct tk_buf *b, const json_t *value)
{
	const json_t *word;
	size_t i;

	if (json_is_string(value))
		tk_buf_printf(b, "=%s", json_string_value(value));
	json_array_foreach(value, i, word) tk_buf_printf(b, "%c%s", i ? ',' : '=', json_string_value(word));
}

/* What is given must be what the night has; what is not given is taken from it. */
static int check(const json_t *had, const json_t *given, struct tk_error *err)
{
	const char *name;
	json_t *value;
	int status = TK_OK;

	json_object_foreach((json_t *)given, name, value)
	{
		const json_t *old = json_object_get(had, name);
		struct tk_buf now = TK_BUF_INIT, then = TK_BUF_INIT;

		if (status != TK_OK || (old && json_equal(old, value)))
			continue;
		add_value(&now, value);
		add_value(&then, old);
		status = tk_fail(err, TK_EUSAGE,
		        "--%s%s: the night that is stopped was begun with%s%s%s; leave that out to go on as it was "
		        "begun, or "
		        "leave out --resume to begin another",
		        name, tk_buf_cstr(&now), old ? " --" : "out it", old ? name : "", tk_buf_cstr(&then));
		tk_buf_free(&now);
		tk_buf_free(&then);
	}
	return status;
}

static int take_devices(const json_t *list, struct tk_night_options *o, char ***devices, struct tk_error *err)
{
	size_t n = json_array_size(list), i;
	json_t *word;

	if (!(*devices = calloc(n + 1, sizeof **devices)))
		return tk_fail(err, TK_ENOMEM, "out of memory");
	json_array_foreach((json_t *)list, i, word)(*devices)[i] = (char *)json_string_value(word);
	o->devices = *devices;
	return TK_OK;
}

int tk_asked_take(const json_t *asked, struct tk_night_options *o, char ***devices, struct tk_error *err)
{
	const json_t *list = json_object_get(asked, "devices");
	json_t *given = tk_asked_of(o);
	int status = given ? check(asked, given, err) : tk_fail(err, TK_ENOMEM, "out of memory");

	json_decref(given);
	*devices = NULL;
	if (status != TK_OK)
		return status;
	o->split = json_is_true(json_object_get(asked, "split"));
	o->import_file = json_string_value(json_object_get(asked, "import"));
	o->only_upstream = json_string_value(json_object_get(asked, "upstream"));
	return list ? take_devices(list, o, devices, err) : TK_OK;
}
