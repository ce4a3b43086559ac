// Builds graphs from decoded columns; equal graphs share one copy.
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

// Clears all columns and texts, but keeps their memory.
void ClearDraft(GraphDraft* graph);
// Clears the columns of lanes, shapes, types, code, time factors and transfer times that have no value in any
// row (see GraphColumns).
void DropEmptyColumns(GraphDraft* graph);

// Computes child, child_begin and order from the other columns, which must be filled. Error: a cycle. The
// message begins with `subject` ("dir/w.3.et: rank 3") and lists the nodes of one cycle by id and name, and
// by their offsets in the file if `offsets` (one for each row) is not empty.
absl::Status FinishGraph(GraphDraft* graph, absl::string_view subject,
                         const std::vector<uint64_t>& offsets = {});

// A hash of all columns that FinishGraph() does not compute.
uint64_t ContentHash(const Graph& graph);
uint64_t ContentHash(const GraphDraft& graph);
bool SameContent(const Graph& a, const Graph& b);
bool SameContent(const Graph& a, const GraphDraft& b);

// Shares columns: columns with equal values have one copy. Thread-safe.
class ColumnPool {
 public:
  // Returns a column of `values` without spare memory. T: any type of a column of a graph or a rank, except
  // Time.
  template <typename T>
  Column<T> Share(const std::vector<T>& values);
  // Like Share(), but the column is narrow if possible.
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

// How a pool stores the columns of a graph.
enum class Keep : uint8_t {
  kPlain,
  kNarrowTimes,  // for ranks that differ only in their times: times are narrow if possible
  kRecording,    // all columns are narrow if possible, and the draft is emptied
};

// The distinct graphs of a run. Thread-safe. The order of calls only decides which one of several equal
// graphs is kept.
class GraphPool {
 public:
  // A pool that already has `most` distinct graphs forgets all of them when another one is added. Callers
  // keep the graphs that they hold.
  explicit GraphPool(size_t most = SIZE_MAX) : most_(most) {}

  // Returns the pooled graph that equals `graph`. If there is none, finishes `graph`, adds a copy without
  // spare memory and returns the copy. The copy shares equal columns with other graphs, except columns of
  // times and releases. Errors: those of FinishGraph().
  absl::StatusOr<std::shared_ptr<const Graph>> Intern(GraphDraft* graph, absl::string_view subject,
                                                      const std::vector<uint64_t>& offsets = {},
                                                      Keep keep = Keep::kPlain);
  // For columns of ranks that are not part of their graphs.
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
