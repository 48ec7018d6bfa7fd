/* The machines of the demo history: devices, upstreams and series. */
#include "labs.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "seed.h"

static const char *const subjects[] = {"Use 8x48 micro-kernel on AVX-512",
        "Fix leak in thread pool shutdown", "Retune panel sizes for large L3",
        "Prefetch the next B panel", "Avoid false sharing of the work counters", "Update CI images",
        "Skip masked tiles of causal attention", "Simplify edge handling",
        "Document the environment variables", "Split k when m and n are small",
        "Fuse scaling into the first pass of softmax"};

/* One commit in seven leaves the machine code unchanged; every third one uses other registers. */
static void put_code(int64_t build_id, const char *backend, int commit)
{
	static const char *const names[] = {"", "gemm_kernel", "pack_a"};
	for (size_t i = 0; i < 3; i++) {
		char hash[24];
		int version = i == 2 ? 0 : commit - (commit % 7 == 2);
		snprintf(hash, sizeof hash, "%08x%zu", 0x9e3779b9u * (unsigned)(version + 1), i);
		seed_check(tk_store_put(seed_db, TK_TABLE_kernel,
		        &(struct tk_kernel_row){.build_id = build_id,
		                .backend = backend,
		                .name = names[i],
		                .code_hash = hash,
		                .size_bytes = 4096 + 16 * version,
		                .registers = i == 1 ? 128 + 8 * (commit / 3 % 3) : -1,
		                .spill_bytes = i == 1 ? 0 : -1,
		                .shared_bytes = -1,
		                .threads = -1,
		                .occupancy_percent = -1,
		                .instructions = i == 1 ? "total=816 LDL=12 BAR=1" : ""},
		        NULL, &seed_err));
	}
}

static void make_source(struct seed_source *s, const char *name, const char *kind, const char *url,
        int every, int nights, uint64_t seed)
{
	static char huge[10241];
	memset(huge, 'x', sizeof huge - 1);
	s->id = seed_upstream(name, kind, url);
	s->name = name;
	s->every = every;
	for (int n = 0; n < nights; n++) {
		char rev[41], key[80];
		int commit = n / every;
		for (int i = 0; i < 40; i++)
			rev[i] = "0123456789abcdef"[tk_splitmix64(seed * 1000 +
			                                          (uint64_t)commit * 41 +
			                                          (uint64_t)i) %
			                            16];
		rev[40] = 0;
		const char *subject = subjects[tk_splitmix64(seed + (uint64_t)commit) %
		                               (sizeof subjects / sizeof *subjects)];
		if (commit == 3)
			subject = huge;
		if (commit == 5)
			subject = "Handle </script><img src=x onerror=alert(5)> in \"quoted\" & "
			          "'other' names";
		snprintf(key, sizeof key, "%.20s-%d", name, commit);
		memcpy(s->revs[n], rev, sizeof rev);
		s->revisions[n] = seed_revision(s->id, rev, commit, subject);
		s->builds[n] = seed_build(s->revisions[n], key, "ok", "", "");
		put_code(s->builds[n], name, commit);
	}
}

static struct seed_series_plan *follow(struct seed_lab *lab, size_t source, const char *backend,
        const char *config, int64_t problem_id, const char *role, double value)
{
	struct seed_series_plan *f = &lab->all[lab->count++];
	*f = (struct seed_series_plan){.series = seed_series(lab->device, lab->sources[source].id,
	                                       backend, config, problem_id, role, lab->mode),
	        .upstream = source,
	        .value = value,
	        .noise = 0.003};
	return f;
}

void make_cpu_lab(struct seed_lab *lab, int nights)
{
	lab->mode = "cold";
	lab->machine = seed_machine("epyc-lab",
	        "{\"cpu\":\"AMD EPYC 9554 64-Core "
	        "Processor\",\"cores\":64,\"memory_gb\":384,\"os\":\"Debian 12\"}");
	lab->device = seed_device(
	        lab->machine, "cpu", "AMD EPYC 9554 64-Core Processor", "x86-64-v4", "cpu");
	lab->environments[0] =
	        seed_environment(lab->device, "{\"kernel\":\"6.1.0-37\",\"governor\":\"powersave\","
	                                      "\"microcode\":\"0xa101148\",\"boost\":true}");
	lab->environments[1] = seed_environment(lab->device,
	        "{\"kernel\":\"6.1.0-38\",\"governor\":\"performance\","
	        "\"microcode\":\"0xa101148\",\"boost\":true}");
	lab->environment_changes = 85;
	lab->environment_factor = 0.94;
	make_source(&lab->sources[0], "tracker", "self", "", 3, nights, 1);
	make_source(&lab->sources[1], "openblas", "git",
	        "https://github.com/OpenMathLib/OpenBLAS.git", 3, nights, 2);
	make_source(
	        &lab->sources[2], "blis", "git", "https://github.com/flame/blis.git", 4, nights, 3);
	/* a second upstream with the same backend */
	make_source(&lab->sources[3], "openblas-debian", "system", "", 101, nights, 4);
	lab->source_count = 4;
	static const int sizes[] = {256, 512, 1024, 2048, 4096};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char text[100];
		snprintf(text, sizeof text, "gemm:m=%d,n=%d,k=%d", sizes[i], sizes[i], sizes[i]);
		int64_t p = seed_problem(text, NULL);
		double flops = 2.0 * sizes[i] * sizes[i] * sizes[i], small = 20e3;
		follow(lab, 0, "cpu", "", p, "suite", flops / 1650 + small)->steps[0] =
		        (struct step){sizes[i] == 512 ? nights - 1 : 0, sizes[i] == 512 ? 0.89 : 1};
		struct seed_series_plan *f =
		        follow(lab, 1, "openblas", "", p, "suite", flops / 2310 + small);
		f->steps[0] = (struct step){nights - 1, sizes[i] == 1024   ? 1.094
		                                        : sizes[i] == 2048 ? 1.061
		                                                           : 1};
		f = follow(lab, 2, "blis", "", p, "suite", flops / 2150 + small);
		if (sizes[i] == 2048)
			*f = (struct seed_series_plan){f->series, f->upstream, f->value, f->noise,
			        {{0}}, nights - 1, nights - 1, "wrong",
			        "largest error 0.31 at (17, 204), allowed 1.2e-05"};
	}
	int64_t llama = seed_problem("gemm:m=16,n=4096,k=4096,tb=t", NULL);
	follow(lab, 0, "cpu", "", llama, "suite", 820e3)->noise = 0.02;
	follow(lab, 1, "openblas", "", llama, "suite", 610e3);
	static const int lengths[] = {512, 2048, 8192};
	for (size_t i = 0; i < 3; i++) {
		char text[100];
		snprintf(text, sizeof text, "attention:b=1,h=16,sq=%d,d=64,dtype=f32,causal=1",
		        lengths[i]);
		int64_t p = seed_problem(text, NULL);
		double flops = 2.0 * 16 * lengths[i] * (double)lengths[i] * 64;
		follow(lab, 0, "cpu", "", p, "suite", flops / 900)->steps[0] =
		        (struct step){72, lengths[i] == 2048 ? 0.78 : 1};
		follow(lab, 1, "openblas", "", p, "suite", flops / 610)->steps[0] =
		        (struct step){30, lengths[i] == 8192 ? 1.05 : 1};
	}
	follow(lab, 1, "control", "", seed_problem("gemm:m=768,n=768,k=768", NULL), "control",
	        410e3);
	follow(lab, 1, "control", "", seed_problem("gemm:m=1024,n=1024,k=1024", NULL), "control",
	        300e3); /* faster than all others, but not ranked */
	for (size_t i = 0; i < 4; i++) {
		char text[100];
		snprintf(text, sizeof text, "gemm:m=%d,n=%d,k=%d", sizes[i], sizes[i], sizes[i]);
		double flops = 2.0 * sizes[i] * sizes[i] * sizes[i];
		follow(lab, 3, "openblas", "", seed_problem(text, NULL), "suite",
		        flops / 1900 + 20e3);
	}
	lab->all[lab->count++] = (struct seed_series_plan){
	        .series = seed_series_of_metric(lab->device, lab->sources[1].id, "openblas", "",
	                seed_problem("gemm:m=512,n=512,k=512", NULL), "suite", "cold", "launch"),
	        .upstream = 1,
	        .value = 2.3e3,
	        .noise = 0.003};
	lab->mode = "hot";
	follow(lab, 1, "openblas", "", seed_problem("gemm:m=512,n=512,k=512", NULL), "suite",
	        110e3);
}

void make_gpu_lab(struct seed_lab *lab, int nights)
{
	lab->mode = "paced";
	lab->machine = seed_machine("h200-node-1",
	        "{\"cpu\":\"Intel Xeon Platinum 8468\",\"gpus\":1,\"os\":\"Ubuntu 24.04\"}");
	lab->device = seed_device(lab->machine, "cuda", "NVIDIA H200", "sm_90", "h200-0");
	lab->environments[0] = seed_environment(lab->device,
	        "{\"driver\":\"570.124.06\",\"cuda\":\"12.8\",\"power_"
	        "limit_w\":700,\"persistence\":true}");
	make_source(&lab->sources[0], "cutlass", "git", "https://github.com/NVIDIA/cutlass.git", 3,
	        nights, 11);
	make_source(&lab->sources[1], "cublas", "system", "", 101, nights, 12);
	make_source(&lab->sources[2], "flash-attention", "git",
	        "https://github.com/Dao-AILab/flash-attention.git", 2, nights, 13);
	lab->source_count = 3;
	static const int sizes[] = {1024, 4096, 8192};
	for (size_t i = 0; i < 3; i++) {
		char text[100];
		snprintf(text, sizeof text, "gemm:a=f16,m=%d,n=%d,k=%d", sizes[i], sizes[i],
		        sizes[i]);
		int64_t p = seed_problem(text, NULL);
		double flops = 2.0 * sizes[i] * sizes[i] * (double)sizes[i];
		follow(lab, 0, "cutlass", "128x256x64", p, "suite", flops / 640e3 + 4e3)->steps[0] =
		        (struct step){78, i == 1 ? 0.93 : 1};
		follow(lab, 1, "cublas", "", p, "suite", flops / 700e3 + 4e3);
	}
	for (int b = 1; b <= 4; b *= 2)
		for (int length = 1024; length <= 4096; length *= 2) {
			char text[100];
			snprintf(text, sizeof text, "attention:b=%d,h=16,sq=%d,d=128,dtype=bf16", b,
			        length);
			int64_t p = seed_problem(text, NULL);
			double flops = 4.0 * b * 16 * length * (double)length * 128;
			follow(lab, 0, "cutlass", "128x256x64", p, "suite", flops / 480e3 + 9e3);
			follow(lab, 2, "flash-attention", "", p, "suite", flops / 640e3 + 19e3);
		}
	/* skipped in the last night: its budget was spent */
	for (int m = 16; m <= 512; m *= 2) {
		char text[100];
		snprintf(text, sizeof text, "gemm:a=bf16,m=%d,n=7168,k=2048,tb=t", m);
		struct seed_series_plan *f = follow(
		        lab, 1, "cublas", "", seed_problem(text, NULL), "suite", 9e3 + m * 20);
		f->fails_from = f->fails_to = nights - 1;
		f->outcome = "skipped";
		f->message = "the night's budget (budgets.night) was spent";
	}
	lab->mode = "sustained";
	int64_t long_one = seed_problem("gemm:a=f16,m=8192,n=8192,k=8192", NULL);
	follow(lab, 0, "cutlass", "128x256x64", long_one, "suite", 1.99e6);
	follow(lab, 1, "cublas", "", long_one, "suite", 1.93e6);
	lab->mode = "paced";
	int64_t p = seed_problem("attention:b=4,h=32,hkv=8,sq=4096,d=128,dtype=f16,causal=1", NULL);
	struct seed_series_plan *f = follow(lab, 0, "cutlass", "", p, "suite", 1.6e6);
	f->steps[0] = (struct step){52, 1.12};
	f->steps[1] = (struct step){59, 1 / 1.12};
	f = follow(lab, 1, "cublas", "", p, "suite", 2.9e6);
	f->fails_from = 0;
	f->fails_to = nights;
	f->outcome = "unsupported";
	f->message = "no attention in this library";
}

/* Every name tries to break out of its context. */
void make_hostile_lab(struct seed_lab *lab, int nights)
{
	static char huge[10241];
	for (size_t i = 0; i + 1 < sizeof huge; i++)
		huge[i] = i % 40 == 39 ? ' ' : '<';
	lab->mode = "cold";
	lab->machine = seed_machine("../../<b onmouseover=alert(1)>\"host\"",
	        "{\"<script>\":\"</script><script>alert(6)</script>\",\"deep\":{\"a\":[1,\"'\"]}}");
	lab->device = seed_device(lab->machine, "cpu", HOSTILE, "\xff\xfe not utf-8", HOSTILE);
	lab->environments[0] = seed_environment(lab->device, "not json <script>");
	make_source(&lab->sources[0], HOSTILE, "git", "javascript:alert(1)//github.com/", 5, nights,
	        21);
	lab->source_count = 1;
	follow(lab, 0, "'; DROP TABLE series; --", huge, seed_problem("gemm:m=64,n=64,k=64", huge),
	        "suite", 9e3);
	struct seed_series_plan *f = follow(lab, 0, "</textarea><svg onload=alert(1)>",
	        "\n\r\t\x1b[0m", seed_problem("gemm:m=65,n=64,k=64", HOSTILE), "suite", 9e3);
	f->fails_from = nights - 2;
	f->fails_to = nights;
	f->outcome = "crashed";
	f->message = "SIGSEGV in </td></tr></table><script>alert(7)</script>";
}
