// Makes finished graphs of decoded columns; equal graphs share one copy.
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

// Derives child, child_begin and order from the other columns, which must be filled. Error: a cycle. The
// message begins with `subject` ("dir/w.3.et: rank 3") and lists the nodes of one cycle by id and name, and
// by their offsets in the file if `offsets` (one for each row) is not empty.
absl::Status FinishGraph(Graph* graph, absl::string_view subject, const std::vector<uint64_t>& offsets = {});

// A hash of every column that FinishGraph() does not derive.
uint64_t ContentHash(const Graph& graph);
bool SameContent(const Graph& a, const Graph& b);

// The distinct graphs of a run. Thread-safe. The order of calls decides only which of several equal graphs is
// kept.
class GraphPool {
 public:
  // When `most` distinct graphs are pooled and another comes, the pool forgets all of them; callers keep the
  // graphs that they hold.
  explicit GraphPool(size_t most = SIZE_MAX) : most_(most) {}

  // The pooled graph that equals `graph`. If there is none, the pool adds a finished copy of `graph` without
  // spare memory, and returns the copy. Errors: those of FinishGraph().
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
