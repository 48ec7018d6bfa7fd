/* The parameters of a backend's configuration, from its name. */
#ifndef TK_CORE_TUNE_CONFIG_H
#define TK_CORE_TUNE_CONFIG_H
#include <stddef.h>
#include <stdint.h>

#define TK_TUNE_PARAMETERS_MAX 16
#define TK_TUNE_PARAMETER_SIZE 32

struct tk_tune_parameter {
	char name[TK_TUNE_PARAMETER_SIZE];
	int64_t value;
};

/* "mc=768,kc=128" has mc and kc. In a name without "=", words and numbers take turns:
 * "mc768_kc128" has the same, "tile-64x128-split-4" has "tile 1", "tile 2" and "split". Returns
 * their number; 0: the name has no number. */
size_t tk_tune_config_parse(
        const char *config, struct tk_tune_parameter out[TK_TUNE_PARAMETERS_MAX]);

#endif
