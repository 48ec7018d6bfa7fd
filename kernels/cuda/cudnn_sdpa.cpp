// See cudnn_sdpa.h.
#define CUDNN_FRONTEND_SKIP_JSON_LIB
#include "cudnn_sdpa.h"
#include <cstdio>
#include <cudnn_frontend.h>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>

namespace fe = cudnn_frontend;
using tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

struct cudnn_sdpa {
	fe::graph::Graph graph;
	int tensors;                              // forward: Q K V O LSE; backward: all
	std::unordered_map<int64_t, void *> pack; // kept, so that a launch allocates nothing
};

static int say(struct tk_abi_error *err, int status, const char *what, const std::string &why)
{
	if (err)
		snprintf(err->message, sizeof err->message, "%s: %s", what, why.c_str());
	return status;
}

// The contract's layout [b][s][heads][width], in the library's order of dimensions: batch, heads,
// rows, width.
static fe::graph::Tensor_attributes shape(
        const char *name, int64_t uid, int64_t b, int64_t heads, int64_t s, int64_t width)
{
	return fe::graph::Tensor_attributes()
	        .set_name(name)
	        .set_uid(uid)
	        .set_dim({b, heads, s, width})
	        .set_stride({s * heads * width, width, heads * width, 1});
}

static fe::graph::Tensor_attributes lse_shape(const struct tk_attention *a)
{
	return fe::graph::Tensor_attributes()
	        .set_name("lse")
	        .set_uid(TK_T_LSE)
	        .set_dim({a->b, a->h, a->sq, 1})
	        .set_stride({a->h * a->sq, a->sq, 1, 1})
	        .set_data_type(fe::DataType_t::FLOAT);
}

// An output gets the attributes that inputs get when they are made.
static void place(const tensor &t, const fe::graph::Tensor_attributes &as)
{
	t->set_output(true).set_uid(as.get_uid()).set_dim(as.get_dim()).set_stride(as.get_stride());
}

// Aligned to the bottom right, which for equal lengths is the same as top left; older versions know
// only that one well.
template <typename Attributes>
static void set_mask(Attributes &options, const struct tk_attention *a)
{
	if (!a->causal)
		return;
	options.set_diagonal_alignment(a->sq == a->skv ? fe::DiagonalAlignment_t::TOP_LEFT
	                                               : fe::DiagonalAlignment_t::BOTTOM_RIGHT);
	options.set_diagonal_band_right_bound(0);
}

static void describe(fe::graph::Graph &g, const struct tk_attention *a)
{
	tensor q = g.tensor(shape("Q", TK_T_Q, a->b, a->h, a->sq, a->d));
	tensor k = g.tensor(shape("K", TK_T_K, a->b, a->hkv, a->skv, a->d));
	tensor v = g.tensor(shape("V", TK_T_V, a->b, a->hkv, a->skv, a->dv));
	if (a->dir == TK_FWD) {
		auto options = fe::graph::SDPA_attributes()
		                       .set_name("sdpa")
		                       .set_generate_stats(true)
		                       .set_attn_scale((float)a->scale);
		set_mask(options, a);
		auto [o, lse] = g.sdpa(q, k, v, options);
		place(o, shape("O", TK_T_O, a->b, a->h, a->sq, a->dv));
		place(lse, lse_shape(a));
		lse->set_data_type(fe::DataType_t::FLOAT);
		return;
	}
	tensor o = g.tensor(shape("O", TK_T_O, a->b, a->h, a->sq, a->dv));
	tensor d_o = g.tensor(shape("dO", TK_T_DO, a->b, a->h, a->sq, a->dv));
	tensor lse = g.tensor(lse_shape(a));
	auto options = fe::graph::SDPA_backward_attributes()
	                       .set_name("sdpa_backward")
	                       .set_attn_scale((float)a->scale);
	set_mask(options, a);
	auto [dq, dk, dv] = g.sdpa_backward(q, k, v, o, d_o, lse, options);
	place(dq, shape("dQ", TK_T_DQ, a->b, a->h, a->sq, a->d));
	place(dk, shape("dK", TK_T_DK, a->b, a->hkv, a->skv, a->d));
	place(dv, shape("dV", TK_T_DV, a->b, a->hkv, a->skv, a->dv));
}

// Every step of the frontend from a description to something that runs. Not supported: an outcome;
// all else: an error.
static int build(struct cudnn_sdpa *s, cudnnHandle_t handle, const struct tk_attention *a,
        size_t *workspace_bytes, char algorithm[128], struct tk_abi_error *err)
{
	fe::graph::Graph &g = s->graph;
	int64_t bytes = 0;
	std::string name;
	g.set_io_data_type(a->dtype == TK_F16 ? fe::DataType_t::HALF : fe::DataType_t::BFLOAT16)
	        .set_intermediate_data_type(fe::DataType_t::FLOAT)
	        .set_compute_data_type(fe::DataType_t::FLOAT);
	describe(g, a);
	fe::error_t e = g.validate();
	if (e.is_good())
		e = g.build_operation_graph(handle);
	if (e.is_good())
		e = g.create_execution_plans({fe::HeurMode_t::A});
	if (e.is_good())
		e = g.check_support(handle);
	if (e.is_bad())
		return say(err, TK_ABI_UNSUPPORTED, "cuDNN has no kernel", e.get_message());
	e = g.build_plans(handle);
	if (e.is_good())
		e = g.get_workspace_size(bytes);
	if (e.is_bad())
		return say(err, TK_ABI_INTERNAL, "cuDNN", e.get_message());
	if (g.get_plan_name(name).is_good())
		snprintf(algorithm, 128, "%s", name.c_str());
	*workspace_bytes = (size_t)bytes;
	s->tensors = a->dir == TK_FWD ? TK_T_LSE + 1 : TK_T_MAX;
	for (int i = 0; i < s->tensors; i++)
		s->pack[i] = nullptr;
	return TK_ABI_OK;
}

extern "C" int cudnn_sdpa_new(void *handle, const struct tk_attention *a, struct cudnn_sdpa **out,
        size_t *workspace_bytes, char algorithm[128], struct tk_abi_error *err)
{
	try {
		std::unique_ptr<cudnn_sdpa> s(new cudnn_sdpa());
		int status =
		        build(s.get(), (cudnnHandle_t)handle, a, workspace_bytes, algorithm, err);
		if (status == TK_ABI_OK)
			*out = s.release();
		return status;
	} catch (const std::exception &e) {
		return say(err, TK_ABI_INTERNAL, "cuDNN", e.what());
	}
}

extern "C" int cudnn_sdpa_run(struct cudnn_sdpa *s, void *handle, void *const *tensors,
        void *workspace, struct tk_abi_error *err)
{
	try {
		for (int i = 0; i < s->tensors; i++)
			s->pack[i] = tensors[i];
		fe::error_t e = s->graph.execute((cudnnHandle_t)handle, s->pack, workspace);
		return e.is_good() ? TK_ABI_OK : say(err, TK_ABI_DEVICE, "cuDNN", e.get_message());
	} catch (const std::exception &e) {
		return say(err, TK_ABI_INTERNAL, "cuDNN", e.what());
	}
}

extern "C" void cudnn_sdpa_free(struct cudnn_sdpa *s)
{
	delete s;
}
