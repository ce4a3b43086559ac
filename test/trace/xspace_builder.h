// Composes XSpaces and HLO protos for tests, field by field as in xplane.proto and hlo.proto (openxla/xla).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "trace/base/wire.h"

namespace chakra::testing_xplane {

class StatValue {
 public:
  StatValue(std::string name, int64_t number) : name_(std::move(name)), number_(number) {}
  StatValue(std::string name, std::string text)
      : name_(std::move(name)), text_(std::move(text)), is_text_(true) {}
  const std::string& name() const { return name_; }
  std::string Encode(int64_t id, bool as_bytes) const {
    std::string out;
    wire::AppendNumber(1, static_cast<uint64_t>(id), &out);
    if (!is_text_) wire::AppendNumber(4, static_cast<uint64_t>(number_), &out);
    if (is_text_) wire::AppendText(as_bytes ? 6 : 5, text_, &out);
    return out;
  }

 private:
  std::string name_;
  int64_t number_ = 0;
  std::string text_;
  bool is_text_ = false;
};

// One plane. Times are picoseconds since the line's timestamp.
class PlaneBuilder {
 public:
  explicit PlaneBuilder(std::string name) : name_(std::move(name)) {}

  void Line(int64_t id, absl::string_view name, int64_t timestamp_ns) {
    Close();
    open_ = true;
    line_.clear();
    wire::AppendNumber(1, static_cast<uint64_t>(id), &line_);
    wire::AppendText(2, name, &line_);
    wire::AppendNumber(3, static_cast<uint64_t>(timestamp_ns), &line_);
  }
  void Event(const std::string& name, int64_t offset_ps, int64_t duration_ps,
             const std::vector<StatValue>& stats = {}) {
    std::string event;
    wire::AppendNumber(1, static_cast<uint64_t>(IdOf(name, &events_)), &event);
    wire::AppendNumber(2, static_cast<uint64_t>(offset_ps), &event);
    wire::AppendNumber(3, static_cast<uint64_t>(duration_ps), &event);
    for (const StatValue& s : stats) wire::AppendText(4, s.Encode(IdOf(s.name(), &stats_), false), &event);
    wire::AppendText(4, event, &line_);
  }
  void Stat(const StatValue& stat) { own_.push_back(stat); }
  // Metadata of a name, with stats of its own.
  void Metadata(const std::string& name, const StatValue& stat) {
    IdOf(name, &events_);
    of_metadata_.emplace(name, stat);
  }

  std::string Encode() {
    Close();
    std::string out;
    wire::AppendText(2, name_, &out);
    for (const StatValue& s : own_) IdOf(s.name(), &stats_);
    for (const auto& [name, stat] : of_metadata_) IdOf(stat.name(), &stats_);
    out += lines_;
    for (const auto& [name, id] : events_) {
      std::string metadata, entry;
      wire::AppendNumber(1, static_cast<uint64_t>(id), &metadata);
      wire::AppendText(2, name, &metadata);
      if (const auto stat = of_metadata_.find(name); stat != of_metadata_.end())
        wire::AppendText(5, stat->second.Encode(IdOf(stat->second.name(), &stats_), true), &metadata);
      wire::AppendNumber(1, static_cast<uint64_t>(id), &entry);
      wire::AppendText(2, metadata, &entry);
      wire::AppendText(4, entry, &out);
    }
    for (const auto& [name, id] : stats_) {
      std::string metadata, entry;
      wire::AppendNumber(1, static_cast<uint64_t>(id), &metadata);
      wire::AppendText(2, name, &metadata);
      wire::AppendNumber(1, static_cast<uint64_t>(id), &entry);
      wire::AppendText(2, metadata, &entry);
      wire::AppendText(5, entry, &out);
    }
    for (const StatValue& s : own_) wire::AppendText(6, s.Encode(IdOf(s.name(), &stats_), false), &out);
    return out;
  }

 private:
  static int64_t IdOf(const std::string& name, std::map<std::string, int64_t>* ids) {
    return ids->try_emplace(name, static_cast<int64_t>(ids->size() + 1)).first->second;
  }
  void Close() {
    if (open_) wire::AppendText(3, line_, &lines_);
    open_ = false;
  }
  std::string name_, line_, lines_;
  bool open_ = false;
  std::map<std::string, int64_t> events_, stats_;
  std::vector<StatValue> own_;
  std::map<std::string, StatValue> of_metadata_;
};

inline std::string SpaceOf(std::vector<PlaneBuilder> planes, absl::string_view host = "host") {
  std::string out;
  for (PlaneBuilder& p : planes) wire::AppendText(1, p.Encode(), &out);
  wire::AppendText(4, host, &out);
  return out;
}

// ---- HLO protos.

struct HloShape {
  int type = 11;  // PrimitiveType: 11 f32, 16 bf16, 4 s32
  std::vector<int64_t> dims;
};

inline std::string EncodeShape(const HloShape& s) {
  std::string out;
  wire::AppendNumber(2, static_cast<uint64_t>(s.type), &out);
  for (const int64_t d : s.dims) wire::AppendNumber(3, static_cast<uint64_t>(d), &out);
  return out;
}

struct HloInstruction {
  std::string name, opcode;
  HloShape shape;
  int64_t id = 0;
  std::vector<int64_t> operands, calls;
  std::string extra;  // further fields, encoded
};

inline std::string EncodeInstruction(const HloInstruction& i) {
  std::string out;
  wire::AppendText(1, i.name, &out);
  wire::AppendText(2, i.opcode, &out);
  wire::AppendText(3, EncodeShape(i.shape), &out);
  wire::AppendNumber(35, static_cast<uint64_t>(i.id), &out);
  for (const int64_t o : i.operands) wire::AppendNumber(36, static_cast<uint64_t>(o), &out);
  for (const int64_t c : i.calls) wire::AppendNumber(38, static_cast<uint64_t>(c), &out);
  return out + i.extra;
}

struct HloComputation {
  std::string name;
  int64_t id = 0, root = 0;
  std::vector<HloInstruction> instructions;
};

// HloProto with the module's devices: one partition each.
inline std::string EncodeHlo(absl::string_view name, const std::vector<HloComputation>& computations,
                             int partitions) {
  std::string module;
  wire::AppendText(1, name, &module);
  wire::AppendText(2, computations.back().name, &module);
  for (const HloComputation& c : computations) {
    std::string computation;
    wire::AppendText(1, c.name, &computation);
    for (const HloInstruction& i : c.instructions) wire::AppendText(2, EncodeInstruction(i), &computation);
    wire::AppendNumber(5, static_cast<uint64_t>(c.id), &computation);
    wire::AppendNumber(6, static_cast<uint64_t>(c.root), &computation);
    wire::AppendText(3, computation, &module);
  }
  wire::AppendNumber(6, static_cast<uint64_t>(computations.back().id), &module);
  std::string assignment;
  wire::AppendNumber(1, 1, &assignment);
  wire::AppendNumber(2, static_cast<uint64_t>(partitions), &assignment);
  for (int p = 0; p < partitions; ++p) {
    std::string device;
    wire::AppendNumber(1, static_cast<uint64_t>(p), &device);
    wire::AppendText(3, device, &assignment);
  }
  wire::AppendText(15, assignment, &module);
  std::string proto;
  wire::AppendText(1, module, &proto);
  return proto;
}

// Field 87, collective_device_list: groups as an array [groups, size]<=[reshape]T(transpose).
inline std::string IotaGroups(int64_t groups, int64_t size, const std::vector<int64_t>& reshape,
                              const std::vector<int64_t>& transpose = {}) {
  std::string iota, list, out;
  wire::AppendNumber(1, static_cast<uint64_t>(groups), &iota);
  wire::AppendNumber(2, static_cast<uint64_t>(size), &iota);
  for (const int64_t d : reshape) wire::AppendNumber(3, static_cast<uint64_t>(d), &iota);
  for (const int64_t d : transpose) wire::AppendNumber(4, static_cast<uint64_t>(d), &iota);
  wire::AppendText(2, iota, &list);
  wire::AppendText(87, list, &out);
  return out;
}

}  // namespace chakra::testing_xplane
