// Data of a recorded rank's frames that the columns lack: attributes that a replay does not need, and which
// fields each frame has.
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

// A field of a frame. Its name is that of the attribute, or of a part of the message. A second word
// distinguishes fields with the same name: "late" and "early": at another position in the frame; "beside": of
// a node whose columns have no such value; "kept": of communication that is not a call; "moved": bytes that a
// copy moves; "down": in another order.
struct FrameField {
  absl::string_view name;
  ValueField kind = ValueField::kString;
};

// All fields of the frames of recordings, in their order in a frame. WriteFrames() reads some fields from
// columns, and leaves them out if the columns have no value; all others have a value in the side table.
inline constexpr FrameField kFrameFields[] = {
    {"id"},
    {"name"},
    {"type"},
    {"micros"},  // start_time_micros and duration_micros
    {"values"},  // of the inputs; stored in the side table
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
    {"num_ops beside", ValueField::kInt64},  // of a node whose columns have no such value
    {"tensor_size beside", ValueField::kUint64},
    {"comm_kind"},
    {"comm_library kept", ValueField::kString},  // this and the next two: of communication that is not a call
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

// Returns the position of a field. It is computed at compile time, and an unknown name does not compile.
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
  // The fields of frames, packed, one frame after another. Values are in the order of the fields.
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
    // `string`: an index into SideTable::strings. Lists are stored as texts too: packed varints.
    void Text(FieldPlace field, uint32_t string) {
      Has(field);
      values_.Begin();
      values_.Number(string);
    }
    // Ends the frame.
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
      // Returns the fields of the next frame, one bit each. The caller must then read their values, in their
      // order.
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
    PackedNumbers frames_, values_;  // the fields of each frame, as a row of distinct_; the values
    std::vector<uint64_t> distinct_;
    absl::flat_hash_map<uint64_t, uint32_t> known_;  // set of fields to row of distinct_
    uint32_t row_ = 0;                               // row of distinct_ of the last frame
    uint64_t fields_ = 0;                            // fields of the current frame
    int64_t last_[std::size(kFrameFields)] = {};
  };

  bool wanted = false;  // whether there are frames
  Frames rows;          // one for each row of the graph
  Frames more;          // one for each row that has "more", in their order: values that are known only later
  StringTable strings;
  std::vector<int64_t> big_lanes;  // the true numbers of the lanes -1, -2, ...
};

}  // namespace chakra
