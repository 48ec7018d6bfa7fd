/* The static site: reads the store, never measures. Written into a temporary folder beside
 * `out_dir`, then renamed. */
#ifndef TK_SITE_H
#define TK_SITE_H
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_store;

struct tk_site_options {
	const char *out_dir;
	const char *templates_dir; /* templates/ of the tracker */
	const char *title;
	const char *base_url;   /* public address for feeds; "" where unknown */
	const char *assets_dir; /* Chart.js and its plugins; NULL: looked up beside the program; "":
	                           no charts */
	double tie;             /* times that differ by less are a tie; 0.01 is 1 % */
	int64_t now_s;          /* the clock of the site, so that pages are reproducible */
	/* What counts as changed: verdicts of this night (0: of the newest analysed night of each
	 * machine), and change points from this time on (0: none). */
	int64_t night_id, since_s;
};

struct tk_site_report {
	size_t pages, files, files_written;
	int64_t bytes;
	double wall_s;
};

int tk_site_write(struct tk_store *store, const struct tk_site_options *options,
        struct tk_site_report *report, struct tk_error *err);

#endif
