/* Alerts to sinks. The history records which address has received which alert: every alert reaches
 * every address once, and what could not be sent is sent after the next night. A crash between
 * sending and recording sends twice; receivers can recognise duplicates by the alert's uid. */
#include "notify/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/fields.h"
#include "store/query/record.h"
#include "store/store.h"
#include "upstream/http.h"

#define TARGET_LEN 16  /* hex digits of an address' hash: the address may hold a secret */
#define TEXT_ALERTS 10 /* lines of the summary */

/* Alerts that the sink has not received yet: `list` is an array, `text` a summary for people. */
struct message {
	json_t *list;
	const char *text, *site_url;
	bool has_night;
	struct tk_night_row night;
	struct tk_machine_row machine;
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

	if (m->has_night)
		json_object_set_new(body, "night",
		        json_pack("{s:s,s:s,s:s,s:s,s:o}", "uid", m->night.uid, "machine",
		                m->machine.name, "kind", tk_night_kind_name(m->night.kind),
		                "status", tk_night_status_name(m->night.status), "started",
		                tk_time_to_json(m->night.started_s)));
	if (m->site_url && *m->site_url)
		json_object_set_new(body, "site", json_string(m->site_url));
	return body;
}

static int send_webhook(const char *address, const struct message *m, struct tk_error *err)
{
	const struct tk_http_options options = {.deadline_s = 30, .retries = 2};
	json_t *body = webhook_body(m);
	char *text = json_dumps(body, JSON_COMPACT);
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

/* The alert on the page of alerts; null without a site. */
static json_t *make_link(const char *site_url, const char *uid)
{
	const char *slash =
	        site_url && *site_url && site_url[strlen(site_url) - 1] == '/' ? "" : "/";

	return site_url && *site_url ? json_sprintf("%s%salerts.html#%s", site_url, slash, uid)
	                             : json_null();
}

/* With the commit that a bisection found, else with the first revision that is known to be bad. */
static void add_line(struct tk_buf *lines, const json_t *alert)
{
	const char *found = tk_record_text(alert, "first_bad_commit.rev"),
	           *bad = tk_record_text(alert, "bad_rev");

	tk_buf_add_printf(lines, "\n- %s", tk_record_text(alert, "title"));
	if (*found)
		tk_buf_add_printf(lines, ", first bad commit %.12s by %s", found,
		        tk_record_text(alert, "first_bad_commit.author"));
	else if (*bad)
		tk_buf_add_printf(lines, ", first bad revision %.12s", bad);
}

/* Open alerts without a triage state that the sink has not received, as `tracker alert list` has
 * them, with their pages. */
static int collect(struct tk_store *s, const struct sink *sink, const char *target,
        const char *site_url, json_t **list, struct tk_buf *text, struct tk_error *err)
{
	AUTO(tk_buf) lines = {0};
	json_t *alert;
	size_t i, count;

	TRY(tk_records_select_alerts(s,
	        "WHERE status='open' AND state='new' AND"
	        " NOT EXISTS (SELECT 1 FROM notification n WHERE n.alert_uid=a.uid AND n.sink=?1"
	        " AND n.target=?2) ORDER BY opened_s DESC, uid",
	        TK_ARGS(sink->name, target), list, err));
	json_array_foreach (*list, i, alert) {
		json_object_set_new(
		        alert, "link", make_link(site_url, tk_record_text(alert, "uid")));
		if (i < TEXT_ALERTS)
			add_line(&lines, alert);
	}
	count = json_array_size(*list);
	tk_buf_add_printf(text, "tracker: %zu new alert%s%s", count, count == 1 ? "" : "s",
	        tk_buf_cstr(&lines));
	if (count > TEXT_ALERTS)
		tk_buf_add_printf(text, "\n- and %zu more", count - TEXT_ALERTS);
	return TK_OK;
}

static int put_sent(struct tk_store *s, const json_t *list, const struct sink *sink,
        const char *target, struct tk_error *err)
{
	json_t *alert;
	size_t i;

	json_array_foreach (list, i, alert) {
		const struct tk_notification_row row = {
		        json_string_value(json_object_get(alert, "uid")), sink->name, target,
		        tk_clock_now_s()};

		TRY(tk_store_put(s, TK_TABLE_notification, &row, NULL, err));
	}
	return TK_OK;
}

static int record_sent(struct tk_store *s, const json_t *list, const struct sink *sink,
        const char *target, struct tk_error *err)
{
	TRY(tk_store_begin(s, err));
	if (!put_sent(s, list, sink, target, err))
		return tk_store_commit(s, err);
	tk_store_rollback(s);
	return err->status;
}

/* A night that is not known is left out. */
static void describe_night(struct tk_store *s, int64_t night_id, struct message *m)
{
	struct tk_error unknown = {0};

	m->has_night =
	        !tk_store_get(s, TK_TABLE_night, night_id, &m->night, &unknown) &&
	        !tk_store_get(s, TK_TABLE_machine, m->night.machine_id, &m->machine, &unknown);
}

int tk_notify_send_alerts(
        struct tk_store *store, const struct tk_notify_options *options, struct tk_error *err)
{
	const char *address = options->webhook_url;
	json_auto_t *list = NULL;
	AUTO(tk_buf) text = {0};
	struct message m = {.site_url = options->site_url};
	char target[TK_HASH_HEX_SIZE];
	const struct sink *sink;

	if (!address || !*address)
		return 0;
	sink = find_sink(address);
	if (!sink)
		return tk_fail(err, TK_ECONFIG,
		        "notify: webhook: expected an address that starts with https:, http: or "
		        "file:");
	tk_hash_bytes(address, strlen(address), target);
	target[TARGET_LEN] = '\0';
	TRY(collect(store, sink, target, options->site_url, &list, &text, err));
	if (!json_array_size(list))
		return 0;
	m.list = list;
	m.text = tk_buf_cstr(&text);
	describe_night(store, options->night_id, &m);
	TRY(sink->send(address, &m, err));
	return record_sent(store, list, sink, target, err);
}
