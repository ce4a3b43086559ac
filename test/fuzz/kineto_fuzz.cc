// Kineto traces: any bytes give an error, or a trace with each row at the place that it names. A second read
// gives the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/kineto/kineto.h"

namespace chakra::pytorch {
namespace {

using fuzz::Require;

void CheckEvent(const DeviceTrace& t, const Event& e) {
  Require(e.dur >= 0, "a duration is never negative");
  Require(e.name < t.strings.size(), "a name is a string");
  Require(e.lane < (OnHost(e.kind) ? t.threads.size() : t.streams.size()), "a lane is a row");
  const bool op = e.kind == EventKind::kCpuOp || e.kind == EventKind::kAnnotation;
  const size_t rows = op                           ? t.ops.size()
                      : OnDevice(e.kind)           ? t.device.size()
                      : e.kind == EventKind::kSync ? t.syncs.size()
                                                   : t.runtime.size();
  Require(e.extra == kNoRow || e.extra < rows, "extra is a row");
  Require(op || OnHost(e.kind) || e.extra != kNoRow, "a device event has its extra row");
}

void CheckKineto(const DeviceTrace& t) {
  for (size_t i = 0; i < t.events.size(); ++i) {
    CheckEvent(t, t.events[i]);
    if (i == 0) continue;
    const Event &a = t.events[i - 1], &b = t.events[i];
    Require(a.ts < b.ts || (a.ts == b.ts && a.dur >= b.dur), "events are sorted");
  }
  for (const FlowArrow& f : t.fwdbwd)
    Require(std::max(f.from, f.to) < t.events.size(), "an arrow joins rows");
  for (const OpExtra& x : t.ops) Require(x.comm == kNoRow || x.comm < t.comms.size(), "a call is a row");
  for (const DeviceExtra& x : t.device)
    Require(x.comm == kNoRow || x.comm < t.comms.size(), "a call is a row");
  for (const Repair& r : t.repairs) Require(r.count > 0 && !r.kind.empty(), "a repair counts");
}

}  // namespace
}  // namespace chakra::pytorch

FUZZ_TARGET(kineto_fuzz, data, size) {
  using namespace chakra;
  using namespace chakra::pytorch;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  (void)LooksLikeKineto(text);
  MemorySource first(text), second(text);
  std::vector<RankPart> parts, again;
  const auto a = ReadKineto(&first, "fuzz.json", &parts), b = ReadKineto(&second, "fuzz.json", &again);
  fuzz::Require(a.ok() == b.ok() && a.status().message() == b.status().message(), "the same answer twice");
  if (!a.ok()) {
    fuzz::Require(!a.status().message().empty(), "an error says why");
    return 0;
  }
  CheckKineto(*a);
  fuzz::Require(parts.size() == again.size(), "the same ranks twice");
  for (const RankPart& part : parts) CheckKineto(*part.device);
  fuzz::Require(a->events.size() == b->events.size() && a->strings == b->strings, "the same trace twice");
  return 0;
}
