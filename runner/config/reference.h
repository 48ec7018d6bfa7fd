/* Documents made from the table of keys. Failures are in the buffer (tk_buf_status). */
#ifndef TK_CONFIG_REFERENCE_H
#define TK_CONFIG_REFERENCE_H

#include <stdbool.h>

struct tk_buf;

/* What the default depends on. */
struct tk_config_host_device {
	const char *kind, *arch; /* "cuda", "sm_90" */
};
/* A Python package that is installed, and that an adapter measures. */
struct tk_config_host_package {
	const char *name, *package, *version; /* "iree", "iree-base-compiler", "3.11.0" */
	bool is_compiler;
};
struct tk_config_host {
	const struct tk_config_host_device *devices; /* a row with kind NULL ends them */
	const char *const *backends; /* modules that load and have a device; NULL-terminated */
	/* The kinds of devices whose own kernels can be built from the repository around the
	 * configuration; otherwise those that came with the tracker are measured. */
	struct {
		bool cpu, cuda, hip;
	} builds_own;
	const struct tk_config_host_package *packages; /* a row with name NULL ends them; or NULL */
};

/* A commented tracker.yml with every default; it loads without a change. `host` NULL: a machine of
 * which nothing is known. A tracker without a file works with the same text. */
void tk_config_write_default_file(struct tk_buf *out, const struct tk_config_host *host);

/* docs/reference/configuration.md, in Markdown. */
void tk_config_write_reference(struct tk_buf *out);

#endif
