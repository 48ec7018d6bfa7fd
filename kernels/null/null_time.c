/* Simulated times. */
#include "element.h"
#include "null.h"
#include <math.h>

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t mix_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = mix(h ^ (unsigned char)*text);
	return h;
}

static double uniform(uint64_t h)
{
	return (double)(h >> 11) * 0x1p-53;
}

static double normal(uint64_t h)
{
	return sqrt(-2 * log(1 - uniform(mix(h)))) * cos(2 * M_PI * uniform(mix(h + 1)));
}

double null_problem_work(const struct tk_problem *p, double *bytes)
{
	switch (p->op) {
	case TK_OP_GEMM: {
		const struct tk_gemm *g = p->gemm;
		double batch = (double)g->batch, m = (double)g->m, n = (double)g->n,
		       k = (double)g->k;
		*bytes = batch * (m * k * (double)tk_element_bytes(g->a) +
		                         k * n * (double)tk_element_bytes(g->b) +
		                         m * n * (double)tk_element_bytes(g->c));
		return batch * m * n * k;
	}
	case TK_OP_ATTENTION: {
		const struct tk_attention *a = p->attention;
		double rows = (double)(a->b * a->h * a->sq),
		       keys = (double)(a->b * a->hkv * a->skv), width = (double)(a->d + a->dv);
		*bytes = (rows + keys) * width * (double)tk_element_bytes(a->dtype);
		return rows * (double)a->skv * width * (a->causal ? 0.5 : 1) *
		       (a->dir == TK_BWD ? 2.5 : 1);
	}
	case TK_OP_NSA: {
		const struct tk_nsa *a = p->nsa;
		double rows = (double)(a->b * a->s),
		       keys = (double)(a->selected_blocks * a->block_size + a->window);
		*bytes = rows * (double)(2 * a->h + 2 * a->hkv) * (double)a->d *
		         (double)tk_element_bytes(a->dtype);
		return rows * (double)a->h * keys * 2 * (double)a->d;
	}
	case TK_OP_FMA:
		*bytes = 0;
		return (double)p->ceiling->bytes;
	default:
		*bytes = (double)p->ceiling->bytes *
		         (p->op == TK_OP_COPY ? 2 : (double)p->ceiling->passes);
		return 0;
	}
}

struct null_times null_times_make(
        const struct null_options *o, const struct tk_problem *p, double config)
{
	double bytes = 0, work = null_problem_work(p, &bytes);
	uint64_t series = mix_text(mix(o->seed), p->text ? p->text : "");
	double base_ns = (2000 + fmax(2 * work / 1e12, bytes / 1e11) * 1e9) *
	                 (0.75 + 0.5 * uniform(mix(series)));
	double step = o->revision >= o->step_at ? o->step : 1;
	return (struct null_times){.run = mix(mix(series ^ mix(o->revision)) ^ mix(o->run + 1)),
	        .typical_ns =
	                base_ns * config * o->slow * step * pow(1 + o->drift, (double)o->revision)};
}

double null_time_ns(const struct null_options *o, const struct null_times *t, uint64_t launch)
{
	uint64_t sample = mix(t->run ^ launch);
	double outlier =
	        uniform(mix(sample)) < o->outliers ? 1 + 3 * uniform(mix(sample ^ 0x5u)) : 1;
	double noise = o->noise > 0 ? exp(o->noise * normal(sample ^ 0xau)) : 1;
	return t->typical_ns * noise * outlier;
}
