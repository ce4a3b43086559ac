// Kernels with one name and different code, in kernel tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/compute/collect.h"
#include "replay/compute/kernel_table.h"
#include "test/trace/pytorch/compiled_capture.h"
#include "trace/import/reader.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::ElementsAre;

// One name, one set of shapes, two codes: two rows, and each answers only for its own code.
TEST(CompiledKernels, TablesHaveARowForEachCode) {
  const pytorch::CaptureFolder folder;
  folder.Rank(0, pytorch::CompiledCapture());
  const auto traces = ReadTraceSet({folder.path()}, ReadOptions());
  ASSERT_TRUE(traces.ok()) << traces.status();
  CollectNotes notes;
  auto table = CollectKernels(*traces, CollectOptions(), &notes);
  ASSERT_TRUE(table.ok()) << table.status();
  std::vector<std::string> rows;
  for (const auto& row : table->row()) rows.push_back(absl::StrCat(row.code(), " ", row.duration_us()));
  EXPECT_THAT(rows, ElementsAre("badc0de 30", "c0ffee 6"));
  const auto index = KernelTableIndex::Make(*table, "t");
  ASSERT_TRUE(index.ok()) << index.status();
  KernelQuery query{"triton_poi_fused_add_0", table->row(0).shapes(), table->row(0).dtypes()};
  query.code = "badc0de";
  ASSERT_NE(index->Find(query), nullptr);
  EXPECT_EQ(index->Find(query)->duration, Time::FromNanos(30000));
  query.code = "other";
  EXPECT_EQ(index->Find(query), nullptr);
  table->mutable_row(0)->clear_code();
  const auto open = KernelTableIndex::Make(*table, "t");
  ASSERT_NE(open->Find(query), nullptr) << "a row without code answers any";
  const auto read = ParseKernelCsv(FormatKernelCsv(*table), "t.csv");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->row(1).code(), "c0ffee");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
