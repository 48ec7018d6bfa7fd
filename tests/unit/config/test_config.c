/* tracker.yml: the defaults, every type of value, and the place and phrase of every mistake. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct tk_config *load(const char *text)
{
	struct tk_config *c = NULL;
	struct tk_error err = {0};

	if (tk_config_load_text("/srv/bench", "tracker.yml", text, strlen(text), &c, &err))
		fail_msg("%s\n%s", text, err.message);
	return c;
}

static void the_default(void **state)
{
	struct tk_config *c = load("");
	char host[256] = "";

	gethostname(host, sizeof host - 1);
	assert_string_equal(c->machine, host);
	assert_null(c->path);
	assert_string_equal(c->devices[0], "all");
	assert_null(c->devices[1]);
	assert_int_equal(c->upstream_count, 2);
	assert_string_equal(c->upstreams[0].name, "self");
	assert_int_equal(c->upstreams[0].kind, TK_UPSTREAM_SELF);
	assert_string_equal(c->upstreams[0].adapter, "self");
	assert_string_equal(c->upstreams[0].backends[0], "cpu");
	assert_int_equal(c->upstreams[1].kind, TK_UPSTREAM_SYSTEM);
	assert_string_equal(c->suites[0], "smoke");
	assert_true(c->budgets.night_s == 4 * 3600 && c->budgets.measure_s == 0.5 &&
	            c->budgets.cache_bytes == 10ull << 30);
	assert_true(c->measure.relative_half_width == 0.01 && c->measure.confidence == 0.95 &&
	            c->measure.pin && c->measure.recheck == 0.02);
	assert_true(isnan(c->thresholds.min_effect) && c->thresholds.min_effect_ns == 100 &&
	            c->thresholds.fdr == 0.05 && c->thresholds.stale_days == 14);
	assert_string_equal(
	        c->control.problem, "gemm:a=f32,acc=f32,b=f32,c=f32,k=512,m=512,n=512,ta=n,tb=n");
	assert_string_equal(c->db, "/srv/bench/tracker.db");
	assert_string_equal(c->site_dir, "/srv/bench/site");
	assert_int_equal(c->keep_samples_days, 90);
	assert_string_equal(c->fail_on[0], "regressed");
	assert_string_equal(c->fail_on[1], "newly-failed");
	assert_null(c->webhook_url);
	assert_null(c->commit_url);
	tk_config_free(c);
}

static void every_kind_of_value(void **state)
{
	struct tk_config *c = load(
	        "machine: \"GPU node <7>\"\n"
	        "devices: [cpu, 'cuda:0']\n"
	        "upstreams:\n"
	        "  - {name: A.b_c-9, kind: git, url: 'https://example.org/x.git', branch: develop, "
	        "path: src, "
	        "adapter: blis, backends: [a, null],\n"
	        "     options: 'threads=2', cmake_args: -DX=1, submodules: no, enabled: off}\n"
	        "  - {name: local, kind: git, url: ../x, adapter: openblas}\n"
	        "  - {name: ssh, kind: git, url: 'git@example.org:o/r.git', adapter: openblas}\n"
	        "  - {name: kernels, kind: self}\n"
	        "  - {name: openblas, kind: system}\n"
	        "  - {name: fake, kind: builtin, backends: [null]}\n"
	        "budgets: {night: 1.5h, build: 45, measure: 250ms, job_memory: 2TiB, cache: "
	        "100GB}\n"
	        "measure: {precision: 0.005, threads: 4, pin: false}\n"
	        "thresholds: {min_effect_time: 2us, stale: 3w}\n"
	        "control: {upstream: fake, backend: 'null', problem: 'fma:dtype=f64,count=9', "
	        "every: 0}\n"
	        "site: {title: Nights, commit_url: 'https://example.org/commit/{rev}'}\n"
	        "paths: {db: /var/lib/x.db, site: out/../public, cache: ~/c, adapters: mine}\n"
	        "retention: {samples: 2w}\n"
	        "notify: {webhook: 'https://example.org/hook', fail_on: [regressed]}\n");
	const struct tk_upstream_config *u = c->upstreams;

	assert_string_equal(c->machine, "GPU node <7>");
	assert_string_equal(c->devices[1], "cuda:0");
	assert_int_equal(c->upstream_count, 6);
	assert_string_equal(u[0].name, "A.b_c-9");
	assert_true(!u[0].submodules[0] && !u[0].enabled && u[1].enabled);
	assert_string_equal(u[1].submodules[0], "yes");
	assert_string_equal(u[0].backends[1], "null");
	assert_null(u[0].backends[2]);
	assert_string_equal(u[0].options, "threads=2");
	assert_string_equal(u[0].cmake_args, "-DX=1");
	assert_string_equal(u[1].url, "/srv/x");
	assert_string_equal(u[2].url, "git@example.org:o/r.git");
	assert_null(u[2].branch);
	assert_null(u[2].backends[0]);
	assert_string_equal(u[3].adapter, "self");
	assert_string_equal(u[4].adapter, "openblas");
	assert_null(u[5].adapter);
	assert_true(c->budgets.night_s == 5400 && c->budgets.build_s == 45 &&
	            c->budgets.measure_s == 0.25 && c->budgets.job_s == 120);
	assert_true(c->budgets.job_memory_bytes == 2ull << 40 &&
	            c->budgets.cache_bytes == 100000000000ull);
	assert_true(c->measure.relative_half_width == 0.005 && c->measure.threads == 4 &&
	            !c->measure.pin);
	assert_true(c->thresholds.min_effect_ns == 2000 && c->thresholds.stale_days == 21);
	assert_string_equal(c->control.backend, "null");
	assert_string_equal(c->control.problem, "fma:count=9,dtype=f64");
	assert_string_equal(c->db, "/var/lib/x.db");
	assert_string_equal(c->site_dir, "/srv/bench/public");
	assert_true(strstr(c->cache_dir, "/c") && c->cache_dir[0] == '/');
	assert_string_equal(c->adapter_path, "/srv/bench/mine");
	assert_string_equal(c->webhook_url, "https://example.org/hook");
	assert_int_equal(c->keep_samples_days, 14);
	tk_config_free(c);
}

/* A key, a section or a value that is there but says nothing is as if it were not there. */
static void empty_is_default(void **state)
{
	static const char *const texts[] = {"", "# nothing\n",
	        "machine:\nbudgets:\nnotify: ~\nsite:\n  title:\n  commit_url: ~\n", "---\n"};
	struct tk_config *whole = load("");

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct tk_config *c = load(texts[i]);

		assert_string_equal(c->hash, whole->hash);
		assert_string_equal(c->site_title, whole->site_title);
		tk_config_free(c);
	}
	tk_config_free(whole);
}

static const struct {
	const char *text, *at, *phrase;
} bad[] = {
        {"- a\n", "1:1", "the file is a list"},
        {"hello\n", "1:1", "the file is a single value"},
        {"machine: a\n---\nmachine: b\n", "3:1", "second document"},
        {"machine: [\n", "2:1", "not valid YAML"},
        {"machine: \"a\n", "2:1", "not valid YAML"},
        {"machine:\n\tx: y\n", "2:1", "tab in the indentation"},
        {"budgets:\n  night: 1h\n  \tjob: 1m\n", "3:3", "tab in the indentation"},
        {"machine: @a\n", "1:10", "not valid YAML"},
        {"\xef"
         "\xbb"
         "\xbf"
         "machine: [a]\n",
                "1:10", "machine is a list"},
        {"\xef"
         "\xbb"
         "\xbf"
         "machine: a\n",
                NULL, NULL},
        {"machine: a\nsite: {title: \"\xff"
         "\"}\n",
                "2:16", "not valid YAML"},
        {"budgts:\n  night: 2h\n", "1:1", "unknown key \"budgts\"; did you mean \"budgets\"?"},
        {"budgets:\n  nigth: 2h\n", "2:3",
                "unknown key \"nigth\" in budgets; did you mean \"night\"?"},
        {"retention:\n  xyzzy: 2h\n", "2:3", "unknown key \"xyzzy\" in retention"},
        {"upstreams:\n  - name: a\n    knid: git\n", "3:5",
                "unknown key \"knid\" in upstreams; did you mean \"kind\"?"},
        {"upstreams:\n  - name: <b>`\x01"
         "`</b>\n    <script>`: git\n",
                "2:15", "not valid YAML"},
        {"upstreams:\n  - <script>`: git\n", "2:5", "unknown key \"<script>`\" in upstreams"},
        {"machine: a\nmachine: b\n", "2:1", "duplicate key \"machine\""},
        {"budgets: {job: 1m, job: 2m}\n", "1:20", "duplicate key \"job\" in budgets"},
        {"[a]: b\n", "1:1", "a key is a list"},
        {"machine: [a]\n", "1:10", "machine is a list"},
        {"devices: cpu\n", "1:10", "devices is a single value"},
        {"upstreams:\n", "1:11", "upstreams is empty"},
        {"upstreams: [self]\n", "1:13", "upstreams is a single value"},
        {"budgets: 2h\n", "1:10", "budgets is a single value"},
        {"suites: [smoke, ]\n", NULL, NULL},
        {"suites:\n  - smoke\n  -\n", "3:4", "an item of suites is empty"},
        {"machine: &m a\nsuites: [*m]\n", "2:10", "alias (*name)"},
        {"machine: \"\"\n", "1:10", "machine: \"\" is not a text"},
        {"machine: \"a\\nb\"\n", "1:10", "machine: \"a b\" is not a text"},
        {"budgets: {night: soon}\n", "1:18", "budgets.night: \"soon\" is not a duration"},
        {"budgets: {night: -1h}\n", "1:18", "budgets.night: \"-1h\" is not a duration"},
        {"budgets: {night: 30d}\n", "1:18", "budgets.night: \"30d\" is out of range"},
        {"budgets: {measure: 0}\n", "1:20", "budgets.measure: \"0\" is out of range"},
        {"budgets: {cache: 4 gb}\n", "1:18", "budgets.cache: \"4 gb\" is not a size"},
        {"budgets: {job_memory: 1MiB}\n", "1:23", "budgets.job_memory: \"1MiB\" is out of range"},
        {"budgets: {measure: 5m}\n", "1:20", "budgets.measure (5m) exceeds budgets.job (2m)"},
        {"measure: {precision: 200%}\n", "1:22", "measure.precision: \"200%\" is out of range"},
        {"measure: {precision: 2percent}\n", "1:22",
                "measure.precision: \"2percent\" is not a percentage"},
        {"measure: {min_samples: 1.5}\n", "1:24",
                "measure.min_samples: \"1.5\" is not a whole number"},
        {"measure: {min_samples: 0}\n", "1:24", "measure.min_samples: \"0\" is out of range"},
        {"measure: {modes: [cuda:fast]}\n", "1:19", "measure.modes: unknown mode \"cuda:fast\""},
        {"measure: {modes: [cpu:hot, cpu:hot]}\n", "1:28",
                "measure.modes: duplicate mode \"cpu:hot\""},
        {"thresholds: {stoppage: 3, missing_data: 4}\n", "1:24",
                "\"stoppage\" is the former name of \"missing_data\", which is given too"},
        {"thresholds: {stoppage: many}\n", "1:24",
                "thresholds.missing_data: \"many\" is not a whole number"},
        {"measure: {modes: [cuda:loaded, cuda:contended]}\n", "1:32",
                "duplicate mode \"cuda:contended\""},
        {"measure:\n  min_samples: 50\n  max_samples: 20\n", "2:16",
                "measure.min_samples (50) exceeds measure.max_samples (20)"},
        {"measure: {pin: maybe}\n", "1:16", "measure.pin: \"maybe\" is not a switch"},
        {"thresholds: {min_effect_time: 2s}\n", "1:31",
                "thresholds.min_effect_time: \"2s\" is out of range"},
        {"thresholds: {stale: 2h}\n", "1:21", "thresholds.stale: \"2h\" is out of range"},
        {"retention: {samples: ever}\n", "1:22", "retention.samples: \"ever\" is not a duration"},
        {"site: {commit_url: 'javascript:alert(1)'}\n", "1:20",
                "site.commit_url: \"javascript:alert(1)\" is not a URL"},
        {"site: {commit_url: 'https://example.org/'}\n", "1:20",
                "site.commit_url: \"https://example.org/\" has no place for the commit"},
        {"notify: {fail_on: [regressed, regresed]}\n", "1:31",
                "notify.fail_on: unknown status \"regresed\"; did you mean \"regressed\"?"},
        {"notify: {fail_on: [none]}\n", NULL, NULL},
        {"notify: {webhook: 'ftp://x'}\n", "1:19", "notify.webhook: \"ftp://x\" is not a URL"},
        {"notify: {fail_on: ['a b']}\n", "1:20", "notify.fail_on: \"a b\" is not a name"},
        {"devices: []\n", "1:10", "devices is an empty list"},
        {"suites: []\n", "1:9", "suites is an empty list"},
        {"upstreams: []\n", "1:12", "upstreams is an empty list"},
        {"suites: [smoke, smok]\n", "1:17", "unknown suite \"smok\"; did you mean \"smoke\"?"},
        {"suites:\n  - ./none.yml\n", "2:5", "no such suite file: ./none.yml"},
        {"suites: [smoke, smoke]\n", "1:17", "duplicate suite \"smoke\""},
        {"upstreams:\n  - kind: self\n", "2:5", "an upstream has no name"},
        {"upstreams:\n  - name: a\n", "2:5", "upstream \"a\" has no kind"},
        {"upstreams:\n  - name: a\n    kind: svn\n", "3:11",
                "upstreams.kind: \"svn\" is not a kind of upstream"},
        {"upstreams: [{name: ../a, kind: self}]\n", "1:20",
                "upstreams.name: \"../a\" is not a name"},
        {"upstreams: [{name: .., kind: self}]\n", "1:20", "upstreams.name: \"..\" is not a name"},
        {"upstreams:\n  - {name: a, kind: self}\n  - {name: b, kind: self}\n  - {name: a, kind: "
         "self}\n",
                "4:12", "duplicate upstream \"a\" (first in line 2)"},
        {"upstreams: [{name: a, kind: git, adapter: x}]\n", "1:29",
                "git upstream \"a\" has no url"},
        {"upstreams: [{name: a, kind: git, url: x}]\n", "1:29",
                "git upstream \"a\" has no adapter"},
        {"upstreams: [{name: a, kind: git, url: --upload-pack=x, adapter: x}]\n", "1:39",
                "upstreams.url: \"--upload-pack=x\" is not a repository"},
        {"upstreams: [{name: a, kind: git, url: 'https://a.b/c d', adapter: x}]\n", "1:39",
                "upstreams.url: \"https://a.b/c d\" is not a repository"},
        {"upstreams: [{name: a, kind: git, url: x, adapter: x, branch: -f}]\n", "1:62",
                "upstream \"a\": not a branch name that git allows"},
        {"upstreams: [{name: a, kind: git, url: x, adapter: x, path: /etc}]\n", "1:60",
                "upstream \"a\": not a path inside the repository"},
        {"upstreams: [{name: a, kind: system, adapter: x, package: x}]\n", "1:58",
                "upstream \"a\" is of kind system, which has no package"},
        {"upstreams: [{name: a, kind: git, url: x, adapter: x, index: 'https://a.b'}]\n", "1:61",
                "upstream \"a\" is of kind git, which has no index"},
        {"upstreams: [{name: a, kind: git, url: x, adapter: x, python: python3.9}]\n", "1:62",
                "upstream \"a\" is of kind git, which has no python"},
        {"upstreams: [{name: a, kind: package, adapter: x, package: p, python: -c}]\n", "1:70",
                "upstream \"a\": not a program or version of Python"},
        {"thresholds: {baseline: 'pinned:'}\n", "1:24", "unknown baseline \"pinned:\""},
        {"upstreams: [{name: a, kind: system, url: x}]\n", "1:42",
                "upstream \"a\" is of kind system, which has no url"},
        {"control: {upstream: slef}\n", "1:21",
                "control.upstream: unknown upstream \"slef\"; did you mean \"self\"?"},
        {"control: {upstream: xxxxxx}\n", "1:21", "control.upstream: unknown upstream \"xxxxxx\""},
        {"control: {upstream: bulitin}\n", "1:21", "did you mean \"builtin\"?"},
        {"sandbox: atuo\n", "1:10",
                "\"atuo\" is not a mode of the sandbox; expected required, auto or off; did you "
                "mean \"auto\"?"},
        {"upstreams: [{name: a, kind: gti, url: b}]\n", "1:29",
                "\"gti\" is not a kind of upstream; expected self, git, package, system or "
                "builtin; did you mean \"git\"?"},
        {"thresholds: {baseline: widnow}\n", "1:24", "did you mean \"window\"?"},
        {"control:\n  problem: gemm:m=1,n=1\n", "2:12", "control.problem: gemm: k is missing"},
};

/* A row without a position loads. */
static void mistakes(void **state)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct tk_config *c = NULL;
		struct tk_error err = {0};
		char place[64];
		int status = tk_config_load_text(
		        "/srv/bench", "tracker.yml", bad[i].text, strlen(bad[i].text), &c, &err);

		if (!bad[i].at) {
			assert_int_equal(status, 0);
			tk_config_free(c);
			continue;
		}
		snprintf(place, sizeof place, "tracker.yml:%s: ", bad[i].at);
		if (strncmp(err.message, place, strlen(place)) != 0 ||
		        !strstr(err.message, bad[i].phrase))
			fail_msg("%s\ngives    %s\nexpected %s%s", bad[i].text,
			        status ? err.message : "no error", place, bad[i].phrase);
		assert_int_equal(status, TK_ECONFIG);
		assert_null(c);
	}
}

static void deep_and_large_files_end(void **state)
{
	static char text[200001];
	struct tk_config *c = NULL;
	struct tk_error err = {0};

	memset(text, '[', sizeof text - 1);
	assert_int_equal(
	        tk_config_load_text("/srv", "tracker.yml", text, sizeof text - 1, &c, &err),
	        TK_ECONFIG);
	assert_non_null(strstr(err.message, "tracker.yml:1:1: brackets are nested too deeply"));
	for (size_t i = 0; i < sizeof text - 1; i++)
		text[i] = i % 2 ? ' ' : '-';
	assert_int_equal(
	        tk_config_load_text("/srv", "tracker.yml", text, sizeof text - 1, &c, &err),
	        TK_ECONFIG);
}

static void the_hash_is_of_the_measurements(void **state)
{
	static const struct {
		const char *text;
		bool same;
	} rows[] = {
	        {"site: {title: other}", true},
	        {"thresholds: {min_effect: 5%}", true},
	        {"notify: {fail_on: []}", true},
	        {"paths: {db: x.db}", true},
	        {"machine: other", true},
	        {"retention: {samples: 1d}", true},
	        {"budgets: {night: 1h}", true},
	        {"measure: {precision: 3%}", false},
	        {"budgets: {measure: 2s}", false},
	        {"devices: [cpu]", false},
	        {"suites: [gemm-core]", false},
	        {"control: {every: 3}", false},
	        {"upstreams: [{name: self, kind: self}]", false},
	        {"budgets: {job: 3m}", false},
	        {"budgets: {job_memory: 2GiB}", false},
	        {"measure: {confidence: 99%}", false},
	        {"measure: {min_samples: 7}", false},
	        {"measure: {max_samples: 777}", false},
	        {"measure: {threads: 1}", false},
	        {"measure: {pin: no}", false},
	        {"measure: {launch_cost: yes}", false},
	        {"measure: {energy: yes}", false},
	        {"measure: {memory: yes}", false},
	        {"measure: {compile_time: yes}", false},
	        {"measure: {modes: ['cpu:hot']}", false},
	        {"control: {upstream: self}", false},
	        {"control: {backend: other}", false},
	        {"control: {problem: 'fma:count=9'}", false},
	        {"measure: {recheck: 5%}", true},
	        {"thresholds: {window: 9, stale: 3w}", true},
	        {"budgets: {build: 9m}", true},
	};
	static const char upstream[] = "upstreams: [{name: u, kind: system, adapter: x, ";
	struct tk_config *plain = load(""), *by_default, *tuned;
	char text[128];

	snprintf(text, sizeof text, "%sconfig: default}]", upstream);
	by_default = load(text);
	snprintf(text, sizeof text, "%sconfig: tuned}]", upstream);
	tuned = load(text);
	assert_string_not_equal(by_default->hash, tuned->hash);
	tk_config_free(by_default);
	tk_config_free(tuned);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tk_config *c = load(rows[i].text);

		if ((strcmp(c->hash, plain->hash) == 0) != rows[i].same)
			fail_msg("%s: the hash is%s the same", rows[i].text,
			        rows[i].same ? " not" : "");
		tk_config_free(c);
	}
	tk_config_free(plain);
}

static void files(void **state)
{
	struct tk_error err = {0};
	struct tk_config *c = NULL;
	char *dir, *path, expected[512];

	assert_int_equal(tk_dir_create_temp("/tmp", "tk-config", &dir, &err), 0);
	assert_int_equal(tk_config_load(dir, NULL, &c, &err), 0);
	assert_null(c->path);
	assert_string_equal(c->root, dir);
	tk_config_free(c);
	assert_int_equal(tk_config_load(dir, "none.yml", &c, &err), TK_ECONFIG);
	assert_non_null(strstr(err.message, "none.yml: No such file or directory"));
	path = tk_path_join(dir, "tracker.yml");
	assert_int_equal(tk_file_write(path, "machine: here\n", 14, &err), 0);
	assert_int_equal(tk_config_load(dir, NULL, &c, &err), 0);
	assert_string_equal(c->path, path);
	assert_string_equal(c->machine, "here");
	snprintf(expected, sizeof expected, "%s/tracker.db", dir);
	assert_string_equal(c->db, expected);
	tk_config_free(c);
	assert_int_equal(tk_config_load("/", path, &c, &err), 0);
	assert_string_equal(c->root, dir);
	tk_config_free(c);
	assert_int_equal(tk_dir_remove(dir, &err), 0);
	free(path);
	free(dir);
}

/* "KIND:" names the devices that measure a suite; anything else before a colon is part of its
 * path. */
static void suites_of_a_kind(void **state)
{
	static const struct {
		const char *entry, *name;
		enum tk_device_kind kind;
	} cases[] = {
	        {"smoke", "smoke", TK_DEVICE_OTHER},
	        {"cpu:smoke", "smoke", TK_DEVICE_CPU},
	        {"cuda:suites/mine.yml", "suites/mine.yml", TK_DEVICE_CUDA},
	        {"hip:first-gpu", "first-gpu", TK_DEVICE_HIP},
	        {"other:x.yml", "other:x.yml", TK_DEVICE_OTHER},
	        {"a/folder:with/a-colon.yml", "a/folder:with/a-colon.yml", TK_DEVICE_OTHER},
	        {":x", ":x", TK_DEVICE_OTHER},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		enum tk_device_kind kind;
		assert_string_equal(tk_config_suite_name(cases[i].entry, &kind), cases[i].name);
		assert_int_equal(kind, cases[i].kind);
	}
}

/* Each key of an upstream that changes what is built and measured. */
static void the_hash_is_of_the_upstreams(void **state)
{
	static const char *const keys[] = {"url: y", "branch: b", "path: p", "adapter: other",
	        "options: o", "cmake_args: -DX=1", "submodules: no", "submodules: [a]",
	        "enabled: no", "backends: [b]"},
	                         *const of_packages[] = {"package: other", "index: 'https://a.b/c'",
	                                 "extra_index: 'https://a.b/c'", "python: python3.12",
	                                 "pre: yes"};
	static const char git[] = "upstreams: [{name: u, kind: git, url: x, adapter: a}]",
	                  package[] =
	                          "upstreams: [{name: u, kind: package, adapter: a, package: p}]";

	(void)state;
	for (size_t i = 0; i < COUNT(keys) + COUNT(of_packages); i++) {
		const bool is_git = i < COUNT(keys);
		const char *key = is_git ? keys[i] : of_packages[i - COUNT(keys)];
		struct tk_config *plain = load(is_git ? git : package), *changed;
		char text[256];

		/* a later key with the same name would be a duplicate: replace it */
		if (strncmp(key, "url", 3) == 0)
			snprintf(text, sizeof text,
			        "upstreams: [{name: u, kind: git, adapter: a, %s}]", key);
		else if (strncmp(key, "adapter", 7) == 0)
			snprintf(text, sizeof text, "upstreams: [{name: u, kind: git, url: x, %s}]",
			        key);
		else if (strncmp(key, "package", 7) == 0)
			snprintf(text, sizeof text,
			        "upstreams: [{name: u, kind: package, adapter: a, %s}]", key);
		else
			snprintf(text, sizeof text, "%.*s, %s}]",
			        (int)strlen(is_git ? git : package) - 2, is_git ? git : package,
			        key);
		changed = load(text);
		if (strcmp(plain->hash, changed->hash) == 0)
			fail_msg("%s: the hash is the same", text);
		tk_config_free(changed);
		tk_config_free(plain);
	}
}

static void baselines(void **state)
{
	static const struct {
		const char *text;
		bool valid;
	} cases[] = {{"window", true}, {"first", true}, {"best", true}, {"pinned:v1", true},
	        {"tag:release", true}, {"pinned:", false}, {"tag:", false}, {"pinned", false},
	        {"tag", false}, {"tags:x", false}, {"pin:v1", false}, {"windows", false},
	        {"", false}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(tk_config_is_baseline(cases[i].text), cases[i].valid);
}

static void backends_that_are_measured(void **state)
{
	static char a[] = "a", b[] = "b";
	char *two[] = {a, b, NULL}, *none[] = {NULL};
	struct tk_upstream_config u = {.backends = two};

	(void)state;
	assert_true(tk_config_measures_backend(&u, "a"));
	assert_true(tk_config_measures_backend(&u, "b"));
	assert_false(tk_config_measures_backend(&u, "ab"));
	u.backends = none; /* all */
	assert_true(tk_config_measures_backend(&u, "c"));
	u.backends = NULL;
	assert_true(tk_config_measures_backend(&u, "c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_hash_is_of_the_upstreams),
	        cmocka_unit_test(baselines),
	        cmocka_unit_test(backends_that_are_measured),
	        cmocka_unit_test(suites_of_a_kind),
	        cmocka_unit_test(the_default),
	        cmocka_unit_test(every_kind_of_value),
	        cmocka_unit_test(empty_is_default),
	        cmocka_unit_test(mistakes),
	        cmocka_unit_test(deep_and_large_files_end),
	        cmocka_unit_test(the_hash_is_of_the_measurements),
	        cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
