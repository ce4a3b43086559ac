// Measured kernel times by name, shapes and dtypes.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/kernel_table.pb.h"
#include "trace/units.h"

namespace chakra {

// Reads a kernel table: text format, JSON or binary, or CSV where the name ends
// in ".csv": a header with `name`, `duration_us` and optionally `shapes` and
// `dtypes` in any order; fields quoted as in RFC 4180.
// Errors name the file and, for CSV, the line.
absl::StatusOr<proto::KernelTable> LoadKernelTable(const std::string& path);
absl::StatusOr<proto::KernelTable> ParseKernelCsv(absl::string_view content, absl::string_view name);

// Looks kernels up. The most specific row wins: the node's exact name before a
// wildcard; then a row with shapes and dtypes before one with shapes, before
// one with dtypes, before one with neither; then, of wildcards, the one with
// more literal characters; then the first row.
class KernelTableIndex {
 public:
  // `source` is for messages. Errors name the row (from 0): no name, a duration
  // that is not finite, negative or above 1e12 us (11 days), or a row with the
  // key of an earlier one.
  static absl::StatusOr<KernelTableIndex> Make(const proto::KernelTable& table, absl::string_view source);

  // Null when no row matches. Blanks in shapes and dtypes do not count.
  const Time* Find(absl::string_view name, absl::string_view shapes, absl::string_view dtypes) const;
  size_t size() const { return rows_.size(); }

 private:
  struct Row {
    std::string name, shapes, dtypes;  // the latter two without blanks
    Time duration;
  };
  using Key = std::tuple<std::string, std::string, std::string>;

  std::vector<Row> rows_;
  absl::flat_hash_map<Key, size_t> exact_;
  std::vector<size_t> wildcards_;  // most specific first
};

// True when `pattern`, in which "*" stands for any run of characters, matches
// all of `text`.
bool GlobMatch(absl::string_view pattern, absl::string_view text);

}  // namespace chakra
