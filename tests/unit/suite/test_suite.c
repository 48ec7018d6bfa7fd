/* Suites: expansion of lists, references and `each`, the shape of public runners, the place and
 * phrase of every mistake, and the shipped suites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "core/problem.h"
#include "suite/builder.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ROWS_MAX 8

static int load(const char *name, const char *text, struct tk_suite **s, struct tk_error *err)
{
	struct tk_buf b = TK_BUF_INIT;
	int status;

	tk_buf_add_str(&b, text);
	status = tk_suite_load_text(name, name, &b, s, err);
	tk_buf_free(&b);
	return status;
}

/* text of the file -> written problems, which are compared in their canonical form */
static const struct {
	const char *name, *text, *problems[ROWS_MAX];
} good[] = {
        {"s.yml", "source: x\nproblems:\n  - gemm: { m: 1, n: 2, k: 3 }\n", {"gemm:m=1,n=2,k=3"}},
        {"s.yml", "problems:\n  - source: x\n    problem: gemm:m=1,n=2,k=3\n",
                {"gemm:m=1,n=2,k=3"}},
        {"s.yml", "source: x\nproblems:\n  - gemm: { m: [1, 2], n: 5, k: 3, a: [f32, bf16] }\n",
                {"gemm:m=1,n=5,k=3,a=f32", "gemm:m=1,n=5,k=3,a=bf16", "gemm:m=2,n=5,k=3,a=f32",
                        "gemm:m=2,n=5,k=3,a=bf16"}},
        {"s.yml", "source: x\nproblems:\n  - gemm: { m: [4, 8], n: $m, k: 2*$m/4, ta: t, tb: n }\n",
                {"gemm:m=4,n=4,k=2,ta=t", "gemm:m=8,n=8,k=4,ta=t"}},
        {"s.yml",
                "source: x\nproblems:\n  - attention: { sq: [512, 1024], b: 2048/$sq, d: 64, h: "
                "128/$d, causal: [no, true] }\n",
                {"attention:b=4,sq=512,h=2,d=64", "attention:b=4,sq=512,h=2,d=64,causal=1",
                        "attention:b=2,sq=1024,h=2,d=64",
                        "attention:b=2,sq=1024,h=2,d=64,causal=1"}},
        {"s.yml",
                "source: x\nproblems:\n  - gemm: { m: [1, 2], k: 7 }\n    each:\n      - { n: 3 "
                "}\n      - { m: 9, n: 4, source: y, group: g }\n",
                {"gemm:m=1,n=3,k=7", "gemm:m=2,n=3,k=7", "gemm:m=9,n=4,k=7"}},
        {"s.yml",
                "source: x\nproblems:\n  - gemm: { m: { from: 3, to: 8, step: 2 }, n: $m, k: 1 }\n",
                {"gemm:m=3,n=3,k=1", "gemm:m=5,n=5,k=1", "gemm:m=7,n=7,k=1"}},
        {"s.yml",
                "source: x\nproblems:\n  - gemm: { m: { from: 8, to: 64, times: 2 }, n: 2, k: 1 "
                "}\n",
                {"gemm:m=8,n=2,k=1", "gemm:m=16,n=2,k=1", "gemm:m=32,n=2,k=1",
                        "gemm:m=64,n=2,k=1"}},
        {"s.yml", "source: x\nproblems:\n  - gemm: { m: { from: 1, to: 2 }, n: [4, 5], k: 1 }\n",
                {"gemm:m=1,n=4,k=1", "gemm:m=1,n=5,k=1", "gemm:m=2,n=4,k=1", "gemm:m=2,n=5,k=1"}},
        {"s.yml",
                "source: x\nproblems:\n  - gemm: { m: { from: 1, to: 999999999998, times: "
                "999999999999 }, n: 1, k: 1 }\n    pick: 1\n    seed: 1\n",
                {"gemm:m=1,n=1,k=1"}},
        {"s.yml", "source: x\nproblems:\n  - gemm: { m: [1, 2], n: 1, k: 1 }\n    pick: 2\n",
                {"gemm:m=1,n=1,k=1", "gemm:m=2,n=1,k=1"}},
        {"s.json", "{\"gemm\": [{\"m\": 1, \"n\": 2, \"k\": 3}]}", {"gemm:m=1,n=2,k=3,a=f16"}},
        {"s.json",
                "{\t\"gemm\":\t[{\"m\":1,\t\"n\":2,\"k\":3,\"dtype\":\"bfloat16\",\"out_dtype\":"
                "\"float\",\"trans_a\":true,\"transB\":\"N\"}]\n}\n",
                {"gemm:m=1,n=2,k=3,a=bf16,c=f32,ta=t"}},
        {"s.json",
                "{\"mha\":[{\"batch\":2,\"heads\":8,\"seq_len\":256,\"dim\":64,\"is_causal\":true},"
                "{\"batch\":2,\"heads\":8,\"seq_len\":256,\"dim\":64,"
                "\"is_causal\":true}]}",
                {"attention:b=2,h=8,sq=256,d=64,causal=1"}},
        {"s.json",
                "{\"nsa\":[{\"batch\":1,\"heads\":32,\"seq_len\":512,\"dim\":64,\"is_causal\":"
                "false,\"scale\":null,\"block_size\":32,\"groups\":16,"
                "\"selected_blocks\":4}]}",
                {"nsa:b=1,h=32,hkv=2,s=512,d=64,block_size=32,selected_blocks=4,causal=0"}},
};

static void expansion(void **state)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		struct tk_suite *s = NULL;
		struct tk_error err = {0};
		size_t n = 0;

		if (load(good[i].name, good[i].text, &s, &err))
			fail_msg("%s\n%s", good[i].text, err.message);
		for (; n < ROWS_MAX && good[i].problems[n]; n++) {
			struct tk_problem_spec p;

			assert_true(n < s->count);
			assert_int_equal(tk_problem_parse(&p, good[i].problems[n], &err), 0);
			assert_string_equal(s->problems[n].text, p.text);
			assert_true(*s->problems[n].source);
		}
		assert_int_equal(s->count, n);
		tk_suite_free(s);
	}
}

static void origin(void **state)
{
	struct tk_suite *s = NULL;
	struct tk_error err = {0};

	assert_int_equal(load("dir/mine.v2.yml",
	                         "title: Mine\nsource: top\ngroup: g\nproblems:\n"
	                         "  - gemm: {m: 1, n: 1, k: 1}\n  - gemm: {m: 2, k: 2}\n    "
	                         "source: entry\n    each: "
	                         "[{n: 1}, {n: 2, source: item, group: h}]\n",
	                         &s, &err),
	        0);
	assert_string_equal(s->name, "mine.v2");
	assert_string_equal(s->title, "Mine");
	assert_string_equal(s->problems[0].source, "top");
	assert_string_equal(s->problems[1].source, "entry");
	assert_string_equal(s->problems[1].group, "g");
	assert_string_equal(s->problems[2].source, "item");
	assert_string_equal(s->problems[2].group, "h");
	tk_suite_free(s);
	assert_int_equal(
	        load("/x/runner.json", "{\"gemm\":[{\"m\":1,\"n\":1,\"k\":1}]}", &s, &err), 0);
	assert_string_equal(s->title, "runner");
	assert_string_equal(s->problems[0].source, "runner.json");
	assert_string_equal(s->problems[0].group, "gemm");
	tk_suite_free(s);
}

#define P "source: x\nproblems:\n"

static const struct {
	const char *name, *text, *at, *phrase;
} bad[] = {
        {"s.yml", "", "1:1", "the file is empty"},
        {"s.yml", "[1]", "1:1", "the file is a list"},
        {"s.yml", "a: [", "2:1", "not valid YAML"},
        {"s.yml", "titel: x\n", "1:1", "unknown key \"titel\" in a suite; did you mean \"title\"?"},
        {"s.yml", "title: x\n", "1:1", "problems is empty"},
        {"s.yml", "title: [x]\nproblems: []\n", "1:8", "title is a list"},
        {"s.yml", "problems: 7\n", "1:11", "problems is a single value"},
        {"s.yml", "problems: []\n", "1:1", "the suite has no problems"},
        {"s.yml", P "  - gemm:m=1\n", "3:5", "an entry of problems is a single value"},
        {"s.yml", P "  - gem: {m: 1}\n", "3:5",
                "unknown key \"gem\" in problems; did you mean \"gemm\"?"},
        {"s.yml", P "  - gemm: {m: 1}\n    fma: {count: 1}\n", "3:5",
                "an entry has several problems"},
        {"s.yml", P "  - group: g\n", "3:5", "an entry has no problem"},
        {"s.yml", "problems:\n  - gemm: {m: 1, n: 1, k: 1}\n", "2:11", "this entry has no source"},
        {"s.yml", P "  - gemm: [1]\n", "3:11", "gemm is a list"},
        {"s.yml", P "  - gemm: {m: 1, n: 1, kk: 1}\n", "3:24", "gemm: unknown key"},
        {"s.yml", P "  - gemm: {m: 1, m: 1, k: 1}\n", "3:18", "duplicate key \"m\""},
        {"s.yml", P "  - gemm: {m: 1, n: 1}\n", "3:11", "gemm: k is missing"},
        {"s.yml", P "  - gemm:\n      m: 1\n      n: [1, 0]\n      k: 1\n", "5:14", "gemm: n"},
        {"s.yml", P "  - gemm: {m: 1, n: 1, k: 1, a: [f32, f31]}\n", "3:39", "gemm: a"},
        {"s.yml", P "  - gemm: {m: [], n: 1, k: 1}\n", "3:15", "m is an empty list"},
        {"s.yml", P "  - gemm: {m: [[1]], n: 1, k: 1}\n", "3:16", "m is a list"},
        {"s.yml", P "  - gemm: {m: {from: 1, to: 2, by: 3}, n: 1, k: 1}\n", "3:32",
                "unknown key \"by\" in a range"},
        {"s.yml", P "  - gemm: {m: {from: 1}, n: 1, k: 1}\n", "3:15",
                "expected from, to, and step"},
        {"s.yml", P "  - gemm: {m: {from: 1, to: 2, step: 1, times: 2}, n: 1, k: 1}\n", "3:15",
                "expected from, to, and step"},
        {"s.yml", P "  - gemm: {m: {from: 4, to: 2}, n: 1, k: 1}\n", "3:29",
                "to is not a whole number from 4"},
        {"s.yml", P "  - gemm: {m: {from: 0, to: 2, times: 2}, n: 1, k: 1}\n", "3:22",
                "from is not a whole number from 1"},
        {"s.yml", P "  - gemm: {m: {from: 1, to: 2, times: 1}, n: 1, k: 1}\n", "3:39",
                "times is not a whole number from 2"},
        {"s.yml", P "  - gemm: {m: {from: 1, to: 9, step: 0}, n: 1, k: 1}\n", "3:38",
                "step is not a whole number from 1"},
        {"s.yml", P "  - gemm: {m: {from: 1, to: 20000}, n: 1, k: 1}\n", "3:11",
                "multiply to more than 10000 problems; `pick: N`"},
        {"s.yml", P "  - gemm: {m: &r {from: 1, to: 999999999999}, n: *r, k: *r}\n    pick: 3\n",
                "3:11", "multiply to more than 9223372036854775807 problems"},
        {"s.yml", "rotate: 0\n" P "  - problem: fma:count=1\n", "1:9", "rotate is not"},
        {"s.yml", "rotate: 367\n" P "  - problem: fma:count=1\n", "1:9",
                "rotate: expected at most 366 nights"},
        {"s.yml", "rotate: daily\n" P "  - problem: fma:count=1\n", "1:9", "rotate is not"},
        {"s.yml", P "  - gemm: {m: [1, 2], n: 1, k: 1}\n    pick: 3\n", "3:11",
                "pick is 3, but this entry has only 2 combinations"},
        {"s.yml", P "  - gemm: {m: [1, 2], n: 1, k: 1}\n    pick: 0\n", "4:11", "pick is not"},
        {"s.yml", P "  - gemm: {m: {from: 1, to: 20000}, n: 1, k: 1}\n    pick: 10001\n", "4:11",
                "at most 10000"},
        {"s.yml", P "  - gemm: {m: [1, 2], n: 1, k: 1}\n    seed: 1\n", "4:11",
                "seed without pick"},
        {"s.yml", P "  - problem: fma:count=1\n    pick: 1\n", "4:11",
                "pick cannot be combined with problem"},
        {"s.yml", P "  - gemm: {m: , n: 1, k: 1}\n", "3:15", "m is empty"},
        {"s.yml", P "  - gemm: {m: \"1,n=5\", n: 1, k: 1}\n", "3:15", "m: not a single value"},
        {"s.yml", P "  - gemm: {m: $q, n: 1, k: 1}\n", "3:15",
                "m: cannot compute \"$q\" (not a number"},
        {"s.yml", P "  - gemm: {m: $n, n: $m, k: 1}\n", "3:15",
                "m: cannot compute \"$n\" (not a number"},
        {"s.yml", P "  - gemm: {m: 7, n: $m/2, k: 1}\n", "3:21",
                "n: cannot compute \"$m/2\" (the division leaves a remainder)"},
        {"s.yml", P "  - gemm: {m: 7, n: $m+2, k: 1}\n", "3:21",
                "n: cannot compute \"$m+2\" (the operators"},
        {"s.yml", P "  - gemm: {m: 7, n: $m/0, k: 1}\n", "3:21",
                "n: cannot compute \"$m/0\" (the division leaves a remainder)"},
        {"s.yml", P "  - gemm: {m: 999999999999, n: $m*$m, k: 1}\n", "3:15", "gemm: m"},
        {"s.yml", P "  - gemm: {n: 999999999*999999999*$m, m: 2, k: 1}\n", "3:15", "gemm: n"},
        {"s.yml", P "  - gemm: {m: 1, n: 1, k: 1}\n  - gemm: {m: 1, n: 1, k: [2, 1]}\n", "4:11",
                "duplicate problem gemm:a=f32,acc=f32,b=f32,c=f32,k=1,m=1,n=1,ta=n,tb=n (first in "
                "line 3)"},
        {"s.yml", P "  - gemm: {m: 1}\n    each: 5\n", "4:11", "each is a single value"},
        {"s.yml", P "  - gemm: {m: 1}\n    each: []\n", "4:11", "each is empty"},
        {"s.yml", P "  - gemm: {m: 1}\n    each: [5]\n", "4:12",
                "an item of each is a single value"},
        {"s.yml", P "  - problem: fma:count=1\n    each: []\n", "4:11",
                "each cannot be combined with problem"},
        {"s.yml", P "  - problem: fma:conut=1\n", "3:14", "fma: unknown key"},
        {"s.yml", P "  - problem: []\n", "3:14", "problem is a list"},
        {"s.json", "{", "1:1", "not valid JSON"},
        {"s.json", "[1]", "1:1", "the file is a list"},
        {"s.json", "{}", "1:1", "the suite has no problems"},
        {"s.json", "{\"gem\":[]}", "1:2", "unknown kernel \"gem\""},
        {"s.json", "{\"conv2d\":[]}", "1:2",
                "unknown kernel \"conv2d\"; expected gemm, matmul, mha, "},
        {"s.json", "{\"matmull\":[]}", "1:2", "unknown kernel \"matmull\"; expected matmul"},
        {"s.json", "{\"nsaa\":[]}", "1:2", "unknown kernel \"nsaa\"; expected nsa"},
        {"s.json", "{\"gemm\":[{\"m\":1,\"n\":1,\"k\":1,\"trans_a\":\"X\"}]}", "1:39", "gemm: ta"},
        {"s.json", "{\"gemm\":{}}", "1:9", "gemm is a mapping"},
        {"s.json", "{\"gemm\":[1]}", "1:10", "an item of gemm is a single value"},
        {"s.json", "{\n \"mha\":[{\"batch\":1,\n  \"head\":8}]}", "3:3",
                "unknown key \"head\" in mha; did you mean \"heads\"?"},
        {"s.json", "{\"mha\":[{\"batch\":1,\"b\":8}]}", "1:20", "duplicate key: \"b\" also sets b"},
        {"s.json", "{\"gemm\":[{\"m\":1.5,\"n\":1,\"k\":1}]}", "1:15", "gemm: m"},
        {"s.json", "{\"nsa\":[{\"heads\":8,\"groups\":3,\"batch\":1,\"seq_len\":64,\"dim\":8}]}",
                "1:29", "hkv: cannot compute \"$h/3\" (the division leaves a remainder)"},
        {"s.json", "{\"nsa\":[{\"heads\":8,\"groups\":\"x\"}]}", "1:29",
                "groups is not a whole number"},
        {"s.json", "{\"nsa\":[{\"heads_kv\":8,\"groups\":2}]}", "1:23",
                "both groups and the number of kv heads are given"},
};

static void rotation(void **state)
{
	static const struct {
		const char *name, *text;
		uint32_t nights;
	} cases[] = {
	        {"s.yml", "source: x\nproblems:\n  - problem: fma:count=1\n", 0},
	        {"s.yml", "rotate: 7\nsource: x\nproblems:\n  - problem: fma:count=1\n", 7},
	        {"s.yml", "rotate: 366\nsource: x\nproblems:\n  - problem: fma:count=1\n", 366},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_suite *s = NULL;
		struct tk_error err = {0};

		assert_int_equal(load(cases[i].name, cases[i].text, &s, &err), 0);
		assert_int_equal(s->rotate_nights, cases[i].nights);
		tk_suite_free(s);
	}
}

static void mistakes(void **state)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct tk_suite *s = NULL;
		struct tk_error err = {0};
		char place[64];
		int status = load(bad[i].name, bad[i].text, &s, &err);

		snprintf(place, sizeof place, "%s:%s: ", bad[i].name, bad[i].at);
		if (strncmp(err.message, place, strlen(place)) != 0 ||
		        !strstr(err.message, bad[i].phrase))
			fail_msg("%s\ngives    %s\nexpected %s%s", bad[i].text,
			        status ? err.message : "no error", place, bad[i].phrase);
		assert_int_equal(status, TK_ECONFIG);
		assert_null(s);
	}
}

/* Of 4096^3 shapes: all different, within the bounds, the same for a seed, others for another. */
static void picked_shapes(void **state)
{
	struct tk_suite *s[3] = {NULL};
	struct tk_error err = {0};
	size_t equal = 0;

	for (int i = 0; i < 3; i++) {
		char text[256];

		snprintf(text, sizeof text,
		        P "  - gemm: { m: { from: 1, to: 4096 }, n: { from: 1, to: 4096 }, "
		          "k: { from: 8, to: 32768, step: 8 } }\n    pick: 500\n    seed: %d\n",
		        i == 2 ? 8 : 7);
		if (load("s.yml", text, &s[i], &err))
			fail_msg("%s", err.message);
		assert_int_equal(s[i]->count, 500);
	}
	for (size_t i = 0; i < 500; i++) {
		struct tk_problem_spec p;

		assert_int_equal(tk_problem_parse(&p, s[0]->problems[i].text, &err), 0);
		assert_true(p.gemm.m >= 1 && p.gemm.m <= 4096 && p.gemm.k % 8 == 0);
		assert_string_equal(s[0]->problems[i].text, s[1]->problems[i].text);
		equal += !strcmp(s[0]->problems[i].text, s[2]->problems[i].text);
	}
	assert_true(equal < 5);
	for (int i = 0; i < 3; i++)
		tk_suite_free(s[i]);
}

static void too_many_problems(void **state)
{
	struct tk_buf b = TK_BUF_INIT;
	struct tk_suite *s = NULL;
	struct tk_error err = {0};

	tk_buf_add_str(&b, P "  - gemm: { k: 1, m: [1");
	for (int i = 2; i <= 101; i++)
		tk_buf_add_printf(&b, ", %d", i);
	tk_buf_add_str(&b, "], n: [1");
	for (int i = 2; i <= 100; i++)
		tk_buf_add_printf(&b, ", %d", i);
	tk_buf_add_str(&b, "] }\n");
	assert_int_equal(tk_suite_load_text("s.yml", "s.yml", &b, &s, &err), TK_ECONFIG);
	assert_non_null(
	        strstr(err.message, "s.yml:3:11: the lists and ranges of this entry multiply"));
	tk_buf_free(&b);
}

/* The shipped suites: how many problems, and a problem that must be among them. */
static void shipped_suites(void **state)
{
	static const struct {
		const char *name;
		size_t count;
		const char *has;
	} rows[] = {
	        {"smoke", 13, "gemm:m=512,n=512,k=512"},
	        {"first-gpu", 14, "gemm:m=4096,n=4096,k=4096,a=e4m3,c=bf16,tb=t"},
	        {"gemm-core", 105, "gemm:m=16,n=22016,k=4096,a=bf16"},
	        {"gemm-deepseek", 48, "gemm:m=128,n=129280,k=7168,a=bf16,c=f32,tb=t"},
	        {"attention-core", 115, "attention:b=4,sq=4096,h=8,d=256,causal=1"},
	        {"compilers-core", 16, "attention:b=4,sq=4096,h=16,d=128,dtype=bf16,causal=1"},
	        {"cpu-core", 12, "gemm:m=1,n=1024,k=1024"},
	        {"attention-d256", 8, "attention:b=4,sq=512,h=8,d=256,causal=1"},
	        {"gemm-full", 1360, "gemm:m=1,n=32000,k=5120,a=f16,tb=t"},
	        {"attention-full", 840, "attention:b=1,h=8,sq=64,d=64,dtype=bf16"},
	        {"nsa-full", 270, "nsa:b=1,s=256,h=16,d=64,block_size=32,selected_blocks=4"},
	        {"nsa-core", 4, "nsa:b=2,s=1024,h=128,hkv=8,d=64,selected_blocks=8,block_size=32"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tk_suite *s = NULL;
		struct tk_error err = {0};
		struct tk_problem_spec p;
		bool found = false;

		if (tk_suite_load("/nonexistent", rows[i].name, &s, &err))
			fail_msg("%s: %s", rows[i].name, err.message);
		assert_int_equal(tk_problem_parse(&p, rows[i].has, &err), 0);
		for (size_t j = 0; j < s->count; j++)
			found = found || strcmp(s->problems[j].text, p.text) == 0;
		assert_true(found);
		assert_int_equal(s->count, rows[i].count);
		assert_int_equal(strlen(s->hash), 64);
		tk_suite_free(s);
	}
}

static void finding_files(void **state)
{
	struct tk_suite *s = NULL;
	struct tk_error err = {0};
	char **names = NULL, *dir, *folder, *path;
	size_t count = 0;
	static const char text[] = P "  - fma: {count: 1}\n";

	assert_int_equal(tk_dir_create_temp("/tmp", "tk-suite", &dir, &err), 0);
	folder = tk_path_join(dir, "suites");
	path = tk_path_join(folder, "smoke.yml");
	assert_int_equal(tk_dir_create(folder, &err), 0);
	assert_int_equal(tk_file_write(path, text, sizeof text - 1, &err), 0);
	assert_int_equal(tk_suite_load(dir, "smoke", &s, &err), 0);
	assert_int_equal(s->count, 1);
	assert_string_equal(s->path, path);
	tk_suite_free(s);
	assert_int_equal(tk_suite_load(dir, "suites/smoke.yml", &s, &err), 0);
	tk_suite_free(s);
	assert_int_equal(tk_suite_list_names(dir, &names, &count, &err), 0);
	assert_int_equal(count, 18);
	assert_string_equal(names[0], "attention-core");
	tk_names_free(names, count);
	assert_int_equal(tk_suite_load(dir, "smoek", &s, &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "unknown suite \"smoek\"; did you mean \"smoke\"?");
	assert_int_equal(tk_suite_load(dir, "../x.yml", &s, &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "no such suite file: ../x.yml");
	assert_int_equal(tk_dir_remove(dir, &err), 0);
	free(path);
	free(folder);
	free(dir);
}

/* "T", "N", true and false of other runners are t and n. */
static void transpositions_of_other_runners(void **state)
{
	static const struct {
		const char *written, *ta;
	} cases[] = {{"true", "t"}, {"\"T\"", "t"}, {"false", "n"}, {"\"N\"", "n"}, {"\"t\"", "t"}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_suite *s = NULL;
		struct tk_error err = {0};
		char text[128], ta[8];

		snprintf(text, sizeof text, "{\"gemm\":[{\"m\":1,\"n\":1,\"k\":1,\"trans_a\":%s}]}",
		        cases[i].written);
		if (load("s.json", text, &s, &err))
			fail_msg("%s: %s", text, err.message);
		snprintf(ta, sizeof ta, "ta=%s", cases[i].ta);
		assert_non_null(strstr(s->problems[0].text, ta));
		tk_suite_free(s);
	}
}

/* As many problems as a suite may have, and one more. */
static void the_largest_suite(void **state)
{
	static const char *const more[] = {"", "  - fma: { count: 10001 }\n"};

	(void)state;
	for (size_t i = 0; i < COUNT(more); i++) {
		struct tk_suite *s = NULL;
		struct tk_error err = {0};
		char text[256];

		snprintf(text, sizeof text, P "  - fma: { count: { from: 1, to: 10000 } }\n%s",
		        more[i]);
		int status = load("s.yml", text, &s, &err);
		assert_int_equal(status, i ? TK_ECONFIG : 0);
		if (i)
			assert_string_equal(
			        err.message, "s.yml:4:10: the suite has more than 10000 problems");
		else
			assert_int_equal(s->count, 10000);
		tk_suite_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(transpositions_of_other_runners),
	        cmocka_unit_test(the_largest_suite),
	        cmocka_unit_test(expansion),
	        cmocka_unit_test(origin),
	        cmocka_unit_test(rotation),
	        cmocka_unit_test(mistakes),
	        cmocka_unit_test(picked_shapes),
	        cmocka_unit_test(too_many_problems),
	        cmocka_unit_test(shipped_suites),
	        cmocka_unit_test(finding_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
