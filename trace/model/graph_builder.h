// From decoded columns to finished graphs, each distinct one once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// Derives child, child_begin and order from the other columns, which must be
// filled. `subject` ("dir/w.3.et: rank 3") begins the error of a cycle, which
// lists one by ids and names, and by the offsets in the file (one a row) where
// these are given.
absl::Status FinishGraph(Graph* graph, absl::string_view subject, const std::vector<uint64_t>& offsets = {});

// Of everything in a graph that is not derived by FinishGraph().
uint64_t ContentHash(const Graph& graph);
bool SameContent(const Graph& a, const Graph& b);

// The distinct graphs of a run. Thread-safe; what it returns does not depend
// on the order of the calls, save for which of several equal graphs is kept.
class GraphPool {
 public:
  // Of `most` distinct graphs all are forgotten when one more comes; who has them keeps them.
  explicit GraphPool(size_t most = SIZE_MAX) : most_(most) {}

  // The pooled graph that equals `graph`; when there is none, a finished copy
  // of it in exactly the memory it needs. Errors: those of FinishGraph().
  absl::StatusOr<std::shared_ptr<const Graph>> Intern(const Graph& graph, absl::string_view subject,
                                                      const std::vector<uint64_t>& offsets = {});

 private:
  std::shared_ptr<const Graph> Find(const Graph& graph, uint64_t hash);
  std::mutex mutex_;
  absl::flat_hash_map<uint64_t, std::vector<std::shared_ptr<const Graph>>> graphs_;
  const size_t most_;
  size_t count_ = 0;
};

}  // namespace chakra
