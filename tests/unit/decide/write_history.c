/* Writes a history for tests of commands: write_history FILE.db < SCRIPT. A line is a word and its
 * arguments, separated by tabs; \n and \t in an argument are a newline and a tab. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

#define ARGS 6

static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++)
		if (*s == '\\' && (s[1] == 'n' || s[1] == 't' || s[1] == 'e')) {
			s++;
			*to++ = *s == 'n' ? '\n' : *s == 't' ? '\t' : '\033';
		} else {
			*to++ = *s;
		}
	*to = '\0';
}

static void ack(struct world *w, const char *note)
{
	struct tk_rows alerts;
	int64_t id;

	if (tk_store_list_alerts(w->store, &alerts, &w->err))
		abort();
	for (size_t i = 0; i < alerts.count; i++) {
		const struct tk_triage_row t = {
		        .alert_uid = TK_ROWS_AT(&alerts, struct tk_alert_row, i)->uid,
		        .at_s = w->as_of_s,
		        .author = "me",
		        .action = TK_ACTION_ACK,
		        .note = note};

		if (tk_store_put(w->store, TK_TABLE_triage, &t, &id, &w->err))
			abort();
	}
	tk_rows_free(&alerts);
}

/* What a bisection found for a series of backend "b". */
static void bisection(struct world *w, char *const a[ARGS])
{
	const struct tk_bisection_row c = {.series_id = world_series(w, "b", a[1]),
	        .night_id = w->night,
	        .good_rev = a[2],
	        .bad_rev = a[3],
	        .outcome = TK_BISECT_FOUND,
	        .first_bad_rev = a[4],
	        .last_good_rev = a[2],
	        .subject = a[5],
	        .author = "me",
	        .change = 0.4,
	        .change_lo = 0.3,
	        .change_hi = 0.5,
	        .confidence = 0.99};

	if (tk_store_put(w->store, TK_TABLE_bisection, &c, NULL, &w->err))
		abort();
}

static int64_t find_build(struct world *w, const char *rev)
{
	int64_t id;

	if (tk_store_select_int(w->store,
	            "SELECT b.id FROM build b JOIN revision r ON r.id=b.revision_id WHERE r.rev=?1",
	            TK_ARGS(rev), 0, &id, &w->err))
		abort();
	return id;
}

/* Twenty pairs of two revisions on a problem of backend "b", with these values. */
static void pairs(struct world *w, char *const a[ARGS])
{
	for (int i = 0; i < 20; i++)
		world_pair(w, a[1], find_build(w, a[2]), find_build(w, a[3]), i,
		        atof(a[4]) * (1 + 1e-4 * (i % 5)), atof(a[5]) * (1 + 1e-4 * (i % 3)));
}

static void judge(struct world *w)
{
	struct tk_diff_report r = world_detect_night(w);

	tk_diff_report_free(&r);
}

static int run_line(struct world *w, char *const a[ARGS])
{
	if (strcmp(a[0], "night") == 0)
		world_night(w, atoi(a[1]), *a[2] ? a[2] : "nightly");
	else if (strcmp(a[0], "machine") == 0)
		world_machine(w, a[1], "cpu");
	else if (strcmp(a[0], "upstream") == 0)
		world_upstream(w, a[1]);
	else if (strcmp(a[0], "environment") == 0)
		world_environment(w, a[1]);
	else if (strcmp(a[0], "samples") == 0)
		w->samples = atoll(a[1]);
	else if (strcmp(a[0], "role") == 0)
		w->role = strdup(a[1]);
	else if (strcmp(a[0], "build") == 0) /* rev, position, backend, hash, subject */
		world_build(w, a[1], atoi(a[2]), a[3], *a[4] ? a[4] : NULL, a[5]);
	else if (strcmp(a[0], "point") == 0)
		world_point(w, a[1], a[2], atof(a[3]));
	else if (strcmp(a[0], "fail") == 0)
		world_fail(w, a[1], a[2], a[3], a[4]);
	else if (strcmp(a[0], "bisection") == 0) /* problem, good, bad, first bad, subject */
		bisection(w, a);
	else if (strcmp(a[0], "pairs") == 0) /* problem, rev, rev, value, value */
		pairs(w, a);
	else if (strcmp(a[0], "judge") == 0)
		judge(w);
	else if (strcmp(a[0], "ack") == 0)
		ack(w, a[1]);
	else
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	static char line[1 << 16];
	struct world w;

	if (argc != 2)
		return 2;
	world_open(&w, argv[1]);
	while (fgets(line, sizeof line, stdin)) {
		static char empty[1];
		char *a[ARGS] = {empty, empty, empty, empty, empty, empty}, *rest = line;

		line[strcspn(line, "\n")] = '\0';
		for (int i = 0; i < ARGS && rest; i++) {
			a[i] = strsep(&rest, "\t");
			unescape(a[i]);
		}
		if (*a[0] && run_line(&w, a)) {
			fprintf(stderr, "write_history: unknown word %s\n", a[0]);
			return 2;
		}
	}
	world_close(&w);
	return 0;
}
