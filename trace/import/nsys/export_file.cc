#include "trace/import/nsys/export_file.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trace/base/parallel.h"
#include "trace/base/status_macros.h"
#include "trace/import/capture/step_ranges.h"
#include "trace/import/nsys/device_rows.h"
#include "trace/import/nsys/graph_nodes.h"
#include "trace/import/nsys/host_rows.h"

namespace chakra::nsys {
namespace {

class Reader {
 public:
  Reader(const SqliteReader& db, const ReadWhat& what)
      : db_(db),
        what_(what),
        by_pattern_(what.step_range == kFoundSteps),
        steps_(by_pattern_ ? "" : what.step_range),
        out_(std::make_unique<ExportFile>()) {}

  absl::StatusOr<std::unique_ptr<ExportFile>> Run();

 private:
  absl::Status Check() const;
  absl::Status ChooseWindow();
  absl::Status ReadRows();
  absl::Status ReadCalls(const NcclSchemas& schemas);
  absl::Status ReadTables(const NcclSchemas& schemas);
  void DropIdle();
  void MarkSteps(Process* process);
  void Finish(Process* process);

  const SqliteReader& db_;
  const ReadWhat& what_;
  const bool by_pattern_;
  StepRanges steps_;
  std::unique_ptr<ExportFile> out_;
  Window window_;
  std::unique_ptr<Processes> processes_;
  std::map<int64_t, std::vector<StepRange>> chosen_;
};

// A usable export has at least one of these tables.
constexpr absl::string_view kDeviceTables[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                               "CUPTI_ACTIVITY_KIND_MEMSET",
                                               "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"};

absl::Status Reader::Check() const {
  bool any = false;
  for (const absl::string_view table : kDeviceTables) {
    RETURN_IF_ERROR(db_.CheckPlain(table));
    any = any || db_.Has(table);
  }
  if (any) return absl::OkStatus();
  std::vector<std::string> tables = db_.Tables();
  if (tables.size() > 12) tables.resize(12);
  if (!db_.Has("StringIds")) {
    return absl::InvalidArgumentError(absl::StrCat(db_.name(),
                                                   ": an SQLite file, but not an export of Nsight Systems "
                                                   "(`nsys export -t sqlite REPORT.nsys-rep`); its "
                                                   "tables: ",
                                                   absl::StrJoin(tables, ", ")));
  }
  return absl::InvalidArgumentError(absl::StrCat(db_.name(), ": no GPU operations were recorded (no table ",
                                                 absl::StrJoin(kDeviceTables, ", "),
                                                 "); record with `nsys profile --trace=cuda,nvtx`"));
}

// Reads the first and the last step of a selection such as "7" or "7-9". Returns false for other texts.
bool Selected(const std::string& steps, int64_t* from, int64_t* to) {
  const size_t dash = steps.find('-');
  if (!absl::SimpleAtoi(steps.substr(0, dash), from)) return false;
  *to = *from;
  return dash == steps.npos || absl::SimpleAtoi(steps.substr(dash + 1), to);
}

// If the user selects steps that ranges mark, rows outside these steps need not be kept. The linker selects
// the steps again, exactly, for each rank, and reports errors of the selection.
absl::Status Reader::ChooseWindow() {
  // For "skip-first" nearly all rows are needed. The linker also needs the first step to recognize it.
  if (what_.steps.empty() || what_.steps == "all" || what_.steps == "skip-first" || by_pattern_)
    return absl::OkStatus();
  StepRanges marks(what_.step_range);
  RETURN_IF_ERROR(ReadStepRows(db_, out_->strings, out_->session, &marks));
  Window window = {INT64_MAX, INT64_MIN};
  chosen_ = marks.Choose();
  for (const auto& [process, steps] : chosen_) {
    size_t first = 0, last = steps.size() - 1;
    int64_t from = 0, to = 0;
    if (what_.steps == "first") {
      last = 0;
    } else if (what_.steps == "last") {
      first = last;
    } else if (Selected(what_.steps, &from, &to)) {
      const auto in = [&](const StepRange& s) { return s.number >= from && s.number <= to; };
      const auto begin = std::find_if(steps.begin(), steps.end(), in);
      if (begin == steps.end()) continue;
      first = static_cast<size_t>(begin - steps.begin());
      last = static_cast<size_t>(std::find_if_not(begin, steps.end(), in) - steps.begin()) - 1;
    }
    window.begin = std::min(window.begin, steps[first].begin);
    window.end = std::max(window.end, steps[last].end);
  }
  if (window.begin < window.end) window_ = window;
  return absl::OkStatus();
}

// Removes processes that ran nothing on a device.
void Reader::DropIdle() {
  for (auto it = processes_->all().begin(); it != processes_->all().end();) {
    const bool idle = it->second->devices.empty();
    out_->idle_processes += idle ? 1 : 0;
    it = idle ? processes_->Erase(it) : std::next(it);
  }
}

// Reads the tables of a window one after the other: device operations are selected by the calls that launched
// them.
absl::Status Reader::ReadCalls(const NcclSchemas& schemas) {
  absl::Status status = ReadApiRows(db_, window_, processes_.get());
  if (status.ok()) status = ReadDeviceRows(db_, window_, processes_.get());
  DropIdle();
  if (status.ok()) status = ReadSyncRows(db_, window_, processes_.get());
  if (status.ok()) status = ReadMpiRows(db_, window_, processes_.get(), &out_->mpi_calls);
  if (status.ok()) status = ReadNvtxRows(db_, window_, out_->strings, schemas, processes_.get(), &steps_);
  if (status.ok()) status = ReadMembers(db_, out_->strings, schemas, processes_.get());
  return status;
}

// Reads the large tables of a whole recording in parallel, then joins them in the order of ReadCalls().
absl::Status Reader::ReadTables(const NcclSchemas& schemas) {
  Processes devices(out_->session, out_->strings), ranges(out_->session, out_->strings, true);
  absl::Status status = ForEach(3, what_.threads, [&] {
    return [&](size_t table) -> absl::Status {
      ASSIGN_OR_RETURN(std::unique_ptr<SqliteReader> db, db_.Again());  // a connection serves one thread
      if (table == 0) return ReadApiRows(*db, window_, processes_.get());
      if (table == 1) return ReadDeviceRows(*db, window_, &devices);
      return ReadNvtxRows(*db, window_, out_->strings, schemas, &ranges, &steps_);
    };
  });
  if (!status.ok()) return status;
  for (auto& [id, part] : devices.all()) {
    processes_->Of(id).Absorb(part.get());
    part = nullptr;
  }
  DropIdle();
  status = ReadSyncRows(db_, window_, processes_.get());
  if (status.ok()) status = ReadMpiRows(db_, window_, processes_.get(), &out_->mpi_calls);
  for (auto& [id, part] : ranges.all()) {
    Process* process = processes_->Find(id);
    if (process == nullptr) {
      steps_.Forget(id);
      continue;
    }
    steps_.MoveRows(id, process->rows());
    process->Absorb(part.get());
    part = nullptr;
  }
  return status;
}

absl::Status Reader::ReadRows() {
  ASSIGN_OR_RETURN(const NcclSchemas schemas, NcclSchemas::Read(db_));
  absl::Status status = window_.whole() ? ReadTables(schemas) : ReadCalls(schemas);
  if (status.ok()) status = ReadThreadNames(db_, out_->strings, processes_.get());
  if (status.ok()) status = JoinGraphNodes(db_, out_->strings, schemas, processes_.get());
  return status;
}

// Marks ranges that are steps with the names of steps in a PyTorch profile. A window holds only some of the
// steps; they keep their numbers in the whole recording.
void Reader::MarkSteps(Process* process) {
  const auto read = steps_.all().find(process->id);
  const auto chosen = chosen_.find(process->id);
  if (read == steps_.all().end() || chosen == chosen_.end()) return;
  std::map<std::tuple<int64_t, int64_t, int64_t>, uint32_t> row_of;  // by thread, begin and end
  for (const StepRange& r : read->second)
    row_of.emplace(std::make_tuple(r.global_tid, r.begin, r.end), r.row);
  for (const StepRange& step : chosen->second) {
    const auto row = row_of.find({step.global_tid, step.begin, step.end});
    if (row == row_of.end()) continue;
    process->step_marks.push_back(
        {row->second, process->trace.strings.Intern(absl::StrCat("ProfilerStep#", step.number))});
  }
}

// Sets what does not depend on the unpacked rows.
void Reader::Finish(Process* process) {
  pytorch::DeviceTrace& trace = process->trace;
  MarkSteps(process);
  process->steps_by_pattern = by_pattern_;
  trace.base_ns = out_->session.to_utc;
  trace.skipped = process->free_ranges + process->open_ranges;
  for (const auto& [device, operations] : process->devices) {
    const auto name = out_->session.gpu_of.find({PidOf(process->id), device});
    if (name != out_->session.gpu_of.end()) trace.devices.push_back(name->second);
  }
  if (trace.devices.empty()) trace.devices = out_->session.gpus;
}

absl::StatusOr<std::unique_ptr<ExportFile>> Reader::Run() {
  RETURN_IF_ERROR(Check());
  ASSIGN_OR_RETURN(out_->session, ReadSession(db_));
  ASSIGN_OR_RETURN(out_->strings, Strings::Read(db_));
  out_->nvtx = db_.Has("NVTX_EVENTS");
  out_->api = db_.Has("CUPTI_ACTIVITY_KIND_RUNTIME");
  processes_ = std::make_unique<Processes>(out_->session, out_->strings);
  RETURN_IF_ERROR(ChooseWindow());
  RETURN_IF_ERROR(ReadRows());
  if (window_.whole()) chosen_ = steps_.Choose();
  if (steps_.asked() && chosen_.empty() && !by_pattern_) {
    return absl::InvalidArgumentError(
        absl::StrCat(db_.name(), ": no NVTX range of a process with a GPU is named \"", what_.step_range,
                     "\"; expected the text of a range ('*' matches any text), or \"--step-range ",
                     kFoundSteps, "\", which finds steps by the kernels that repeat"));
  }
  for (auto& [id, process] : processes_->all()) {
    Finish(process.get());
    out_->processes.push_back(std::move(process));
  }
  if (out_->processes.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(db_.name(),
                     ": the recording has no operation of a GPU; record with `nsys profile "
                     "--trace=cuda,nvtx`, and let the program run into the range that is recorded"));
  }
  return std::move(out_);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExportFile>> ReadExport(const SqliteReader& db, const ReadWhat& what) {
  return Reader(db, what).Run();
}

}  // namespace chakra::nsys
