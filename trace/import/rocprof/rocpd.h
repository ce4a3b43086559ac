// Reads rocpd, the SQLite databases that rocprofv3 writes by default since ROCm 7.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "trace/import/rocprof/recording.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::rocprof {

// Adds a recording for each process of the database. A database has a set of tables for each process, whose
// names end in the process's own id: rocpd_kernel_dispatch_<id>. Of both schemas, by their columns: start and
// end in the row itself, or by start_id and end_id in rocpd_timestamp with the place in rocpd_track
// (ROCm/rocprofiler-sdk, source/share/rocprofiler-sdk-rocpd/rocpd_tables.sql). Only tables are read, never
// the views that the database offers. Errors name the file and the table: tables that are not there, with
// what was expected; times outside of a clock's range. Counted instead: ids that lead nowhere, ends before
// begins.
absl::Status ReadRocpd(const SqliteReader& database, const std::string& file, std::vector<Recording>* out);

inline constexpr SqliteFormat kRocpd = {
    .expected = "a rocpd database of rocprofv3", .program = "rocprofv3", .remedy = "record it again"};

// Whether a file that begins like this may be a rocpd database: its tables tell, which may lie further
// behind.
bool LooksLikeRocpd(absl::string_view head);
// Whether the beginning names one of its tables.
bool NamesRocpd(absl::string_view head);
bool HasRocpdTables(const SqliteReader& database);

}  // namespace chakra::rocprof
