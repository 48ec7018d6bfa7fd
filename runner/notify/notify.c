/* Alerts to sinks. The history records which address has received which alert: every alert reaches
 * every address once, and what could not be sent is sent after the next night. A crash between
 * sending and recording sends twice; receivers can recognise duplicates by the alert's uid. */
#include "notify/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "store/store.h"
#include "upstream/http.h"

#define TARGET_LEN 16  /* hex digits of an address' hash: the address may hold a secret */
#define TEXT_ALERTS 10 /* lines of the summary */

/* Alerts that the sink has not received yet: `list` is an array, `text` a summary for people. */
struct message {
	json_t *list;
	const char *text, *site_url;
	const struct tk_night_row *night; /* NULL: unknown */
	const char *machine;
};

struct sink {
	const char *name, *scheme;
	int (*send)(const char *address, const struct message *m, struct tk_error *err);
};

/* ---- sinks ---- */

/* {"source","text","night":{...},"site","alerts":[...]}: `text` is what chat programs show. */
static json_t *webhook_body(const struct message *m)
{
	json_t *body =
	        json_pack("{s:s,s:s,s:O}", "source", "tracker", "text", m->text, "alerts", m->list);

	if (m->night)
		json_object_set_new(body, "night",
		        json_pack("{s:s,s:s,s:s,s:s,s:I}", "uid", m->night->uid, "machine",
		                m->machine, "kind", tk_night_kind_name(m->night->kind), "status",
		                tk_night_status_name(m->night->status), "started_s",
		                (json_int_t)m->night->started_s));
	if (m->site_url && *m->site_url)
		json_object_set_new(body, "site", json_string(m->site_url));
	return body;
}

static int send_webhook(const char *address, const struct message *m, struct tk_error *err)
{
	const struct tk_http_options options = {.deadline_s = 30, .retries = 2};
	json_t *body = webhook_body(m);
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	int status = tk_http_post_json(address, text, &options, NULL, err);

	free(text);
	json_decref(body);
	return status;
}

static int append(const char *path, const struct tk_buf *lines, struct tk_error *err)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	size_t done = 0;
	int status = 0;

	if (fd < 0)
		return tk_fail_errno(err, "%s", path);
	while (!status && done < lines->len) {
		ssize_t n = write(fd, lines->data + done, lines->len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			status = tk_fail_errno(err, "%s", path);
	}
	if (close(fd) != 0 && !status)
		status = tk_fail_errno(err, "%s", path);
	return status;
}

/* One alert a line. */
static int send_file(const char *address, const struct message *m, struct tk_error *err)
{
	struct tk_buf lines = TK_BUF_INIT;
	json_t *alert;
	size_t i;
	int status;

	json_array_foreach (m->list, i, alert) {
		char *text = json_dumps(alert, JSON_COMPACT);

		tk_buf_add_str(&lines, text ? text : "");
		tk_buf_add_char(&lines, '\n');
		free(text);
	}
	status = tk_buf_status(&lines, err);
	if (!status)
		status = append(address + strlen("file:"), &lines, err);
	tk_buf_free(&lines);
	return status;
}

static const struct sink sinks[] = {
        {"webhook", "https:", send_webhook},
        {"webhook", "http:", send_webhook},
        {"file", "file:", send_file},
};

static const struct sink *find_sink(const char *address)
{
	for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++)
		if (!strncmp(address, sinks[i].scheme, strlen(sinks[i].scheme)))
			return &sinks[i];
	return NULL;
}

/* ---- alerts that a sink has not received ---- */

struct history {
	struct tk_rows alerts, triage, sent, series, nights, machines;
};

static void free_history(struct history *h)
{
	tk_rows_free(&h->alerts);
	tk_rows_free(&h->triage);
	tk_rows_free(&h->sent);
	tk_rows_free(&h->series);
	tk_rows_free(&h->nights);
	tk_rows_free(&h->machines);
}

static int load_history(struct tk_store *s, struct history *h, struct tk_error *err)
{
	int status = tk_store_list_alerts(s, &h->alerts, err);

	if (!status)
		status = tk_store_list(s, TK_TABLE_triage, NULL, TK_NO_ARGS, &h->triage, err);
	if (!status)
		status = tk_store_list(s, TK_TABLE_notification, NULL, TK_NO_ARGS, &h->sent, err);
	if (!status)
		status = tk_store_list(s, TK_TABLE_series, NULL, TK_NO_ARGS, &h->series, err);
	if (!status)
		status = tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &h->nights, err);
	return status ? status
	              : tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &h->machines, err);
}

static bool was_sent(
        const struct history *h, const char *uid, const struct sink *sink, const char *target)
{
	for (size_t i = 0; i < h->sent.count; i++) {
		const struct tk_notification_row *n =
		        TK_ROWS_AT(&h->sent, struct tk_notification_row, i);

		if (!strcmp(n->alert_uid, uid) && !strcmp(n->sink, sink->name) &&
		        !strcmp(n->target, target))
			return true;
	}
	return false;
}

static const char *find_slug(const struct history *h, int64_t series_id)
{
	for (size_t i = 0; i < h->series.count; i++)
		if (TK_ROWS_AT(&h->series, struct tk_series_row, i)->id == series_id)
			return TK_ROWS_AT(&h->series, struct tk_series_row, i)->slug;
	return "";
}

/* The alert on the page of alerts; null without a site. */
static json_t *make_link(const char *site_url, const struct tk_alert_row *a)
{
	const char *slash =
	        site_url && *site_url && site_url[strlen(site_url) - 1] == '/' ? "" : "/";

	return site_url && *site_url ? json_sprintf("%s%salerts.html#%s", site_url, slash, a->uid)
	                             : json_null();
}

static json_t *alert_json(
        const struct history *h, const struct tk_alert_row *a, const char *site_url)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:f,s:s,s:s,s:s,s:o,s:o,s:I,s:o}", "uid",
	        a->uid, "kind", tk_alert_kind_name(a->kind), "group", a->group_uid, "series",
	        find_slug(h, a->series_id), "title", a->title, "before",
	        tk_json_number(a->before_value), "after", tk_json_number(a->after_value), "change",
	        a->change, "cause", tk_cause_name(a->cause), "good_rev", a->good_rev, "bad_rev",
	        a->bad_rev, "first_bad", tk_json_text(a->first_bad_rev), "first_bad_author",
	        tk_json_text(a->first_bad_author), "opened_s", (json_int_t)a->opened_s, "link",
	        make_link(site_url, a));
}

/* Open, and without a triage state. */
static bool is_new(const struct history *h, const struct tk_alert_row *a)
{
	return a->status == TK_ALERT_OPEN && tk_alert_compute_state(&h->triage, a) == TK_TRIAGE_NEW;
}

/* With the commit that a bisection found, else with the first revision that is known to be bad. */
static void add_line(struct tk_buf *lines, const struct tk_alert_row *a)
{
	tk_buf_add_printf(lines, "\n- %s", a->title);
	if (*a->first_bad_rev)
		tk_buf_add_printf(lines, ", first bad commit %.12s by %s", a->first_bad_rev,
		        a->first_bad_author);
	else if (*a->bad_rev)
		tk_buf_add_printf(lines, ", first bad revision %.12s", a->bad_rev);
}

/* New alerts that the sink has not received; *list is the caller's. */
static int collect(const struct history *h, const struct sink *sink, const char *target,
        const char *site_url, json_t **list, struct tk_buf *text, struct tk_error *err)
{
	struct tk_buf lines = TK_BUF_INIT;
	size_t n = 0;

	*list = json_array();
	for (size_t i = 0; *list && i < h->alerts.count; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(&h->alerts, struct tk_alert_row, i);

		if (!is_new(h, a) || was_sent(h, a->uid, sink, target))
			continue;
		if (json_array_append_new(*list, alert_json(h, a, site_url))) {
			tk_buf_free(&lines);
			return tk_fail(err, TK_ENOMEM, "out of memory");
		}
		if (n++ < TEXT_ALERTS)
			add_line(&lines, a);
	}
	tk_buf_add_printf(
	        text, "tracker: %zu new alert%s%s", n, n == 1 ? "" : "s", tk_buf_cstr(&lines));
	if (n > TEXT_ALERTS)
		tk_buf_add_printf(text, "\n- and %zu more", n - TEXT_ALERTS);
	tk_buf_free(&lines);
	return *list ? tk_buf_status(text, err) : tk_fail(err, TK_ENOMEM, "out of memory");
}

static int record_sent(struct tk_store *s, const json_t *list, const struct sink *sink,
        const char *target, struct tk_error *err)
{
	json_t *alert;
	size_t i;
	int status = tk_store_begin(s, err);

	if (status)
		return status;
	json_array_foreach (list, i, alert) {
		const struct tk_notification_row row = {
		        json_string_value(json_object_get(alert, "uid")), sink->name, target,
		        tk_clock_now_s()};

		status = tk_store_put(s, TK_TABLE_notification, &row, NULL, err);
		if (status)
			break;
	}
	if (!status)
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return status;
}

static void describe_night(const struct history *h, int64_t night_id, struct message *m)
{
	for (size_t i = 0; i < h->nights.count; i++)
		if (TK_ROWS_AT(&h->nights, struct tk_night_row, i)->id == night_id)
			m->night = TK_ROWS_AT(&h->nights, struct tk_night_row, i);
	m->machine = "";
	for (size_t i = 0; m->night && i < h->machines.count; i++)
		if (TK_ROWS_AT(&h->machines, struct tk_machine_row, i)->id == m->night->machine_id)
			m->machine = TK_ROWS_AT(&h->machines, struct tk_machine_row, i)->name;
}

int tk_notify_send_alerts(
        struct tk_store *store, const struct tk_notify_options *options, struct tk_error *err)
{
	const char *address = options->webhook_url;
	struct history h = {0};
	struct tk_buf text = TK_BUF_INIT;
	struct message m = {.site_url = options->site_url};
	char target[TK_HASH_HEX_SIZE];
	const struct sink *sink;
	int status;

	if (!address || !*address)
		return 0;
	sink = find_sink(address);
	if (!sink)
		return tk_fail(err, TK_ECONFIG,
		        "notify: webhook: expected an address that starts with https:, http: or "
		        "file:");
	tk_hash_bytes(address, strlen(address), target);
	target[TARGET_LEN] = '\0';
	status = load_history(store, &h, err);
	if (!status)
		status = collect(&h, sink, target, options->site_url, &m.list, &text, err);
	if (!status && json_array_size(m.list)) {
		m.text = text.data;
		describe_night(&h, options->night_id, &m);
		status = sink->send(address, &m, err);
		if (!status)
			status = record_sent(store, m.list, sink, target, err);
	}
	json_decref(m.list);
	tk_buf_free(&text);
	free_history(&h);
	return status;
}
