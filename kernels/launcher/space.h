/* The configurations of a problem as a space of the parameters that its manifests name. */
#ifndef LAUNCHER_SPACE_H
#define LAUNCHER_SPACE_H
#include "package.h"

/* tk_space has pointers into the rest and into the package. */
struct launcher_space {
	struct tk_space tk_space;
	struct tk_parameter parameters[TK_SPACE_PARAMETERS_MAX];
	int64_t best[TK_SPACE_PARAMETERS_MAX];
	int64_t *values; /* of all parameters */
};

/* TK_ABI_UNSUPPORTED: the manifests of the problem name no parameters. */
int launcher_space_make(struct launcher_space *s, const struct launcher_package *p,
        const char *problem, struct tk_abi_error *err);
void launcher_space_free(struct launcher_space *s);

/* Whether a manifest of the problem has these values. */
bool launcher_space_has(
        const struct launcher_package *p, const char *problem, const int64_t *values);

#endif
