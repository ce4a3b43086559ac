// The contents of chunks while a plan is executed symbolically. A chunk holds a block of the collective's
// data: the sum of the inputs of some members for this block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "replay/collectives/plan.h"
#include "replay/collectives/proof.h"

namespace chakra {

// The members whose inputs a block's sum has, in `words` words: member m is bit m % 64 of word m / 64.
using MemberBits = std::vector<uint64_t>;

inline bool HasMember(const uint64_t* bits, int m) { return (bits[m / 64] >> (m % 64) & 1) != 0; }

// Blocks are numbered as the collective defines them (see Plan::input). all_reduce, reduce and broadcast have
// k blocks; a barrier has one. All others have n k, ordered by the member whose input (all_gather, gather) or
// output the block is.
class Contents {
 public:
  // Checks the regions of `plan` and fills the initial contents. The plan must outlive this object.
  absl::Status Begin(const Plan& plan, int root, PlanFault* fault);

  static constexpr int32_t kNothing = -1;
  int words() const { return words_; }
  uint64_t* bits(int node, int chunk) { return &bits_[Cell(node, chunk) * static_cast<size_t>(words_)]; }
  int32_t& block(int node, int chunk) { return block_[Cell(node, chunk)]; }
  size_t Cell(int node, int chunk) const {
    return static_cast<size_t>(node) * static_cast<size_t>(plan_->chunks) + static_cast<size_t>(chunk);
  }
  size_t cells() const { return block_.size(); }

  // Whether an in-place all-to-all collects data for `node` in this chunk: true for the member's own blocks.
  bool Collects(int node, int chunk) const;

  // The first chunk of `member` whose content is not what the collective requires, or -1. `missing`: a member
  // whose data the chunk lacks, or -1; `what` explains.
  int FirstWrong(int member, int32_t* block, int* missing, std::string* what);

 private:
  struct Owed {
    int chunk;
    int32_t block;
    int only;  // the member whose data only the block must have; -1: data of all members
  };
  absl::Status Bad(absl::string_view what) const;
  absl::Status InPlace();
  absl::Status ByRegions();
  absl::Status Fits(const char* name, const Region& region) const;
  void Fill();
  void Give(int member, int chunk, int32_t block);
  std::vector<Owed> OwedTo(int member) const;

  const Plan* plan_ = nullptr;
  int root_ = 0;
  int k_ = 1;
  bool in_place_ = true;
  PlanFault* fault_ = nullptr;
  int words_ = 1;
  std::vector<uint64_t> bits_;
  std::vector<int32_t> block_;
};

}  // namespace chakra
