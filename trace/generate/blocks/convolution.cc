// A gated short convolution (LFM2, Liquid AI, 2025): one GEMM to three times the features, a depthwise
// convolution of a few tokens between two gates, and a GEMM back.
#include "trace/generate/blocks/blocks.h"

namespace chakra::generate {

void DescribeConvolution(BlockWriter* w) {
  const ModelSize& m = w->model();
  const int64_t width = m.hidden / w->split().tp, elements = w->tokens() * width,
                bytes = w->size() * elements;
  const Operators& ops = w->operators();
  w->Begin("conv.add", "conv.post_norm");
  w->SublayerNorm("conv.norm");
  w->Column("conv.in", m.hidden, 3 * width);
  // Gate, convolution, gate.
  std::vector<Operator> forward = {ops.Stream("mul_elementwise_kernel", 3 * bytes, elements),
                                   ops.Convolution(elements, m.conv_kernel, false),
                                   ops.Stream("mul_elementwise_kernel", 3 * bytes, elements)};
  std::vector<Operator> backward = {ops.Stream("mul_backward_elementwise_kernel", 5 * bytes, 2 * elements),
                                    ops.Convolution(elements, m.conv_kernel, true),
                                    ops.Stream("mul_backward_elementwise_kernel", 5 * bytes, 2 * elements)};
  const int32_t core = w->Kernels("conv.core", std::move(forward), std::move(backward), bytes);
  Operation& op = w->at(core);
  op.weights = m.conv_kernel * width;
  op.keeps_input = true;
  op.own_bytes = 2 * bytes;  // the input and the output of the convolution
  op.core = static_cast<double>(m.conv_kernel * width);
  w->RecomputeNorm(w->Row("conv.out", width, m.hidden));
  w->End(2 * width);
}

}  // namespace chakra::generate
