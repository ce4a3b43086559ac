// MPI traces of liballprof, composed as LogGOPSim's Schedgen reads them (process_trace.cpp).
#include "trace/import/liballprof/liballprof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "trace/import/reader.h"

namespace chakra::liballprof::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Rank(int r, const std::string& body) {
  return absl::StrCat("# collprof 0.9 output file\n# Init clockdiff: 0.0\nMPI_Init:", 1000 * r,
                      ".0:-:-:", 1000 * r + 100, ".0\n", body, "MPI_Finalize:", 1000 * r + 900, ":",
                      1000 * r + 910, "\n");
}

std::string Folder(const std::string& name, const std::string& zero, const std::string& one) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/allprof_", name);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/pmpi-trace-rank-0.txt") << zero;
  std::ofstream(folder + "/pmpi-trace-rank-1.txt") << one;
  return folder;
}

TEST(Liballprof, CallsBecomeMessagesCollectivesAndComputation) {
  const std::string folder =
      Folder("two",
             Rank(0,
                  "MPI_Comm_rank:101:0,0,2:5:102\n"
                  "MPI_Send:150:11251872:4500:11,8,8:1:7000:0,0,2:160\n"
                  "MPI_Bcast:200:77:10:1,4:1:0,0,2:230\n"
                  "MPI_Irecv:240:14744192:3:13,1,1:1:76:0,0,2:500:241\n"
                  "MPI_Wait:300:500:0:310\n"
                  "MPI_Alltoall:400:1:6:1,4,4:2:6:1,4,4:0,0,2:420\n"),
             Rank(1,
                  "MPI_Recv:1150:11287888:4500:11,8,8:0:7000:0,1,2:140737488340112:1160\n"
                  "MPI_Bcast:1200:77:10:1,4:1:0,1,2:1230\n"
                  "MPI_Isend:1240:14744192:3:13,1,1:0:76:0,1,2:508:1241\n"
                  "MPI_Waitall:1300:2:500:0:1310\n"
                  "MPI_Alltoall:1400:1:6:1,4,4:2:6:1,4,4:0,1,2:1420\n"));
  const auto set = ReadTraceSet({folder}, ReadOptions());
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->ranks.size(), 2u);
  const Graph& g = *set->ranks[0].graph;
  std::vector<std::string> names;
  for (uint32_t row = 0; row < g.size(); ++row) names.emplace_back(g.name_of(row));
  EXPECT_THAT(names,
              ElementsAre("[between calls]", "MPI_Send", "[between calls]", "MPI_Bcast", "[between calls]",
                          "MPI_Irecv", "[between calls]", "[between calls]", "MPI_Alltoall"));
  EXPECT_EQ(g.duration[0], Time::Micros(50));
  EXPECT_EQ(g.comm[0].bytes, 36000u);
  EXPECT_EQ(g.comm[1].bytes, 40u);
  EXPECT_EQ(g.comm[2].bytes, 3u);
  EXPECT_EQ(g.comm[3].bytes, 48u);
  EXPECT_EQ(set->ranks[0].peers[1].root, 1);
  EXPECT_EQ(set->ranks[0].peers[0].dst, 1);
  EXPECT_EQ(set->ranks[1].peers[2].dst, 0);
  // Calls after the wait wait for the message; calls between go on.
  EXPECT_THAT((std::vector<uint32_t>(g.dep.begin() + g.dep_begin[6], g.dep.begin() + g.dep_begin[7])),
              ElementsAre(4));
  EXPECT_THAT((std::vector<uint32_t>(g.dep.begin() + g.dep_begin[7], g.dep.begin() + g.dep_begin[8])),
              ElementsAre(5, 6));
}

TEST(Liballprof, RefusesBadFiles) {
  const std::string good = "MPI_Send:150:11251872:4500:11,8,8:1:7000:0,0,2:160\n";
  const std::pair<std::string, const char*> kBad[] = {
      {"", "no MPI calls that move data"},
      {"MPI_Init:1:2\n", "no MPI calls that move data"},
      {"MPI_Frob:1:2\n", "line 1: \"MPI_Frob\" is not a known call"},
      {"\x01\x02\n", "is not a known call"},
      {"MPI_Send\n", "expected a call, its begin"},
      {"MPI_Send:1\n", "expected a call, its begin"},
      {"MPI_Send:x:1:2\n", "time \"x\", expected microseconds"},
      {"MPI_Send:1:1:y\n", "time \"y\""},
      {"MPI_Send:-1:1:2\n", "time \"-1\""},
      {"MPI_Send:nan:1:2\n", "time \"nan\""},
      {"MPI_Send:1e300:1:1e301\n", "time \"1e300\""},
      {"MPI_Send:20:1:2\n", "the call ends before it begins"},
      {"MPI_Send:1:1:2\n", "the size of the group is \"\""},
      {"MPI_Send:150:1:4500:11,8,8:1:7:0,0:160\n", "the size of the group is \"\", expected an integer of 1"},
      {"MPI_Send:150:1:4500:11,8,8:1:7:0,0,4:160\n", "on a group of 4 ranks, but there are 2"},
      {"MPI_Send:150:1:4500:11,8,8:1:7:0,0,0:160\n", "the size of the group is \"0\""},
      {"MPI_Send:150:1:-4:11,8,8:1:7:0,0,2:160\n", "the count is \"-4\""},
      {"MPI_Send:150:1:99999999999:11,8,8:1:7:0,0,2:160\n", "the count is \"99999999999\""},
      {"MPI_Send:150:1:4:11:1:7:0,0,2:160\n", "the size of the type is \"\""},
      {"MPI_Send:150:1:4:11,-8:1:7:0,0,2:160\n", "the size of the type is \"-8\""},
      {"MPI_Send:150:1:4:11,8:2:7:0,0,2:160\n", "the other rank is \"2\", expected an integer of -2 to 1"},
      {"MPI_Send:150:1:4:11,8:x:7:0,0,2:160\n", "the other rank is \"x\""},
      {"MPI_Recv:150:1:4:11,8:-1:7:0,0,2:5:160\n", "a receive from any rank"},
      {"MPI_Recv:150:1:4:11,8:1:-1:0,0,2:5:160\n", "a receive from any rank or tag cannot be matched"},
      {"MPI_Bcast:150:1:4:11,8:9:0,0,2:160\n", "the root is \"9\", expected an integer of 0 to 1"},
      {"MPI_Bcast:150:1:4:11,8:0:0,0,9:160\n", "on a group of 9 ranks"},
      {"MPI_Irecv:150:1:4:11,8:1:7:0,0,2:req:160\n", "the request is \"req\""},
      {"MPI_Wait:150:x:5:160\n", "the request is \"x\""},
      {"MPI_Waitall:150:-1:5:5:160\n", "the count of requests is \"-1\""},
      {"MPI_Waitall:150:9999999:5:5:160\n", "the count of requests is \"9999999\""},
      {"MPI_Sendrecv:150:1:2:1,4,4:1:0:160\n", "the size of the group is \"\""},
      {good + "MPI_Bcast:170", "line 2: expected a call"},
  };
  for (const auto& [text, says] : kBad) {
    const auto frames = RankFrames(text, "bad-0.txt", 2);
    ASSERT_FALSE(frames.ok()) << text;
    EXPECT_THAT(std::string(frames.status().message()), HasSubstr(says)) << text;
  }
  EXPECT_TRUE(RankFrames(good, "good-0.txt", 2).ok());
}

TEST(Liballprof, TakesRanksFromFileNames) {
  const std::string folder = Folder("gap", Rank(0, ""), Rank(1, ""));
  std::filesystem::rename(folder + "/pmpi-trace-rank-1.txt", folder + "/pmpi-trace-rank-2.txt");
  EXPECT_THAT(std::string(ReadTraceSet({folder}, ReadOptions()).status().message()),
              HasSubstr("expected the trace of rank 1"));
}

}  // namespace
}  // namespace chakra::liballprof::CHAKRA_FILE
