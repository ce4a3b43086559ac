// Steps whose ranks share files give the same traces as steps with a file for each rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "test/trace/generate_testing.h"
#include "trace/generate/write.h"
#include "trace/import/reader.h"
#include "trace/model/symmetric_ranks.h"

namespace chakra::generate::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Share : public ::testing::Test {
 protected:
  Share() {
    std::string pattern = (fs::temp_directory_path() / "share_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Share() override { fs::remove_all(folder_); }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  std::string Content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  StepGraphs WriteBoth(const std::string& parallel, const std::string& training) const {
    return WriteBoth("layers=4,hidden=256,heads=8,ffn=512,vocab=1024", parallel, training);
  }
  StepGraphs WriteBoth(const std::string& model, const std::string& parallel,
                       const std::string& training) const {
    const auto step = BuildStep(PlanOf(model, parallel, training));
    EXPECT_TRUE(step.ok()) << step.status();
    EXPECT_TRUE(WriteStep(*step, At("each"), {}, 2).ok());
    EXPECT_TRUE(WriteSharedStep(*step, At("shared"), 2).ok());
    return *step;
  }
  absl::StatusOr<TraceSet> Read(const std::string& input, bool frames, int threads = 2,
                                SymmetricRanks* symmetric = nullptr) const {
    ReadOptions options;
    options.keep_raw = frames;
    options.threads = threads;
    options.symmetric = symmetric;
    return ReadTraceSet({At(input)}, options);
  }
  fs::path folder_;
};

void ExpectEqual(const TraceSet& a, const TraceSet& b) {
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  EXPECT_EQ(a.groups, b.groups);
  for (size_t r = 0; r < a.ranks.size(); ++r) {
    const RankTrace &x = a.ranks[r], &y = b.ranks[r];
    EXPECT_EQ(x.rank, y.rank);
    EXPECT_EQ(x.group_names, y.group_names) << r;
    EXPECT_EQ(x.metadata, y.metadata) << r;
    ASSERT_EQ(x.peers.size(), y.peers.size()) << r;
    for (size_t i = 0; i < x.peers.size(); ++i) {
      const Peer &p = x.peers[i], &q = y.peers[i];
      ASSERT_EQ(std::tie(p.src, p.dst, p.tag, p.root, p.group),
                std::tie(q.src, q.dst, q.tag, q.root, q.group))
          << r << " " << i;
    }
    EXPECT_EQ(x.graph->id, y.graph->id);
    EXPECT_EQ(x.graph->dep, y.graph->dep);
  }
}

// Model, parallel, training: each kind of group and message.
constexpr const char* kSteps[][3] = {
    {"", "tp=2,pp=2,dp=2", "seq=64,global_batch=8"},
    {"", "tp=2,pp=2,vpp=2,dp=2,zero=1,order=tp-cp-ep-pp-dp", "seq=64,global_batch=8"},
    {"", "cp=4,tp=2,dp=2,zero=3", "seq=64,global_batch=4"},
    {"", "cp=2,cp_kind=ulysses,pp=4,schedule=zb-h1", "seq=64,global_batch=8"},
    {"", "pp=4,schedule=dualpipe,dp=3", "seq=64,global_batch=24"},
    {"layers=4,hidden=256,heads=8,ffn=512,vocab=1024,tied=yes,experts=8,top_k=2,moe_every=2",
     "tp=2,dp=6,ep=4,pp=2,zero=1,order=tp-cp-ep-pp-dp", "seq=64,global_batch=12,dtype=fp16"},
    {"layers=4,hidden=256,heads=8,ffn=512,vocab=1024,experts=8,top_k=2", "tp=2,dp=4,ep=2,etp=2",
     "seq=64,global_batch=4"},
    {"", "", "seq=64,global_batch=1"},
    {"table_rows=9000+50+9+700+700,pooling=2+9+1+4+4,dense_features=4,bottom=8+16,top=8+1", "dp=4,copied=2",
     "global_batch=16"},
};

TEST_F(Share, EqualsAFileForEachRank) {
  for (const auto& [model, parallel, training] : kSteps) {
    SCOPED_TRACE(absl::StrCat(model, "|", parallel));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    const StepGraphs step =
        *model == '\0' ? WriteBoth(parallel, training) : WriteBoth(model, parallel, training);
    const auto each = Read("each", true), shared = Read("shared", true);
    ASSERT_TRUE(each.ok()) << each.status();
    ASSERT_TRUE(shared.ok()) << shared.status();
    ExpectEqual(*shared, *each);
    for (size_t r = 0; r < each->ranks.size(); ++r) {
      EXPECT_EQ(shared->ranks[r].raw->bytes, each->ranks[r].raw->bytes) << r;
      EXPECT_EQ(shared->ranks[r].raw->begin, each->ranks[r].raw->begin) << r;
    }
    for (const int threads : {1, 8}) {
      const auto plain = Read("shared", false, threads);
      ASSERT_TRUE(plain.ok()) << plain.status();
      ExpectEqual(*plain, *each);
      EXPECT_LE(plain->distinct_graphs(), step.stages.size());  // the graphs of both directions are equal
    }
    // One rank stands for all symmetric ranks; the others follow from it.
    SymmetricRanks symmetric, of_step;
    auto few = Read("shared", false, 2, &symmetric);
    ASSERT_TRUE(few.ok()) << few.status();
    ReadOptions options;
    options.symmetric = &of_step;
    ASSERT_TRUE(TracesOf(step, "step", options).ok());
    EXPECT_EQ(symmetric, of_step);
    ExpandSymmetricRanks(symmetric, &*few);
    ExpectEqual(*few, *each);
  }
}

TEST_F(Share, FindsTheIndexByFolderPrefixAndName) {
  WriteBoth("tp=2,pp=2", "seq=64,global_batch=4");
  for (const char* input : {"shared", "shared/workload", "shared/workload.ranks.json"}) {
    const auto set = Read(input, false);
    ASSERT_TRUE(set.ok()) << input << ": " << set.status();
    EXPECT_EQ(set->ranks.size(), 4u) << input;
    EXPECT_THAT(set->group_source, HasSubstr("shared/workload.ranks.json")) << input;
    ASSERT_EQ(set->inputs.size(), 3u);
    EXPECT_EQ(set->inputs[2].role, "index");
  }
  // A single file is a trace like any other.
  const auto single_file = Read("shared/workload.0.et.zst", false);
  ASSERT_TRUE(single_file.ok()) << single_file.status();
  EXPECT_EQ(single_file->ranks.size(), 1u);
}

TEST_F(Share, LaterRunsDoNotMixWithEarlierOnes) {
  const StepGraphs step = WriteBoth("tp=2,pp=2", "seq=64,global_batch=4");
  // Writing files of ranks removes the index; an index does not join files of another run.
  ASSERT_TRUE(WriteStep(step, At("shared"), {}, 1).ok());
  EXPECT_FALSE(fs::exists(At("shared/workload.ranks.json")));
  const absl::Status refused = WriteSharedStep(step, At("each"), 1);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("exists, and is not a graph of this step"));
}

TEST_F(Share, RefusesBadIndexes) {
  WriteBoth("tp=2,pp=2", "seq=64,global_batch=4");
  const std::string index = Content("shared/workload.ranks.json");
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string text = index;
    const size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from << "\n" << index;
    Write("shared/workload.ranks.json", text.replace(at, from.size(), to));
    const auto set = Read("shared", false);
    EXPECT_FALSE(set.ok()) << to;
    EXPECT_FALSE(Read("shared", true).ok()) << to;
    Write("shared/workload.ranks.json", index);
    return std::string(set.status().message());
  };
  EXPECT_THAT(error("workload.2.et.zst", "workload.3.et.zst"), HasSubstr("workload.3.et.zst"));
  EXPECT_THAT(error("\"family\": \"tp\"", "\"family\": \"dp\""), HasSubstr("there is no family \"dp\""));
  EXPECT_THAT(error("\"by\": 2", "\"by\": 1"), HasSubstr("field by of peer 2: leads to rank 1; expected 2"));
  EXPECT_THAT(error("\"ranks\": 4", "\"ranks\": \"four\""), HasSubstr("workload.ranks.json"));
  EXPECT_THAT(error("\"family\"", "\"famly\""), HasSubstr("family"));
  EXPECT_THAT(error("{", ""), HasSubstr("workload.ranks.json"));
  // The trace of the other stage: it names other groups and ranks.
  fs::copy_file(At("shared/workload.2.et.zst"), At("shared/workload.0.et.zst"),
                fs::copy_options::overwrite_existing);
  EXPECT_THAT(std::string(Read("shared", false).status().message()),
              HasSubstr("workload.0.et.zst: rank 0: the trace names group \"tp2\""));
  Write("shared/other.ranks.json", index);
  EXPECT_THAT(std::string(Read("shared", false).status().message()),
              HasSubstr("indices of several runs, expected one"));
  fs::remove(At("shared/other.ranks.json"));
  Write("shared/workload.0.et.zst", "damaged");
  EXPECT_THAT(std::string(Read("shared", false).status().message()), HasSubstr("workload.0.et.zst: rank 0"));
  fs::remove(At("shared/workload.0.et.zst"));
  EXPECT_THAT(std::string(Read("shared", false).status().message()), HasSubstr("workload.0.et.zst"));
  ReadOptions two;
  EXPECT_THAT(std::string(ReadTraceSet({At("shared"), At("each")}, two).status().message()),
              HasSubstr("is a whole run; expected its folder alone"));
}

}  // namespace
}  // namespace chakra::generate::CHAKRA_FILE
