#include "trace/import/kineto/kineto_split.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace chakra::pytorch::kineto {
namespace {

// Copies rows of one trace to another, with the rows of other columns that they refer to.
class RowCopier {
 public:
  RowCopier(const DeviceTrace& from, DeviceTrace* to) : from_(from), to_(to) {
    for (size_t i = 0; i < from.graph_nodes.size(); ++i) graph_node_[from.graph_nodes[i].extra] = i;
  }

  void Copy(uint32_t row) {
    Event e = from_.events[row];
    if (e.extra != kNoRow) e.extra = Extra(e);
    if (const EventIds ids = from_.ids_of(row); ids.external != kNone || ids.rf != kNone)
      to_->SetIds(to_->events.size(), ids);
    to_->events.push_back(e);
  }

 private:
  template <typename T>
  static uint32_t Append(const T& row, std::vector<T>* column) {
    column->push_back(row);
    return static_cast<uint32_t>(column->size() - 1);
  }

  uint32_t Comm(uint32_t comm, uint32_t count) {
    if (comm == kNoRow) return kNoRow;
    const auto first = static_cast<uint32_t>(to_->comms.size());
    for (uint32_t i = 0; i < count; ++i) to_->comms.push_back(from_.comms[comm + i]);
    return first;
  }

  uint32_t Extra(const Event& e) {
    switch (e.kind) {
      case EventKind::kRuntime:
      case EventKind::kDriver:
        return Append(from_.runtime[e.extra], &to_->runtime);
      case EventKind::kSync:
        return Append(from_.syncs[e.extra], &to_->syncs);
      case EventKind::kKernel:
      case EventKind::kMemcpy:
      case EventKind::kMemset: {
        DeviceExtra x = from_.device[e.extra];
        x.comm = Comm(x.comm, x.comms);
        const uint32_t row = Append(x, &to_->device);
        if (const auto node = graph_node_.find(e.extra); node != graph_node_.end())
          to_->graph_nodes.push_back({row, from_.graph_nodes[node->second].node});
        return row;
      }
      default: {
        OpExtra x = from_.ops[e.extra];
        x.comm = Comm(x.comm, 1);
        if (x.compiled != kNoRow) x.compiled = Append(from_.compiled[x.compiled], &to_->compiled);
        return Append(x, &to_->ops);
      }
    }
  }

  const DeviceTrace& from_;
  DeviceTrace* to_;
  absl::flat_hash_map<uint32_t, size_t> graph_node_;
};

}  // namespace

std::vector<SplitRank> SplitByLabel(const DeviceTrace& all, const LaneLabels& labels,
                                    const std::vector<FlowEnd>& flows) {
  std::map<std::string, size_t> of;  // index of the rank, by label
  const auto label = [&](const Event& e) -> const std::string& {
    return OnHost(e.kind) ? labels.threads[e.lane] : labels.streams[e.lane];
  };
  for (const Event& e : all.events) of.try_emplace(label(e), 0);
  std::vector<SplitRank> ranks(of.size());
  std::vector<RowCopier> copiers;
  size_t next = 0;
  for (auto& [name, index] : of) {
    index = next++;
    RankPart& part = ranks[index].part;
    part.label = name;
    part.by_device = labels.by_device;
    part.device = std::make_unique<DeviceTrace>();
    part.device->file = all.file;
    part.device->world_size = all.world_size;
    part.device->base_ns = all.base_ns;
    part.device->threads = all.threads;
    part.device->streams = all.streams;
    part.device->strings = all.strings;
    part.device->groups = all.groups;
    part.device->devices = all.devices;
    part.device->memory = all.memory;
    copiers.emplace_back(all, part.device.get());
  }
  for (uint32_t row = 0; row < all.events.size(); ++row) copiers[of.at(label(all.events[row]))].Copy(row);
  for (const FlowEnd& end : flows) {
    const auto owner = of.find(labels.threads[end.thread]);
    if (owner != of.end()) ranks[owner->second].flows.push_back(end);
  }
  if (!ranks.empty()) ranks[0].part.device->unknown_events = all.unknown_events;  // count them only once
  for (SplitRank& rank : ranks) {
    std::vector<GraphNodeOf>& nodes = rank.part.device->graph_nodes;
    std::sort(nodes.begin(), nodes.end(),
              [](const GraphNodeOf& a, const GraphNodeOf& b) { return a.extra < b.extra; });
  }
  return ranks;
}

}  // namespace chakra::pytorch::kineto
