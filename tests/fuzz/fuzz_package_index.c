/* Any bytes as a page of a package index. */
#include "base/base.h"
#include "fuzz.h"
#include "upstream/package.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tk_package_index p = {0};
	struct tk_error err = {0};
	if (tk_package_index_add(
	            &p, "fake-pkg", "https://e.invalid", (const char *)data, size, &err) &&
	        !*err.message)
		abort();
	for (size_t i = 1; i < p.count; i++)
		if (tk_version_compare(&p.releases[i - 1].version, &p.releases[i].version) >= 0)
			abort();
	tk_package_index_free(&p);
	return 0;
}
