// Products and convolutions: their sizes and how many multiplications and additions they are.
#pragma once

#include <cstdint>
#include <string>

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// A product as [batch, m, k] x [batch, k, n].
struct Gemm {
  double batch = 1, m = 1, n = 1, k = 1;
  std::string lhs_type, rhs_type;
  double operations() const { return 2 * batch * m * n * k; }
};

// Of dot, scaled-dot and ragged-dot: of the latter each row of the left meets the weights of its group. A
// left operand of which a sparse format keeps a part counts as the whole.
Gemm GemmOf(const Shape& lhs, const Shape& rhs, const DotDims& dims);

// The dot_dimension_numbers of a library's product in its backend configuration. False: it has none.
bool DotDimsOfConfig(const std::string& config, DotDims* out);

// 2 for each pair of an input and a weight that meet; those that would meet padding or holes do not
// (HloCostAnalysis). x, w and out in the dimensions of `i`.
double ConvolutionOperations(const Shape& x, const Shape& w, const Shape& out, const Instruction& i);

// Whether a convolution is a product, as XLA writes those for TPUs: no window, or one that walks over batches
// or over a contracted dimension.
bool ProductOfConvolution(const Shape& x, const Shape& w, const Shape& out, const Instruction& i, Gemm* gemm);

// The size of a dimension; 1: the shape has no such dimension.
double SizeAt(const Shape& shape, int64_t dim);

}  // namespace chakra::hlo
