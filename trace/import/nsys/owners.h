// Finds the process of an operation whose row names none: early versions of nsys have no globalPid.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "trace/import/nsys/session.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

// The processes of a file, by the calls that they made. Reads the calls at the first Of().
class Owners {
 public:
  explicit Owners(const SqliteReader& db) : db_(db) {}
  // Returns the process (ProcessOf()) of an operation that began at `start` on a device: the only process of
  // the file, or the only process with a call of this correlation. If several processes have such a call, and
  // there are as many as devices, the process at the device's position in ascending order; otherwise the
  // process of the last call before `start`. 0: no process has such a call.
  absl::StatusOr<int64_t> Of(int64_t correlation, int64_t start, int64_t device);

 private:
  absl::Status ReadCalls();
  absl::Status ReadDevices();

  const SqliteReader& db_;
  bool read_ = false;
  int64_t only_ = 0;  // the only process of the file
  // Correlation, start, process; empty if one process made all calls.
  std::vector<std::tuple<int64_t, int64_t, int64_t>> calls_;
  std::vector<int64_t> devices_;  // that ran kernels, ascending
};

}  // namespace chakra::nsys
