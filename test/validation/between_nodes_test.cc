#include "test/validation/between_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "trace/io/file.h"

namespace chakra::validation::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr char kMachines[] =
    "machine,fabric,cluster,domains,settings,all_to_all_settings,set,why\n"
    "a,InfiniBand,dgx-h100,,,,,\"its own, in quotes\"\n"
    "b,Slingshot,dgx-a100:nic_gbps=100,,(4) = ,(5) = ,,\n"
    "r,racks,gb200-nvl72,2,,,collectives.library.level[0].in_switch_efficiency=0 "
    "collectives.library.level[1].transport.name=roce-400,\n"
    "none,,,,,,,no preset\n";

constexpr char kColumns[] =
    "machine,collective,algo,proto,ranks,nodes,bytes,time_us,settings,in_place,note,use\n";

// A line of a machine's rows; `more` follows the time.
std::string NodesLine(const std::string& machine, uint64_t bytes, const std::string& us,
                      const std::string& more = ",no,,yes") {
  return absl::StrCat(machine, ",all_reduce,auto,auto,16,2,", bytes, ",", us, ",", more, "\n");
}

absl::StatusOr<NodesTable> ParseLines(const std::string& lines) {
  return ParseBetweenNodes(absl::StrCat(kColumns, lines), *ParseNodesMachines(kMachines));
}

// A priced call with the given error.
NodesCall CallWith(const char* fabric, uint64_t bytes, double error) {
  NodesCall call;
  call.machine = call.fabric = fabric;
  call.collective = "all_reduce";
  call.nodes = 2;
  call.ranks = 16;
  call.bytes = bytes;
  call.measured_us = 100;
  call.predicted_us = 100 * (1 + error);
  call.chosen = "tree/ll";
  return call;
}

std::vector<std::string> FailedNodes(const std::vector<Finding>& findings) {
  std::vector<std::string> texts;
  for (const Finding& f : findings) {
    if (!f.ok) texts.push_back(f.text);
  }
  return texts;
}

TEST(NodesMachines, HaveClustersOrReasons) {
  const auto machines = ParseNodesMachines(kMachines);
  ASSERT_TRUE(machines.ok()) << machines.status();
  EXPECT_EQ(machines->at("a").why, "its own, in quotes");
  EXPECT_EQ(machines->at("r").domains, 2);
  EXPECT_EQ(machines->at("r").set.size(), 2u);
  const auto error = [](const std::string& line) {
    return std::string(ParseNodesMachines(absl::StrCat(kMachines, line)).status().message());
  };
  EXPECT_EQ(error("c,Token Ring,dgx-h100,,,,,\n"),
            "line 6: fabric is \"Token Ring\"; expected InfiniBand, RoCE, EFA, TCPX, Slingshot, racks, TCP");
  EXPECT_EQ(error("c,,,,,,,\n"), "line 6: why is empty; expected why the machine is left out");
  EXPECT_EQ(error("c,RoCE,dgx-h100,two,,,,\n"), "line 6: domains is \"two\"; expected a number above 0");
  EXPECT_EQ(error("a,RoCE,dgx-h100,,,,,\n"), "line 6: machine is there twice");
}

TEST(BetweenNodes, RepeatedRowsGiveTheirMedian) {
  const auto table =
      ParseLines(absl::StrCat(NodesLine("a", 8, "30", "\"one, \"\"two\"\"\",no,,yes"),
                              NodesLine("a", 8, "10"), NodesLine("a", 8, "26"), NodesLine("a", 16, "1"),
                              NodesLine("a", 8, "12"), "a,all_reduce,ring,ll128,16,2,8,5,,no,,yes\n"));
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->calls.size(), 3u);
  EXPECT_EQ(table->calls[0].Forced(), "auto");
  EXPECT_EQ(table->calls[0].fabric, "InfiniBand");
  EXPECT_DOUBLE_EQ(table->calls[0].measured_us, 19);  // between 12 and 26
  EXPECT_EQ(table->calls[1].bytes, 16u);
  EXPECT_EQ(table->calls[2].Forced(), "ring/ll128");
  EXPECT_EQ(table->rows, 6u);
  EXPECT_TRUE(table->left_out.empty());
}

TEST(BetweenNodes, CountsRowsLeftOut) {
  const auto table = ParseLines(absl::StrCat(
      NodesLine("a", 8, "1"), NodesLine("a", 8, "9", ",yes,,yes"),  // in place, with a row out of place
      NodesLine("unknown", 8, "1", ",no,,no: see note"),            // its machine is not looked up
      "unknown,all_reduce,mpi,,16,2,8,1,,,,yes\n", "a,all_gather,ring_ompi,mpi,16,2,8,1,,,,yes\n",
      "a,all_reduce,hier_bw_mpi,auto,16,2,8,1,,no,,yes\n", NodesLine("none", 8, "1"),
      NodesLine("b", 8, "1", "(3) = (2) + x,yes,,yes"), NodesLine("b", 8, "2", "(4) = (3) + x,yes,,yes"),
      NodesLine("b", 8, "3", "(5) = (4) + x,yes,,yes"),
      "b,all_to_all,auto,auto,16,2,8,4,(4) = (3),yes,,yes\nb,all_to_all,auto,auto,16,2,8,5,(5) = "
      "(4),yes,,yes\n"));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_THAT(
      table->left_out,
      ElementsAre(Pair("MPI: buffers of hosts, or MPI's own algorithms", 3), Pair("b: other settings", 3),
                  Pair("in place, where the machine has rows out of place", 1), Pair("none: no preset", 1),
                  Pair("not for use, by the file: no: see note", 1)));
  EXPECT_EQ(table->rows, 12u);
  std::vector<double> times;
  for (const NodesCall& c : table->calls) times.push_back(c.measured_us);
  EXPECT_THAT(times, ElementsAre(1, 2, 5));  // b has only rows in place, so they count
}

// Rows of MPI have buffers of hosts, and the library's own choice or one of its algorithms.
TEST(BetweenNodes, SelectsRowsOfMpi) {
  const std::string columns =
      "machine,gpu,library,collective,algo,proto,ranks,nodes,bytes,time_us,settings,in_place,note,use\n";
  const auto line = [](const std::string& gpu, const std::string& call, int bytes = 64) {
    return absl::StrCat("a,", gpu, ",OMPI 4.1.6,", call, ",16,2,", bytes, ",5,,,,yes\n");
  };
  const auto table = ParseBetweenNodes(
      absl::StrCat(columns, line("none (host memory)", "all_reduce,default_ompi,mpi"),
                   line("none (host memory)", "all_gather,neighbor_ompi,mpi"),
                   line("none (host memory)", "all_gather,ring_ompi,mpi", 32),
                   line("none (host memory)", "all_gather,sparbit_over,mpi"),
                   line("none (host memory)", "gather,binomial_ompi,mpi"),
                   line("none (host memory)", "sendrecv,mpi,"), line("V100 (GPU buffers)", "all_reduce,mpi,"),
                   line("H100", "all_reduce,auto,auto")),
      *ParseNodesMachines(kMachines), NodesRows::kMpi);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ(table->calls.size(), 2u);
  EXPECT_EQ(table->calls[0].algorithm, "neighbor");
  EXPECT_EQ(table->calls[1].Forced(), "auto");
  EXPECT_THAT(table->left_out,
              ElementsAre(Pair("an algorithm that is none of MPI libraries, or not played", 1),
                          Pair("buffers of GPUs", 1), Pair("gather: not priced", 1),
                          Pair("less than an element for each rank", 1), Pair("not of MPI", 1),
                          Pair("sendrecv: not a collective", 1)));
}

TEST(BetweenNodes, ErrorsNameLineAndColumn) {
  const auto error = [](const std::string& line) {
    return std::string(
        ParseLines(absl::StrCat(NodesLine("a", 8, "1", "\"two\nlines\",no,,yes"), line)).status().message());
  };
  EXPECT_EQ(error(NodesLine("a", 8, "fast")), "line 4: time_us is \"fast\"; expected a number above 0");
  EXPECT_EQ(error(NodesLine("a", 0, "1")), "line 4: bytes is \"0\"; expected a number above 0");
  EXPECT_EQ(error(NodesLine("lab", 8, "1")),
            "line 4: machine is \"lab\", which between_nodes_machines.csv lacks");
  EXPECT_EQ(error("a,sendrecv,auto,auto,16,2,8,1,,no,,yes\n"),
            "line 4: collective is \"sendrecv\"; expected a collective");
  EXPECT_EQ(error("a,all_reduce,star,auto,16,2,8,1,,no,,yes\n"),
            "line 4: algo is \"star\"; expected auto, ring, tree, nvls_tree");
  EXPECT_EQ(error("a,all_reduce,auto,auto,16,3,8,1,,no,,yes\n"),
            "line 4: ranks is 16; expected a multiple of 3, the nodes");
  EXPECT_EQ(error("r,all_reduce,auto,auto,33,3,8,1,,no,,yes\n"),
            "line 4: ranks is 33; expected a multiple of 2, the nodes");
  EXPECT_EQ(error("a,all_reduce\n"), "line 4: algo is missing");
  EXPECT_THAT(error("\"a,all_reduce\n"), HasSubstr("quote"));
}

TEST(BetweenNodes, BandsStartAtTheirSizes) {
  EXPECT_EQ(NodesBand(65535), 0u);
  EXPECT_EQ(NodesBand(65536), 1u);
  EXPECT_EQ(NodesBand((1 << 20) - 1), 1u);
  EXPECT_EQ(NodesBand(1 << 20), 2u);
  EXPECT_EQ(NodesBand((32 << 20) - 1), 2u);
  EXPECT_EQ(NodesBand(32 << 20), 3u);
}

TEST(BetweenNodes, ChecksMediansByFabricAndBand) {
  std::vector<NodesCall> calls = {CallWith("RoCE", 8, 0.10),      CallWith("RoCE", 8, -0.20),
                                  CallWith("RoCE", 8, -0.14),     CallWith("RoCE", 64 << 20, -0.09),
                                  CallWith("racks", 8, 0.24),     CallWith("TCPX", 1 << 20, 0.21),
                                  CallWith("EFA", 64 << 20, 0.11)};
  EXPECT_THAT(
      FailedNodes(CheckBetweenNodes(calls)),
      ElementsAre("between nodes, RoCE, >=32M: median |error| 9.0 % of 1 calls; expected at most 8 %",
                  "between nodes, TCPX, 1-32M: median |error| 21.0 % of 1 calls; expected at most 20 %"));
  EXPECT_EQ(CheckBetweenNodes(calls).size(), 5u);
  EXPECT_THAT(FailedNodes(CheckBetweenNodes({CallWith("racks", 1 << 20, 0.22)})), ElementsAre());
  EXPECT_THAT(
      FailedNodes(CheckBetweenNodes({CallWith("racks", 1 << 20, -0.25)})),
      ElementsAre("between nodes, racks, 1-32M: median |error| 25.0 % of 1 calls; expected at most 24.6 %, "
                  "an exception (others: 20 %)"));
  calls[0].collective = "all_to_all";
  const std::string page =
      BetweenNodesMarkdown({.calls = calls, .rows = 7, .left_out = {{"late", 3}}},
                           {{"RoCE", {}}, {"racks", {}}, {"TCPX", {}}, {"EFA", {}}}, "a table\n");
  EXPECT_THAT(page, HasSubstr("| RoCE | all_reduce | -17, 17 (2) | - | - | -9, 9 (1) |"));
  EXPECT_THAT(page, HasSubstr("| RoCE | all_to_all | +10, 10 (1) | - | - | - |"));
  EXPECT_THAT(page, HasSubstr("| RoCE | all | -14, 14 (3) | - | - | -9, 9 (1) |"));
  EXPECT_THAT(page, HasSubstr("| 3 | late |"));
  EXPECT_THAT(page, HasSubstr("left out at a time\n"));
  EXPECT_THAT(BetweenNodesMarkdown({}, {}, ""), Not(HasSubstr("left out at a time")));
  EXPECT_THAT(BetweenNodesCsv(calls), HasSubstr("\nRoCE,all_to_all,auto,2,16,8,100.00,110.0,tree/ll\n"));
}

TEST(BetweenNodes, FailsWithoutCalls) { EXPECT_FALSE(CheckBetweenNodes({})[0].ok); }

// Domains count as nodes, and a forced algorithm is used.
TEST(BetweenNodes, PricesCallsOnTheirClusters) {
  auto table = ParseLines(
      "a,all_reduce,ring,ll,16,2,1048576,1,,no,,yes\na,all_reduce,ring,ll,16,2,8,1,,no,,yes\n"
      "r,all_reduce,auto,auto,128,32,8,1,,no,,yes\n");
  ASSERT_TRUE(table.ok()) << table.status();
  const NodesMachines machines = *ParseNodesMachines(kMachines);
  ASSERT_TRUE(PredictBetweenNodes(machines, &table->calls).ok());
  EXPECT_EQ(table->calls[0].chosen, "ring/ll");
  EXPECT_GT(table->calls[1].predicted_us, table->calls[0].predicted_us);
  EXPECT_GT(table->calls[2].predicted_us, 0);
  table->calls[2].ranks = 6;
  table->calls[2].algorithm = "nvls_tree";
  const absl::Status s =
      PredictBetweenNodes({{"a", machines.at("a")}, {"r", {.cluster = "dgx-h10"}}}, &table->calls);
  EXPECT_THAT(std::string(s.message()),
              HasSubstr("r, all_reduce of 8 B on 32 nodes: cluster \"dgx-h10:nodes=32"));
}

// The kept table of machines is readable.
TEST(NodesMachines, KeptTableIsReadable) {
  const auto text = ReadFile(absl::StrCat(CHAKRA_SOURCE_DIR, "/test/validation/between_nodes_machines.csv"));
  ASSERT_TRUE(text.ok()) << text.status();
  const auto machines = ParseNodesMachines(*text);
  ASSERT_TRUE(machines.ok()) << machines.status();
  EXPECT_EQ(machines->at("aws-p6-b200-stas").cluster, "aws-p6-b200");
}

}  // namespace
}  // namespace chakra::validation::CHAKRA_FILE
