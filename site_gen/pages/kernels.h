/* What the charts and maps of a kernel page share. */
#ifndef TK_SITE_KERNELS_H
#define TK_SITE_KERNELS_H
#include "site_gen/model/sweeps.h"
#include "site_gen/pages/page.h"

#define TK_KERNEL_COLUMNS_MAX 12

/* A problem of a table, with the rate of each backend. */
struct tk_kernel_problem {
	int64_t key; /* for queries */
	const struct tk_problem_row *row;
	double rates[TK_KERNEL_COLUMNS_MAX]; /* NAN: none */
	size_t known;                        /* how many have a time */
	size_t place, sweep_size;
	bool shown;
	struct tk_axes at;
	char sweeps[48]; /* the numbers of its charts, separated by spaces */
	bool over_batch; /* one of them is over the batch */
};

/* The backends of a device for an operation in one mode. */
struct tk_kernel_table {
	const struct tk_model *model;
	const char *op;
	const struct tk_site_device *device;
	const struct tk_site_series *columns[TK_KERNEL_COLUMNS_MAX]; /* one of each backend */
	size_t column_count;
	bool is_default; /* the mode is the default one of the device */
	struct tk_kernel_problem *problems;
	size_t count;
};

/* sweep_charts: a chart for each sweep with its title and a drawing. Sets `sweeps` of the
 * problems. */
void tk_kernel_set_sweeps(struct tk_site *site, struct tk_value *o, struct tk_kernel_table *table);

/* maps: for each sweep its rows of cells, whose ids are the keys of problems. */
void tk_kernel_set_maps(struct tk_value *o, const struct tk_kernel_table *table);

/* dispatch (a flag): which backend to use for which problem; with has_rows its rows, else the
 * summary. has_files: writes the files of the table, too. */
int tk_kernel_set_dispatch(struct tk_site *site, struct tk_value *o,
        const struct tk_kernel_table *table, bool has_files, bool has_rows, struct tk_error *err);

#endif
