/* kernels/, tunings/, traces/, compare.html and versions/: one program, which is linked once. */
#include "page_groups.h"

int main(void)
{
	return page_map_tests() + page_tuning_tests() + page_trace_tests() + page_compare_tests() +
	       page_version_tests();
}
