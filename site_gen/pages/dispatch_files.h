/* The dispatch table of a kernel on a device as files for other programs. */
#ifndef TK_SITE_DISPATCH_FILES_H
#define TK_SITE_DISPATCH_FILES_H

struct tk_dispatch;
struct tk_error;
struct tk_site;

/* Path without suffix: "dispatch/gemm@lab.cpu". */
#define TK_DISPATCH_PATH_SIZE 256
void tk_dispatch_path(
        const struct tk_dispatch *d, const char *op_file, char path[TK_DISPATCH_PATH_SIZE]);
/* Writes it as .json, .csv and .h. */
int tk_dispatch_write_files(struct tk_site *site, const struct tk_dispatch *d, const char *op_file,
        struct tk_error *err);

#endif
