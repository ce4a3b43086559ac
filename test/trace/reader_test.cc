#include "trace/import/reader.h"

#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/folders.h"
#include "test/trace/tar_member.h"
#include "trace/base/checksum.h"
#include "trace/et/read_options.h"
#include "trace/import/locate.h"

namespace chakra::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Metadata and two nodes, the second named `name` and waiting for the first.
std::string Trace(char name) {
  std::string s(
      "\x07\x0a\x05"
      "0.0.4\x06\x12\x02n0\x18\x04\x0b\x08\x01\x12\x02n1\x18\x04\x2a\x01\x00",
      27);
  s[21] = name;
  return s;
}

class ReaderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/reader_test.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { fs::remove_all(dir_); }
  std::string Write(const std::string& name, const std::string& content) {
    const fs::path p = fs::path(dir_) / name;
    fs::create_directories(p.parent_path());
    std::ofstream(p, std::ios::binary) << content;
    return p.string();
  }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  static std::string ErrorOf(const std::vector<std::string>& inputs, const ReadOptions& options = {}) {
    const auto t = ReadTraceSet(inputs, options);
    return t.ok() ? "no error" : std::string(t.status().message());
  }
  std::string dir_;
};

TEST_F(ReaderTest, ReadsFoldersPrefixesAndLists) {
  const std::string a = Write("w.0.et", Trace('1')), b = Write("w.1.et", Trace('1'));
  Write("notes.txt", "x");
  for (const std::vector<std::string>& in : {std::vector<std::string>{dir_}, {Path("w")}, {b, a}}) {
    const auto t = ReadTraceSet(in, {});
    ASSERT_TRUE(t.ok()) << t.status();
    ASSERT_EQ(t->ranks.size(), 2u);
    EXPECT_EQ(t->ranks[1].rank, 1);
    EXPECT_EQ(t->ranks[1].file, b);
    EXPECT_EQ(t->distinct_graphs(), 1u);
    EXPECT_EQ(t->inputs[0].sha256, Sha256Hex(Trace('1')));
    EXPECT_EQ(t->inputs[0].bytes, 27u);
  }
}

TEST_F(ReaderTest, SharesOnlyEqualGraphs) {
  for (int i = 0; i < 6; ++i) Write("w." + std::to_string(i) + ".et", Trace(i % 3 == 0 ? 'a' : 'b'));
  for (const int threads : {1, 3}) {
    ReadOptions options;
    options.threads = threads;
    const auto t = ReadTraceSet({dir_}, options);
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t->distinct_graphs(), 2u);
    EXPECT_EQ(t->ranks[3].graph, t->ranks[0].graph);
    EXPECT_EQ(t->ranks[5].graph->name_of(1), "nb");
  }
}

TEST_F(ReaderTest, ReadsANestedFolder) {
  Write("inner/w.0.et", Trace('1'));
  EXPECT_EQ(ErrorOf({dir_}), "no error");
}

TEST_F(ReaderTest, RefusesSeveralPrefixes) {
  Write("a.0.et", Trace('1'));
  Write("b.0.et", Trace('1'));
  EXPECT_THAT(ErrorOf({dir_}), HasSubstr("several runs"));
  EXPECT_EQ(ErrorOf({Path("a")}), "no error");
}

TEST_F(ReaderTest, ChecksRankNumbers) {
  const std::string a = Write("w.0.et", Trace('1'));
  Write("w.2.et", Trace('1'));
  EXPECT_THAT(ErrorOf({dir_}), HasSubstr("these ranks have no trace: 1"));
  EXPECT_THAT(ErrorOf({a, a}), HasSubstr("rank 0 has two traces"));
  const auto single_trace = ReadTraceSet({Path("w.2.et")}, {});
  ASSERT_TRUE(single_trace.ok());
  EXPECT_EQ(single_trace->ranks[0].repairs[0].kind, "rank_renumbered");
  EXPECT_THAT(ErrorOf({a, Write("x.et", Trace('1'))}), HasSubstr("expected a rank in the name"));
}

TEST_F(ReaderTest, ReportsMissingTraces) {
  Write("workload.0.et", Trace('1'));
  const auto t = ReadTraceSet({Path("wrkload")}, {});
  EXPECT_EQ(t.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(t.status().message()), HasSubstr("workload.0.et"));
  EXPECT_THAT(ErrorOf({"/no/such/place"}), HasSubstr("there is no folder /no/such"));
  fs::create_directories(Path("empty"));
  EXPECT_THAT(ErrorOf({Path("empty")}), HasSubstr("holds nothing"));
}

TEST_F(ReaderTest, FirstErrorWinsForAnyNumberOfThreads) {
  for (int i = 0; i < 8; ++i) Write("w." + std::to_string(i) + ".et", i >= 3 ? "" : Trace('1'));
  for (const int threads : {1, 4}) {
    ReadOptions options;
    options.threads = threads;
    EXPECT_THAT(ErrorOf({dir_}, options), HasSubstr("w.3.et: rank 3"));
  }
}

TEST_F(ReaderTest, ReadsArchives) {
  const std::string end(1024, '\0');
  const std::string members = TarMember("run/w.1.et", Trace('b')) +
                              TarMember("run/w.json", "{\"1\": [0, 1]}") +
                              TarMember("run/w.0.et", Trace('a')) + TarMember("run/README", "x");
  const std::string tar = Write("t.tar", members + end);
  for (const int threads : {1, 3}) {
    ReadOptions options;
    options.threads = threads;
    const auto t = ReadTraceSet({tar}, options);
    ASSERT_TRUE(t.ok()) << t.status();
    ASSERT_EQ(t->ranks.size(), 2u);
    EXPECT_EQ(t->ranks[0].graph->name_of(1), "na");
    EXPECT_EQ(t->ranks[0].file, tar + "!run/w.0.et");
    EXPECT_EQ(t->group_source, tar + "!run/w.json");
    EXPECT_THAT(t->groups.at("1"), ElementsAre(0, 1));
    EXPECT_EQ(t->inputs[0].sha256, Sha256Hex(members + end));
    EXPECT_EQ(DescribeNode(t->ranks[1], 1),
              "rank 1, node 1 (\"nb\") of " + tar + "!run/w.1.et (in an archive)");
  }
  EXPECT_THAT(ErrorOf({Write("cut.tar", members)}), HasSubstr("truncated"));
  EXPECT_THAT(ErrorOf({Write("cut2.tar", members.substr(0, 700))}), HasSubstr("truncated"));
  std::string bad = members + end;
  bad[1024] ^= 1;
  EXPECT_THAT(ErrorOf({Write("bad.tar", bad)}), HasSubstr("byte 1024"));
  EXPECT_THAT(
      ErrorOf({Write("gap.tar", TarMember("w.1.et", Trace('b')) + TarMember("w.2.et", Trace('b')) + end)}),
      HasSubstr("these ranks have no trace: 0"));
}

// As GNU tar --sparse writes them, in its own form and in pax. Members that are no traces may be sparse.
TEST_F(ReaderTest, RefusesSparseMembers) {
  const std::string end(1024, '\0'), map(512, '\0');
  const auto old_form = [&](const std::string& name) {
    const std::string member = TarMember(name, "12345678", 'S');
    return member.substr(0, 512) + map + member.substr(512);
  };
  const auto pax_form = [](const std::string& name) {
    const std::string record = "GNU.sparse.name=" + name + "\n";
    return TarMember("x", "22 GNU.sparse.major=1\n" + std::to_string(record.size() + 3) + " " + record, 'x') +
           TarMember("GNUSparseFile.1/w", "12345678");
  };
  const std::string trace = TarMember("w.0.et", Trace('a'));
  for (const std::string& log : {old_form("log.txt"), pax_form("log.txt")}) {
    const auto t = ReadTraceSet({Write("t.tar", log + trace + end)}, {});
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t->ranks.size(), 1u);
  }
  for (const std::string& sparse : {old_form("w.1.et"), pax_form("w.1.et")}) {
    EXPECT_THAT(ErrorOf({Write("t.tar", trace + sparse + end)}),
                HasSubstr("t.tar!w.1.et: stored as a sparse file"));
  }
}

TEST_F(ReaderTest, ReadsGroupsNextToTheTraces) {
  Write("w.0.et", Trace('1'));
  Write("other.json", "{\"nodes\": [{}]}");
  Write("any.json", "{\"g\": [0]}");
  auto t = ReadTraceSet({dir_}, {});
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->group_source, Path("any.json"));
  Write("w.json", "{\"h\": [0]}");
  t = ReadTraceSet({dir_}, {});
  EXPECT_EQ(t->group_source, Path("w.json"));
  ReadOptions options;
  options.groups_file = Write("given/g.json", "{\"i\": [0]}");
  t = ReadTraceSet({Path("w")}, options);
  EXPECT_EQ(t->groups.count("i"), 1u);
  EXPECT_EQ(t->inputs.back().role, "groups");
  options.groups_file = Path("none.json");
  EXPECT_THAT(ErrorOf({Path("w")}, options), HasSubstr("none.json"));
}

TEST_F(ReaderTest, LocatesNodes) {
  const std::string a = Write("w.0.et", Trace('1'));
  EXPECT_EQ(LocateNode(a, 1), 16);
  EXPECT_EQ(LocateNode(a, 0), 9);
  EXPECT_EQ(LocateNode(a, 5), -1);
  EXPECT_EQ(LocateNode(Path("none"), 1), -1);
}

class RealData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(CHAKRA_SHARED_DATA)) GTEST_SKIP() << "NOT TESTED: no folder " << CHAKRA_SHARED_DATA;
  }
  static TraceSet Read(const std::string& name) {
    auto t = ReadTraceSet({std::string(CHAKRA_SHARED_DATA) + "/" + name}, {});
    EXPECT_TRUE(t.ok()) << t.status();
    return t.ok() ? *std::move(t) : TraceSet();
  }
};

TEST_F(RealData, ReadsResNet50) {
  const TraceSet t = Read("chakra/resnet50_ddp.0.et.gz");
  ASSERT_EQ(t.ranks.size(), 1u);
  const RankTrace& r = t.ranks[0];
  const Graph& g = *r.graph;
  EXPECT_EQ(g.size(), 3664u);
  EXPECT_EQ(g.dep.size(), 181878u);
  int64_t us = 0;
  std::vector<uint64_t> roots, children;
  for (uint32_t i = 0; i < g.size(); ++i) {
    us += g.duration[i].picos() / 1000000;
    if (g.dep_begin[i] == g.dep_begin[i + 1]) roots.push_back(g.id[i]);
    if (g.id[i] == 216) {
      for (uint32_t e = g.child_begin[i]; e < g.child_begin[i + 1]; ++e) children.push_back(g.id[g.child[e]]);
    }
    if (g.id[i] == 435) {
      const Comm& c = g.comm[g.payload[i]];
      EXPECT_EQ(c.type, 5);
      EXPECT_EQ(c.bytes, 212480u);
      EXPECT_EQ(g.duration[i], Time::Micros(28));
    }
  }
  EXPECT_EQ(us, 381795);
  ASSERT_EQ(roots.size(), 5u);
  EXPECT_EQ(roots[0], 216u);
  EXPECT_EQ(roots[1], 432u);
  ASSERT_GE(children.size(), 3u);
  children.resize(3);
  EXPECT_THAT(children, ElementsAre(217, 430, 435));
  std::map<std::string, uint64_t> repairs;
  for (const Repair& p : r.repairs) repairs[p.kind] = p.count;
  EXPECT_EQ(repairs["self_ctrl_dep"], 383u);
  EXPECT_EQ(repairs["dangling_ctrl_dep"], 1277u);
}

TEST_F(RealData, ReadsACustomRing) {
  const TraceSet t = Read("astra-sim/custom_ring_allreduce_8npus_1MB");
  ASSERT_EQ(t.ranks.size(), 8u);
  for (const RankTrace& r : t.ranks) {
    int sends = 0;
    EXPECT_EQ(r.graph->size(), 35u);
    for (uint32_t i = 0; i < r.graph->size(); ++i) {
      if (r.graph->type[i] != NodeType::kSend) continue;
      ++sends;
      EXPECT_EQ(r.graph->comm[r.graph->payload[i]].bytes, 131072u);
      EXPECT_EQ(r.peers[r.graph->payload[i]].dst, (r.rank + 1) % 8);
    }
    EXPECT_EQ(sends, 14);
  }
}

TEST_F(RealData, ReadsAnAllReduceMicrobenchmark) {
  const TraceSet t = Read("astra-sim/microbenchmarks/all_reduce/4npus_1MB");
  ASSERT_EQ(t.ranks.size(), 4u);
  for (const RankTrace& r : t.ranks) EXPECT_EQ(r.graph->comm[0].bytes, 1048576u);
}

TEST_F(RealData, ReadsTracesOfStage) {
  const TraceSet tiny = Read("stage/llama_tiny_8");
  EXPECT_EQ(tiny.ranks.size(), 8u);
  EXPECT_EQ(tiny.groups.size(), 16u);
  const TraceSet fsdp = Read("stage/llama8b_fsdp_16");
  EXPECT_EQ(fsdp.nodes(), 265312u);
  EXPECT_EQ(fsdp.distinct_graphs(), 1u);
}

// bad-input.md, its first table: the repair or the text of the error.
TEST_F(RealData, RepairsOrRefusesBadFiles) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"allcycle", "cycle of 2"},
      {"big_node", ""},
      {"ctrl_only", ""},
      {"cycle2", "cycle of 2"},
      {"dup_deps", ""},
      {"dup_ids", "byte 28"},
      {"empty", "is empty"},
      {"emptymd", ""},
      {"forward_ref", ""},
      {"garbage", "not a Chakra trace"},
      {"good", ""},
      {"good_gz", ""},
      {"missing_ctrl", "+dangling_ctrl_dep"},
      {"missing_dep", "+dangling_data_dep"},
      {"no_md", "+missing_metadata"},
      {"only_md", "+no_nodes"},
      {"self_ctrl", "+self_ctrl_dep"},
      {"self_data", "waits for itself"},
      {"text", "text.et"},
      {"trunc_body", "truncated at byte 36 of 39"},
      {"trunc_varint", "truncated at byte 28"},
      {"unsorted", ""},
      {"zero_frame_mid", ""}};
  for (const auto& [name, want] : cases) {
    const auto t = ReadTraceSet({std::string(CHAKRA_SHARED_DATA) + "/bad/" + name + ".et"}, {});
    std::string got;
    if (!t.ok()) {
      got = std::string(t.status().message());
    } else if (!t->ranks[0].repairs.empty()) {
      got = "+" + t->ranks[0].repairs[0].kind;
    }
    if (want.empty()) {
      EXPECT_EQ(got, "") << name;
    } else {
      EXPECT_THAT(got, HasSubstr(want)) << name;
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
