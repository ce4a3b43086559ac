
#include "trace/import/locate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "test/replay/trace_builder.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"

namespace chakra::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;

class Locate : public ::testing::Test {
 protected:
  Locate() {
    std::string pattern = (fs::temp_directory_path() / "locate_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Locate() override { fs::remove_all(folder_); }
  // A trace of `nodes` nodes of equal size.
  std::string Trace(const std::string& name, int nodes) const {
    TraceBuilder b(1);
    for (int i = 0; i < nodes; ++i) b.Comp(0, 1);
    const std::string path = (folder_ / name).string();
    EXPECT_TRUE(b.Write(0, path).ok());
    return path;
  }
  fs::path folder_;
};

TEST_F(Locate, GivesOffsetsInTheUncompressedStream) {
  const std::string plain = Trace("w.0.et", 4), packed = Trace("w.1.et.zst", 4);
  NodeLocator locator;
  const int64_t first = locator.Locate(plain, 0);
  EXPECT_EQ(first, 9);  // length, metadata, length
  const int64_t step = locator.Locate(plain, 2) - locator.Locate(plain, 1);
  EXPECT_GT(step, 0);
  EXPECT_EQ(locator.Locate(plain, 3), locator.Locate(plain, 1) + 2 * step);
  for (uint64_t id = 0; id < 4; ++id) EXPECT_EQ(locator.Locate(packed, id), locator.Locate(plain, id));
  EXPECT_EQ(locator.Locate(plain, 4), -1);
  EXPECT_EQ(locator.Locate((folder_ / "none.et").string(), 0), -1);
}

TEST_F(Locate, ReadsAFileOnce) {
  const std::string a = Trace("a.et", 2), b = Trace("b.et", 3), c = Trace("c.et", 1);
  NodeLocator locator;
  EXPECT_GE(locator.Locate(a, 1), 0);
  EXPECT_GE(locator.Locate(b, 2), 0);
  fs::remove(a);
  fs::remove(b);
  EXPECT_GE(locator.Locate(a, 0), 0);  // both are kept
  EXPECT_GE(locator.Locate(b, 0), 0);
  EXPECT_GE(locator.Locate(c, 0), 0);  // in place of a
  EXPECT_EQ(locator.Locate(a, 0), -1);
}

TEST_F(Locate, DescribesANode) {
  const std::string file = Trace("w.0.et", 2);
  const absl::StatusOr<TraceSet> set = ReadTraceSet({file}, ReadOptions());
  ASSERT_TRUE(set.ok()) << set.status();
  RankTrace trace = set->ranks[0];
  NodeLocator locator;
  EXPECT_EQ(locator.Describe(trace, 0), "rank 0, node 0 (\"n0\") of " + file + ", byte 9");
  trace.file = (folder_ / "gone.et").string();
  EXPECT_EQ(locator.Describe(trace, 1), "rank 0, node 1 (\"n1\") of " + trace.file);
  trace.file = (folder_ / "a.tar.zst!w.0.et").string();  // the archive is not opened
  EXPECT_EQ(locator.Describe(trace, 1), "rank 0, node 1 (\"n1\") of " + trace.file + " (in an archive)");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
