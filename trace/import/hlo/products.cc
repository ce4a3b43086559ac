#include "trace/import/hlo/products.h"

#include <simdjson.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace chakra::hlo {
namespace {

double ProductAt(const Shape& shape, const std::vector<int64_t>& dims) {
  double n = 1;
  for (const int64_t d : dims) n *= SizeAt(shape, d);
  return n;
}

// The numbers of a list of texts or numbers: ["0", "2"].
std::vector<int64_t> NumbersOf(simdjson::dom::element value) {
  std::vector<int64_t> out;
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return out;
  for (const simdjson::dom::element e : array) {
    std::string_view text;
    int64_t n = 0;
    if (e.get(n) == simdjson::SUCCESS) {
      out.push_back(n);
    } else if (e.get(text) == simdjson::SUCCESS &&
               absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &n)) {
      out.push_back(n);
    }
  }
  return out;
}

int64_t FloorOf(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }  // b > 0
int64_t ModuloOf(int64_t a, int64_t b) { return a - FloorOf(a, b) * b; }

// Returns x with a * x = 1 modulo m, where a and m have no common divisor.
int64_t InverseOf(int64_t a, int64_t m) {
  int64_t r0 = m, r1 = ModuloOf(a, m), t0 = 0, t1 = 1;
  while (r1 != 0) {
    const int64_t q = r0 / r1;
    std::tie(r0, r1) = std::make_pair(r1, r0 - q * r1);
    std::tie(t0, t1) = std::make_pair(t1, t0 - q * t1);
  }
  return ModuloOf(t0, m);
}

// Counts the o in 0 ... out - 1 for which o * stride + first is in 0 ... extent and divisible by `hole`.
int64_t Rendezvous(int64_t out, int64_t stride, int64_t first, int64_t extent, int64_t hole) {
  const int64_t low = std::max<int64_t>(0, FloorOf(-first + stride - 1, stride)),
                high = std::min(out - 1, FloorOf(extent - first, stride));
  if (low > high) return 0;
  const int64_t common = std::gcd(stride, hole);
  if (first % common != 0) return 0;
  const int64_t period = hole / common;
  if (period == 1) return high - low + 1;
  const int64_t at = ModuloOf(-first / common, period) * InverseOf(stride / common, period) % period;
  const int64_t begin = low + ModuloOf(at - low, period);
  return begin > high ? 0 : (high - begin) / period + 1;
}

// Counts the pairs of an output and a weight along one dimension that use an input, and not padding or a
// hole.
double PairsAlong(const WindowDim& w, int64_t in, int64_t out) {
  constexpr int64_t kMost = int64_t{1} << 30, kMostPlaces = int64_t{1} << 20;
  if (in <= 0 || out <= 0 || w.size <= 0) return 0;
  const bool sane = std::max({in, out, w.stride, w.dilation, w.base_dilation}) <= kMost &&
                    std::min({w.stride, w.dilation, w.base_dilation}) >= 1 && w.pad_low <= kMost &&
                    w.pad_low >= -kMost && w.size <= kMostPlaces;
  if (!sane) return static_cast<double>(out) * static_cast<double>(w.size);
  int64_t pairs = 0;
  for (int64_t k = 0; k < w.size; ++k)
    pairs +=
        Rendezvous(out, w.stride, k * w.dilation - w.pad_low, (in - 1) * w.base_dilation, w.base_dilation);
  return static_cast<double>(pairs);
}

int64_t WholeSize(const Shape& shape, const std::vector<int64_t>& dims, size_t d) {
  return d < dims.size() ? static_cast<int64_t>(SizeAt(shape, dims[d])) : 1;
}

WindowDim WindowOf(const Instruction& i, const Shape& w, size_t d) {
  if (d < i.window.size()) return i.window[d];
  WindowDim told;  // from the shape of the weights only
  told.size = WholeSize(w, i.conv.kernel_spatial, d);
  return told;
}

}  // namespace

double SizeAt(const Shape& shape, int64_t dim) {
  return dim >= 0 && dim < static_cast<int64_t>(shape.dims.size())
             ? static_cast<double>(shape.dims[static_cast<size_t>(dim)])
             : 1;
}

Gemm GemmOf(const Shape& lhs, const Shape& rhs, const DotDims& dims) {
  Gemm g;
  g.batch = ProductAt(lhs, dims.lhs_batch);
  const double left = ProductAt(lhs, dims.lhs_contracting), right = ProductAt(rhs, dims.rhs_contracting);
  g.k = std::max(left, right);
  if (g.batch * left > 0) g.m = static_cast<double>(ElementsOf(lhs)) / (g.batch * left);
  const double others = g.batch * right * ProductAt(rhs, dims.rhs_group);
  if (others > 0) g.n = static_cast<double>(ElementsOf(rhs)) / others;
  g.lhs_type = lhs.type;
  g.rhs_type = rhs.type;
  return g;
}

bool DotDimsOfConfig(const std::string& config, DotDims* out) {
  if (!absl::StrContains(config, "dot_dimension_numbers")) return false;
  simdjson::dom::parser parser;
  simdjson::dom::element root, dims;
  const simdjson::padded_string text(config.data(), config.size());
  if (parser.parse(text).get(root) != simdjson::SUCCESS) return false;
  if (root.at_pointer("/gemm_backend_config/dot_dimension_numbers").get(dims) != simdjson::SUCCESS &&
      root.at_pointer("/dot_dimension_numbers").get(dims) != simdjson::SUCCESS)
    return false;
  const std::pair<const char*, std::vector<int64_t>*> fields[] = {
      {"lhs_contracting_dimensions", &out->lhs_contracting},
      {"rhs_contracting_dimensions", &out->rhs_contracting},
      {"lhs_batch_dimensions", &out->lhs_batch},
      {"rhs_batch_dimensions", &out->rhs_batch}};
  for (const auto& [name, list] : fields) {
    simdjson::dom::element value;
    if (dims[name].get(value) == simdjson::SUCCESS) *list = NumbersOf(value);
  }
  return true;
}

double ConvolutionOperations(const Shape& x, const Shape& w, const Shape& out, const Instruction& i) {
  double pairs = 1;
  for (size_t d = 0; d < i.conv.kernel_spatial.size(); ++d) {
    const WindowDim window = WindowOf(i, w, d);
    const int64_t size = WholeSize(out, i.conv.output_spatial, d);
    pairs *= i.window.empty() ? static_cast<double>(size) * static_cast<double>(window.size)
                              : PairsAlong(window, WholeSize(x, i.conv.input_spatial, d), size);
  }
  const double groups = static_cast<double>(std::max<int64_t>(1, i.feature_groups)) *
                        static_cast<double>(std::max<int64_t>(1, i.batch_groups));
  return 2 * pairs * SizeAt(x, i.conv.input_batch) * SizeAt(x, i.conv.input_feature) *
         SizeAt(w, i.conv.kernel_output) / groups;
}

bool ProductOfConvolution(const Shape& x, const Shape& w, const Shape& out, const Instruction& i,
                          Gemm* gemm) {
  if (i.feature_groups > 1 || i.batch_groups > 1) return false;
  bool product = i.conv.kernel_spatial.empty();
  *gemm = Gemm();
  for (size_t d = 0; d < i.conv.kernel_spatial.size(); ++d) {
    const WindowDim window = WindowOf(i, w, d);
    const int64_t size = WholeSize(out, i.conv.output_spatial, d);
    const double pairs = PairsAlong(window, WholeSize(x, i.conv.input_spatial, d), size);
    if (window.size == 1) {
      gemm->m *= static_cast<double>(size);
    } else if (window.size == size && pairs == static_cast<double>(size)) {
      gemm->batch *= static_cast<double>(size);
      product = true;
    } else if (size == 1 && pairs == static_cast<double>(window.size)) {
      gemm->k *= static_cast<double>(window.size);
      product = true;
    } else {
      return false;
    }
  }
  gemm->m *= SizeAt(x, i.conv.input_batch);
  gemm->k *= SizeAt(x, i.conv.input_feature);
  gemm->n = SizeAt(w, i.conv.kernel_output);
  gemm->lhs_type = x.type;
  gemm->rhs_type = w.type;
  return product;
}

}  // namespace chakra::hlo
