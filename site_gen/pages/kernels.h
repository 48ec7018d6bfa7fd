/* What the table of a kernel page and its charts share. */
#ifndef TK_SITE_KERNELS_H
#define TK_SITE_KERNELS_H
#include "site_gen/model/sweeps.h"
#include "site_gen/pages/page.h"

#define TK_KERNEL_COLUMNS_MAX 12

/* One table: the variants of a device for an operation in one mode, with their sums of log ratios
 * to the best. */
struct tk_kernel_columns {
	const struct tk_site_device *device;
	const char *op, *mode;
	bool drawn; /* its cells carry rates for the charts */
	const char *labels[TK_KERNEL_COLUMNS_MAX];
	double log_ratio[TK_KERNEL_COLUMNS_MAX];
	size_t shared[TK_KERNEL_COLUMNS_MAX], wins[TK_KERNEL_COLUMNS_MAX];
	size_t styles[TK_KERNEL_COLUMNS_MAX];
	size_t count;
	bool cut;
	unsigned known; /* which metrics some cell has, by bit */
};

/* A problem of a table, the series of each column, and its sweep. */
struct tk_kernel_problem {
	const struct tk_problem_row *row;
	const struct tk_site_series *of[TK_KERNEL_COLUMNS_MAX]; /* NULL: none */
	size_t known;                                           /* how many have a time */
	const struct tk_site_series *best;                      /* the fastest; NULL: none */
	double best_ns;
	size_t place, sweep_size;
	bool shown;
	struct tk_axes at;
	char sweeps[48]; /* the numbers of its charts, separated by spaces */
	bool over_batch; /* one of them is over the batch */
};

/* sweep_charts: a chart for each sweep with its title and a drawing. Sets `sweeps` of the
 * problems. */
void tk_kernel_set_sweeps(struct tk_site *site, struct tk_value *o,
        const struct tk_kernel_columns *columns, struct tk_kernel_problem *problems, size_t count);

/* group_rows: the backends within each family, and each aspect of a GEMM; empty with fewer than two
 * groups or backends. */
void tk_kernel_set_groups(struct tk_site *site, struct tk_value *o,
        const struct tk_kernel_columns *columns, const struct tk_kernel_problem *problems,
        size_t count);

/* maps: for each sweep the fastest backend at each point. Backends get colours in the order of the
 * columns. */
void tk_kernel_set_maps(struct tk_site *site, struct tk_value *o,
        const struct tk_kernel_columns *columns, const struct tk_kernel_problem *problems,
        size_t count);

struct tk_kernel_page {
	const char *op, *file;
	bool whole;     /* has every problem, and no charts */
	bool cut;       /* set: a table left problems out */
	unsigned known; /* set: which metrics some cell has, by bit */
};

/* dispatch (a flag): which backend to use for which problem; with has_rows its rows, else the
 * summary. Writes the files of the table, too, if the page is not the whole one. */
int tk_kernel_set_dispatch(struct tk_site *site, struct tk_value *o,
        const struct tk_site_device *device, const struct tk_kernel_page *kernel, bool has_rows,
        struct tk_error *err);

#endif
