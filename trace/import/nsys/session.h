// What an export records about itself: the processes, the host, the times, and the switches of nsys.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

// Exports number a thread or process in 64 bits: hardware (8 bits), virtual machine (8), process (24), thread
// (24).
inline int64_t ProcessOf(int64_t global) { return static_cast<int64_t>(static_cast<uint64_t>(global) >> 24); }
inline int64_t PidOf(int64_t process) { return process & 0xffffff; }
inline int64_t TidOf(int64_t global) { return global & 0xffffff; }

// The texts of a file, by their numbers in the file.
class Strings {
 public:
  static absl::StatusOr<Strings> Read(const SqliteReader& db);
  // Returns false if there is no such text. Files that were cut in time lack some.
  bool Find(int64_t id, absl::string_view* text) const;

 private:
  std::string bytes_;
  absl::flat_hash_map<int64_t, std::pair<uint64_t, uint32_t>> at_;  // offset and length
};

struct Session {
  std::string file;
  std::string host;             // "": not recorded
  std::string product, schema;  // versions of nsys and of its export: "2026.2.1.210", "3.25.0"
  bool blobs = false;           // --include-blobs=true
  bool graphs_whole = false;    // graphs were traced as wholes, not node by node
  int64_t to_utc = 0;           // ns since the epoch, minus the time in the file
  bool has_utc = false;
  int64_t first = 0, last = 0;  // rows with times before `first` or after `last` are absurd
  std::map<std::pair<int64_t, int64_t>, std::string> gpu_of;  // name, by pid and ordinal in that process
  std::vector<std::string> gpus;                              // names of all GPUs, by id
  std::map<int64_t, int> mpi_rank;                            // by ProcessOf()
};

// Errors: an object that should be a table is not one; the version of the export is neither 3 nor 2, which
// has the same tables.
absl::StatusOr<Session> ReadSession(const SqliteReader& db);

}  // namespace chakra::nsys
