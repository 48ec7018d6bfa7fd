/* See stored_place.h. */
#include "cli/stored_place.h"

#include "base/json.h"

json_t *tk_stored_json(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);

	return o ? o : json_null();
}

json_t *tk_stored_place_json(
        const struct tk_lookup *l, int64_t device_id, int64_t environment_id, int64_t problem_id)
{
	const struct tk_problem_row *p = tk_lookup_problem(l, problem_id);
	const struct tk_device_row *d = tk_lookup_device(l, device_id);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "problem", tk_json_text(p->text),
	        "title", tk_json_text(p->title), "machine",
	        tk_json_text(tk_lookup_machine(l, d->machine_id)->name), "device",
	        tk_json_text(d->slug), "device_name", tk_json_text(d->name), "environment",
	        tk_stored_json(tk_lookup_environment(l, environment_id)->attributes));
}
