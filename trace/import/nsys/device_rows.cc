#include "trace/import/nsys/device_rows.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/nsys/owners.h"

namespace chakra::nsys {
namespace {

using pytorch::DeviceExtra;
using pytorch::Event;
using pytorch::EventKind;
using pytorch::kNone;
using pytorch::SyncExtra;

// ENUM_CUDA_MEMCPY_OPER and ENUM_CUDA_MEM_KIND, in the words of Kineto.
constexpr absl::string_view kCopies[] = {"Unknown", "HtoD",       "DtoH",       "HtoA",      "AtoH",
                                         "AtoA",    "AtoD",       "DtoA",       "DtoD",      "HtoH",
                                         "PtoP",    "HtoD (UVM)", "DtoH (UVM)", "DtoD (UVM)"};
constexpr absl::string_view kMemory[] = {"Pageable", "Pinned", "Device", "Array",
                                         "Managed",  "Device", "Managed"};

template <size_t n>
absl::string_view Pick(const absl::string_view (&names)[n], int64_t i) {
  return i >= 0 && i < static_cast<int64_t>(n) ? names[i] : "Unknown";
}

// The first columns of each table of operations, in this order.
enum Column {
  kAtStart,
  kAtEnd,
  kAtDevice,
  kAtContext,
  kAtStream,
  kAtCorrelation,
  kAtProcess,
  kAtGraphNode,
  kAtOwn
};
std::vector<absl::string_view> Columns(std::vector<absl::string_view> own) {
  std::vector<absl::string_view> all = {"!start",    "!end",          "!deviceId", "contextId",
                                        "!streamId", "correlationId", "globalPid", "graphNodeId"};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

// Returns the process of a row: from `column`, if the file has it, else from `owners`.
absl::StatusOr<int64_t> OwnerOf(const SqliteScan& row, int column, int64_t correlation, int64_t start,
                                int64_t device, Owners* owners) {
  int64_t global_pid = 0;
  if (row.Int(column, &global_pid) && global_pid != 0) return ProcessOf(global_pid);
  return owners->Of(correlation, start, device);
}

class DeviceReader {
 public:
  DeviceReader(const SqliteReader& db, const Window& window, Processes* processes)
      : db_(db), window_(window), processes_(processes), owners_(db) {}

  // Calls own(row, process, event, extra) for each operation in the window, to fill the other members. own()
  // returns whether the operation needs its extra.
  template <typename Own>
  absl::Status Read(absl::string_view table, EventKind kind, std::vector<absl::string_view> own_columns,
                    const Own& own) {
    if (!db_.Has(table)) return db_.CheckPlain(table);
    std::vector<SqliteCondition> where;
    if (!window_.whole()) where.push_back({.column = "start", .min = window_.begin});
    ASSIGN_OR_RETURN(SqliteScan rows, db_.Read(table, Columns(std::move(own_columns)), where));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.Next());
      if (!more) return absl::OkStatus();
      const int64_t start = rows.IntOr(kAtStart, INT64_MIN), correlation = rows.IntOr(kAtCorrelation, kNone);
      ASSIGN_OR_RETURN(const int64_t owner,
                       OwnerOf(rows, kAtProcess, correlation, start, rows.IntOr(kAtDevice, 0), &owners_));
      Process& process = processes_->Of(owner);
      if (start >= window_.end && !process.launched.contains(correlation)) continue;
      Event event;
      if (!process.Times(start, rows.IntOr(kAtEnd, start), &event)) continue;
      const int64_t device = rows.IntOr(kAtDevice, 0);
      event.kind = kind;
      event.correlation = correlation >= 0 ? correlation : kNone;
      event.lane = process.Stream(device, rows.IntOr(kAtContext, 0), rows.IntOr(kAtStream, kNone));
      DeviceExtra extra;
      const bool needed = own(rows, &process, &event, &extra);
      ++process.devices[device].first;
      if (needed) {
        process.Add(event, extra);
      } else {
        process.Add(event);
      }
    }
  }

  absl::Status Run() {
    absl::Status status = Kernels();
    if (status.ok()) status = Copies();
    if (status.ok()) status = Sets();
    if (status.ok()) status = Graphs();
    return status;
  }

 private:
  absl::Status Kernels();
  absl::Status Copies();
  absl::Status Sets();
  absl::Status Graphs();

  const SqliteReader& db_;
  const Window& window_;
  Processes* processes_;
  Owners owners_;
};

// Does not read grids and blocks: nothing uses them.
absl::Status DeviceReader::Kernels() {
  return Read("CUPTI_ACTIVITY_KIND_KERNEL", EventKind::kKernel, {"mangledName", "demangledName", "shortName"},
              [](const SqliteScan& row, Process* process, Event* event, DeviceExtra*) {
                event->name = process->KernelName(row.IntOr(kAtOwn, kNone), row.IntOr(kAtOwn + 1, kNone),
                                                  row.IntOr(kAtOwn + 2, kNone));
                if (absl::StartsWith(process->trace.strings.Get(event->name), "nccl"))
                  ++process->devices[row.IntOr(kAtDevice, 0)].second;
                int64_t node = 0;
                if (!row.Int(kAtGraphNode, &node)) return false;
                process->graph_kernels.push_back({process->devices_rows(), kNoRow, kNoRow, node});
                return true;
              });
}

absl::Status DeviceReader::Copies() {
  return Read(
      "CUPTI_ACTIVITY_KIND_MEMCPY", EventKind::kMemcpy, {"bytes", "copyKind", "srcKind", "dstKind"},
      [](const SqliteScan& row, Process* process, Event* event, DeviceExtra* extra) {
        extra->bytes = std::max<int64_t>(kNone, row.IntOr(kAtOwn, kNone));
        event->name = process->trace.strings.Intern(absl::StrCat(
            "Memcpy ", Pick(kCopies, row.IntOr(kAtOwn + 1, 0)), " (",
            Pick(kMemory, row.IntOr(kAtOwn + 2, -1)), " -> ", Pick(kMemory, row.IntOr(kAtOwn + 3, -1)), ")"));
        return true;
      });
}

absl::Status DeviceReader::Sets() {
  return Read("CUPTI_ACTIVITY_KIND_MEMSET", EventKind::kMemset, {"bytes", "memKind"},
              [](const SqliteScan& row, Process* process, Event* event, DeviceExtra* extra) {
                extra->bytes = std::max<int64_t>(kNone, row.IntOr(kAtOwn, kNone));
                event->name = process->trace.strings.Intern(
                    absl::StrCat("Memset (", Pick(kMemory, row.IntOr(kAtOwn + 1, 2)), ")"));
                return true;
              });
}

// A launch of a graph that was traced as a whole becomes one operation; its kernels are not known.
absl::Status DeviceReader::Graphs() {
  return Read("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", EventKind::kKernel, {"graphId"},
              [](const SqliteScan& row, Process* process, Event* event, DeviceExtra*) {
                ++process->graph_launches;
                event->name =
                    process->trace.strings.Intern(absl::StrCat("[CUDA graph ", row.IntOr(kAtOwn, 0), "]"));
                return false;
              });
}

constexpr int64_t kNoEvent = 4294967295;  // the eventId of a row without an event

absl::Status ReadRecords(const SqliteReader& db, Processes* processes) {
  constexpr absl::string_view kTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
  if (!db.Has(kTable)) return db.CheckPlain(kTable);
  ASSIGN_OR_RETURN(SqliteScan rows, db.Read(kTable, {"!globalPid", "deviceId", "contextId", "!streamId",
                                                     "!correlationId", "!eventId", "eventSyncId"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    Process* process = processes->Find(ProcessOf(rows.IntOr(0, 0)));
    int64_t stream = 0;
    if (process == nullptr || !rows.Int(3, &stream)) continue;
    process->records.push_back({rows.IntOr(5, kNoEvent), rows.IntOr(4, kNone), rows.IntOr(6, 0),
                                process->StreamOf(rows.IntOr(2, 0), stream, rows.IntOr(1, 0))});
  }
  return absl::OkStatus();
}

// Finds the records of a process's events. Correlations grow in the order of calls.
class Records {
 public:
  explicit Records(std::vector<EventRecord> records) : all_(std::move(records)) {
    const auto sort = [](std::vector<EventRecord>* rows, const auto& key) {
      std::stable_sort(rows->begin(), rows->end(),
                       [&](const EventRecord& a, const EventRecord& b) { return key(a) < key(b); });
    };
    sort(&all_, InTime);
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(numbered_),
                 [](const EventRecord& record) { return record.event_sync != 0; });
    sort(&numbered_, Numbered);
  }
  // Returns the record to which the profiler gave the same eventSyncId as to the wait, else the last record
  // of the event before the wait; null: none.
  const EventRecord* Of(const EventUse& use) const {
    const auto numbered = std::lower_bound(
        numbered_.begin(), numbered_.end(), std::make_tuple(use.event, use.event_sync, INT64_MIN),
        [](const EventRecord& record, const auto& key) { return Numbered(record) < key; });
    if (numbered != numbered_.end() && numbered->event == use.event &&
        numbered->event_sync == use.event_sync && numbered->correlation <= use.correlation)
      return &*numbered;
    const auto after =
        std::upper_bound(all_.begin(), all_.end(), std::make_tuple(use.event, use.correlation),
                         [](const auto& key, const EventRecord& record) { return key < InTime(record); });
    return after == all_.begin() || std::prev(after)->event != use.event ? nullptr : &*std::prev(after);
  }

 private:
  static std::tuple<int64_t, int64_t> InTime(const EventRecord& r) { return {r.event, r.correlation}; }
  static std::tuple<int64_t, int64_t, int64_t> Numbered(const EventRecord& r) {
    return {r.event, r.event_sync, r.correlation};
  }
  std::vector<EventRecord> all_, numbered_;  // sorted by InTime() and Numbered()
};

}  // namespace

absl::Status ReadDeviceRows(const SqliteReader& db, const Window& window, Processes* processes) {
  return DeviceReader(db, window, processes).Run();
}

absl::Status ReadSyncRows(const SqliteReader& db, const Window& window, Processes* processes) {
  constexpr absl::string_view kTable = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
  RETURN_IF_ERROR(ReadRecords(db, processes));
  if (!db.Has(kTable)) return db.CheckPlain(kTable);
  std::vector<SqliteCondition> where;
  if (!window.whole()) where.push_back({.column = "start", .min = window.begin, .max = window.end - 1});
  ASSIGN_OR_RETURN(SqliteScan rows,
                   db.Read(kTable,
                           {"!start", "!end", "deviceId", "contextId", "!streamId", "!correlationId",
                            "globalPid", "!syncType", "eventId", "eventSyncId"},
                           where));
  Owners owners(db);
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    int64_t stream = 0, correlation = 0;
    Event event;
    // Rows without a stream are waits of the host, for an event or for the whole device: the name of the
    // host's call shows these.
    if (!rows.Int(5, &correlation) || !rows.Int(4, &stream)) continue;
    ASSIGN_OR_RETURN(const int64_t owner,
                     OwnerOf(rows, 6, correlation, rows.IntOr(0, INT64_MIN), rows.IntOr(2, 0), &owners));
    Process* process = processes->Find(owner);
    if (process == nullptr) continue;
    if (!process->Times(rows.IntOr(0, INT64_MIN), rows.IntOr(1, INT64_MIN), &event)) continue;
    const int64_t type = rows.IntOr(7, 0), waited = rows.IntOr(8, kNoEvent);
    SyncExtra extra;
    extra.kind = type == 1   ? SyncExtra::kEvent
                 : type == 2 ? SyncExtra::kStreamWaitEvent
                 : type == 3 ? SyncExtra::kStream
                             : SyncExtra::kOther;
    if (extra.kind == SyncExtra::kOther) continue;
    event.kind = EventKind::kSync;
    event.correlation = correlation;
    // The device in these rows is not reliable; the device of the context is used.
    event.lane = process->StreamOf(rows.IntOr(3, 0), stream, rows.IntOr(2, 0));
    if (extra.kind == SyncExtra::kStreamWaitEvent && waited != kNoEvent)
      process->uses.push_back({process->sync_rows(), correlation, waited, rows.IntOr(9, 0), event.lane});
    process->Add(event, extra);
  }
  return absl::OkStatus();
}

void TieToRecords(Process* process) {
  std::vector<EventUse> open;
  const Records records(std::exchange(process->records, {}));
  for (const EventUse& use : process->uses) {
    const EventRecord* record = records.Of(use);
    if (record == nullptr) {
      open.push_back(use);
      continue;
    }
    SyncExtra& extra = process->trace.syncs[use.sync];
    extra.wait_on_stream = process->trace.streams[record->lane].stream;
    extra.wait_on_correlation = record->correlation;
  }
  process->uses = std::move(open);
}

void GuessRecords(Process* process) {
  if (process->uses.empty()) return;
  pytorch::DeviceTrace& trace = process->trace;
  absl::flat_hash_map<int64_t, const EventUse*> use_of;  // by correlation of the call that waits
  absl::flat_hash_map<int64_t, uint32_t> lane_of;        // by correlation of a launch
  for (const EventUse& use : process->uses) use_of.emplace(use.correlation, &use);
  for (const Event& e : trace.events) {
    if (pytorch::OnDevice(e.kind) && e.correlation != kNone) lane_of.emplace(e.correlation, e.lane);
  }
  struct Last {
    // lane: of the last launch; recorded: of the last launch before the last record.
    uint32_t lane = kNoRow, recorded = kNoRow;
    int64_t record = kNone;
  };
  std::vector<Last> threads(trace.threads.size());
  uint64_t guessed = 0, unknown = 0;
  for (const Event& e : trace.events) {
    if (e.kind != EventKind::kRuntime && e.kind != EventKind::kDriver) continue;
    Last& last = threads[e.lane];
    if (const auto launch = lane_of.find(e.correlation); launch != lane_of.end()) {
      last.lane = launch->second;
    } else if (absl::StrContains(trace.name_of(e), "EventRecord")) {
      last.recorded = last.lane;
      last.record = e.correlation;
    } else if (const auto use = use_of.find(e.correlation); use != use_of.end()) {
      if (last.recorded == kNoRow || last.recorded == use->second->lane) {
        ++unknown;
        continue;
      }
      SyncExtra& extra = trace.syncs[use->second->sync];
      extra.wait_on_stream = trace.streams[last.recorded].stream;
      extra.wait_on_correlation = last.record;
      ++guessed;
    }
  }
  constexpr absl::string_view kHow = "; nsys --cuda-event-trace=true records them";
  if (guessed > 0) {
    process->notes.Count("nsys_event_guessed", 0,
                         absl::StrCat("streams that wait for an event whose record was not traced; the last "
                                      "record of their thread is used",
                                      kHow),
                         guessed);
  }
  if (unknown > 0) {
    process->notes.Count("nsys_event_unknown", 0,
                         absl::StrCat("streams that wait for an unknown event", kHow), unknown);
  }
}

}  // namespace chakra::nsys
