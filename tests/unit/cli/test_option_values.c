/* Values of options of diff, ab, run, build and doctor that are out of range, malformed, empty or
 * contradict each other: exit code 2 and a key phrase, before anything is opened or built. */
#include "command_rig.h"

#include "store/store.h"

static const struct {
	const char *line, *message;
} malformed[] = {
        /* ---- diff ---- */
        {"diff --last=0", "--last=0: expected at least 1"},
        {"diff --last=-1", "--last"},
        {"diff --last=", "--last"},
        {"diff --last=1.5", "--last"},
        {"diff --last=99999999999999999999", "--last"},
        {"diff --limit=-1", "--limit"},
        {"diff --limit=many", "--limit"},
        {"diff --min-samples=x", "--min-samples"},
        {"diff --confirm=-2", "--confirm"},
        {"diff --threshold=", "--threshold"},
        {"diff --threshold=5x", "--threshold"},
        {"diff --threshold=-1%", "--threshold"},
        {"diff --threshold=2000%", "--threshold"},
        {"diff --threshold=nan", "--threshold"},
        {"diff --alpha=2", "--alpha"},
        {"diff --alpha=-0.1", "--alpha"},
        {"diff --alpha=inf", "--alpha"},
        {"diff --abs-threshold=5", "--abs-threshold"},
        {"diff --abs-threshold=-5us", "--abs-threshold"},
        {"diff --abs-threshold=2h", "--abs-threshold"},
        {"diff --baseline=", "--baseline=: expected window, first, best, pinned:REV or tag:NAME"},
        {"diff --baseline=windw", "did you mean \"window\"?"},
        {"diff --baseline=pinned:", "--baseline=pinned:"},
        {"diff --fail-on=", "--fail-on=: expected a list of statuses, or none"},
        {"diff --only=", "--only=: expected a list of statuses"},
        {"diff --only=regresed",
                "--only: unknown status \"regresed\"; did you mean \"regressed\"?"},
        {"diff --only=regressed,,missing", "--only: unknown status \"\""},
        {"diff --only=Regressed", "--only: unknown status \"Regressed\""},
        {"diff --fail-on=regressed,none", "--fail-on: unknown status \"none\""},
        {"diff --site-url=example.org", "--site-url=example.org: expected an address"},
        {"diff --site-url=", "--site-url=: expected an address"},
        {"diff --site-url=HTTPS://e.org", "expected an address"},
        {"diff --format=yaml", "--format=yaml: expected "},
        {"diff --format=jso", "did you mean \"json\"?"},
        {"diff yesterday", "unexpected argument \"yesterday\"; --filter=KEY:GLOB selects series"},
        {"diff --since", "requires an argument"},
        /* ---- ab ---- */
        {"ab", "missing UPSTREAM, or --base and --head"},
        {"ab gemm:m=8,n=8,k=8", "missing UPSTREAM, or --base and --head"},
        {"ab --base=a.so", "missing UPSTREAM, or --base and --head"},
        {"ab --head=a.so", "missing UPSTREAM, or --base and --head"},
        {"ab self --base=", "--base: expected a revision, a folder"},
        {"ab self --head=", "--head: expected a revision, a folder"},
        {"ab --base= --head=", "--base: expected a revision"},
        {"ab self --mode=sequence", "--mode=sequence: A/B runs do not measure within a sequence"},
        {"ab self --mode=warm", "--mode=warm: expected "},
        {"ab self --budget=", "--budget"},
        {"ab self --budget=-1s", "--budget"},
        {"ab self --format=sarif", "--format=sarif: expected "},
        {"ab self --devices=,", "--devices: expected a list of devices"},
        {"ab self --devices=", "--devices: expected a list of devices"},
        /* ---- run ---- */
        {"run", "missing BACKEND"},
        {"run cpu", "missing PROBLEM"},
        {"run null gemm:m=8,n=8,k=8 --mode=sequence", "missing --sequence=NAME"},
        {"run null gemm:m=8,n=8,k=8 --sequence=x --mode=hot",
                "--sequence cannot be combined with --mode=hot"},
        {"run null gemm:m=8,n=8,k=8 --sequence=x --hot",
                "--sequence cannot be combined with --mode=hot"},
        {"run null gemm:m=8,n=8,k=8 --device=", "--device=: expected a number or a UUID"},
        {"run null gemm:m=8,n=8,k=8 --device=0,1", "--device=0,1: expected a number or a UUID"},
        {"run null gemm:m=8,n=8,k=8 --devices=", "--devices=: expected all, numbers or UUIDs"},
        {"run null gemm:m=8,n=8,k=8 --idle-gap=2s", "--idle-gap"},
        {"run null gemm:m=8,n=8,k=8 --idle-gap=-1ms", "--idle-gap"},
        {"run null gemm:m=8,n=8,k=8 --sets=4097", "--sets"},
        {"run null gemm:m=8,n=8,k=8 --sets=-1", "--sets"},
        {"run null gemm:m=8,n=8,k=8 --seconds=", "--seconds"},
        {"run null gemm:m=8,n=8,k=8 --seconds=abc", "--seconds"},
        {"run null gemm:m=8,n=8,k=8 --seed=-", "--seed"},
        {"run null gemm:m=8,n=8,k=8 --format=xml", "--format=xml: expected "},
        /* ---- build, doctor, profile, trace, tune ---- */
        {"build --rev=HEAD", "--rev needs an UPSTREAM"},
        {"build --format=xml", "--format=xml: expected "},
        {"doctor all", "unexpected argument \"all\""},
        {"doctor --format=xml", "--format=xml: expected "},
        {"profile cpu", "expected BACKEND and one PROBLEM"},
        {"tune", "missing BACKEND or UPSTREAM"},
};

static void refuse_malformed_values(void)
{
	for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
		expect_usage(malformed[i].line, malformed[i].message);
}

/* Nothing is made by any of them. */
static void refused_commands_leave_nothing(void **state)
{
	char **names = NULL;
	size_t count = 0;
	refuse_malformed_values();
	assert_int_equal(tk_dir_list(*state, &names, &count, NULL), 0);
	assert_int_equal(count, 0);
	tk_names_free(names, count);
}

/* ---- of ranges, which are checked with the history at hand ---- */

static void make_history(void)
{
	struct tk_store *store = NULL;
	struct tk_error err = {0};
	if (tk_store_open("tracker.db", TK_STORE_CREATE, &store, &err))
		fail_msg("%s", err.message);
	tk_store_close(store);
}

static void ranges_exclude_each_other(void **state)
{
	static const char *const lines[][2] = {
	        {"diff --since=7d --last=2", "--since excludes --last"},
	        {"diff --last=2 --since=7d", "--since excludes --last"},
	        {"diff --since=yesterday --until=2020-01-01", "--since is later than --until"},
	        {"diff --since=2999-01-01", "is in the future"}, {"diff --since=soon", "soon"},
	        {"diff --since=", "\"\""}, {"diff --since=2026-13-01", "2026-13-01"}};
	make_history();
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		expect_usage(lines[i][0], lines[i][1]);
}

/* Without a history there is nothing to compare, which is no mistake of the user's. */
static void an_empty_history_is_incomplete(void **state)
{
	make_history();
	struct ran r = run_line("diff");
	assert_int_equal(r.code, TK_EXIT_INCOMPLETE);
	ran_free(&r);
	r = run_line("diff --allow-empty --format=json");
	assert_int_equal(r.code, TK_EXIT_OK);
	json_t *root = json_loads(r.out, 0, NULL);
	assert_non_null(root);
	json_decref(root);
	ran_free(&r);
	r = run_line("diff --allow-empty --output=none/report.txt");
	assert_int_equal(r.code, TK_EXIT_FAILED);
	expect_contains(r.err, "none/report.txt: No such file or directory");
	ran_free(&r);
	r = run_line("diff --allow-empty --output=report.txt");
	assert_int_equal(r.code, TK_EXIT_OK);
	assert_string_equal(r.out, "");
	char *report = read_whole_file("report.txt");
	assert_true(*report);
	free(report);
	ran_free(&r);
}

static void a_history_that_is_none(void **state)
{
	write_command_file("tracker.db", "this is no database, but a text of some length\n");
	struct ran r = run_line("diff");
	assert_int_equal(r.code, TK_EXIT_FAILED);
	expect_contains(r.err, "tracker diff: ");
	expect_contains(r.err, "tracker.db");
	ran_free(&r);
	write_command_file("tracker.yml", "detect: [\n");
	expect_usage("diff", "tracker.yml:");
	write_command_file("tracker.yml", "detect: { alpah: 1% }\n");
	expect_usage("diff", "tracker.yml:1:");
	expect_usage("diff --config=none.yml", "none.yml: No such file or directory");
	expect_usage("ab self --config=none.yml", "none.yml: No such file or directory");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, command_folder_open, command_folder_close)
	const struct CMUnitTest tests[] = {T(refused_commands_leave_nothing),
	        T(ranges_exclude_each_other), T(an_empty_history_is_incomplete),
	        T(a_history_that_is_none)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
