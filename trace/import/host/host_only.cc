#include "trace/import/host/host_only.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "trace/import/capture/event_order.h"

namespace chakra::pytorch {
namespace {

class HostConverter {
 public:
  explicit HostConverter(const HostTrace& host) : host_(host) {
    for (const auto& [id, linked] : host.linked) base_ = std::min(base_, linked.ts_ns);
    if (host.linked.empty()) base_ = 0;
  }

  HostOnly Run() {
    DeviceTrace& d = out_.device;
    d.file = host_.file;
    d.rank = host_.rank;
    d.base_ns = base_;
    for (uint32_t row = 0; row < host_.nodes.size(); ++row) {
      const HostNode& node = host_.nodes[row];
      const auto linked = host_.linked.find(node.id);
      if (linked != host_.linked.end() && linked->second.device) {
        AddDevice(row, linked->second);
      } else if (node.rf_id != 0) {  // nodes for the process, threads and groups are not operators
        AddOperator(row, linked == host_.linked.end() ? nullptr : &linked->second);
      }
    }
    if (!host_.linked.empty()) Sort();
    Pairing& pairing = out_.pairing;
    pairing.method = "host_only";
    pairing.event_of_node.assign(host_.nodes.size(), kNoRow);
    pairing.node_of_event = node_;
    for (uint32_t event = 0; event < node_.size(); ++event) {
      if (node_[event] == kNoRow) continue;
      pairing.event_of_node[node_[event]] = event;
      ++pairing.matched;
    }
    return std::move(out_);
  }

 private:
  uint32_t ThreadOf(const HostNode& node) {
    DeviceTrace& d = out_.device;
    const auto [lane, fresh] = threads_.try_emplace(node.tid, static_cast<uint32_t>(d.threads.size()));
    if (fresh) d.threads.push_back({0, absl::StrCat(node.tid), ""});
    return lane->second;
  }

  void Add(const Event& event, uint32_t node) {
    out_.device.events.push_back(event);
    node_.push_back(node);
  }

  void AddOperator(uint32_t row, const LinkedNode* linked) {
    const HostNode& node = host_.nodes[row];
    Event e;
    e.kind = node.scope == 7 ? EventKind::kAnnotation : EventKind::kCpuOp;
    e.name = out_.device.strings.Intern(host_.name_of(node));
    e.lane = ThreadOf(node);
    if (linked != nullptr) {
      e.ts = linked->ts_ns - base_;
      e.dur = linked->dur_ns;
    }
    Add(e, row);
  }

  void AddDevice(uint32_t row, const LinkedNode& linked) {
    DeviceTrace& d = out_.device;
    const HostNode& node = host_.nodes[row];
    const auto [lane, fresh] = streams_.try_emplace(linked.stream, static_cast<uint32_t>(d.streams.size()));
    if (fresh) d.streams.push_back({0, linked.stream});
    Event e;
    e.kind = static_cast<EventKind>(linked.kind);
    e.name = d.strings.Intern(host_.name_of(node));
    e.ts = linked.ts_ns - base_;
    e.dur = linked.dur_ns;
    e.correlation = static_cast<int64_t>(row) + 1;
    e.lane = lane->second;
    e.extra = static_cast<uint32_t>(d.device.size());
    d.device.emplace_back();
    const HostNode* parent = host_.Find(node.parent);
    const auto above = parent == nullptr ? host_.linked.end() : host_.linked.find(parent->id);
    if (above != host_.linked.end() && !above->second.device) {
      Event launch;
      launch.kind = EventKind::kRuntime;
      launch.name = d.strings.Intern("launch");
      launch.ts = std::min(above->second.ts_ns - base_, e.ts);
      launch.correlation = e.correlation;
      launch.lane = ThreadOf(*parent);
      Add(launch, kNoRow);
    }
    Add(e, kNoRow);
  }

  void Sort() {
    std::vector<Event>& events = out_.device.events;
    std::vector<uint32_t> order(events.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return ComesBefore(events[a], events[b]); });
    std::vector<Event> sorted;
    std::vector<uint32_t> node;
    for (const uint32_t i : order) {
      sorted.push_back(events[i]);
      node.push_back(node_[i]);
    }
    events = std::move(sorted);
    node_ = std::move(node);
  }

  const HostTrace& host_;
  int64_t base_ = INT64_MAX;
  HostOnly out_;
  std::vector<uint32_t> node_;  // row of the node, by event; kNoRow: the event is not an operator
  absl::flat_hash_map<uint32_t, uint32_t> threads_;
  std::map<int64_t, uint32_t> streams_;
};

}  // namespace

HostOnly AsDeviceTrace(const HostTrace& host) { return HostConverter(host).Run(); }

}  // namespace chakra::pytorch
