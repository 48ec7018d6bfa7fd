/* tunings/, traces/, compare.html and versions/: one program, so that it is linked once. */
#include "page_groups.h"

int main(void)
{
	return page_tuning_tests() + page_trace_tests() + page_compare_tests() +
	       page_version_tests();
}
