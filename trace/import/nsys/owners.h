// Whose an operation is that does not say so: early versions of nsys have no globalPid.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "trace/import/nsys/session.h"
#include "trace/io/sqlite_reader.h"

namespace chakra::nsys {

// The processes of a file, by the calls that they made. Calls are read when the first owner is asked for.
class Owners {
 public:
  explicit Owners(const SqliteReader& db) : db_(db) {}
  // The process (ProcessOf()) of an operation that began at `start` on a device: the only one of the file,
  // else the only one with a call of this correlation. Of several, as many as there are devices, the one at
  // the device's place, in the order of their numbers; else that of the last call before. 0: none.
  absl::StatusOr<int64_t> Of(int64_t correlation, int64_t start, int64_t device);

 private:
  absl::Status ReadCalls();
  absl::Status ReadDevices();

  const SqliteReader& db_;
  bool read_ = false;
  int64_t only_ = 0;                                          // the only process
  std::vector<std::tuple<int64_t, int64_t, int64_t>> calls_;  // correlation, start, process; of several
  std::vector<int64_t> devices_;                              // that ran kernels, ascending
};

}  // namespace chakra::nsys
