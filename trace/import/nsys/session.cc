#include "trace/import/nsys/session.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"

namespace chakra::nsys {
namespace {

constexpr int64_t kHourNs = 3'600'000'000'000;

absl::Status ReadPairs(const SqliteReader& db, absl::string_view table,
                       std::multimap<std::string, std::string>* out) {
  if (!db.Has(table)) return db.CheckPlain(table);
  ASSIGN_OR_RETURN(SqliteScan rows, db.Read(table, {"!name", "!value"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    out->emplace(rows.Text(0), rows.Text(1));
  }
}

std::string First(const std::multimap<std::string, std::string>& pairs, const std::string& key) {
  const auto it = pairs.find(key);
  return it == pairs.end() ? "" : it->second;
}

// Reads the first row of a table. Values stay unchanged if the table or a value is absent.
absl::Status ReadRow(const SqliteReader& db, absl::string_view table,
                     const std::vector<absl::string_view>& columns, const std::vector<int64_t*>& out) {
  if (!db.Has(table)) return db.CheckPlain(table);
  ASSIGN_OR_RETURN(SqliteScan rows, db.Read(table, columns));
  ASSIGN_OR_RETURN(const bool more, rows.Next());
  for (size_t i = 0; more && i < out.size(); ++i) rows.Int(static_cast<int>(i), out[i]);
  return absl::OkStatus();
}

class SessionReader {
 public:
  explicit SessionReader(const SqliteReader& db) : db_(db) {}

  absl::StatusOr<Session> Run() {
    out_.file = db_.name();
    RETURN_IF_ERROR(ReadSwitches());
    RETURN_IF_ERROR(ReadTimes());
    RETURN_IF_ERROR(ReadHost());
    RETURN_IF_ERROR(ReadGpus());
    RETURN_IF_ERROR(ReadRanks());
    return std::move(out_);
  }

 private:
  absl::Status ReadSwitches();
  absl::Status ReadTimes();
  absl::Status ReadHost();
  absl::Status ReadGpus();
  absl::Status ReadRanks();

  const SqliteReader& db_;
  Session out_;
  bool normalized_ = false;
  int64_t shift_ = 0;
};

absl::Status SessionReader::ReadSwitches() {
  std::multimap<std::string, std::string> said, recorded;
  RETURN_IF_ERROR(ReadPairs(db_, "META_DATA_EXPORT", &said));
  RETURN_IF_ERROR(ReadPairs(db_, "META_DATA_CAPTURE", &recorded));
  out_.product = First(said, "EXPORT_PRODUCT_VERSION");
  out_.schema = First(said, "EXPORT_SCHEMA_VERSION");
  int major = 0;
  if (!out_.schema.empty() &&
      (!absl::SimpleAtoi(out_.schema.substr(0, out_.schema.find('.')), &major) || major < 2 || major > 3)) {
    return absl::InvalidArgumentError(absl::StrCat(db_.name(), ": its schema is of version ",
                                                   out_.schema.substr(0, 40),
                                                   "; expected 3 (nsys 2021 to 2026) or 2: export the report "
                                                   "with a version of nsys that writes one of these"));
  }
  out_.blobs = First(said, "EXPORT_PARAM_INCLUDE_BLOBS") == "true";
  normalized_ = First(said, "EXPORT_PARAM_TIME_NORMALIZE") == "true";
  if (!absl::SimpleAtoi(First(said, "EXPORT_PARAM_TIME_SHIFT"), &shift_) || std::abs(shift_) > int64_t{1}
                                                                                                   << 60)
    shift_ = 0;
  out_.graphs_whole = First(recorded, "CUDA_GRAPH_TRACE_OPTIONS:MODE") == "Graph";
  return absl::OkStatus();
}

// Times in a file are readings of the machine's clock, or count from the start of the recording. Files of one
// version exist in both kinds. A time before the recording's start shows that times count from it.
absl::Status SessionReader::ReadTimes() {
  int64_t start = INT64_MIN, stop = INT64_MIN, utc = INT64_MIN, clock = INT64_MIN, seen = 0;
  RETURN_IF_ERROR(ReadRow(db_, "ANALYSIS_DETAILS", {"startTime", "stopTime"}, {&start, &stop}));
  RETURN_IF_ERROR(
      ReadRow(db_, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs", "systemClockNs"}, {&utc, &clock}));
  for (const absl::string_view table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                        "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"}) {
    int64_t at = INT64_MIN;
    if (!db_.Has(table)) continue;
    RETURN_IF_ERROR(ReadRow(db_, table, {"!start"}, {&at}));
    if (at == INT64_MIN) continue;
    seen = at;
    break;
  }
  constexpr int64_t kMost = int64_t{1} << 60;
  const auto sane = [](int64_t t) { return t > -kMost && t < kMost; };
  if (!sane(seen)) seen = 0;
  if (clock == INT64_MIN) clock = start;
  if (start == INT64_MIN) start = clock;
  const bool told = sane(start) && sane(clock);
  const int64_t begin = told ? start : 0;
  const bool from_zero = told && (normalized_ || seen - shift_ < begin - kHourNs / 3600);
  if (utc > 0 && utc < 4 * kMost && told) {  // after 1970, and in this century
    out_.has_utc = true;
    out_.to_utc = utc - shift_ - (from_zero ? 0 : clock);
  }
  const int64_t length = told && sane(stop) && stop > start ? stop - start : 0;
  if (length > 0) {
    out_.first = shift_ + (from_zero ? 0 : begin) - kHourNs;
    out_.last = shift_ + (from_zero ? 0 : begin) + length + kHourNs;
    if (seen >= out_.first && seen <= out_.last) return absl::OkStatus();
  }
  // The length of the recording is not known: accept times within a month of the first row.
  out_.first = seen - 720 * kHourNs;
  out_.last = seen + 720 * kHourNs;
  return absl::OkStatus();
}

absl::Status SessionReader::ReadHost() {
  std::multimap<std::string, std::string> system;
  RETURN_IF_ERROR(ReadPairs(db_, "TARGET_INFO_SYSTEM_ENV", &system));
  out_.host = First(system, "Hostname");
  return absl::OkStatus();
}

absl::Status SessionReader::ReadGpus() {
  std::map<int64_t, std::string> names;
  if (db_.Has("TARGET_INFO_GPU")) {
    ASSIGN_OR_RETURN(SqliteScan rows, db_.Read("TARGET_INFO_GPU", {"!id", "!name"}));
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, rows.Next());
      if (!more) break;
      names.emplace(rows.IntOr(0, 0), rows.Text(1));
    }
  }
  for (const auto& [id, name] : names) out_.gpus.push_back(name);
  if (!db_.Has("TARGET_INFO_CUDA_DEVICE")) return absl::OkStatus();
  ASSIGN_OR_RETURN(SqliteScan rows, db_.Read("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    const auto it = names.find(rows.IntOr(0, -1));
    if (it != names.end())
      out_.gpu_of.emplace(std::make_pair(rows.IntOr(2, 0), rows.IntOr(1, 0)), it->second);
  }
}

absl::Status SessionReader::ReadRanks() {
  if (!db_.Has("MPI_RANKS")) return db_.CheckPlain("MPI_RANKS");
  ASSIGN_OR_RETURN(SqliteScan rows, db_.Read("MPI_RANKS", {"!globalTid", "!rank"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return absl::OkStatus();
    const int64_t rank = rows.IntOr(1, -1);
    if (rank >= 0 && rank < 1 << 22)
      out_.mpi_rank.emplace(ProcessOf(rows.IntOr(0, 0)), static_cast<int>(rank));
  }
}

}  // namespace

absl::StatusOr<Strings> Strings::Read(const SqliteReader& db) {
  Strings out;
  if (!db.Has("StringIds")) {
    RETURN_IF_ERROR(db.CheckPlain("StringIds"));
    return absl::InvalidArgumentError(absl::StrCat(
        db.name(), ": the file has no table StringIds; expected the export of `nsys export -t sqlite`"));
  }
  ASSIGN_OR_RETURN(SqliteScan rows, db.Read("StringIds", {"!id", "!value"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return out;
    int64_t id = 0;
    const absl::string_view text = rows.Text(1);
    if (!rows.Int(0, &id)) continue;
    if (out.at_.try_emplace(id, out.bytes_.size(), static_cast<uint32_t>(text.size())).second)
      out.bytes_.append(text.data(), text.size());
  }
}

bool Strings::Find(int64_t id, absl::string_view* text) const {
  const auto it = at_.find(id);
  if (it == at_.end()) return false;
  *text = absl::string_view(bytes_.data() + it->second.first, it->second.second);
  return true;
}

absl::StatusOr<Session> ReadSession(const SqliteReader& db) { return SessionReader(db).Run(); }

}  // namespace chakra::nsys
