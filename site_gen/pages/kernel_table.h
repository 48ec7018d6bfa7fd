/* The tables of a kernel page. */
#ifndef TK_SITE_KERNEL_TABLE_H
#define TK_SITE_KERNEL_TABLE_H
#include <stdbool.h>

struct tk_error;
struct tk_site;
struct tk_site_device;
struct tk_value;

struct tk_kernel_page {
	const char *op, *file;
	bool whole;     /* has every problem, and no charts */
	bool cut;       /* set: a table left problems out */
	unsigned known; /* set: which metrics some cell has, by bit */
};

/* The tables of a device, one for each mode, the default mode first. */
int tk_kernel_table_add_device(struct tk_site *site, struct tk_value *devices,
        struct tk_kernel_page *kernel, const struct tk_site_device *device, struct tk_error *err);
/* dispatch (a flag): which backend to use for which problem; with has_rows its rows, else the
 * summary. Writes the files of the table, too, if the page is not the whole one. */
int tk_kernel_set_dispatch(struct tk_site *site, struct tk_value *o,
        const struct tk_site_device *device, const struct tk_kernel_page *kernel, bool has_rows,
        struct tk_error *err);
/* metrics: the names of the known ones, for the script of the page. */
void tk_kernel_table_set_metrics(struct tk_site *site, struct tk_value *page, unsigned known);
/* The page with every problem of a device. */
void tk_kernel_all_path(char path[256], const char *op_file, const struct tk_site_device *device);

#endif
