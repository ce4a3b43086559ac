// What `chakra-replay kernels` prints.
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

// The rows, the longest in all first, at most `most` of them, with rates where their work is known.
// `page` as for PrintReport().
std::string PrintKernels(const proto::KernelTable& table, size_t most, TextPage* page);

// Rows, and how well each is found from the others.
std::string PrintTableCheck(const std::string& path, const proto::KernelTable& table,
                            const KernelInterpolation& interpolation);

// How many nodes of some traces each time source answered.
class Coverage {
 public:
  // Of a graph that `uses` ranks have.
  void Add(const Graph& graph, const ComputeTimes& times, uint64_t uses);
  std::string Print(TextPage* page) const;

 private:
  uint64_t nodes_[kTimeSources] = {};
  uint64_t outside_ = 0, derived_ = 0;
  std::map<std::string, uint64_t> not_in_table_;  // neither in the table nor between its rows, by name
};

}  // namespace chakra::cli
