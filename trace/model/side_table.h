// What the frames of a recorded rank have and its columns do not: attributes that a replay does not need, and
// which fields each frame has.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "trace/base/packed_numbers.h"
#include "trace/model/node_fields.h"
#include "trace/model/string_table.h"

namespace chakra {

// A field of a frame. Its name is that of the attribute, or of a part of the message. A second word tells apart
// fields with one name: "late" and "early" for another place in the frame, "beside" for a node whose columns
// have no such value, "kept" for communication that is no call, "moved" for bytes that a copy moves, "down" for
// another order.
struct FrameField {
  absl::string_view name;
  ValueField kind = ValueField::kString;
};

// All fields of frames of recordings, in their order. Those that WriteFrames() finds in columns are left out
// where the columns say nothing; all others have a value in the side table.
inline constexpr FrameField kFrameFields[] = {
    {"id"},
    {"name"},
    {"type"},
    {"micros"},  // start_time_micros and duration_micros
    {"values"},  // of the inputs; from the side table
    {"is_cpu_op", ValueField::kBool},
    {"tid", ValueField::kInt64},
    {"stream", ValueField::kInt64},
    {"device", ValueField::kInt32},
    {"start_ns", ValueField::kInt64},
    {"duration_ns", ValueField::kInt64},
    {"stream late", ValueField::kInt64},
    {"data_deps"},       // ascending
    {"data_deps down"},  // descending
    {"dep_kinds"},
    {"dep_delay_ns", ValueField::kInt64List},
    {"dep_unexplained_ns", ValueField::kInt64List},
    {"dep_release", ValueField::kInt64List},
    {"category"},
    {"part", ValueField::kInt32},
    {"parent", ValueField::kInt64},
    {"correlation", ValueField::kInt64},
    {"rf_id", ValueField::kInt64},
    {"op"},
    {"operands"},  // shapes and types of the inputs
    {"kernel_backend"},
    {"kernel_file"},
    {"kernel_hash"},
    {"kernel_kwargs"},
    {"grid"},
    {"num_warps", ValueField::kInt64},
    {"num_stages", ValueField::kInt64},
    {"num_ops", ValueField::kInt64},
    {"tensor_size", ValueField::kUint64},
    {"num_ops beside", ValueField::kInt64},  // of a node whose columns have none
    {"tensor_size beside", ValueField::kUint64},
    {"comm_kind"},
    {"comm_library kept", ValueField::kString},  // of communication that is no call, as what follows
    {"pg_name kept"},
    {"comm_size kept", ValueField::kInt64},
    {"pg_name early"},
    {"comm_size early", ValueField::kInt64},
    {"comm_type", ValueField::kInt64},
    {"comm_size", ValueField::kInt64},
    {"pg_name"},
    {"root", ValueField::kInt32},
    {"comm_dst", ValueField::kInt32},
    {"comm_src", ValueField::kInt32},
    {"comm_tag", ValueField::kInt32},
    {"eager", ValueField::kBool},
    {"transfer_ns", ValueField::kInt64},
    {"comm_library"},
    {"comm_dtype"},
    {"comm_out_size", ValueField::kInt64},
    {"in_split", ValueField::kInt64List},
    {"out_split", ValueField::kInt64List},
    {"timed_by"},
    {"tensor_size moved", ValueField::kUint64},
    {"more"},  // all other attributes of the node: SideTable::more
};
static_assert(std::size(kFrameFields) <= 64);

// Where a field stands. The compiler looks names up, and refuses others.
constexpr size_t PlaceOf(absl::string_view field) {
  for (size_t i = 0; i < std::size(kFrameFields); ++i) {
    if (kFrameFields[i].name == field) return i;
  }
  std::abort();
}
struct FieldPlace {
  consteval FieldPlace(const char* field) : at(PlaceOf(field)) {}  // NOLINT: a field is its name
  size_t at;
};

class SideTable {
 public:
  // The fields of frames, one frame after the other, packed. Values come in the order of their fields.
  class Frames {
   public:
    void Has(FieldPlace field) { fields_ |= uint64_t{1} << field.at; }
    void Has(std::initializer_list<FieldPlace> fields) {
      for (const FieldPlace field : fields) Has(field);
    }
    void Number(FieldPlace field, int64_t v) {
      Has(field);
      values_.Begin();
      values_.Change(last_[field.at], v);
      last_[field.at] = v;
    }
    // `string`: of SideTable::strings. Lists are texts too: packed varints.
    void Text(FieldPlace field, uint32_t string) {
      Has(field);
      values_.Begin();
      values_.Number(string);
    }
    // Ends a frame.
    void End() {
      if (distinct_.empty() || distinct_[row_] != fields_) {
        const auto [it, added] = known_.try_emplace(fields_, static_cast<uint32_t>(distinct_.size()));
        if (added) distinct_.push_back(fields_);
        row_ = it->second;
      }
      frames_.Begin();
      frames_.Number(row_);
      fields_ = 0;
    }

    class Reader {
     public:
      explicit Reader(const Frames& of) : of_(of), frames_(of.frames_), values_(of.values_) {}
      // The fields of the next frame, a bit for each. The values that they have must be read, in their order.
      uint64_t Next() {
        frames_.Begin();
        return of_.distinct_[frames_.Number()];
      }
      int64_t Number(size_t field) {
        values_.Begin();
        return last_[field] = values_.Change(last_[field]);
      }
      uint32_t Text() {
        values_.Begin();
        return values_.Number32();
      }

     private:
      const Frames& of_;
      PackedNumbers::Reader frames_, values_;
      int64_t last_[std::size(kFrameFields)] = {};
    };

   private:
    PackedNumbers frames_, values_;  // by frame: its fields, a row of distinct_; values, one after the other
    std::vector<uint64_t> distinct_;
    absl::flat_hash_map<uint64_t, uint32_t> known_;  // rows of distinct_
    uint32_t row_ = 0;                               // of distinct_: the last frame's
    uint64_t fields_ = 0;                            // of the frame that is being made
    int64_t last_[std::size(kFrameFields)] = {};
  };

  bool wanted = false;  // whether there are frames
  Frames rows;          // by row of the graph
  Frames more;          // of the rows with "more", in their order: what is known later than the rest
  StringTable strings;
  std::vector<int64_t> big_lanes;  // the numbers of the lanes -1, -2, ...
};

}  // namespace chakra
