/* What the files of other tools become: one program, so that it is linked once. */
#include "import_groups.h"

int main(void)
{
	return import_benchmark_tests() + import_commit_tests() + import_gpu_tests() +
	       import_csv_tests() + import_record_tests() + import_file_tests() +
	       import_member_tests();
}
