// Reads rocpd, the SQLite databases that rocprofv3 writes by default since ROCm 7.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/rocprof/recording.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::rocprof {

// Adds a recording for each process of the database. A database has a set of tables for each process, whose
// names end in an id of the process: rocpd_kernel_dispatch_<id>. Reads both schemas: rows have start and end
// themselves, or they have start_id and end_id in rocpd_timestamp, and their place in rocpd_track
// (ROCm/rocprofiler-sdk, source/share/rocprofiler-sdk-rocpd/rocpd_tables.sql). Reads only tables, never the
// views of the database. Errors name the file and the table: tables are absent, or times are outside of a
// clock's range. Repairs count ids that have no row, and ends before begins.
absl::Status ReadRocpd(const SqliteReader& database, const std::string& file, std::vector<Recording>* out);

inline constexpr SqliteFormat kRocpd = {
    .expected = "a rocpd database of rocprofv3", .program = "rocprofv3", .remedy = "record it again"};

// Whether a file that begins with `head` may be a rocpd database. Only its tables decide this, and their
// names may be behind `head`.
bool LooksLikeRocpd(absl::string_view head);
// Whether `head` has the name of a table of rocpd.
bool NamesRocpd(absl::string_view head);
bool HasRocpdTables(const SqliteReader& database);

}  // namespace chakra::rocprof
