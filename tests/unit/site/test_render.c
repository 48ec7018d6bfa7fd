/* Charts and texts of site_gen/render: one program, so that it is linked once. */
#include "render_groups.h"

int main(void)
{
	return render_chart_tests() + render_text_tests();
}
