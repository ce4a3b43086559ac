#include "replay/collectives/validate/contents.h"

#include "absl/strings/str_cat.h"
#include "replay/collectives/proof.h"
#include "replay/collectives/validate/wiring.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using T = CollectiveType;

constexpr uint64_t kMaxWords = uint64_t{1} << 26;  // 512 MiB of bits

enum class Shape {
  kSame,    // k in, k out: all_reduce, reduce, broadcast
  kGrow,    // k in, n k out
  kShrink,  // n k in, k out
  kTurn,    // n k in, n k out: all_to_all
  kNone,    // barrier
};

Shape ShapeOf(CollectiveType type) {
  switch (type) {
    case T::kAllGather:
    case T::kGather:
      return Shape::kGrow;
    case T::kReduceScatter:
    case T::kReduceScatterBlock:
    case T::kScatter:
      return Shape::kShrink;
    case T::kAllToAll:
      return Shape::kTurn;
    case T::kBarrier:
      return Shape::kNone;
    default:
      return Shape::kSame;
  }
}

}  // namespace

absl::Status Contents::Bad(absl::string_view what) const { return PlanError(*plan_, {}, what, fault_); }

absl::Status Contents::Begin(const Plan& plan, int root, PlanFault* fault) {
  plan_ = &plan;
  root_ = root;
  fault_ = fault;
  if (root < 0 || root >= plan.members)
    return Bad(absl::StrCat("root ", root, "; expected 0 to ", plan.members - 1));
  words_ = (plan.members + 63) / 64;
  const uint64_t cells = static_cast<uint64_t>(plan.nodes()) * static_cast<uint64_t>(plan.chunks);
  if (cells > kMaxWords / static_cast<uint64_t>(words_))
    return Bad(absl::StrCat(cells, " chunks in all; at most ", kMaxWords / static_cast<uint64_t>(words_),
                            " can be followed for a group of this size"));
  in_place_ = plan.input.count == 0 && plan.output.count == 0;
  RETURN_IF_ERROR(ShapeOf(plan.type) == Shape::kNone ? absl::OkStatus()
                  : in_place_                        ? InPlace()
                                                     : ByRegions());
  Fill();
  return absl::OkStatus();
}

absl::Status Contents::InPlace() {
  const Plan& plan = *plan_;
  const int n = plan.members;
  const Shape shape = ShapeOf(plan.type);
  const int parts = plan.chunk_is_whole ? 1 : plan.parts > 0 ? plan.parts : plan.chunks;
  int64_t blocks = parts;
  k_ = parts;
  if (shape == Shape::kGrow) {
    blocks = static_cast<int64_t>(parts) * n;
  } else if (shape != Shape::kSame) {
    if (parts % n != 0)
      return Bad(absl::StrCat("bytes are cut into ", parts, " chunks; expected a multiple of ", n,
                              ", a block for each member"));
    k_ = parts / n;
  }
  if (blocks > plan.chunks)
    return Bad(absl::StrCat("chunks ", plan.chunks, "; expected at least ", blocks, ", for ", n,
                            " members' blocks of ", k_));
  return absl::OkStatus();
}

absl::Status Contents::Fits(const char* name, const Region& region) const {
  if (region.first >= 0 && region.count >= 1 && region.first <= plan_->chunks - region.count)
    return absl::OkStatus();
  return Bad(absl::StrCat(name, " of ", region.count, " chunks from ", region.first,
                          "; expected at least one, within 0 to ", plan_->chunks - 1));
}

absl::Status Contents::ByRegions() {
  const Plan& plan = *plan_;
  const int n = plan.members;
  RETURN_IF_ERROR(Fits("an input", plan.input));
  RETURN_IF_ERROR(Fits("an output", plan.output));
  const Shape shape = ShapeOf(plan.type);
  const int in = plan.input.count;
  const int64_t out = plan.output.count;
  const bool split = shape == Shape::kShrink || shape == Shape::kTurn;
  if (split && in % n != 0)
    return Bad(absl::StrCat("an input of ", in, " chunks; expected a multiple of ", n));
  k_ = split ? in / n : in;
  const int64_t expected = shape == Shape::kShrink ? k_ : shape == Shape::kGrow ? int64_t{in} * n : in;
  if (out != expected)
    return Bad(absl::StrCat("an output of ", out, " chunks; expected ", expected, " for an input of ", in));
  const int parts = plan.chunk_is_whole ? 1 : plan.parts > 0 ? plan.parts : plan.chunks;
  if (parts != in)
    return Bad(
        absl::StrCat("bytes are cut into ", parts, " chunks; expected ", in, ", as many as the input has"));
  if (!SameSize(plan, plan.input.first, 0) || !SameSize(plan, plan.output.first, 0))
    return Bad(absl::StrCat("an input from chunk ", plan.input.first, " and an output from chunk ",
                            plan.output.first, "; expected multiples of ", parts,
                            " where chunks may differ in size"));
  return absl::OkStatus();
}

void Contents::Give(int member, int chunk, int32_t its) {
  block(member, chunk) = its;
  bits(member, chunk)[member / 64] |= uint64_t{1} << (member % 64);
}

void Contents::Fill() {
  const Plan& plan = *plan_;
  const size_t cells = static_cast<size_t>(plan.nodes()) * static_cast<size_t>(plan.chunks);
  bits_.assign(cells * static_cast<size_t>(words_), 0);
  block_.assign(cells, kNothing);
  const int n = plan.members;
  const Shape shape = ShapeOf(plan.type);
  const int first = in_place_ ? 0 : plan.input.first;
  const bool at_root = plan.type == T::kBroadcast || plan.type == T::kScatter;
  for (int m = 0; m < n; ++m) {
    if (at_root && m != root_) continue;
    if (shape == Shape::kNone) {
      Give(m, 0, 0);
    } else if (shape == Shape::kGrow) {
      for (int j = 0; j < k_; ++j) Give(m, first + (in_place_ ? m * k_ : 0) + j, m * k_ + j);
    } else {
      const int blocks = shape == Shape::kSame ? k_ : k_ * n;
      for (int b = 0; b < blocks; ++b) Give(m, first + b, b);
    }
  }
  if (shape != Shape::kNone) return;
  for (int s = n; s < plan.nodes(); ++s) block(s, 0) = 0;  // a switch has no member's data yet
}

bool Contents::Collects(int node, int chunk) const {
  return in_place_ && plan_->type == T::kAllToAll && node < plan_->members && chunk / k_ == node;
}

std::vector<Contents::Owed> Contents::OwedTo(int m) const {
  const int n = plan_->members;
  const Shape shape = ShapeOf(plan_->type);
  const int first = in_place_ ? 0 : plan_->output.first;
  std::vector<Owed> owed;
  if (shape == Shape::kNone) return {{0, 0, -1}};
  if ((plan_->type == T::kReduce || plan_->type == T::kGather) && m != root_) return owed;
  if (shape == Shape::kSame) {
    for (int j = 0; j < k_; ++j) owed.push_back({first + j, j, plan_->type == T::kBroadcast ? root_ : -1});
  } else if (shape == Shape::kGrow) {
    for (int b = 0; b < k_ * n; ++b) owed.push_back({first + b, b, b / k_});
  } else if (shape == Shape::kShrink) {
    const int own = in_place_ ? m * k_ : 0;
    const int only = plan_->type == T::kScatter ? root_ : -1;
    for (int j = 0; j < k_; ++j) owed.push_back({first + own + j, m * k_ + j, only});
  } else if (in_place_) {
    for (int j = 0; j < k_; ++j) owed.push_back({m * k_ + j, m * k_ + j, -1});
  } else {
    for (int b = 0; b < k_ * n; ++b) owed.push_back({first + b, m * k_ + b % k_, b / k_});
  }
  return owed;
}

int Contents::FirstWrong(int member, int32_t* its, int* missing, std::string* what) {
  for (const Owed& owed : OwedTo(member)) {
    *its = owed.block;
    *missing = owed.only >= 0 ? owed.only : 0;
    const int32_t held = block(member, owed.chunk);
    if (held == kNothing) {
      *what = "holds nothing";
      return owed.chunk;
    }
    const uint64_t* have = bits(member, owed.chunk);
    if (held != owed.block) {
      *what = absl::StrCat("holds block ", held, " of the collective's data; expected block ", owed.block);
      return owed.chunk;
    }
    for (int i = 0; i < plan_->members; ++i) {
      const bool wanted = owed.only < 0 || owed.only == i;
      if (HasMember(have, i) == wanted) continue;
      *missing = wanted ? i : -1;
      *what =
          absl::StrCat("holds block ", held, wanted ? " without" : " with", " what member ", i, " had of it",
                       wanted ? "" : absl::StrCat("; expected only member ", owed.only, "'s"));
      return owed.chunk;
    }
  }
  return -1;
}

}  // namespace chakra
