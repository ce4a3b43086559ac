#include "trace/import/rocprof/rocpd.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"

namespace chakra::rocprof {
namespace {

constexpr absl::string_view kPrefix = "rocpd_";  // the prefix of all its tables
constexpr absl::string_view kDispatchTable = "rocpd_kernel_dispatch";
constexpr absl::string_view kRegionTable = "rocpd_region";

// A row of rocpd_track.
struct Track {
  int64_t pid = kUnknown, tid = kUnknown, agent = kUnknown, queue = kUnknown, stream = kUnknown;
};

// A row of rocpd_event.
struct HostEvent {
  int64_t correlation = kUnknown;
  uint32_t category = 0;
  uint32_t message = 0;  // the text of a range that the program marks
  uint32_t args = kNoRow;
};

// The place and the times of a row, in either schema. kPlace has the columns of both schemas, in the order in
// which PlaceOf() reads them.
const std::vector<std::string> kPlace = {"start", "end",      "start_id", "end_id",    "track_id", "pid",
                                         "tid",   "agent_id", "queue_id", "stream_id", "event_id", "id"};
struct Place {
  int64_t begin = 0, end = 0;
  Track track;
  const HostEvent* event = nullptr;
};

const int kOwn = static_cast<int>(kPlace.size());  // the first column behind those of kPlace

// The value of a column; 0: NULL.
int64_t Int(const SqliteScan& row, int column) { return row.IntOr(column, 0); }

// Calls each(row) for the rows of a table.
template <typename Each>
absl::Status ForEachRow(const SqliteReader& db, const std::string& table,
                        const std::vector<std::string>& columns, const Each& each) {
  ASSIGN_OR_RETURN(SqliteScan rows, db.Read(table, {columns.begin(), columns.end()}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    RETURN_IF_ERROR(each(rows));
  }
}

// The value of a key of a small JSON object; "": there is none.
std::string JsonField(absl::string_view json, const char* key) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view value;
  const simdjson::padded_string text(json.data(), json.size());
  if (parser.parse(text).get(root) != simdjson::SUCCESS) return "";
  return root[key].get(value) == simdjson::SUCCESS ? std::string(value) : "";
}

// Reads the tables of one process.
class TablesReader {
 public:
  TablesReader(const SqliteReader& database, std::string suffix, Recording* out)
      : db_(database), suffix_(std::move(suffix)), out_(*out) {}

  absl::Status Read() {
    for (const auto part :
         {&TablesReader::Strings, &TablesReader::Node, &TablesReader::Process, &TablesReader::Agents,
          &TablesReader::Threads, &TablesReader::Kernels, &TablesReader::Tracks, &TablesReader::Timestamps,
          &TablesReader::Events, &TablesReader::Args, &TablesReader::Regions, &TablesReader::Dispatches,
          &TablesReader::Copies}) {
      RETURN_IF_ERROR((this->*part)());
    }
    return absl::OkStatus();
  }

 private:
  template <typename Each>
  absl::Status Optional(absl::string_view table, const std::vector<std::string>& columns, Each each) {
    const std::string name = absl::StrCat(std::string(table), suffix_);
    if (!db_.Has(name)) return absl::OkStatus();
    return ForEachRow(db_, name, columns, [&](const SqliteScan& row) {
      each(row);
      return absl::OkStatus();
    });
  }
  absl::Status Strings();
  absl::Status Node();
  absl::Status Process();
  absl::Status Agents();
  absl::Status Threads();
  absl::Status Kernels();
  absl::Status Tracks();
  absl::Status Timestamps();
  absl::Status Events();
  absl::Status Args();
  absl::Status Regions();
  absl::Status Dispatches();
  absl::Status Copies();
  template <typename Record, typename Each>
  absl::Status Placed(absl::string_view table, std::vector<std::string> own, std::vector<Record>* out,
                      const Each& each);
  absl::Status PlaceOf(absl::string_view table, const SqliteScan& row, Place* place);
  uint32_t String(int64_t id);

  const SqliteReader& db_;
  const std::string suffix_;
  Recording& out_;
  absl::flat_hash_map<int64_t, uint32_t> string_;  // by id: row in Recording::strings
  absl::flat_hash_map<int64_t, int64_t> thread_;   // by id: number of the thread in its operating system
  absl::flat_hash_map<int64_t, Track> track_;      // by id
  absl::flat_hash_map<int64_t, int64_t> time_;     // by id
  absl::flat_hash_map<int64_t, HostEvent> event_;  // by id
};

absl::Status TablesReader::Strings() {
  return Optional("rocpd_string", {"id", "string"},
                  [&](const SqliteScan& row) { string_[Int(row, 0)] = out_.strings.Intern(row.Text(1)); });
}

uint32_t TablesReader::String(int64_t id) {
  const auto it = string_.find(id);
  if (it != string_.end()) return it->second;
  out_.Note("rocprof_dangling_string",
            absl::StrCat("string ", id, " is not in rocpd_string; the number is used"));
  return out_.strings.Intern(absl::StrCat("string ", id));
}

absl::Status TablesReader::Node() {
  return Optional("rocpd_info_node", {"hostname"},
                  [&](const SqliteScan& row) { out_.machine = std::string(row.Text(0)); });
}

absl::Status TablesReader::Process() {
  return Optional("rocpd_info_process", {"pid", "environment"}, [&](const SqliteScan& row) {
    out_.pid = Int(row, 0);
    const absl::string_view environment = row.Text(1);
    for (const char* key : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
      if (absl::SimpleAtoi(JsonField(environment, key), &out_.rank) && out_.rank >= 0) break;
      out_.rank = kNoRank;
    }
    for (const char* key : {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
      if (absl::SimpleAtoi(JsonField(environment, key), &out_.world) && out_.world > 0) break;
      out_.world = 0;
    }
  });
}

absl::Status TablesReader::Agents() {
  return Optional("rocpd_info_agent", {"id", "type", "type_index", "product_name", "model_name", "name"},
                  [&](const SqliteScan& row) {
                    Agent& agent = out_.agents[Int(row, 0)];
                    agent.gpu = row.Text(1) == "GPU";
                    agent.index = static_cast<int>(std::clamp<int64_t>(Int(row, 2), 0, 1 << 20));
                    for (const int column : {3, 4, 5}) {
                      if (agent.name.empty()) agent.name = std::string(row.Text(column));
                    }
                  });
}

absl::Status TablesReader::Threads() {
  return Optional("rocpd_info_thread", {"id", "tid"},
                  [&](const SqliteScan& row) { thread_[Int(row, 0)] = Int(row, 1); });
}

absl::Status TablesReader::Kernels() {
  return Optional("rocpd_info_kernel_symbol", {"id", "display_name", "kernel_name"},
                  [&](const SqliteScan& row) {
                    const absl::string_view name = row.Text(1).empty() ? row.Text(2) : row.Text(1);
                    out_.kernels[Int(row, 0)] = out_.strings.Intern(absl::StripSuffix(name, ".kd"));
                  });
}

absl::Status TablesReader::Tracks() {
  return Optional(
      "rocpd_track", {"id", "pid", "tid", "agent_id", "queue_id", "stream_id"}, [&](const SqliteScan& row) {
        track_[Int(row, 0)] = {row.IntOr(1, kUnknown), row.IntOr(2, kUnknown), row.IntOr(3, kUnknown),
                               row.IntOr(4, kUnknown), row.IntOr(5, kUnknown)};
      });
}

absl::Status TablesReader::Timestamps() {
  return Optional("rocpd_timestamp", {"id", "value"},
                  [&](const SqliteScan& row) { time_[Int(row, 0)] = Int(row, 1); });
}

absl::Status TablesReader::Events() {
  return Optional("rocpd_event", {"id", "stack_id", "category_id", "extdata"}, [&](const SqliteScan& row) {
    HostEvent event;
    event.correlation = row.IntOr(1, kUnknown);
    if (row.Has(2)) event.category = String(Int(row, 2));
    if (absl::StrContains(row.Text(3), "\"message\""))
      event.message = out_.strings.Intern(JsonField(row.Text(3), "message"));
    event_[Int(row, 0)] = event;
  });
}

absl::Status TablesReader::Args() {
  return Optional("rocpd_arg", {"event_id", "name", "value"}, [&](const SqliteScan& row) {
    const auto it = event_.find(Int(row, 0));
    if (it == event_.end()) return;
    // Only arguments of RCCL calls are used; HIP has far more calls.
    if (!absl::StrContains(out_.strings.Get(it->second.category), "RCCL")) return;
    if (it->second.args == kNoRow) {
      it->second.args = static_cast<uint32_t>(out_.args.size());
      out_.args.emplace_back();
    }
    out_.args[it->second.args][std::string(row.Text(1))] = std::string(row.Text(2));
  });
}

absl::Status TablesReader::PlaceOf(absl::string_view table, const SqliteScan& row, Place* place) {
  const auto at = [&] {
    return absl::StrCat(out_.file, ": table ", std::string(table), suffix_, ", row ", Int(row, 11));
  };
  if (row.Has(0)) {
    place->begin = Int(row, 0);
    place->end = Int(row, 1);
  } else {
    const auto begin = time_.find(Int(row, 2)), end = time_.find(Int(row, 3));
    if (begin == time_.end() || end == time_.end())
      return absl::InvalidArgumentError(absl::StrCat(
          at(), ": no times; expected start and end, or start_id and end_id of rows of rocpd_timestamp",
          suffix_));
    place->begin = begin->second;
    place->end = end->second;
  }
  if (!IsTime(place->begin) || !IsTime(place->end))
    return absl::InvalidArgumentError(
        absl::StrCat(at(), ": start ", place->begin, ", end ", place->end,
                     "; expected nanoseconds since the machine's boot, above 0 and below 2^61"));
  if (place->end < place->begin) {
    out_.Note("rocprof_negative_duration", absl::StrCat(at(), " ends before it begins; duration 0 is used"));
    place->end = place->begin;
  }
  Track& track = place->track;
  if (row.Has(4)) {
    const auto it = track_.find(Int(row, 4));
    if (it != track_.end()) {
      track = it->second;
    } else {
      out_.Note("rocprof_dangling_track",
                absl::StrCat(at(), ": track ", Int(row, 4), " is not in rocpd_track"));
    }
  }
  track.pid = row.IntOr(5, track.pid);
  track.tid = row.IntOr(6, track.tid);
  track.agent = row.IntOr(7, track.agent);
  track.queue = row.IntOr(8, track.queue);
  track.stream = row.IntOr(9, track.stream);
  if (const auto thread = thread_.find(track.tid); thread != thread_.end()) track.tid = thread->second;
  const auto event = row.Has(10) ? event_.find(Int(row, 10)) : event_.end();
  place->event = event == event_.end() ? nullptr : &event->second;
  if (row.Has(10) && place->event == nullptr)
    out_.Note("rocprof_dangling_event",
              absl::StrCat(at(), ": event ", Int(row, 10), " is not in rocpd_event"));
  return absl::OkStatus();
}

// Reads a table whose rows have a place, into records that begin with times, thread and correlation. each()
// sets the other members. `own`: more columns, from kOwn on.
template <typename Record, typename Each>
absl::Status TablesReader::Placed(absl::string_view table, std::vector<std::string> own,
                                  std::vector<Record>* out, const Each& each) {
  const std::string name = absl::StrCat(table, suffix_);
  if (!db_.Has(name)) return absl::OkStatus();
  own.insert(own.begin(), kPlace.begin(), kPlace.end());
  return ForEachRow(db_, name, own, [&](const SqliteScan& row) {
    Place place;
    RETURN_IF_ERROR(PlaceOf(table, row, &place));
    Record record;
    record.begin = place.begin;
    record.end = place.end;
    record.thread = std::max<int64_t>(0, place.track.tid);
    if (place.event != nullptr) record.correlation = place.event->correlation;
    each(row, place, &record);
    out->push_back(record);
    return absl::OkStatus();
  });
}

absl::Status TablesReader::Regions() {
  return Placed(kRegionTable, {"name_id"}, &out_.calls,
                [&](const SqliteScan& row, const Place& place, Call* call) {
                  call->name = String(Int(row, kOwn));
                  call->domain = DomainOf(out_.strings.Get(call->name));
                  if (place.event == nullptr) return;
                  call->args = place.event->args;
                  if (absl::StrContains(out_.strings.Get(place.event->category), "MARKER"))
                    call->domain = Domain::kMarker;
                  if (call->domain == Domain::kMarker && place.event->message != 0)
                    call->name = place.event->message;
                });
}

absl::Status TablesReader::Dispatches() {
  return Placed(kDispatchTable,
                {"kernel_id", "grid_size_x", "grid_size_y", "grid_size_z", "workgroup_size_x",
                 "workgroup_size_y", "workgroup_size_z"},
                &out_.dispatches, [&](const SqliteScan& row, const Place& place, Dispatch* d) {
                  d->agent = place.track.agent;
                  d->queue = place.track.queue;
                  d->stream = place.track.stream;
                  d->kernel = Int(row, kOwn);
                  for (int axis = 0; axis < 3; ++axis) {
                    d->grid[axis] =
                        static_cast<uint32_t>(std::clamp<int64_t>(Int(row, kOwn + 1 + axis), 0, UINT32_MAX));
                    d->block[axis] =
                        static_cast<uint32_t>(std::clamp<int64_t>(Int(row, kOwn + 4 + axis), 0, UINT32_MAX));
                  }
                });
}

absl::Status TablesReader::Copies() {
  return Placed("rocpd_memory_copy", {"src_agent_id", "dst_agent_id", "size"}, &out_.copies,
                [](const SqliteScan& row, const Place& place, Copy* copy) {
                  copy->from = row.IntOr(kOwn, kUnknown);
                  copy->to = row.IntOr(kOwn + 1, kUnknown);
                  copy->bytes = std::max<int64_t>(kUnknown, row.IntOr(kOwn + 2, kUnknown));
                  copy->stream = place.track.stream;
                });
}

}  // namespace

absl::Status ReadRocpd(const SqliteReader& database, const std::string& file, std::vector<Recording>* out) {
  std::vector<std::string> suffixes;
  for (const std::string& table : database.Tables()) {
    absl::string_view suffix = table;
    // "rocpd_region" is a full name of a table; "rocpd_regional" is another table.
    if (!absl::ConsumePrefix(&suffix, kDispatchTable) && !absl::ConsumePrefix(&suffix, kRegionTable))
      continue;
    if (!suffix.empty() && suffix[0] != '_') continue;
    if (!database.Has(absl::StrCat("rocpd_string", suffix))) continue;  // every set has one
    suffixes.emplace_back(suffix);
  }
  std::sort(suffixes.begin(), suffixes.end());
  suffixes.erase(std::unique(suffixes.begin(), suffixes.end()), suffixes.end());
  for (const std::string& suffix : suffixes) {
    Recording& recording = out->emplace_back();
    recording.file = file;
    RETURN_IF_ERROR(TablesReader(database, suffix, &recording).Read());
  }
  if (!suffixes.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file, ": not a rocpd database: there is no table ", std::string(kDispatchTable),
                   "_<id>; expected a database of rocprofv3 (its tables are read, not its views)"));
}

bool LooksLikeRocpd(absl::string_view head) {
  // If the schema has many pages, its first pages may have only the metadata's tags and no table.
  return LooksLikeSqlite(head) && (NamesRocpd(head) || absl::StrContains(head, "schema_version"));
}

bool NamesRocpd(absl::string_view head) { return absl::StrContains(head, kPrefix); }

bool HasRocpdTables(const SqliteReader& database) {
  const std::vector<std::string> tables = database.Tables();
  return std::any_of(tables.begin(), tables.end(),
                     [](const std::string& table) { return absl::StartsWith(table, kPrefix); });
}

}  // namespace chakra::rocprof
