// Composes rocpd databases for tests, with the tables and columns of both schemas: those of rocpd_tables.sql
// (schema 3, commit 19d33bb) and those that generateRocpd.cpp fills (before it; ROCm/rocprofiler-sdk,
// source/share/rocprofiler-sdk-rocpd and source/lib/output).
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace chakra::testing_rocpd {

// The end of the tables' names.
inline constexpr char kId[] = "0199a3c4_5b6d_7e8f_9a0b_1c2d3e4f5061";

// kRows: times and places in the rows; kTracks: in rocpd_timestamp and rocpd_track.
enum class Schema { kRows, kTracks };

// False if SQLite reports an error.
inline bool Execute(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  bool ok = sqlite3_open(path.c_str(), &db) == SQLITE_OK;
  ok = ok && sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  sqlite3_close(db);
  return ok;
}

class Database {
 public:
  using Arguments = std::vector<std::pair<std::string, std::string>>;

  Database(const std::string& path, Schema schema, int rank, int world) : path_(path), schema_(schema) {
    std::filesystem::remove(path);
    const std::string place =
        "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER, "
        "start BIGINT, \"end\" BIGINT";
    const std::string where =
        schema == Schema::kRows ? place : "track_id INTEGER, start_id INTEGER, end_id INTEGER";
    sql_ = absl::StrCat(
        "CREATE TABLE rocpd_metadata_ID(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);"
        "INSERT INTO rocpd_metadata_ID(tag, value) VALUES('schema_version', '",
        schema == Schema::kRows ? 2 : 3,
        "');"
        "CREATE TABLE rocpd_string_ID(id INTEGER PRIMARY KEY, guid TEXT, string TEXT UNIQUE);"
        "CREATE TABLE rocpd_info_node_ID(id INTEGER PRIMARY KEY, guid TEXT, hash BIGINT, machine_id TEXT, "
        "hostname TEXT);"
        "INSERT INTO rocpd_info_node_ID VALUES(1, '', 5, 'm', 'node0');"
        "CREATE TABLE rocpd_info_process_ID(id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, command TEXT, "
        "environment JSONB);"
        "INSERT INTO rocpd_info_process_ID VALUES(",
        100 + rank, ", 1, ", 100 + rank, ", 'python', '{\"RANK\": \"", rank, "\", \"WORLD_SIZE\": \"", world,
        "\"}');"
        "CREATE TABLE rocpd_info_thread_ID(id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, tid INTEGER, "
        "name TEXT);"
        "INSERT INTO rocpd_info_thread_ID VALUES(7, 1, ",
        100 + rank, ", ", 100 + rank,
        ", 'main');"
        "CREATE TABLE rocpd_info_agent_ID(id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, type TEXT, "
        "absolute_index INTEGER, "
        "logical_index INTEGER, type_index INTEGER, name TEXT, product_name TEXT);"
        "INSERT INTO rocpd_info_agent_ID VALUES(0, 1, 1, 'CPU', 0, 0, 0, 'EPYC', 'EPYC');"
        "INSERT INTO rocpd_info_agent_ID VALUES(4, 1, 1, 'GPU', 4, 4, ",
        rank,
        ", 'gfx942', 'AMD Instinct MI300X');"
        "CREATE TABLE rocpd_info_kernel_symbol_ID(id INTEGER PRIMARY KEY, kernel_name TEXT, display_name "
        "TEXT);"
        "CREATE TABLE rocpd_track_ID(id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, tid INTEGER, agent_id "
        "INTEGER, queue_id "
        "INTEGER, stream_id INTEGER, name_id INTEGER);"
        "CREATE TABLE rocpd_timestamp_ID(id INTEGER PRIMARY KEY, value BIGINT, phase INTEGER, track_id "
        "INTEGER);"
        "CREATE TABLE rocpd_event_ID(id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER, "
        "parent_stack_id INTEGER, "
        "correlation_id INTEGER, extdata JSONB DEFAULT '{}');"
        "CREATE TABLE rocpd_arg_ID(id INTEGER PRIMARY KEY, event_id INTEGER, position INTEGER, type TEXT, "
        "name TEXT, value TEXT);"
        "CREATE TABLE rocpd_region_ID(id INTEGER PRIMARY KEY, ",
        where,
        ", name_id INTEGER, event_id INTEGER);"
        "CREATE TABLE rocpd_kernel_dispatch_ID(id INTEGER PRIMARY KEY, ",
        where,
        ", kernel_id INTEGER, dispatch_id INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, "
        "workgroup_size_z INTEGER, "
        "grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);"
        "CREATE TABLE rocpd_memory_copy_ID(id INTEGER PRIMARY KEY, ",
        where,
        ", name_id INTEGER, src_agent_id INTEGER, dst_agent_id INTEGER, size INTEGER, event_id INTEGER);",
        "CREATE VIEW kernels AS SELECT id FROM rocpd_kernel_dispatch_ID;");
  }
  ~Database() { Close(); }

  void Call(const std::string& category, const std::string& name, int64_t begin, int64_t end, int64_t stack,
            const Arguments& args = {}) {
    const int event = Event(category, stack, "{}");
    for (const auto& [key, value] : args) {
      absl::StrAppend(&sql_, "INSERT INTO rocpd_arg_ID(event_id, position, type, name, value) VALUES(", event,
                      ", 0, 'x', '", key, "', '", value, "');");
    }
    Row("region", begin, end, {0, 0, 0}, absl::StrCat(String(name), ", ", event), "name_id, event_id");
  }
  void Mark(const std::string& text, int64_t begin, int64_t end) {
    const int event = Event("MARKER_CORE_RANGE_API", 99, absl::StrCat("{\"message\": \"", text, "\"}"));
    Row("region", begin, end, {0, 0, 0}, absl::StrCat(String("roctxThreadRangeA"), ", ", event),
        "name_id, event_id");
  }
  void Kernel(const std::string& name, int64_t begin, int64_t end, int64_t stack, int64_t stream = 8) {
    const auto [it, fresh] = kernels_.try_emplace(name, static_cast<int>(kernels_.size()) + 1);
    if (fresh)
      absl::StrAppend(&sql_, "INSERT INTO rocpd_info_kernel_symbol_ID VALUES(", it->second, ", '", name,
                      ".kd', '", name, "');");
    const int event = Event("KERNEL_DISPATCH", stack, "{}");
    Row("kernel_dispatch", begin, end, {4, 2, stream},
        absl::StrCat(it->second, ", 1, 256, 1, 1, 1024, 1, 1, ", event),
        "kernel_id, dispatch_id, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, "
        "grid_size_y, grid_size_z, "
        "event_id");
  }
  void Copy(int64_t begin, int64_t end, int64_t stack, int64_t bytes) {
    const int event = Event("MEMORY_COPY", stack, "{}");
    Row("memory_copy", begin, end, {0, 0, 8},
        absl::StrCat(String("MEMORY_COPY_HOST_TO_DEVICE"), ", 0, 4, ", bytes, ", ", event),
        "name_id, src_agent_id, dst_agent_id, size, event_id");
  }
  // Writes the file.
  void Close() {
    if (sql_.empty()) return;
    Execute(path_,
            absl::StrReplaceAll(absl::StrCat("BEGIN;", sql_, "COMMIT;"), {{"_ID", absl::StrCat("_", kId)}}));
    sql_.clear();
  }

 private:
  struct Place {
    int64_t agent = 0, queue = 0, stream = 0;
  };
  int String(const std::string& text) {
    const auto [it, fresh] = strings_.try_emplace(text, static_cast<int>(strings_.size()) + 1);
    if (fresh)
      absl::StrAppend(&sql_, "INSERT INTO rocpd_string_ID VALUES(", it->second, ", '', '", text, "');");
    return it->second;
  }
  int Event(const std::string& category, int64_t stack, const std::string& extra) {
    const int name = String(category);
    absl::StrAppend(&sql_, "INSERT INTO rocpd_event_ID VALUES(", ++events_, ", ", name, ", ", stack, ", ",
                    stack, ", 0, '", extra, "');");
    return events_;
  }
  void Row(const std::string& table, int64_t begin, int64_t end, const Place& p, const std::string& values,
           const std::string& columns) {
    if (schema_ == Schema::kRows) {
      absl::StrAppend(&sql_, "INSERT INTO rocpd_", table,
                      "_ID(nid, pid, tid, agent_id, queue_id, stream_id, start, \"end\", ", columns,
                      ") VALUES(1, 1, 7, ", p.agent, ", ", p.queue, ", ", p.stream, ", ", begin, ", ", end,
                      ", ", values, ");");
      return;
    }
    absl::StrAppend(&sql_, "INSERT INTO rocpd_track_ID VALUES(", ++tracks_, ", 1, 1, 7, ", p.agent, ", ",
                    p.queue, ", ", p.stream, ", NULL);");
    absl::StrAppend(&sql_, "INSERT INTO rocpd_timestamp_ID VALUES(", times_ + 1, ", ", begin, ", 1, ",
                    tracks_, "), (", times_ + 2, ", ", end, ", 2, ", tracks_, ");");
    absl::StrAppend(&sql_, "INSERT INTO rocpd_", table, "_ID(track_id, start_id, end_id, ", columns,
                    ") VALUES(", tracks_, ", ", times_ + 1, ", ", times_ + 2, ", ", values, ");");
    times_ += 2;
  }

  std::string path_, sql_;
  Schema schema_;
  std::map<std::string, int> strings_, kernels_;
  int events_ = 0, tracks_ = 0, times_ = 0;
};

}  // namespace chakra::testing_rocpd
