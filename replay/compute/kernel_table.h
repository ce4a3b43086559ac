// Measured kernel times by name, shapes and dtypes.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/kernel_table.pb.h"
#include "trace/base/units.h"

namespace chakra {

// Reads a kernel table: text format, JSON or binary, or CSV where the name ends in ".csv" (ParseKernelCsv).
// Errors name the file and, for CSV, the line.
absl::StatusOr<proto::KernelTable> LoadKernelTable(const std::string& path);

// Writes one: CSV, JSON or text format where the name ends in ".csv", ".json", ".txtpb" or ".textproto", else
// binary. What is read back is equal, but that CSV has no row for the device and source of an empty table.
// Errors: those of WriteFile, and a table that JSON cannot hold.
absl::Status WriteKernelTable(const proto::KernelTable& table, const std::string& path);

// CSV: a header with `name`, `duration_us` and optionally the other fields of KernelRow, in any order, and
// `device` and `source` of the table, which must be the same in all rows; fields quoted as in RFC 4180. Cells
// of the optional columns may be empty. Errors name line and column.
absl::StatusOr<proto::KernelTable> ParseKernelCsv(absl::string_view content, absl::string_view name);

// name, shapes, dtypes and duration_us, and those other columns that any row has. Numbers are the shortest
// that read back equal.
std::string FormatKernelCsv(const proto::KernelTable& table);

// What is wrong with one row: no name, a time that is not finite, negative or above 1e12 us (11 days), an
// error that is negative or not finite, min_us and max_us that do not enclose duration_us. `where` begins the
// message.
absl::Status CheckKernelRow(const proto::KernelRow& row, absl::string_view where);

// Without blanks: shapes and dtypes as the index compares them.
std::string WithoutBlanks(absl::string_view text);

// What the index is asked for; operations and bytes are the node's num_ops and tensor_size, 0: none.
struct KernelQuery {
  absl::string_view name, shapes, dtypes;
  uint64_t operations = 0;
  uint64_t bytes = 0;
};

struct KernelAnswer {
  Time duration;
  double error = 0;  // KernelRow.error
};

// Looks kernels up. The most specific row wins (see KernelTable in kernel_table.proto).
// What tells rows of a table apart: name, shapes and dtypes without blanks, operations and bytes where there
// are no shapes.
using KernelKey = std::tuple<std::string, std::string, std::string, uint64_t, uint64_t>;
KernelKey KeyOf(const proto::KernelRow& row);

class KernelTableIndex {
 public:
  // `source` is for messages. Errors name the row (from 0): those of CheckKernelRow, or a row with the key of
  // an earlier one.
  static absl::StatusOr<KernelTableIndex> Make(const proto::KernelTable& table, absl::string_view source);

  // Null when no row matches. Blanks in shapes and dtypes do not count.
  const KernelAnswer* Find(const KernelQuery& query) const;
  size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::string name, shapes, dtypes;  // the latter two without blanks
    uint64_t operations = 0;           // of rows without shapes; these and bytes 0: any
    uint64_t bytes = 0;
    KernelAnswer answer;
    bool any_work() const { return operations == 0 && bytes == 0; }
  };
  using Key = std::tuple<std::string, std::string, std::string, uint64_t, uint64_t>;

  std::vector<Row> rows_;
  absl::flat_hash_map<Key, size_t> exact_;
  std::vector<size_t> wildcards_;  // most specific first
};

// True when `pattern`, in which "*" stands for any run of characters, matches
// all of `text`.
bool GlobMatch(absl::string_view pattern, absl::string_view text);

}  // namespace chakra
