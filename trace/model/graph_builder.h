// Makes finished graphs of decoded columns; equal graphs share one copy.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/model/trace.h"

namespace chakra {

// Empties all columns and texts; their memory stays.
void ClearDraft(GraphDraft* graph);
// Empties the lanes, shapes, types and measured transfers where no node has one: see GraphColumns.
void DropEmptyColumns(GraphDraft* graph);

// Derives child, child_begin and order from the other columns, which must be filled. Error: a cycle. The
// message begins with `subject` ("dir/w.3.et: rank 3") and lists the nodes of one cycle by id and name, and
// by their offsets in the file if `offsets` (one for each row) is not empty.
absl::Status FinishGraph(GraphDraft* graph, absl::string_view subject,
                         const std::vector<uint64_t>& offsets = {});

// A hash of every column that FinishGraph() does not derive.
uint64_t ContentHash(const Graph& graph);
uint64_t ContentHash(const GraphDraft& graph);
bool SameContent(const Graph& a, const Graph& b);
bool SameContent(const Graph& a, const GraphDraft& b);

// Columns by what is in them: equal ones share their values. Thread-safe.
class ColumnPool {
 public:
  // A column of `values`, without spare memory. T: any that a graph or a rank has, but Time.
  template <typename T>
  Column<T> Share(const std::vector<T>& values);
  // Likewise a column that is narrow where this is possible.
  template <typename T>
  NarrowColumn<T> ShareNarrow(const std::vector<T>& values);
  void Clear();

 private:
  template <typename Pooled>
  struct Known {
    absl::flat_hash_map<uint64_t, std::vector<Pooled>> by_hash;
  };
  template <typename Pooled, typename Values, typename Make>
  Pooled Pool(absl::flat_hash_map<uint64_t, std::vector<Pooled>>* pooled, const Values& values,
              const Make& make);
  template <typename T>
  Column<T> Counting(size_t count, Column<T>* longest);
  std::mutex mutex_;
  std::tuple<Column<uint32_t>, Column<uint64_t>> counting_;
  std::tuple<Known<Column<uint64_t>>, Known<Column<uint32_t>>, Known<Column<int32_t>>, Known<Column<uint8_t>>,
             Known<Column<NodeType>>, Known<Column<DelayCause>>, Known<Column<Comm>>, Known<Column<Work>>,
             Known<Column<Peer>>, Known<NarrowColumn<uint32_t>>, Known<NarrowColumn<int32_t>>>
      known_;
};

// How a pool keeps the columns of a graph.
enum class Keep : uint8_t {
  kPlain,
  kNarrowTimes,  // of a rank whose times alone are its own: times are narrow where this is possible
  kRecording,    // all are narrow where this is possible, and the draft is used up
};

// The distinct graphs of a run. Thread-safe. The order of calls decides only which of several equal graphs is
// kept.
class GraphPool {
 public:
  // When `most` distinct graphs are pooled and another comes, the pool forgets all of them; callers keep the
  // graphs that they hold.
  explicit GraphPool(size_t most = SIZE_MAX) : most_(most) {}

  // The pooled graph that equals `graph`. If there is none, the pool finishes `graph`, adds a copy without
  // spare memory, whose columns but the times are shared with equal ones of other graphs, and returns the
  // copy. Errors: those of FinishGraph().
  absl::StatusOr<std::shared_ptr<const Graph>> Intern(GraphDraft* graph, absl::string_view subject,
                                                      const std::vector<uint64_t>& offsets = {},
                                                      Keep keep = Keep::kPlain);
  // For what ranks have beside their graphs.
  ColumnPool& columns() { return columns_; }

 private:
  std::shared_ptr<const Graph> Find(const GraphDraft& graph, uint64_t hash);
  std::shared_ptr<const Graph> Add(uint64_t hash, std::shared_ptr<const Graph> made);
  std::mutex mutex_;
  ColumnPool columns_;
  absl::flat_hash_map<uint64_t, std::vector<std::shared_ptr<const Graph>>> graphs_;
  const size_t most_;
  size_t count_ = 0;
};

}  // namespace chakra
