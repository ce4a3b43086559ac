// Exports of Nsight Systems: any bytes give an error, or processes with each row at the place that it names.
// A second read gives the same.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/import/linked/linker.h"
#include "trace/import/nsys/export_file.h"
#include "trace/import/nsys/ranks.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {
namespace {

using fuzz::Require;

absl::StatusOr<std::unique_ptr<ExportFile>> ReadBytes(absl::string_view bytes, const ReadWhat& what) {
  absl::StatusOr<std::unique_ptr<SqliteReader>> db = SqliteReader::OfBytes(bytes, "fuzz.sqlite", kExports);
  if (!db.ok()) return db.status();
  return ReadExport(**db, what);
}

void CheckNsys(const pytorch::DeviceTrace& t) {
  for (size_t i = 0; i < t.events.size(); ++i) {
    const pytorch::Event& e = t.events[i];
    const bool op = e.kind == pytorch::EventKind::kCpuOp || e.kind == pytorch::EventKind::kAnnotation;
    const size_t rows = op                                    ? t.ops.size()
                        : pytorch::OnDevice(e.kind)           ? t.device.size()
                        : e.kind == pytorch::EventKind::kSync ? t.syncs.size()
                                                              : t.runtime.size();
    Require(e.dur >= 0, "a duration is never negative");
    Require(e.name < t.strings.size(), "a name is a string");
    Require(e.lane < (pytorch::OnHost(e.kind) ? t.threads.size() : t.streams.size()), "a lane is a row");
    Require(e.extra == kNoRow || e.extra < rows, "extra is a row");
    Require(i == 0 || t.events[i - 1].ts <= e.ts, "events are sorted");
  }
  for (const pytorch::DeviceExtra& x : t.device) {
    Require(x.comm == kNoRow || x.comm < t.comms.size(), "a call is a row");
    Require(x.graph_op == kNoRow || x.graph_op < t.graph_ops.size(), "an operator is a row");
  }
}

}  // namespace
}  // namespace chakra::nsys

FUZZ_TARGET(nsys_fuzz, data, size) {
  using namespace chakra;
  using namespace chakra::nsys;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const ReadWhat& what : {ReadWhat{}, ReadWhat{std::string(kFoundSteps), ""}, ReadWhat{"*", "0"}}) {
    auto a = ReadBytes(bytes, what), b = ReadBytes(bytes, what);
    fuzz::Require(a.ok() == b.ok() && a.status().message() == b.status().message(), "the same answer twice");
    if (!a.ok()) {
      fuzz::Require(!a.status().message().empty(), "an error says why");
      continue;
    }
    std::vector<std::unique_ptr<ExportFile>> files;
    files.push_back(*std::move(a));
    fuzz::Require(files[0]->processes.size() == (*b)->processes.size(), "the same processes twice");
    std::vector<DeviceRank> drafts = DraftRanks(&files);
    NumberRanks(&drafts);
    ListGroups(&drafts);
    pytorch::RecordedRanks runs;
    for (DeviceRank& draft : drafts) {
      if (draft.fill != nullptr) draft.fill(draft.trace.get());
      CheckNsys(*draft.trace);
      runs.Add(std::move(draft.trace));
    }
    const auto linked = pytorch::JoinRecorded(std::move(runs), ReadOptions());
    fuzz::Require(linked.ok() || !linked.status().message().empty(), "an error says why");
  }
  return 0;
}
