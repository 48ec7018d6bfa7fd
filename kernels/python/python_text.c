/* See python_text.h. All texts are the tracker's own: canonical problems, names of tensors. */
#include "python_text.h"
#include <stdio.h>

static const char *type_name(uint32_t dtype)
{
	static const char *const names[] = {
	        "", "f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "i32", "i64"};
	return dtype < sizeof names / sizeof *names ? names[dtype] : "";
}

static void write_gemm(const struct tk_gemm *g, char *out, size_t size)
{
	snprintf(out, size,
	        ",\"m\":%lld,\"n\":%lld,\"k\":%lld,\"batch\":%lld,\"ta\":%d,\"tb\":%d,\"a\":\"%s\","
	        "\"b\":\"%s\",\"c\":\"%s\",\"acc\":\"%s\"",
	        (long long)g->m, (long long)g->n, (long long)g->k, (long long)g->batch, g->ta,
	        g->tb, type_name(g->a), type_name(g->b), type_name(g->c), type_name(g->acc));
}

static void write_attention(const struct tk_attention *a, char *out, size_t size)
{
	snprintf(out, size,
	        ",\"b\":%lld,\"h\":%lld,\"hkv\":%lld,\"sq\":%lld,\"skv\":%lld,\"d\":%lld,"
	        "\"dv\":%lld,\"dtype\":\"%s\",\"causal\":%d,\"backward\":%d,\"scale\":%.17g",
	        (long long)a->b, (long long)a->h, (long long)a->hkv, (long long)a->sq,
	        (long long)a->skv, (long long)a->d, (long long)a->dv, type_name(a->dtype),
	        a->causal, a->dir == TK_BWD, a->scale);
}

static void write_nsa(const struct tk_nsa *n, char *out, size_t size)
{
	snprintf(out, size,
	        ",\"b\":%lld,\"h\":%lld,\"hkv\":%lld,\"s\":%lld,\"d\":%lld,\"block_size\":%lld,"
	        "\"selected_blocks\":%lld,\"window\":%lld,\"dtype\":\"%s\",\"causal\":%d,"
	        "\"scale\":%.17g",
	        (long long)n->b, (long long)n->h, (long long)n->hkv, (long long)n->s,
	        (long long)n->d, (long long)n->block_size, (long long)n->selected_blocks,
	        (long long)n->window, type_name(n->dtype), n->causal, n->scale);
}

int python_problem_write(const struct tk_problem *p, char *out, struct tk_abi_error *err)
{
	char members[PYTHON_PROBLEM_SIZE / 2];
	const char *op;
	if (p->gemm) {
		op = "gemm";
		write_gemm(p->gemm, members, sizeof members);
	} else if (p->attention) {
		op = "attention";
		write_attention(p->attention, members, sizeof members);
	} else if (p->nsa) {
		op = "nsa";
		write_nsa(p->nsa, members, sizeof members);
	} else {
		snprintf(err->message, sizeof err->message,
		        "Python packages do not do this operation");
		return TK_ABI_UNSUPPORTED;
	}
	snprintf(out, PYTHON_PROBLEM_SIZE, "{\"op\":\"%s\",\"text\":\"%.900s\"%s}", op, p->text,
	        members);
	return TK_ABI_OK;
}

void python_tensors_write(const struct tk_tensor *tensors, uint32_t count, char *out)
{
	size_t used = (size_t)snprintf(out, PYTHON_TENSORS_SIZE, "[");
	const char *separator = "";
	for (uint32_t i = 0; i < count && i < TK_T_MAX; i++) {
		const struct tk_tensor *t = &tensors[i];
		if (!t->data || !t->name)
			continue;
		used += (size_t)snprintf(out + used, PYTHON_TENSORS_SIZE - used,
		        "%s{\"name\":\"%.32s\",\"dtype\":\"%s\",\"pointer\":%llu,\"nbytes\":%zu,"
		        "\"output\":%s,\"shape\":[",
		        separator, t->name, type_name(t->dtype),
		        (unsigned long long)(uintptr_t)t->data, t->bytes,
		        t->output ? "true" : "false");
		for (uint32_t d = 0; d < t->ndim && d < 5; d++)
			used += (size_t)snprintf(out + used, PYTHON_TENSORS_SIZE - used, "%s%lld",
			        d ? "," : "", (long long)t->dim[d]);
		used += (size_t)snprintf(out + used, PYTHON_TENSORS_SIZE - used, "]}");
		separator = ",";
	}
	snprintf(out + used, PYTHON_TENSORS_SIZE - used, "]");
}
