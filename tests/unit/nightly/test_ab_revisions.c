/* Two revisions of an upstream, built for a command that measures them in its own way. */
#include "side_rig.h"

static int build_two(struct rig *r, const char *backend, const char *base, const char *head,
        struct tk_ab_revisions *out, struct tk_error *err)
{
	const char *const specs[TK_AB_SIDES] = {base, head};

	world.builds = 0;
	return tk_ab_revisions_build(
	        &r->config, "none.db", &r->options, "lib", backend, specs, out, err);
}

static void both_revisions_are_built(void **state)
{
	static char options[] = "o=1";
	struct rig *r = *state;
	struct tk_ab_revisions two;
	char path[100];

	make_repository(r);
	r->upstreams[0].options = options;
	MUST(build_two(r, "blas", "v1", "main", &two, &err));
	snprintf(path, sizeof path, "/cache/%.8s/blas", r->first);
	assert_string_equal(two.path[TK_AB_BASE], path);
	snprintf(path, sizeof path, "/cache/%.8s/blas", r->head);
	assert_string_equal(two.path[TK_AB_HEAD], path);
	assert_string_equal(two.options, "o=1");
	assert_string_equal(two.side[TK_AB_BASE].name, "base");
	assert_string_equal(two.side[TK_AB_HEAD].revision.id, r->head);
	tk_ab_revisions_free(&two);
	assert_null(two.path[0]);
}

/* Both names are checked before the first build, which takes minutes. */
static void names_are_checked_before_a_build(void **state)
{
	struct rig *r = *state;
	struct tk_ab_revisions two;

	make_repository(r);
	MUST_FAIL(TK_EUSAGE, "--head=nowhere", build_two(r, "blas", "v1", "nowhere", &two, &err));
	assert_int_equal(world.builds, 0);
	tk_ab_revisions_free(&two);
	MUST_FAIL(TK_EUSAGE, "--base=v1: the build has no backend \"flash\"",
	        build_two(r, "flash", "v1", "main", &two, &err));
	assert_int_equal(world.builds, 1);
	tk_ab_revisions_free(&two);
	world.session_status = TK_EBUSY;
	MUST_FAIL(TK_EBUSY, "no session", build_two(r, "blas", "v1", "main", &two, &err));
	tk_ab_revisions_free(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(both_revisions_are_built),
	        TEST(names_are_checked_before_a_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
