// `chakra-replay collective` and the replay of a preset with a library, as a user runs them.
#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <sstream>

#include "test/folders.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class CollectiveCli : public Bench {
 protected:
  std::vector<std::string> Lines(const std::string& arguments) const {
    const Outcome r = Run("collective " + arguments);
    EXPECT_EQ(r.status, 0) << arguments << "\n" << r.err;
    EXPECT_EQ(r.err, "") << arguments;
    std::vector<std::string> lines;
    std::stringstream in(r.out);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  // The cells of the last row of a CSV table.
  std::vector<std::string> Cells(const std::string& arguments) const {
    std::vector<std::string> cells;
    const std::vector<std::string> lines = Lines(arguments + " --format csv");
    std::stringstream in(lines.empty() ? "" : lines.back());
    for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
    cells.resize(std::max<size_t>(cells.size(), 9));
    return cells;
  }
  std::string Takes(const std::string& arguments) const {
    const std::vector<std::string> cells = Cells(arguments);
    return cells[3] + "/" + cells[4];
  }
};

TEST_F(CollectiveCli, PrintsATableLikeNcclTests) {
  const auto lines = Lines("all_reduce --bytes 1KiB..8GiB --cluster dgx-h100 --ranks 16");
  ASSERT_EQ(lines.size(), 27u);
  EXPECT_EQ(lines[0], "# all_reduce on 16 ranks of dgx-h100, fabric analytical, library NCCL 2.30");
  EXPECT_EQ(lines[1],
            "# time: one of many consecutive calls: the kernel and the gap before it; in 0 of 24 rows the "
            "3.75 us "
            "of the host's launches");
  EXPECT_THAT(lines[2], HasSubstr("busbw GB/s"));
  EXPECT_EQ(lines[3].substr(0, 20), "         1024  tree ");
  EXPECT_EQ(lines[26].substr(0, 13), "   8589934592");
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i][0], i < 3 ? '#' : ' ');
  // One node of the default cluster, 1 KiB to 8 GiB.
  const auto plain = Lines("all_gather");
  EXPECT_EQ(plain.size(), 27u);
  EXPECT_EQ(plain[0], "# all_gather on 8 ranks of dgx-h100, fabric analytical, library NCCL 2.30");
  EXPECT_EQ(Lines("all_reduce --bytes 8,1M..16M,1G --factor 4").size(), 3u + 5);
}

TEST_F(CollectiveCli, PrintsCsv) {
  const auto lines = Lines("all_reduce --bytes 8,1GiB --cluster dgx-h200 --format csv");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "collective,ranks,bytes,algorithm,protocol,channels,time_us,algbw_GBps,busbw_GBps");
  EXPECT_EQ(lines[1], "all_reduce,8,8,ring,ll,1,16.621,0.000,0.001");
  const auto cells = Cells("all_reduce --bytes 8,1GiB --cluster dgx-h200");
  EXPECT_EQ(cells[2], "1073741824");
  EXPECT_EQ(cells[3], "nvls");
  EXPECT_NEAR(std::stod(cells[7]), 1073741.824 / std::stod(cells[6]), 0.01);
  EXPECT_NEAR(std::stod(cells[8]), std::stod(cells[7]) * 14 / 8, 0.01);
}

TEST_F(CollectiveCli, PrintsValidJson) {
  for (const std::string more : {"", " --explain"}) {
    const Outcome r = Run("collective all_reduce --bytes 8,1GiB --cluster dgx-h200 --format json" + more);
    EXPECT_EQ(r.status, 0) << r.err;
    google::protobuf::ListValue list;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(r.out, &list).ok()) << r.out;
    ASSERT_EQ(list.values_size(), 2);
    const auto& row = list.values(1).struct_value().fields();
    EXPECT_EQ(row.at("collective").string_value(), "all_reduce");
    EXPECT_EQ(row.at("ranks").number_value(), 8);
    EXPECT_EQ(row.at("bytes").number_value(), 1073741824);
    EXPECT_EQ(row.at("algorithm").string_value(), "nvls");
    EXPECT_EQ(row.at("protocol").string_value(), "simple");
    EXPECT_EQ(row.at("channels").number_value(), 16);
    EXPECT_GT(row.at("time_us").number_value(), 2000);
    EXPECT_GT(row.at("algbw_GBps").number_value(), 200);
    EXPECT_GT(row.at("busbw_GBps").number_value(), 400);
    EXPECT_EQ(row.count("why"), more.empty() ? 0u : 1u);
    if (more.empty()) continue;
    EXPECT_THAT(row.at("why").string_value(), HasSubstr("auto: "));
    EXPECT_GT(row.at("candidates").list_value().values_size(), 8);
  }
}

// Names and paths may contain characters that the formats escape. A candidate without a prediction has null,
// not a time.
TEST_F(CollectiveCli, EscapesNamesInJsonAndCsv) {
  std::string xml = Content(std::string(CHAKRA_SOURCE_DIR) + "/test/fuzz/corpus/msccl_fuzz/gather2.xml");
  xml.replace(xml.find("\"a\""), 3, "\"a&quot;,\\b\"");
  Write("odd\"\\.xml", xml);
  const std::string all =
      "collective all_gather --bytes 1M --ranks 2 --explain --program 'odd\"\\.xml' --format ";
  const Outcome r = Run(all + "json");
  EXPECT_EQ(r.status, 0) << r.err;
  google::protobuf::ListValue list;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(r.out, &list).ok()) << r.out;
  const auto& row = list.values(0).struct_value().fields();
  EXPECT_EQ(row.at("algorithm").string_value(), "a\",\\b");
  EXPECT_EQ(row.at("why").string_value(), "odd\"\\.xml serves this size");
  EXPECT_THAT(r.out, HasSubstr("\"algorithm\": \"bruck\", \"protocol\": \"ll\", \"predicted_us\": null"));
  EXPECT_THAT(r.out, Not(HasSubstr("\"predicted_us\": 0.000")));
  EXPECT_THAT(Run(all + "csv").out,
              AllOf(HasSubstr("\"a\"\",\\b\",simple,2,"), HasSubstr("\"odd\"\"\\.xml serves this size\"")));
}

TEST_F(CollectiveCli, ExplainListsTheCandidates) {
  const Outcome r = Run("collective all_reduce --bytes 1GiB --cluster dgx-h200 --explain");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("predicted, next ring/simple"));
  EXPECT_THAT(r.out, HasSubstr("= 25.00 + bytes / 262.65 GB/s"));
  EXPECT_THAT(r.out, HasSubstr("nvls_tree/simple           not considered: one node"));
  EXPECT_THAT(Lines("all_reduce --bytes 1M --explain --format csv")[0], HasSubstr(",busbw_GBps,why"));
}

TEST_F(CollectiveCli, AlgorithmAndProtocolMayBeForced) {
  const std::string all = "all_reduce --bytes 1MiB --cluster dgx-h100 ";
  EXPECT_EQ(Takes(all), "ring/ll");
  EXPECT_EQ(Takes(all + "--protocol simple"), "nvls/simple");
  EXPECT_EQ(Takes(all + "--algorithm ring --protocol simple"), "ring/simple");
  EXPECT_EQ(Takes(all + "--algorithm tree"), "tree/ll128");
  EXPECT_EQ(Takes(all + "--algorithm auto --protocol ll128"), "tree/ll128");
  EXPECT_EQ(Takes(all + "--algorithm halving_doubling"), "halving_doubling/ll");
  EXPECT_EQ(Takes("broadcast --bytes 1MiB --root 7"), "ring/ll");
  Refused("collective " + all + "--algorithm rng", {"rng", "did you mean 'ring'?", "nvls"}, 2);
  Refused("collective " + all + "--algorithm nvls --protocol ll", {"no protocol \"ll\" for nvls"}, 2);
  Refused("collective " + all + "--algorithm ring/ll --protocol simple", {"\"ring/ll\"", "contradict"}, 2);
  Refused("collective " + all + "--algorithm nvls_tree", {"nvls_tree/simple", "one node"});
  Refused("collective " + all + "--algorithm pat", {"\"pat\"", "ring"}, 2);
  Refused("collective " + all + "--protocol LL", {"--protocol", "ll128"}, 2);
}

TEST_F(CollectiveCli, TyposSuggestTheNearest) {
  Refused("collective", {"expected a collective", "all_reduce", "barrier", "--help"}, 2);
  Refused("collective allreduce", {"no collective \"allreduce\"", "did you mean 'all_reduce'?"}, 2);
  Refused("collective all_reduce all_gather", {"all_gather"}, 2);
  Refused("collective all_reduce --rank 8", {"--rank"}, 2);
  Refused("collective all_reduce --format xml", {"--format"}, 2);
  Refused("collective all_reduce --cluster dgx-h10 --bytes 8", {"dgx-h10", "dgx-h100"});
  Refused("collective all_reduce --cluster absent.txtpb --bytes 8", {"absent.txtpb"});
  Refused("collective all_reduce --fabric analyticl --bytes 8", {"analyticl", "analytical"}, 2);
  Refused("collective all_reduce --bytes 8 -o absent/table.txt", {"absent/table.txt"});
}

TEST_F(CollectiveCli, PricesSendsAndReceives) {
  const auto lines = Lines("sendrecv --bytes 64MiB,1GiB");
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "# sendrecv on 8 ranks of dgx-h100, fabric analytical, library NCCL 2.30");
  EXPECT_EQ(lines[3].substr(0, 22), "     67108864  next   ");
  EXPECT_EQ(Lines("sendrecv --bytes 8 --format csv")[1].substr(0, 23), "sendrecv,8,8,next,ll,1,");
  EXPECT_THAT(Lines("sendrecv --bytes 1MiB --ranks 16 --peers pair:3,12 --format csv --explain")[1],
              AllOf(HasSubstr(",\"pair:3,12\",simple,"), HasSubstr("3 to 12, begins at 30.08 us")));
  EXPECT_THAT(Run("collective sendrecv --bytes 8 --peers incast --root 3 --explain").out,
              HasSubstr("ll; the last message, 0 to 3, begins at"));
  const Outcome json = Run("collective sendrecv --bytes 8 --format json --explain");
  google::protobuf::ListValue list;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json.out, &list).ok()) << json.out;
  EXPECT_EQ(list.values(0).struct_value().fields().at("algorithm").string_value(), "next");
  EXPECT_EQ(Cells("sendrecv --bytes 1000000 --cluster ring4.txtpb")[4], "-");
  // Each log has one row for each message or link.
  EXPECT_EQ(Lines("sendrecv --bytes 1MiB --fabric fluid --peers incast --flow-log flows.csv --link-totals "
                  "links.csv")
                .size(),
            4u);
  EXPECT_THAT(Content(At("flows.csv")), HasSubstr("6,7,0,7,0,1048576,1048576,send_recv,,6,"));
  EXPECT_THAT(Content(At("links.csv")), HasSubstr(",7340032,7,"));
}

TEST_F(CollectiveCli, RefusesMisuseOfSendsAndReceives) {
  const std::string call = "collective sendrecv --bytes 8 ";
  Refused(call + "--peers nxt", {"--peers \"nxt\"", "expected next, next:DISTANCE", "'next'"}, 2);
  Refused(call + "--peers pair:3,12", {"--peers pair:3,12 on 8 ranks", "0 to 7"}, 2);
  Refused(call + "--peers next:8", {"the distance is 8; expected 1 to 7"}, 2);
  Refused(call + "--algorithm ring", {"--algorithm is for collectives", "--peers"}, 2);
  Refused(call + "--program x.xml", {"--program is for collectives"}, 2);
  Refused(call + "--protocol ll128", {"--protocol ll128", "expected ll or simple"}, 2);
  Refused(call + "--protocol ll --cluster ring4.txtpb", {"collectives.library"}, 2);
  Refused(call + "--peers incast --root 8", {"--root is 8"});
  Refused("collective all_reduce --bytes 8 --peers next", {"--peers is for sendrecv"}, 2);
  Refused("collective send_recv", {"did you mean 'sendrecv'?"}, 2);
}

TEST_F(CollectiveCli, SetChangesFieldsOfTheCluster) {
  const std::string call = "all_reduce --bytes 4M --cluster ring4.txtpb ";
  EXPECT_EQ(Cells(call + "--set collectives.algorithm[all_reduce]=direct")[3], "direct");
  EXPECT_NE(Cells(call)[6], Cells(call + "--set topology.dimension[0].bandwidth_gbytes_per_s=1")[6]);
  // `--set` is applied last.
  EXPECT_EQ(Cells(call + "--network switch:link=400Gb/s"),
            Cells(call + "--network switch --set topology.dimension[0].network.build=switch:link=400Gb/s"));
  Refused("collective " + call + "--set devise.name=x", {"--set devise.name=x", "did you mean 'device'?"});
}

TEST_F(CollectiveCli, RefusesBadSizesAndRanks) {
  for (const std::string bytes : {"0", "-8", "8X", "2K..1K", "1..", "8,,16", "nan", "1PiB"}) {
    Refused("collective all_reduce --bytes=" + bytes, {"size \"", "expected"}, 2);
  }
  for (const std::string factor : {"1", "0", "-2", "nan"}) {
    Refused("collective all_reduce --bytes 1K..2K --factor " + factor, {"factor above 1"}, 2);
  }
  Refused("collective all_reduce --bytes 8 --ranks 0", {"--ranks"}, 2);
  Refused("collective all_reduce --bytes 8 --ranks many", {"--ranks"}, 2);
  Refused("collective all_reduce --bytes 8 --ranks 12", {"12 ranks", "multiple of 8"});
  Refused("collective all_reduce --bytes 8 --ranks 5 --cluster ring4.txtpb", {"5 ranks", "4 devices"});
  Refused("collective broadcast --bytes 8 --ranks 4 --root 4", {"--root is 4", "0 to 3"});
  Refused("collective broadcast --bytes 8 --ranks 4 --root -1", {"--root is -1"});
}

TEST_F(CollectiveCli, PricesWithoutALibrary) {
  const auto cells = Cells("all_reduce --bytes 4M --cluster ring4.txtpb");
  EXPECT_EQ(cells[3] + cells[4], "ring-");
  EXPECT_EQ(cells[6], "120.188");  // 6 steps of 500 ns and of 1 MiB at 50 * 2^30 B/s
  EXPECT_EQ(Cells("all_reduce --bytes 4M --cluster ring4.txtpb --algorithm direct")[3], "direct");
  EXPECT_EQ(Lines("all_reduce --bytes 4M --cluster ring4.txtpb --explain").size(), 3u);
  Refused("collective all_reduce --bytes 8 --cluster ring4.txtpb --protocol ll", {"collectives.library"}, 2);
  Refused("collective all_reduce --bytes 8 --cluster ring4.txtpb --algorithm dirct",
          {"dirct", "did you mean 'direct'?"}, 2);
}

TEST_F(CollectiveCli, WritesTheTableToAFile) {
  EXPECT_EQ(Lines("all_reduce --bytes 8 --format csv -o table.csv").size(), 0u);
  EXPECT_THAT(Content(At("table.csv")), HasSubstr("all_reduce,8,8,ring,ll,1,16.621"));
}

TEST_F(CollectiveCli, OneRankTakesOnlyTheLaunch) {
  const auto cells = Cells("all_reduce --bytes 8 --ranks 1");
  EXPECT_THAT(std::vector<std::string>(cells.begin(), cells.begin() + 7),
              ElementsAre("all_reduce", "1", "8", "-", "-", "1", "3.750"));
}

// A replay follows the same rules; its report names the algorithms that ran.
TEST_F(CollectiveCli, ReplayReportsTheChosenAlgorithms) {
  for (int r = 0; r < 8; ++r) {
    Rank("t", r, {Coll(0, 0, 1 << 30), Coll(1, 0, 4096, {0}), Coll(2, 2, 1 << 20, {1})});
  }
  const proto::Report report = Replayed("t --cluster dgx-h200");
  ASSERT_EQ(report.collective_size(), 2);
  EXPECT_EQ(report.collective(0).kind(), "all_gather");
  EXPECT_EQ(report.collective(0).algorithm(), "ring/ll128");  // 8 MiB in all
  EXPECT_EQ(report.collective(1).algorithm(), "nvls/simple");
  const Outcome text = Run("replay t --cluster dgx-h200");
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("all_reduce"));
  // The times are the same without closed forms.
  EXPECT_EQ(Replayed("t --cluster dgx-h200 --no-fast-path").makespan_ps(), report.makespan_ps());
  EXPECT_LE(Replayed("t --cluster dgx-h200 --fabric analytical-fifo").makespan_ps(),
            2 * report.makespan_ps());
}

TEST_F(CollectiveCli, WarnsOfUnusedNetworks) {
  const std::string step = std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step";
  const std::string network = " --cluster dgx-h100 --network leaf_spine:k=16";
  const std::string note =
      "the ranks (8) fit into one block of the other dimensions: the network "
      "\"leaf_spine:k=16\" is not used";
  const Outcome collective = Run("collective all_reduce --bytes 1MiB" + network);
  EXPECT_EQ(collective.status, 0);
  EXPECT_EQ(collective.err, "chakra-replay: " + note + "\n");
  EXPECT_EQ(Run("collective all_reduce --bytes 1MiB --ranks 16" + network).err, "");
  const proto::Report report = Replayed(step + network);
  EXPECT_THAT(report.warning(), ElementsAre(note));
  EXPECT_THAT(Replayed(step + " --cluster dgx-h100:gpus_per_node=4 --network leaf_spine:k=16").warning(),
              Not(Contains(HasSubstr("leaf_spine"))));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
