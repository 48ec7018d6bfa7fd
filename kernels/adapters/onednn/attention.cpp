/* Attention, forward, as a graph that oneDNN cuts into partitions: products, scale, mask, softmax.
 * The partitions run one after the other. */
#include "operation.h"
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <oneapi/dnnl/dnnl_graph.hpp>
#include <vector>

namespace
{

using namespace dnnl::graph;
using dims = logical_tensor::dims;
using data_type = logical_tensor::data_type;
using layout = logical_tensor::layout_type;

enum id : size_t { Q, K, V, SCALE, MASK, SCORES, SCALED, MASKED, WEIGHTS, OUT };

/* [batch][length][heads][d] as [batch][heads of K][heads of a group][length][d] */
logical_tensor heads_first(id which, data_type type, int64_t batch, int64_t heads, int64_t group,
        int64_t length, int64_t d)
{
	return {which, type, dims{batch, heads, group, length, d},
	        dims{length * heads * group * d, group * d, d, heads * group * d, 1}};
}

data_type type_of(uint32_t dtype)
{
	return dtype == TK_F32    ? data_type::f32
	       : dtype == TK_BF16 ? data_type::bf16
	                          : data_type::f16;
}

/* The bits of a number in a type: of 0, -infinity and normal positive numbers. */
uint32_t encode(float number, data_type type)
{
	uint32_t bits;
	memcpy(&bits, &number, sizeof bits);
	if (type == data_type::f32)
		return bits;
	if (type == data_type::bf16)
		return (bits + 0x8000) >> 16;
	return number > 0 ? ((bits + 0x1000) >> 13) - (112 << 10) : number < 0 ? 0xfc00 : 0;
}

struct step {
	compiled_partition partition;
	std::vector<logical_tensor> inputs, outputs;
};

struct bound_attention final : bound {
	std::vector<std::vector<tensor>> inputs, outputs; /* of each step */
};

struct attention_operation final : operation {
	allocator memory_of_engine; /* 3.1 needs one, and does not keep it alive */
	dnnl::engine engine =
	        make_engine_with_allocator(dnnl::engine::kind::cpu, 0, memory_of_engine);
	dnnl::stream stream{engine};
	std::map<size_t, logical_tensor> known; /* the tracker's tensors, then results of steps */
	std::map<size_t, std::vector<char>> memory; /* of what is not the tracker's */
	std::vector<step> steps;

	explicit attention_operation(const struct tk_attention *a)
	{
		graph g(dnnl::engine::kind::cpu);
		describe(g, a);
		g.finalize();
		for (const partition &p : g.get_partitions())
			compile(p);
	}

	void describe(graph &g, const struct tk_attention *a)
	{
		const data_type type = type_of(a->dtype);
		const int64_t group = a->h / a->hkv;
		const auto between = [&](id which) {
			return logical_tensor(which, type, dims{a->b, a->hkv, group, a->sq, a->skv},
			        layout::undef);
		};
		const auto add = [&](op::kind kind, const std::vector<logical_tensor> &inputs,
		                         const logical_tensor &output, bool transpose = false) {
			op o(output.get_id(), kind, inputs, {output}, "");
			if (transpose)
				o.set_attr<bool>(op::attr::transpose_b, true);
			if (kind == op::kind::SoftMax)
				o.set_attr<int64_t>(op::attr::axis, -1);
			g.add_op(o);
		};
		known[Q] = heads_first(Q, type, a->b, a->hkv, group, a->sq, a->d);
		known[K] = heads_first(K, type, a->b, a->hkv, 1, a->skv, a->d);
		known[V] = heads_first(V, type, a->b, a->hkv, 1, a->skv, a->d);
		known[OUT] = heads_first(OUT, type, a->b, a->hkv, group, a->sq, a->d);
		known[SCALE] = logical_tensor(SCALE, type, dims{1}, layout::strided);
		fill(SCALE, 1, [&](int64_t) { return static_cast<float>(a->scale); });
		add(op::kind::MatMul, {known[Q], known[K]}, between(SCORES), true);
		add(op::kind::Multiply, {between(SCORES), known[SCALE]}, between(SCALED));
		if (a->causal) {
			known[MASK] = logical_tensor(
			        MASK, type, dims{1, 1, 1, a->sq, a->skv}, layout::strided);
			fill(MASK, a->sq * a->skv, [&](int64_t i) {
				return i % a->skv <= i / a->skv + a->skv - a->sq
				               ? 0
				               : -std::numeric_limits<float>::infinity();
			});
			add(op::kind::Add, {between(SCALED), known[MASK]}, between(MASKED));
		}
		add(op::kind::SoftMax, {between(a->causal ? MASKED : SCALED)}, between(WEIGHTS));
		add(op::kind::MatMul, {between(WEIGHTS), known[V]}, known[OUT]);
	}

	/* Writes value(0), value(1), ... to the memory of a tensor. */
	template <class Value> void fill(id which, int64_t count, Value value)
	{
		std::vector<char> &m = memory[which];
		const data_type type = known[which].get_data_type();
		const size_t bytes = type == data_type::f32 ? 4 : 2;
		m.resize(known[which].get_mem_size());
		for (int64_t i = 0; i < count; i++) {
			const uint32_t bits = encode(value(i), type);
			memcpy(&m[bytes * i], &bits, bytes);
		}
	}

	void compile(const partition &p)
	{
		if (!p.is_supported())
			throw dnnl::error(dnnl_unimplemented, "an operation of the graph");
		step s;
		for (const logical_tensor &t : p.get_input_ports())
			s.inputs.push_back(known.at(t.get_id()));
		for (const logical_tensor &t : p.get_output_ports())
			s.outputs.push_back(known.count(t.get_id())
			                            ? known.at(t.get_id())
			                            : logical_tensor(t.get_id(), t.get_data_type(),
			                                      t.get_dims(), layout::any));
		s.partition = p.compile(s.inputs, s.outputs, engine);
		for (logical_tensor &t : s.outputs) {
			t = s.partition.query_logical_tensor(t.get_id());
			if (!known.count(t.get_id()))
				memory[t.get_id()].resize(t.get_mem_size());
			known[t.get_id()] = t;
		}
		steps.push_back(std::move(s));
	}

	std::unique_ptr<bound> bind(const struct tk_tensor *t) override
	{
		std::unique_ptr<bound_attention> b(new bound_attention);
		const std::map<size_t, void *> given = {{Q, t[TK_T_Q].data}, {K, t[TK_T_K].data},
		        {V, t[TK_T_V].data}, {OUT, t[TK_T_O].data}};
		const auto list = [&](const std::vector<logical_tensor> &tensors) {
			std::vector<tensor> answer;
			for (const logical_tensor &l : tensors)
				answer.emplace_back(l, engine,
				        given.count(l.get_id()) ? given.at(l.get_id())
				                                : memory.at(l.get_id()).data());
			return answer;
		};
		for (const step &s : steps) {
			b->inputs.push_back(list(s.inputs));
			b->outputs.push_back(list(s.outputs));
		}
		return b;
	}

	void run(bound &set) override
	{
		auto &b = static_cast<bound_attention &>(set);
		for (size_t i = 0; i < steps.size(); i++)
			steps[i].partition.execute(stream, b.inputs[i], b.outputs[i]);
		stream.wait();
	}
};

} // namespace

std::unique_ptr<operation> make_attention(
        const struct tk_attention *attention, struct tk_plan_info *info)
{
	std::unique_ptr<attention_operation> op(new attention_operation(attention));
	snprintf(info->kernel, sizeof info->kernel, "graph of %zu partition%s", op->steps.size(),
	        op->steps.size() == 1 ? "" : "s");
	return op;
}
