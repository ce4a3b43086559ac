#include "trace/import/linked/rank_facts.h"

#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "trace/et/writer.h"

namespace chakra::pytorch {

RankFacts::RankFacts(const CaptureRank& rank, uint32_t index, const Joined& joined)
    : rank_(rank), t_(rank.timeline), joined_(true) {
  window_ = joined.window_begin_ns - joined.clock_offset_ns[index] -
            (rank.device == nullptr ? 0 : rank.device->base_ns);
  NumberLanes();
}

RankFacts::RankFacts(const CaptureRank& rank) : rank_(rank), t_(rank.timeline), joined_(false) {
  NumberLanes();
}

void RankFacts::NumberLanes() {
  std::set<int64_t> taken;
  if (rank_.device == nullptr) return;
  for (size_t i = 0; i < rank_.device->threads.size(); ++i) {
    int64_t tid = 0;
    if (!absl::SimpleAtoi(rank_.device->threads[i].tid, &tid) || tid < 0 || !taken.insert(tid).second) {
      tid = static_cast<int64_t>(1000000000 + i);
      taken.insert(tid);
    }
    tid_.push_back(tid);
  }
  taken.clear();
  for (size_t i = 0; i < t_.lanes.size(); ++i) {
    int64_t stream = rank_.device->streams[t_.lanes[i].stream].stream;
    if (stream < 0 || stream >= 1000000000 || t_.lanes[i].copy > 0 || !taken.insert(stream).second) {
      stream = static_cast<int64_t>(1000000000 + i);
      taken.insert(stream);
    }
    stream_.push_back(stream);
  }
}

// The name that all devices in the rank's file have; "" if there is no name, or several.
absl::string_view RankFacts::DeviceName() const {
  if (rank_.device == nullptr || rank_.device->devices.empty()) return "";
  const std::string& name = rank_.device->devices[0];
  for (const std::string& other : rank_.device->devices) {
    if (other != name) return "";
  }
  return name;
}

ChakraProtoMsg::GlobalMetadata RankFacts::Metadata(const std::vector<TimelineStep>& steps) const {
  ChakraProtoMsg::GlobalMetadata metadata =
      MetadataWith("schema", rank_.host != nullptr ? rank_.host->schema : rank_.device->schema);
  const auto number = [&](const char* name, int64_t value) {
    AddAttribute(name, &metadata)->set_int64_val(value);
  };
  AddAttribute("capture", &metadata)->set_string_val("pytorch");
  number("rank", rank_.rank);
  number("window_end_ns", t_.window_end - window_);
  if (const absl::string_view device = DeviceName(); !device.empty())
    AddAttribute("device", &metadata)->set_string_val(std::string(device));
  if (rank_.device != nullptr) {
    // If a process used several devices: the one that held the most.
    MemoryPeak most;
    for (const MemoryPeak& m : rank_.device->memory) most = m.allocated > most.allocated ? m : most;
    if (most.allocated > 0) number("peak_allocated_bytes", most.allocated);
    if (most.allocated > 0 && most.reserved > 0) number("peak_reserved_bytes", most.reserved);
  }
  if (const UnseenWork& unseen = t_.unseen; unseen.any()) {
    number("launches", static_cast<int64_t>(unseen.launches));
    number("launches_unseen", static_cast<int64_t>(unseen.launches_unseen));
    number("graphs", static_cast<int64_t>(unseen.graphs));
    number("graphs_unseen", static_cast<int64_t>(unseen.graphs_unseen));
    number("unknown_events", static_cast<int64_t>(unseen.unknown));
  }
  auto& names = *AddAttribute("step_names", &metadata)->mutable_string_list();
  auto& first = *AddAttribute("step_first_nodes", &metadata)->mutable_uint64_list();
  auto& last = *AddAttribute("step_last_nodes", &metadata)->mutable_uint64_list();
  for (const TimelineStep& step : steps) {
    names.add_values(step.name);
    first.add_values(step.first + 1);
    last.add_values(step.last + 1);
  }
  return metadata;
}

uint32_t RankFacts::OperatorOf(const TimelineNode& node) const {
  uint32_t row = node.event;
  while (row != kNoRow && rank_.device->events[row].kind != EventKind::kCpuOp) row = t_.caller[row];
  return row;
}

RankFacts::OperandTexts RankFacts::OperandsOf(uint32_t row) const {
  const DeviceTrace& d = *rank_.device;
  OperandTexts out;
  if (d.events[row].extra != kNoRow) {
    const OpExtra& extra = d.ops[d.events[row].extra];
    out.shapes = d.strings.Get(extra.shapes);
    out.types = d.strings.Get(extra.types);
  }
  if (rank_.host != nullptr && rank_.pairing.node_of_event[row] != kNoRow) {
    out.host = &rank_.host->nodes[rank_.pairing.node_of_event[row]];
    if (out.shapes.empty()) out.shapes = rank_.host->strings.Get(out.host->in_shapes);
    if (out.types.empty()) out.types = rank_.host->strings.Get(out.host->in_types);
  }
  return out;
}

const CompiledKernel* RankFacts::CompiledOf(uint32_t row) const {
  const DeviceTrace& d = *rank_.device;
  const uint32_t extra = d.events[row].extra;
  return extra == kNoRow || d.ops[extra].compiled == kNoRow ? nullptr : &d.compiled[d.ops[extra].compiled];
}

Work RankFacts::WorkOf(const CompiledKernel& compiled) {
  Work work;
  work.has_num_ops = compiled.operations >= 0;
  if (work.has_num_ops) work.num_ops = compiled.operations;
  work.has_tensor_bytes = compiled.traffic >= 0;
  if (work.has_tensor_bytes) work.tensor_bytes = static_cast<uint64_t>(compiled.traffic);
  return work;
}

}  // namespace chakra::pytorch
