// The columns of a rank before ranks are joined, row by row. They are packed because the drafts of all ranks
// are in memory at the same time.
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

// A dependency of a row. Delays are given as if the run began with this rank.
struct DraftDep {
  uint32_t row = 0;  // a row before the row that waits
  DelayCause cause = DelayCause::kOther;
  int64_t delay_ns = 0, unexplained_ns = 0;
  int64_t release = kReleaseAtEnd;
};

// A row of a graph, without its dependencies. Texts are indices into ColumnDraft::strings.
struct DraftRow {
  uint32_t name = 0, shapes = 0, types = 0, code = 0;
  NodeType type = NodeType::kComp;
  bool host = false;
  bool copy = false;                      // the row moves or sets memory
  int64_t start_ns = 0, duration_ns = 0;  // start_ns counts from DeviceTrace::base_ns
  int32_t lane = kNoLane;
  Work work;               // what is known of the work, however the row is replayed
  uint32_t deps = 0;       // number of dependencies that follow the row
  uint32_t comm = kNoRow;  // row of Timeline::comms, if the row carries a call
  // If the row carries a call: number of the graph's strings before those of this row.
  uint32_t strings = 0;
  // If the row carries a call: bytes of a copy, used if the call keeps its recorded time.
  int64_t moved = -1;
};

class ColumnDraft {
 public:
  // Rows are added in their order, each followed by its dependencies.
  void Add(const DraftRow& row);
  void Add(const DraftDep& dep);

  class Reader {
   public:
    explicit Reader(const ColumnDraft& draft) : in_(draft.numbers_) {}
    void Read(DraftRow* row);  // reads the next row
    void Read(DraftDep* dep);

   private:
    PackedNumbers::Reader in_;
    DraftRow before_;
    uint32_t row_ = 0;  // the next row
  };

  uint32_t rows() const { return rows_; }
  uint32_t deps() const { return deps_; }
  uint32_t works() const { return works_; }    // rows whose work is known
  bool releases() const { return releases_; }  // whether any dependency is released before its end
  bool has_types() const { return has_types_; }
  bool has_code() const { return has_code_; }
  int64_t first_ns() const { return first_ns_; }  // the earliest start; last_ns(): the latest
  int64_t last_ns() const { return last_ns_; }

  StringTable strings;  // strings of the graph
  SideTable side;       // if frames are wanted: a frame for each row, without the fields that joining adds
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
