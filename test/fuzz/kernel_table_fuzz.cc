// Kernel tables as CSV: any bytes give rows or an error. Every row can be looked up, and is the same after a
// write and a read.
#include <cstddef>
#include <cstdint>

#include "replay/compute/kernel_table.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzz_target.h"
#include "trace/base/glob.h"

FUZZ_TARGET(kernel_table_fuzz, data, size) {
  using chakra::fuzz::Require;
  const absl::string_view csv(reinterpret_cast<const char*>(data), size);
  (void)chakra::MatchesGlob(csv.substr(0, size / 4), csv.substr(size / 4));
  const auto table = chakra::ParseKernelCsv(csv, "fuzz.csv");
  Require(table.ok() || !table.status().message().empty(), "an error says what is wrong");
  if (!table.ok()) return 0;
  const auto index = chakra::KernelTableIndex::Make(*table, "fuzz.csv");
  if (!index.ok()) return 0;
  const auto back = chakra::ParseKernelCsv(chakra::FormatKernelCsv(*table), "again.csv");
  Require(back.ok(), "what is written can be read");
  if (table->row_size() > 0) {
    Require(back->SerializeAsString() == table->SerializeAsString(), "and is the same");
  }
  Require(index->size() == static_cast<size_t>(table->row_size()), "every row is in the index");
  for (const auto& row : table->row()) {
    const chakra::KernelAnswer* found =
        index->Find({row.name(), row.shapes(), row.dtypes(), row.operations(), row.bytes()});
    Require(found != nullptr && found->duration == chakra::Time::FromNanos(row.duration_us() * 1000),
            "a row finds itself");
  }
  (void)index->Find({"aten::mm", "[[1, 2]]", "['float']"});
  return 0;
}
