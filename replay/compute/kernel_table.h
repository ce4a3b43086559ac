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

// Reads a kernel table: text format, JSON or binary, or CSV if the name ends in ".csv" (ParseKernelCsv()).
// Errors name the file and, for CSV, the line.
absl::StatusOr<proto::KernelTable> LoadKernelTable(const std::string& path);

// Writes a kernel table: CSV, JSON or text format if the name ends in ".csv", ".json", ".txtpb", ".textproto"
// or ".txt", else binary. Reading the file gives an equal table, except that CSV loses the device and source
// of an empty table. Errors: those of WriteFile(); a table that JSON cannot hold.
absl::Status WriteKernelTable(const proto::KernelTable& table, const std::string& path);

// Reads CSV: a header with `name`, `duration_us` and optionally the other fields of KernelRow, in any order,
// and `device` and `source` of the table, which must be the same in all rows. Fields are quoted as in RFC
// 4180. Cells of the optional columns may be empty. Errors name line and column.
absl::StatusOr<proto::KernelTable> ParseKernelCsv(absl::string_view content, absl::string_view name);

// Writes CSV with the columns name, shapes, dtypes and duration_us, and every other column that any row uses.
// Numbers have the fewest digits that read back equal.
std::string FormatKernelCsv(const proto::KernelTable& table);

// Checks one row. Errors begin with `where`: no name; a time that is not finite, negative or above 1e12 us
// (11 days); an error that is negative or not finite; a duration_us outside of min_us to max_us.
absl::Status CheckKernelRow(const proto::KernelRow& row, absl::string_view where);

// `text` without blanks. The index compares shapes and dtypes in this form.
std::string WithoutBlanks(absl::string_view text);

// A query to the index. `operations` and `bytes` are the node's num_ops and tensor_size; 0: none.
struct KernelQuery {
  absl::string_view name, shapes, dtypes;
  uint64_t operations = 0;
  uint64_t bytes = 0;
  absl::string_view code = "";  // kernel_hash of the node
};

struct KernelAnswer {
  Time duration;
  double error = 0;  // KernelRow.error
};

// The key that distinguishes the rows of a table: name; shapes and dtypes without blanks; operations and
// bytes (0 for rows with shapes); code.
using KernelKey = std::tuple<std::string, std::string, std::string, uint64_t, uint64_t, std::string>;
KernelKey KeyOf(const proto::KernelRow& row);

class KernelTableIndex {
 public:
  // `source` names the table in messages. Errors name the row (from 0): those of CheckKernelRow(); a row with
  // the key of an earlier row.
  static absl::StatusOr<KernelTableIndex> Make(const proto::KernelTable& table, absl::string_view source);

  // Returns the answer of the most specific row that matches (see KernelTable in kernel_table.proto); null if
  // no row matches. Blanks in shapes and dtypes do not count.
  const KernelAnswer* Find(const KernelQuery& query) const;
  size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::string name, shapes, dtypes;  // shapes and dtypes without blanks
    uint64_t operations = 0;           // only of rows without shapes; operations and bytes both 0: any work
    uint64_t bytes = 0;
    std::string code;
    KernelAnswer answer;
    bool any_work() const { return operations == 0 && bytes == 0; }
  };
  const KernelAnswer* FindOf(const KernelQuery& query, absl::string_view code) const;

  std::vector<Row> rows_;
  absl::flat_hash_map<KernelKey, size_t> exact_;
  std::vector<size_t> wildcards_;  // most specific first
  bool coded_ = false;             // whether any row has a code
};

}  // namespace chakra
