/* A code object as IREE's compiler makes it: c = scale * a, one element for each workgroup. The
 * environment variable FAKE_IREE selects a defect. */
#include "iree_library.h"
#include <stdlib.h>
#include <string.h>

static int scale(const struct iree_environment *e, const struct iree_dispatch *d,
        const struct iree_workgroup *w)
{
	const uint32_t at = w->x + d->count_x * (w->y + d->count_y * w->z);
	if (d->binding_bytes[0] != d->binding_bytes[1] ||
	        (at + 1) * sizeof(float) > d->binding_bytes[1])
		return 7;
	((float *)d->bindings[1])[at] =
	        (float)d->constants[0] * ((const float *)d->bindings[0])[at];
	return 0;
}

static iree_function *const functions[] = {scale};
static const char *const names[] = {"scale"};
static const char *const imports[] = {"?optional", "needed"};
static struct iree_attributes attributes = {.counts = {.constant_count = 1, .binding_count = 2}};
static struct iree_attributes_old old_attributes = {
        .counts = {.constant_count = 1, .binding_count = 2}};
static struct iree_header header = {.name = "fake"};
static struct iree_library library = {.header = &header,
        .imports = {1, imports},
        .exports = {1, functions, &attributes, .names = names}};
static struct iree_library_old old = {.header = &header,
        .imports = {1, imports},
        .exports = {1, functions, &old_attributes, .names = names}};

__attribute__((visibility("default"))) const struct iree_header *const *
iree_hal_executable_library_query(uint32_t version, const struct iree_environment *e);
const struct iree_header *const *iree_hal_executable_library_query(
        uint32_t version, const struct iree_environment *e)
{
	const char *defect = getenv("FAKE_IREE") ? getenv("FAKE_IREE") : "";
	const int is_old = strcmp(defect, "old") == 0;
	attributes.counts.local_memory_pages = strcmp(defect, "memory") == 0;
	library.constants.count = strcmp(defect, "constants") == 0;
	library.imports.count = strcmp(defect, "import") == 0 ? 2 : 1;
	header.version = is_old ? IREE_LIBRARY_VERSION_OLD : IREE_LIBRARY_VERSION;
	if (version != header.version || strcmp(defect, "version") == 0)
		return NULL;
	return is_old ? &old.header : &library.header;
}
