// Counts the repairs of one file by kind, in the order of their first appearance.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra::pytorch::kineto {

class Notes {
 public:
  // Counts `n` repairs. `first`: the index of the event in the file. `first` and `detail` of the first repair
  // of a kind are kept.
  void Count(absl::string_view kind, uint64_t first, absl::string_view detail, uint64_t n = 1) {
    for (Repair& r : repairs_) {
      if (r.kind != kind) continue;
      r.count += n;
      return;
    }
    Repair r;
    r.kind = std::string(kind);
    r.count = n;
    r.first_node = first;
    r.detail = std::string(detail);
    repairs_.push_back(std::move(r));
  }
  void Explain(absl::string_view kind, absl::string_view detail) {
    for (Repair& r : repairs_) {
      if (r.kind == kind) r.detail = std::string(detail);
    }
  }
  std::vector<Repair> Take(absl::string_view file, int rank) {
    for (Repair& r : repairs_) {
      r.file = std::string(file);
      r.rank = rank;
    }
    return std::move(repairs_);
  }

 private:
  std::vector<Repair> repairs_;
};

}  // namespace chakra::pytorch::kineto
