// PyTorch host traces: any bytes give a consistent trace or an error that names the file.
#include <cstddef>
#include <cstdint>

#include "absl/strings/match.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/host/host_trace.h"
#include "trace/import/host/pair.h"

namespace {

using chakra::fuzz::Require;
using chakra::pytorch::HostNode;
using chakra::pytorch::HostTrace;

void Check(const HostTrace& t) {
  uint64_t last = 0;
  for (size_t i = 0; i < t.nodes.size(); ++i) {
    const HostNode& n = t.nodes[i];
    Require(i == 0 || n.id > last, "nodes ascend by id");
    last = n.id;
    Require(t.Find(n.id) == &n, "a node is found by its id");
    Require(n.comm == chakra::kNoRow || n.comm < t.comms.size(), "a node's call is there");
    for (const uint32_t s :
         {n.name, n.op_schema, n.in_values, n.in_shapes, n.in_types, n.out_shapes, n.out_types}) {
      Require(s < t.strings.size(), "a node's text is there");
    }
  }
  for (const auto& [name, ranks] : t.groups) Require(!name.empty() && !ranks.empty(), "a group has members");
  for (const auto& r : t.repairs) Require(r.count > 0 && !r.kind.empty(), "a repair is counted");
}

// Pairs the trace with a device trace of its own operators, which all pair.
void PairWithItself(const HostTrace& t, bool ids) {
  chakra::pytorch::DeviceTrace d;
  for (const HostNode& n : t.nodes) {
    chakra::pytorch::Event e;
    if (ids) d.SetIds(d.events.size(), {chakra::pytorch::kNone, static_cast<int64_t>(n.rf_id)});
    e.lane = n.tid % 4;
    e.name = d.strings.Intern(t.name_of(n));
    d.events.push_back(e);
  }
  d.threads.resize(4);
  const auto p = chakra::pytorch::Pair(t, d);
  if (!p.ok()) return;
  for (uint32_t i = 0; i < t.nodes.size(); ++i) {
    const uint32_t e = p->event_of_node[i];
    Require(e == chakra::kNoRow || p->node_of_event[e] == i, "a pair is one from both sides");
  }
}

}  // namespace

FUZZ_TARGET(host_trace_fuzz, data, size) {
  const absl::string_view content(reinterpret_cast<const char*>(data), size);
  (void)chakra::pytorch::LooksLikeHostTrace(content);
  const auto t = chakra::pytorch::ReadHostTrace(content, "fuzz.json");
  if (!t.ok()) {
    Require(absl::StrContains(t.status().message(), "fuzz.json"), "an error names the file");
    return 0;
  }
  Check(*t);
  PairWithItself(*t, true);
  PairWithItself(*t, false);
  return 0;
}
