#include "trace/import/pytorch/find.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"
#include "test/trace/tar_member.h"
#include "trace/import/pytorch/importer.h"
#include "trace/import/registry.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;

const std::string kKineto = "{\"schemaVersion\":1,\"traceEvents\":[]}";
const std::string kHost = "{\"schema\":\"1.1.1-chakra.0.0.4\",\"nodes\":[]}";

// "name host|device rank" with "?" where the name merely ends in a number.
std::vector<std::string> Found(const CaptureFolder& folder, std::vector<std::string>* others = nullptr) {
  std::vector<std::string> ignored, text;
  auto files = FindCaptureFiles({folder.path()}, others == nullptr ? &ignored : others);
  EXPECT_TRUE(files.ok()) << files.status();
  if (!files.ok()) return text;
  for (const CaptureFile& f : *files) {
    text.push_back(absl::StrCat(f.path.substr(folder.path().size() + 1), f.host ? " host " : " device ",
                                f.rank, f.sure ? "" : "?"));
  }
  return text;
}

TEST(FindCaptureFiles, FindsKindsByContentAndRanksByNames) {
  const CaptureFolder folder;
  folder.Write("et/dlrm_eg_3.json", kHost);
  folder.Write("et/rank12.et.json", kHost);
  folder.Write("kineto/host42_worker5.1694128201_7.pt.trace.json", kKineto);
  folder.Write("kineto/kineto.4.json", kKineto);
  folder.Write("kineto/trace_rank-3_of_8.json", kKineto);
  folder.Write("kineto/plain.json", kKineto);
  EXPECT_THAT(Found(folder), ElementsAre("et/dlrm_eg_3.json host 3?", "et/rank12.et.json host 12",
                                         "kineto/host42_worker5.1694128201_7.pt.trace.json device 5",
                                         "kineto/kineto.4.json device 4?", "kineto/plain.json device -1?",
                                         "kineto/trace_rank-3_of_8.json device 3"));
}

TEST(FindCaptureFiles, ReadsRanksFromFilesOfTheProfiler) {
  const CaptureFolder folder;
  for (const int r : {0, 1, 2}) {
    const std::string run = absl::StrCat("host_40", r, "1_ascend_pt");
    folder.Write(run + "/ASCEND_PROFILER_OUTPUT/trace_view.json", kKineto);
    folder.Write(absl::StrCat(run, "/profiler_info_", r, ".json"),
                 absl::StrCat("{\"config\":{},\"rank_id\":", r == 2 ? -1 : 7 + r, "}"));
  }
  std::vector<std::string> others;
  EXPECT_THAT(Found(folder, &others),
              ElementsAre("host_4001_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json device 7",
                          "host_4011_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json device 8",
                          "host_4021_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json device -1?"));
  EXPECT_THAT(others, ElementsAre(folder.At("host_4021_ascend_pt/profiler_info_2.json")));
}

TEST(FindCaptureFiles, DetectsCompressionByContent) {
  const CaptureFolder folder;
  folder.Write("k.json.gz", kKineto);  // unpacked, with the old name
  EXPECT_THAT(Found(folder), ElementsAre("k.json.gz device -1?"));
}

TEST(FindCaptureFiles, ListsOtherFiles) {
  const CaptureFolder folder;
  folder.Write("k.json", kKineto);
  folder.Write("notes.txt", "hello");
  folder.Write("config.json", "{\"batch\": 4}");
  folder.Write("._k.json", "a Mac was here");
  std::vector<std::string> others;
  EXPECT_THAT(Found(folder, &others), ElementsAre("k.json device -1?"));
  std::sort(others.begin(), others.end());
  EXPECT_THAT(others, ElementsAre(folder.At("config.json"), folder.At("notes.txt")));
}

TEST(FindCaptureFiles, RefusesMissingInputs) {
  std::vector<std::string> others;
  EXPECT_FALSE(FindCaptureFiles({"/nowhere/at/all"}, &others).ok());
}

TEST(ImporterOfRun, MembersDecideTheFormatOfAnArchive) {
  const CaptureFolder folder;
  const auto archive = [&](const std::string& members) { return folder.Write("a.tar", members + kTarEnd); };
  const auto is_capture = [](const std::string& input) { return ImporterOfRun({input}, {}) == &kImporter; };
  const std::string capture = TarMember("run/k.json", kKineto), notes = TarMember("run/README", "x");
  EXPECT_TRUE(is_capture(archive(notes + capture)));
  EXPECT_FALSE(is_capture(archive(notes)));
  EXPECT_FALSE(is_capture(archive(capture + TarMember("run/w.0.et", "x")))) << "as of a folder with traces";
  EXPECT_FALSE(is_capture(archive(TarMember("groups.json", "{\"1\": [0, 1]}"))));
}

TEST(ImporterOfRun, FolderWithTracesIsNoCapture) {
  const auto is_capture = [](const std::string& input) { return ImporterOfRun({input}, {}) == &kImporter; };
  const CaptureFolder folder;
  EXPECT_FALSE(is_capture(folder.path())) << "empty";
  folder.Write("config.json", "{\"batch\": 4}");
  EXPECT_FALSE(is_capture(folder.path()));
  folder.Write("k.json", kKineto);
  EXPECT_TRUE(is_capture(folder.path()));
  EXPECT_TRUE(is_capture(folder.At("k.json")));
  EXPECT_FALSE(is_capture(folder.At("config.json")));
  folder.Write("w.0.et.zst", "");
  EXPECT_FALSE(is_capture(folder.path())) << "converted traces beside their capture";
  EXPECT_TRUE(is_capture(folder.At("k.json")));
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
