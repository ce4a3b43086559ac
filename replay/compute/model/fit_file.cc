#include "replay/compute/model/fit_file.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace chakra::laws {
namespace {

constexpr ConstantName kGemmNames[kGemmConstants] = {
    {"start_cycles", "from launch to drain"},
    {"peak_share", "of the peak that the largest tile reaches"},
    {"memory_share", "of the bandwidth of memory"},
    {"feed_bytes", "from the last cache, for each operation of the peak"},
    {"tile_cycles", "around each tile"},
    {"half_tile", "elements: the side of a tile whose edges take half of the rate"},
    {"split_cycles", "around a split of k"},
    {"split_share", "of the bandwidth of memory with which parts of a split are added"},
    {"raster_tiles", "that lie side by side in a wave"},
    {"hot_share", "of its time that a long kernel takes longer, as power limits the clock"},
    {"hot_us", "at which it does by half"},
    {"step_cycles", "least that a step of 64 elements along k takes"}};

constexpr ConstantName kAttentionNames[kAttentionConstants] = {
    {"start_cycles", "from launch to drain"},
    {"peak_share", "of the peak"},
    {"pair_cycles", "of a unit for a pair of query and key, in addition to its GEMMs"},
    {"tail_share", "of the longest block, for which the others wait"},
    {"memory_share", "of the bandwidth of memory"},
    {"block_cycles", "for each 128 keys of a block"}};

constexpr ConstantName kMoeNames[kMoeConstants] = {
    {"start_cycles", "from launch to drain"},
    {"peak_share", "of the peak"},
    {"memory_share", "of the bandwidth of memory"},
    {"block_rows", "to which rows of an expert are padded"},
    {"row_share", "of the bandwidth of memory, for rows between the GEMMs"},
    {"expert_cycles", "for each expert in use"},
    {"hot_share", "of the tokens that the hottest experts could draw"}};

// Reads words and numbers between blanks and comments. After an error it reads nothing more.
class Scanner {
 public:
  Scanner(absl::string_view name, absl::string_view text) : name_(name), text_(text), left_(text) {}

  bool Take(absl::string_view word) {
    SkipBlanks();
    return absl::ConsumePrefix(&left_, word) || Fail(word);
  }

  double Number() {
    SkipBlanks();
    double number = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), number);
    if (error != std::errc()) {
      Fail("a number");
    } else {
      left_.remove_prefix(end - left_.data());
    }
    return number;
  }

  std::string Quoted() {
    if (!Take("\"")) return "";
    const size_t end = left_.find('"');
    if (end == absl::string_view::npos || end == 0) {
      Fail("a name in quotes");
      return "";
    }
    std::string out(left_.substr(0, end));
    left_.remove_prefix(end + 1);
    return out;
  }

  KernelDtype Dtype() {
    const std::string name = Quoted();
    for (int i = 0; i < kKernelDtypes; ++i) {
      if (Name(static_cast<KernelDtype>(i)) == name) return static_cast<KernelDtype>(i);
    }
    Fail("a dtype");
    return KernelDtype::kBf16;
  }

  // The rest of the text, from the next word on.
  absl::string_view Rest() {
    SkipBlanks();
    return left_;
  }

  bool Fail(absl::string_view expected) {
    if (!status_.ok()) return false;
    const auto line = 1 + std::count(text_.data(), left_.data(), '\n');
    status_ = absl::InvalidArgumentError(absl::StrCat(name_, ":", line, ": expected ", expected));
    left_ = "";
    return false;
  }
  const absl::Status& status() const { return status_; }

 private:
  void SkipBlanks() {
    while (!left_.empty() && (left_[0] == ' ' || left_[0] == '\n' || left_[0] == '#')) {
      left_.remove_prefix(left_[0] == '#' ? std::min(left_.find('\n'), left_.size()) : 1);
    }
  }

  absl::string_view name_, text_, left_;
  absl::Status status_;
};

void TakeBands(absl::string_view word, Scanner* from, std::array<double, kBands>* to) {
  from->Take(word);
  for (size_t band = 0; band < kBands; ++band) {
    from->Take(band == 0 ? "[" : ",");
    (*to)[band] = from->Number();
  }
  from->Take("]");
}

template <typename Fit>
void TakeKernel(Scanner* from, Fit* fit) {
  from->Take("device:");
  fit->device = from->Quoted();
  from->Take("kernel:");
  fit->kernel = from->Quoted();
  from->Take("dtype:");
  fit->dtype = from->Dtype();
}

// Reads the rest of the head, and the table, whose number of rows must be a multiple of `rows`.
template <typename Fit>
void TakeLaw(size_t rows, size_t columns, Scanner* from, Fit* fit) {
  const absl::Span<const ConstantName> names = NamesOf(fit->constants);
  for (size_t i = 0; i < names.size(); ++i) {
    from->Take(names[i].name);
    from->Take(":");
    fit->constants[i] = from->Number();
  }
  TakeBands("corrected:", from, &fit->spreads.corrected);
  TakeBands("bare:", from, &fit->spreads.bare);
  TakeBands("across:", from, &fit->spreads.across);
  from->Take("---");
  fit->residuals = ResidualTable(from->Rest(), columns);
  if (fit->residuals.rows() == 0 || fit->residuals.rows() % rows != 0)
    from->Fail(absl::StrCat("rows of one length with ", columns, " numbers each, a multiple of ", rows));
}

// Reads the whole number after each "=" of a label. False if the label does not have exactly N.
template <size_t N>
bool TakeNumbers(absl::string_view label, std::array<double, N>* to) {
  const char *at = label.data(), *const end = at + label.size();
  for (double& number : *to) {
    while (at < end && *at != '=') ++at;
    if (at == end) return false;
    const char* const first = ++at;
    int64_t whole = 0;
    for (; at < end && *at >= '0' && *at <= '9' && at < first + 15; ++at) whole = 10 * whole + (*at - '0');
    if (at == first) return false;
    number = static_cast<double>(whole);
  }
  return at == end;
}

}  // namespace

absl::Span<const ConstantName> NamesOf(const GemmConstants&) { return kGemmNames; }
absl::Span<const ConstantName> NamesOf(const AttentionConstants&) { return kAttentionNames; }
absl::Span<const ConstantName> NamesOf(const MoeConstants&) { return kMoeNames; }

std::string GemmLabel(double m, double n) { return absl::StrFormat("m=%.0f n=%.0f", m, n); }

std::string AttentionLabel(const AttentionGroup& g, double seq) {
  return absl::StrFormat("head_dim=%.0f window=%.0f shared=%d seq=%.0f", g.head_dim, g.window, g.shared, seq);
}

MoeGroup MoeGroupOf(const MoeCall& c) {
  return {c.hidden, c.inter, c.topk, c.experts, c.tp, c.ep, c.power_law > 0 ? 1.0 : 0.0};
}

std::string MoeLabel(const MoeGroup& g) {
  return absl::StrFormat("hidden=%.0f inter=%.0f topk=%.0f experts=%.0f tp=%.0f ep=%.0f skewed=%.0f", g[0],
                         g[1], g[2], g[3], g[4], g[5], g[6]);
}

MoeGroup MoeGroupOfLabel(absl::string_view label) {
  MoeGroup group;
  return TakeNumbers(label, &group) ? group : MoeGroup();
}

absl::StatusOr<GemmFit> ReadGemmFit(absl::string_view name, absl::string_view text) {
  Scanner from(name, text);
  GemmFit fit;
  TakeKernel(&from, &fit);
  TakeLaw(std::size(kGemmRows) * std::size(kGemmSides), std::size(kGemmSides), &from, &fit);
  if (!from.status().ok()) return from.status();
  return fit;
}

absl::StatusOr<AttentionFit> ReadAttentionFit(absl::string_view name, absl::string_view text) {
  constexpr size_t kLengths = std::size(kAttentionLengths);
  Scanner from(name, text);
  AttentionFit fit;
  TakeKernel(&from, &fit);
  from.Take("kv_dtype:");
  fit.kv_dtype = from.Dtype();
  TakeLaw(kLengths, std::size(kAttentionHeads), &from, &fit);
  for (size_t row = 0; row < fit.residuals.rows(); row += kLengths) {
    std::array<double, 4> n;
    if (!TakeNumbers(fit.residuals.Label(row), &n))
      from.Fail(absl::StrCat("four numbers in the label of row ", row));
    fit.groups.push_back({n[0], n[1], n[2] != 0});
  }
  if (!from.status().ok()) return from.status();
  return fit;
}

absl::StatusOr<MoeFit> ReadMoeFit(absl::string_view name, absl::string_view text) {
  Scanner from(name, text);
  MoeFit fit;
  TakeKernel(&from, &fit);
  TakeLaw(1, std::size(kMoeTokens), &from, &fit);
  if (!from.status().ok()) return from.status();
  return fit;
}

}  // namespace chakra::laws
