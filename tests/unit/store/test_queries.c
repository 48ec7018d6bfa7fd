/* What is read of many rows at once: one program for store/query/. */
#include "query_rig.h"

int main(void)
{
	return query_point_tests() + query_run_tests() + query_code_tests();
}
