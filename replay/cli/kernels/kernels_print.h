// The output of `chakra-replay kernels`.
#pragma once

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/kernel_table.pb.h"
#include "replay/compute/compute_times.h"
#include "replay/compute/interpolate.h"
#include "trace/base/text_page.h"
#include "trace/model/trace.h"

namespace chakra::cli {

// At most `most` rows, those with the longest total time first, with rates if their work is known. `page` is
// used as in PrintReport().
std::string PrintKernels(const proto::KernelTable& table, size_t most, TextPage* page);

// The number of rows, and how well each row is interpolated from the others.
std::string PrintTableCheck(const std::string& path, const proto::KernelTable& table,
                            const KernelInterpolation& interpolation);

// The number of trace nodes for which each time source has a time.
class Coverage {
 public:
  // Adds a graph that `uses` ranks have.
  void Add(const Graph& graph, const ComputeTimes& times, uint64_t uses);
  std::string Print(TextPage* page) const;

 private:
  uint64_t nodes_[kTimeSources] = {};
  uint64_t outside_ = 0, derived_ = 0;
  // nodes by name that are neither in the table nor between its rows
  std::map<std::string, uint64_t> not_in_table_;
};

}  // namespace chakra::cli
