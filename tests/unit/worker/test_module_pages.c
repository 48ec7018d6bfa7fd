/* Code of a module lies on pages of the process's own, others each time. */
#include "tracker_abi.h"
#include "worker/module_pages.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct mapping {
	char protection[8];
	unsigned long inode; /* 0: of no file */
};

static struct mapping mapping_of(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct mapping m = {"", 0};
	char line[4200];
	unsigned long from, to;
	assert_non_null(maps);
	while (!m.protection[0] && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx %7s %*x %*s %lu", &from, &to, m.protection, &m.inode) !=
		                4 ||
		        address < from || address >= to)
			m.protection[0] = 0;
	fclose(maps);
	return m;
}

/* The physical page; 0: unknown (only root may read it). */
static uint64_t frame_of(uintptr_t address)
{
	uint64_t entry = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &entry, sizeof entry, (off_t)(address / page * sizeof entry)) !=
	                      sizeof entry)
		entry = 0;
	if (fd >= 0)
		close(fd);
	return entry & ((1ull << 55) - 1);
}

static void code_is_on_private_pages(void **state)
{
	void *module = dlopen(TK_MODULE, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(module);
	void *symbol = dlsym(module, "tk_backend_entry");
	const void *(*entry)(void);
	memcpy(&entry, &symbol, sizeof entry);
	const struct tk_backend *before = entry();
	uintptr_t code = (uintptr_t)symbol, constants = (uintptr_t)before->description;
	assert_true(mapping_of(code).inode);
	uint64_t frame[3] = {frame_of(code)};
	for (int i = 1; i < 3; i++) {
		assert_true(tk_module_randomize_pages(module) > 0);
		assert_int_equal(mapping_of(code).inode, 0);
		assert_string_equal(mapping_of(code).protection, "r-xp");
		assert_int_equal(mapping_of(constants).inode, 0);
		assert_string_equal(mapping_of(constants).protection, "r--p");
		assert_ptr_equal(entry(), before);
		assert_string_equal(before->version(), "1");
		frame[i] = frame_of(code);
		assert_true(!frame[i] || frame[i] != frame[i - 1]);
	}
	assert_true(mapping_of((uintptr_t)mapping_of).inode); /* what was loaded before it stays */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(code_is_on_private_pages)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
