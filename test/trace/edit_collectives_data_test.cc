// Edits of collectives and storage on published traces and on a capture: nodes that were not edited keep
// their bytes, all ranks make the same calls, and nothing needs a repair.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "replay/engine/match/match.h"
#include "test/folders.h"
#include "test/trace/edit_testing.h"
#include "trace/et/read_options.h"

namespace chakra::edit::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;

const std::string kStage = std::string(CHAKRA_SHARED_DATA) + "/stage/";
const std::string kCapture = std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2";

absl::StatusOr<TraceSet> ReadWith(const std::string& path, EditRun* run) {
  ReadOptions options;
  options.keep_raw = true;
  options.rewriter = run;
  return ReadTraceSet({path}, options);
}

std::map<uint64_t, absl::string_view> FramesById(const RankTrace& trace) {
  std::map<uint64_t, absl::string_view> out;
  for (uint32_t r = 0; r < trace.graph->size(); ++r) out[trace.graph->id[r]] = trace.raw->frame(r + 1);
  return out;
}

std::string FramesOf(const RankTrace& trace) {
  std::string out;
  EtWriter writer(&out, Compression::kNone);
  EXPECT_TRUE(WriteTrace(trace, &writer).ok());
  return out;
}

struct Result {
  TraceSet set;
  proto::EditReport report;
  std::map<std::string, uint64_t> calls;  // kind -> calls, of all groups
  std::map<std::string, uint64_t> bytes;  // kind -> comm_size of its calls
};

// Applies one edit to all ranks of `before`, and checks the conditions that every edit must meet.
Result EditData(const std::string& path, const TraceSet& before, const std::string& script) {
  Result out;
  const absl::StatusOr<EditPlan> plan = PlanOf(script);
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return out;
  EditRun run(&*plan);
  if (plan->needs_shape()) {
    EXPECT_TRUE(run.Begin({static_cast<int>(before.ranks.size()), before.groups}).ok());
  }
  absl::StatusOr<TraceSet> set = ReadWith(path, &run);
  absl::StatusOr<proto::EditReport> report = run.Finish();
  EXPECT_TRUE(set.ok() && report.ok()) << set.status() << report.status();
  if (!set.ok() || !report.ok()) return out;
  out.set = *std::move(set);
  out.report = *std::move(report);

  const proto::EditOutcome& outcome = out.report.outcome(0);
  EXPECT_EQ(out.report.nodes_out(), out.set.nodes());
  EXPECT_EQ(out.set.nodes(), before.nodes() + outcome.added() - outcome.removed());
  uint64_t different = 0, added = 0;
  const size_t last = before.ranks.size() - 1, step = before.nodes() < 50000 ? 1 : last;
  for (size_t r = 0; r <= last; r += step) {
    const auto old = FramesById(before.ranks[r]);
    for (const auto& [id, frame] : FramesById(out.set.ranks[r])) {
      const auto it = old.find(id);
      it == old.end() ? ++added : different += it->second == frame ? 0 : 1;
    }
    ExpectValid(FramesOf(out.set.ranks[r]), absl::StrCat("rank ", r));
  }
  if (step == 1) {
    EXPECT_EQ(added, outcome.added());
  }
  EXPECT_GT(different + added, 0u);
  EXPECT_LE(different + added, outcome.changed());  // an edit may write the bytes that a node already had
  const absl::StatusOr<Matching> matching = MatchCommunication(out.set, {});
  EXPECT_TRUE(matching.ok()) << matching.status();
  if (!matching.ok()) return out;
  for (const CollectiveCall& call : matching->calls) {
    ++out.calls[std::string(Name(call.type))];
    out.bytes[std::string(Name(call.type))] += call.bytes;
  }
  return out;
}

Result Unedited(const std::string& path) {
  Result out;
  absl::StatusOr<TraceSet> set = ReadWith(path, nullptr);
  EXPECT_TRUE(set.ok()) << set.status();
  if (!set.ok()) return out;
  out.set = *std::move(set);
  const absl::StatusOr<Matching> matching = MatchCommunication(out.set, {});
  EXPECT_TRUE(matching.ok()) << matching.status();
  for (const CollectiveCall& call : matching->calls) {
    ++out.calls[std::string(Name(call.type))];
    out.bytes[std::string(Name(call.type))] += call.bytes;
  }
  return out;
}

class EditStage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(kStage))
      GTEST_SKIP() << "NO REAL DATA: " << kStage << " is absent; nothing was checked";
    Read("llama_tiny_8");
  }
  void Read(const std::string& name) {
    path_ = kStage + name;
    before_ = Unedited(path_);
  }
  Result Edit(const std::string& select, const std::string& operation) const {
    return EditData(path_, before_.set, absl::StrCat("edit { select { ", select, " } ", operation, " }"));
  }
  std::string path_;
  Result before_;
};

TEST_F(EditStage, MergesCollectives) {
  const Result out = Edit("collective: \"reduce_scatter\"", "merge_collectives { count: 4 }");
  EXPECT_LT(out.calls.at("reduce_scatter"), before_.calls.at("reduce_scatter"));
  EXPECT_EQ(out.bytes, before_.bytes);
}

TEST_F(EditStage, SplitsCollectives) {
  const Result out = Edit("collective: \"reduce_scatter\"", "split_collectives { parts: 3 }");
  EXPECT_EQ(out.calls.at("reduce_scatter"), 3 * before_.calls.at("reduce_scatter"));
  EXPECT_EQ(out.bytes, before_.bytes);
}

TEST_F(EditStage, ChangesAllReduces) {
  const Result out =
      Edit("collective: \"all_reduce\"", "change_collective { kind: \"reduce_scatter+all_gather\" }");
  EXPECT_EQ(out.calls.count("all_reduce"), 0u);
  EXPECT_EQ(out.calls.at("all_gather"), before_.calls.at("all_gather") + before_.calls.at("all_reduce"));
  EXPECT_EQ(out.bytes.at("reduce_scatter"),
            before_.bytes.at("reduce_scatter") + before_.bytes.at("all_reduce"));
}

TEST_F(EditStage, CompressesCollectives) {
  const Result out = Edit("collective: \"reduce_scatter\"",
                          "compress { ratio: 0.5 encode_us_per_mb: 1 decode_us_per_mb: 1 }");
  EXPECT_EQ(out.calls, before_.calls);
  EXPECT_NEAR(static_cast<double>(out.bytes.at("reduce_scatter")),
              static_cast<double>(before_.bytes.at("reduce_scatter")) / 2,
              static_cast<double>(out.calls.at("reduce_scatter")));
  EXPECT_EQ(out.bytes.at("all_gather"), before_.bytes.at("all_gather"));
}

TEST_F(EditStage, StoresAtCollectives) {
  const Result out =
      Edit("collective: \"reduce_scatter\"", "storage { bytes: 1048576 blocking: true every: 8 }");
  EXPECT_EQ(out.calls, before_.calls);
  EXPECT_EQ(out.report.outcome(0).added(),
            out.set.ranks.size() * (out.report.outcome(0).matched() / out.set.ranks.size() / 8));
}

// 16 ranks, 265,000 nodes.
TEST_F(EditStage, MergesInALargeTrace) {
  Read("llama8b_fsdp_16");
  const Result out = Edit("collective: \"reduce_scatter\"", "merge_collectives { count: 4 }");
  EXPECT_EQ(4 * out.calls.at("reduce_scatter"), before_.calls.at("reduce_scatter"));
  EXPECT_EQ(out.bytes, before_.bytes);
}

class EditCapture : public ::testing::Test {
 protected:
  Result Edit(const std::string& operation) const {
    return EditData(kCapture, before_.set,
                    absl::StrCat("edit { select { type: \"collective\" } ", operation, " }"));
  }
  const Result before_ = Unedited(kCapture);
};

TEST_F(EditCapture, MergesTheBucketsOfAStep) {
  const Result one = Edit("merge_collectives { per_iteration: true }");
  EXPECT_LT(one.calls.at("all_reduce"), before_.calls.at("all_reduce"));
  EXPECT_EQ(one.bytes, before_.bytes);
  EXPECT_THAT(absl::StrJoin(one.report.outcome(0).note(), "; "), HasSubstr("summed"));
}

TEST_F(EditCapture, SplitsCollectives) {
  const Result out = Edit("split_collectives { most_bytes: 65536 }");
  EXPECT_GT(out.calls.at("all_reduce"), before_.calls.at("all_reduce"));
  EXPECT_EQ(out.bytes, before_.bytes);
}

TEST_F(EditCapture, ChangesCompressesAndStores) {
  EXPECT_EQ(Edit("change_collective { kind: \"reduce_scatter+all_gather\" }").calls.at("reduce_scatter"),
            before_.calls.at("all_reduce"));
  EXPECT_LT(
      Edit("compress { ratio: 0.5 encode_us_per_mb: 100 decode_us_per_mb: 100 }").bytes.at("all_reduce"),
      before_.bytes.at("all_reduce"));
  EXPECT_EQ(Edit("storage { bytes: 1000 kind: LOAD blocking: true }").report.outcome(0).added(), 24u);
}

}  // namespace
}  // namespace chakra::edit::CHAKRA_FILE
