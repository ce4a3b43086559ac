// GEMMs and convolutions: their sizes, and their numbers of multiplications and additions.
#pragma once

#include <cstdint>
#include <string>

#include "trace/import/hlo/module.h"

namespace chakra::hlo {

// A GEMM [batch, m, k] x [batch, k, n].
struct Gemm {
  double batch = 1, m = 1, n = 1, k = 1;
  std::string lhs_type, rhs_type;
  double operations() const { return 2 * batch * m * n * k; }
};

// Returns the GEMM of a dot, scaled-dot or ragged-dot. In a ragged-dot, each row of the left operand is
// multiplied by the weights of its group only. A left operand in a sparse format counts as dense.
Gemm GemmOf(const Shape& lhs, const Shape& rhs, const DotDims& dims);

// Reads dot_dimension_numbers from the backend configuration of a library's GEMM. Returns false if it has
// none.
bool DotDimsOfConfig(const std::string& config, DotDims* out);

// Returns 2 for each pair of an input and a weight that are multiplied; padding and holes do not count
// (HloCostAnalysis). x, w and out have the dimensions of `i`.
double ConvolutionOperations(const Shape& x, const Shape& w, const Shape& out, const Instruction& i);

// Whether a convolution is a GEMM; XLA writes GEMMs for TPUs as convolutions. Such a convolution has no
// window, or a window over batches or over a contracted dimension.
bool ProductOfConvolution(const Shape& x, const Shape& w, const Shape& out, const Instruction& i, Gemm* gemm);

// The size of a dimension; 1: the shape has no such dimension.
double SizeAt(const Shape& shape, int64_t dim);

}  // namespace chakra::hlo
