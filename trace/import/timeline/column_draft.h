// The columns of a rank before ranks are joined, row by row and packed: those of all ranks are in memory at
// once, and what they become is not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/base/packed_numbers.h"
#include "trace/import/timeline/timeline.h"
#include "trace/model/side_table.h"
#include "trace/model/string_table.h"
#include "trace/model/trace.h"

namespace chakra::pytorch {

// A dependency of a row. Delays are as if the run began with this rank.
struct DraftDep {
  uint32_t row = 0;  // before the row that waits
  DelayCause cause = DelayCause::kOther;
  int64_t delay_ns = 0, unexplained_ns = 0;
  int64_t release = kReleaseAtEnd;
};

// A row of a graph; texts are in ColumnDraft::strings. All but the dependencies come with each.
struct DraftRow {
  uint32_t name = 0, shapes = 0, types = 0, code = 0;
  NodeType type = NodeType::kComp;
  bool host = false;
  bool copy = false;                      // it moves or sets memory
  int64_t start_ns = 0, duration_ns = 0;  // the start since DeviceTrace::base_ns
  int32_t lane = kNoLane;
  Work work;               // what is known of it, whatever it is replayed as
  uint32_t deps = 0;       // how many follow
  uint32_t comm = kNoRow;  // of a row that carries a call: row of Timeline::comms
  uint32_t strings = 0;    // likewise: of the graph, before the row's own
  int64_t moved = -1;      // likewise: bytes of a copy, where it is replayed as one
};

class ColumnDraft {
 public:
  // Rows come in their order, each followed by its dependencies.
  void Add(const DraftRow& row);
  void Add(const DraftDep& dep);

  class Reader {
   public:
    explicit Reader(const ColumnDraft& draft) : in_(draft.numbers_) {}
    void Read(DraftRow* row);  // the next one
    void Read(DraftDep* dep);

   private:
    PackedNumbers::Reader in_;
    DraftRow before_;
    uint32_t row_ = 0;  // the next one
  };

  uint32_t rows() const { return rows_; }
  uint32_t deps() const { return deps_; }
  uint32_t works() const { return works_; }    // rows with work that is known
  bool releases() const { return releases_; }  // whether any dependency releases before its end
  bool has_types() const { return has_types_; }
  bool has_code() const { return has_code_; }
  int64_t first_ns() const { return first_ns_; }  // the least and the greatest start
  int64_t last_ns() const { return last_ns_; }

  StringTable strings;  // of the graph
  SideTable side;       // where frames are wanted: a frame for each row, but for what joining adds
  std::vector<TimelineStep> steps;
  bool drafted = false;

 private:
  PackedNumbers numbers_;
  DraftRow before_;
  uint32_t rows_ = 0, deps_ = 0, works_ = 0;
  bool releases_ = false, has_types_ = false, has_code_ = false;
  int64_t first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
};

}  // namespace chakra::pytorch
