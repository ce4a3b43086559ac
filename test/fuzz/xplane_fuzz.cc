// JAX's profiles: any bytes give an error, or ranks with each row at the place that it names.
#include <cstring>
#include <string>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/xplane/ranks.h"
#include "trace/import/xplane/trace_view.h"
#include "trace/import/xplane/xspace.h"

FUZZ_TARGET(xplane_fuzz, data, size) {
  using namespace chakra;
  absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)xplane::LooksLikeXSpace(bytes);
  std::string shown;
  if (xplane::LooksLikeTraceView(bytes)) {
    auto space = xplane::XSpaceOfTraceView(bytes, "fuzz.trace.json");
    if (!space.ok()) return 0;
    shown = *std::move(space);
    bytes = shown;
  }
  std::vector<xplane::ProfileFile> files(1);
  files[0].path = "fuzz.xplane.pb";
  if (!files[0].content.Reserve(bytes.size() + 1)) return 0;
  if (!bytes.empty()) std::memcpy(files[0].content.data(), bytes.data(), bytes.size());
  files[0].content.set_size(bytes.size());
  const auto ranks = xplane::RanksOf(files);
  if (!ranks.ok()) {
    fuzz::Require(!ranks.status().message().empty(), "an error says why");
    return 0;
  }
  for (const pytorch::CaptureRank& rank : ranks->ranks) {
    const pytorch::DeviceTrace& d = *rank.device;
    for (const pytorch::Event& e : d.events) {
      fuzz::Require(e.dur >= 0, "a duration is never negative");
      fuzz::Require(e.lane < (OnHost(e.kind) ? d.threads.size() : d.streams.size()), "a lane is a row");
      if (!OnDevice(e.kind)) continue;
      const pytorch::DeviceExtra& x = d.device[e.extra];
      fuzz::Require(x.comm == kNoRow || x.comm + x.comms <= d.comms.size(), "calls are rows");
    }
    for (const pytorch::DeviceWait& w : d.waits)
      fuzz::Require(w.op < d.events.size() && w.source < d.events.size(), "a wait joins rows");
  }
  return 0;
}
