/* Renames a machine together with its alerts. The uid of an alert is a hash of the slug of its
 * series, or of the machine's name: it is replaced by the one that the next analysis computes, so
 * that the alert stays the same alert, with everything people decided about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "detect/detect.h"
#include "detect/triage/missing_data_search.h"
#include "detect/triage/triage.h"

struct renaming {
	struct tk_store *store;
	const char *old_name, *new_name;
	struct tk_catalog before, after;
};

static const char *slug_of(const struct tk_catalog *c, int64_t series_id)
{
	const struct tk_series_row *series = tk_id_table_find(&c->series, series_id);

	return series ? series->slug : NULL;
}

static void make_uids(const struct tk_catalog *c, const struct tk_alert_row *a, const char *machine,
        char uid[TK_ALERT_UID_SIZE], char group_uid[TK_ALERT_UID_SIZE])
{
	const struct tk_night_row *night = tk_id_table_find(&c->nights, a->night_id);
	const struct tk_upstream_row *upstream = tk_id_table_find(&c->upstreams, a->upstream_id);
	const char *slug = slug_of(c, a->series_id);

	uid[0] = group_uid[0] = '\0';
	if (a->kind != TK_ALERT_MISSING_DATA && slug) {
		tk_alert_make_uid(a->kind == TK_ALERT_FAILURE, slug, a->bad_rev, uid);
	} else if (a->kind == TK_ALERT_MISSING_DATA && night) {
		tk_missing_data_make_uids(machine, upstream ? upstream->name : NULL, slug,
		        night->as_of_s, uid, group_uid);
	}
}

/* The title with the first `old` replaced; a new string. NULL: out of memory. */
static char *replace_name(const char *title, const char *old, const char *new)
{
	const char *at = *old ? strstr(title, old) : NULL;
	char *out = NULL;

	if (!at)
		return tk_strdup(title);
	if (asprintf(&out, "%.*s%s%s", (int)(at - title), title, new, at + strlen(old)) < 0)
		return NULL;
	return out;
}

static char *make_title(const struct renaming *r, const struct tk_alert_row *a)
{
	const char *old_slug = slug_of(&r->before, a->series_id),
	           *new_slug = slug_of(&r->after, a->series_id);
	char old_place[300], new_place[300];

	if (a->kind == TK_ALERT_MISSING_DATA && old_slug && new_slug)
		return replace_name(a->title, old_slug, new_slug);
	if (a->kind == TK_ALERT_MISSING_DATA)
		return replace_name(a->title, r->old_name, r->new_name);
	snprintf(old_place, sizeof old_place, " on %s: ", r->old_name);
	snprintf(new_place, sizeof new_place, " on %s: ", r->new_name);
	return replace_name(a->title, old_place, new_place);
}

/* An alert that was imported, or whose night is gone, may have a uid of other origin: it stays. */
static int rename_alert(
        const struct renaming *r, const struct tk_alert_row *a, struct tk_error *err)
{
	char old_uid[TK_ALERT_UID_SIZE], old_group[TK_ALERT_UID_SIZE];
	char new_uid[TK_ALERT_UID_SIZE], new_group[TK_ALERT_UID_SIZE];
	char *title = make_title(r, a);
	int status;

	if (!title)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	make_uids(&r->before, a, r->old_name, old_uid, old_group);
	make_uids(&r->after, a, r->new_name, new_uid, new_group);
	status = tk_store_rename_alert(r->store, a->uid,
	        strcmp(old_uid, a->uid) == 0 && *new_uid ? new_uid : a->uid, title, err);
	if (!status && *new_group && strcmp(old_group, a->group_uid) == 0)
		status = tk_store_rename_alert_group(r->store, old_group, new_group, err);
	free(title);
	return status;
}

static bool is_on_machine(
        const struct tk_catalog *c, const struct tk_alert_row *a, const char *machine)
{
	const struct tk_series_row *series = tk_id_table_find(&c->series, a->series_id);
	const struct tk_device_row *device =
	        series ? tk_id_table_find(&c->devices, series->device_id) : NULL;
	const struct tk_machine_row *row =
	        tk_id_table_find(&c->machines, device ? device->machine_id : a->machine_id);

	return row && strcmp(row->name, machine) == 0;
}

static int rename_all(struct renaming *r, struct tk_error *err)
{
	int status = tk_catalog_load(r->store, &r->before, err);

	if (!status)
		status = tk_store_rename_machine(r->store, r->old_name, r->new_name, err);
	if (!status)
		status = tk_catalog_load(r->store, &r->after, err);
	for (size_t i = 0; !status && i < r->before.alerts.count; i++) {
		const struct tk_alert_row *a =
		        TK_ROWS_AT(&r->before.alerts, struct tk_alert_row, i);

		if (is_on_machine(&r->before, a, r->old_name))
			status = rename_alert(r, a, err);
	}
	return status;
}

int tk_detect_rename_machine(
        struct tk_store *s, const char *old_name, const char *new_name, struct tk_error *err)
{
	struct renaming r = {.store = s, .old_name = old_name, .new_name = new_name};
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	status = rename_all(&r, err);
	tk_catalog_free(&r.before);
	tk_catalog_free(&r.after);
	if (!status)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return status;
}
