#include "trace/import/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

namespace chakra::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TraceName, SplitsPrefixRankAndEnding) {
  const struct {
    const char* path;
    const char* prefix;
    int rank;
    bool is_trace;
  } cases[] = {
      {"dir/w.3.et", "dir/w", 3, true},
      {"w.0.et.zst", "w", 0, true},
      {"w.12.et.gz", "w", 12, true},
      {"a.b.7.json", "a.b", 7, true},
      {"w.1.txtpb", "w", 1, true},
      {"w.et", "w", -1, true},
      {"w.x3.et", "w.x3", -1, true},
      {"w.-3.et", "w.-3", -1, true},
      {"w.99999999999.et", "w.99999999999", -1, true},  // no int
      {"7.et", "7", -1, true},
      {"all.tar.zst", "all.tar", -1, false},
      {"w.3.txt", "w.3.txt", -1, false},
      {"dir/._w.3.et", "dir/._w.3", -1, false},  // macOS's companion of w.3.et
  };
  for (const auto& c : cases) {
    const TraceName name = ParseTraceName(c.path);
    EXPECT_EQ(name.prefix, c.prefix) << c.path;
    EXPECT_EQ(name.rank, c.rank) << c.path;
    EXPECT_EQ(name.is_trace, c.is_trace) << c.path;
  }
}

class Inputs : public ::testing::Test {
 protected:
  Inputs() {
    std::string pattern = (fs::temp_directory_path() / "inputs_test.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Inputs() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  void Touch(const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
      fs::create_directories((folder_ / name).parent_path());
      std::ofstream(folder_ / name) << "x";
    }
  }
  // Names within the folder, with ranks: "w.0.et 0".
  std::vector<std::string> Found(const std::vector<std::string>& inputs) const {
    const absl::StatusOr<std::vector<TraceFile>> files = ResolveInputs(inputs);
    EXPECT_TRUE(files.ok()) << files.status();
    std::vector<std::string> names;
    if (!files.ok()) return names;
    for (const TraceFile& f : *files) {
      names.push_back(fs::relative(f.path, folder_).string() + " " + std::to_string(f.rank));
    }
    return names;
  }
  static std::string Error(const std::vector<std::string>& inputs) {
    const absl::StatusOr<std::vector<TraceFile>> files = ResolveInputs(inputs);
    return files.ok() ? "" : std::string(files.status().message());
  }
  fs::path folder_;
};

TEST_F(Inputs, FindsFoldersPrefixesAndFiles) {
  Touch({"a/w.0.et", "a/w.1.et.zst", "a/w.json", "a/notes.txt", "a/._w.0.et"});
  const std::vector<std::string> both = {"a/w.0.et 0", "a/w.1.et.zst 1"};
  EXPECT_EQ(Found({At("a")}), both);
  EXPECT_EQ(Found({At("a/w")}), both);
  EXPECT_EQ(Found({At("a/w.1.et.zst"), At("a/w.0.et")}), (std::vector<std::string>{both[1], both[0]}));
  EXPECT_THAT(Found({At("a/w.json")}), ElementsAre("a/w.json -1"));
}

TEST_F(Inputs, FindsANestedFolderAndJsonWithoutEt) {
  Touch({"a/b/w.0.json", "a/b/w.1.json"});
  EXPECT_THAT(Found({At("a")}), ElementsAre("a/b/w.0.json 0", "a/b/w.1.json 1"));
  Touch({"a/b/w.0.et"});
  EXPECT_THAT(Found({At("a")}), ElementsAre("a/b/w.0.et 0"));
}

TEST_F(Inputs, ErrorsListNearbyFiles) {
  Touch({"a/workload.0.et", "a/other.txt", "b/v.0.et", "b/w.0.et", "c/readme"});
  EXPECT_EQ(Error({}), "no trace is given");
  EXPECT_THAT(Error({At("a/workloda")}), AllOf(HasSubstr("a/workloda"), HasSubstr("workload.0.et")));
  EXPECT_THAT(Error({At("none/w")}), HasSubstr("there is no folder " + At("none")));
  EXPECT_THAT(Error({At("b")}), AllOf(HasSubstr("several runs"), HasSubstr("b/v"), HasSubstr("b/w")));
  EXPECT_THAT(Error({At("c")}), AllOf(HasSubstr("PREFIX.N.et"), HasSubstr("readme")));
}

// Runs `f` as a user who is not root, and returns its result.
std::string AsNobody(const std::function<std::string()>& f) {
  if (geteuid() != 0) return f();
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const std::string said = setgid(65534) == 0 && setuid(65534) == 0 ? f() : "no setuid";
    const ssize_t written = write(ends[1], said.data(), said.size());
    _exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    said.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return said;
}

TEST_F(Inputs, ReportsFoldersThatCannotBeListed) {
  Touch({"w.0.et"});
  fs::permissions(folder_, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec);
  const std::string folder = folder_.string();
  const std::string whole = AsNobody([&] { return Error({folder}); });
  const std::string prefix = AsNobody([&] { return Error({folder + "/w"}); });
  if (whole == "no setuid") GTEST_SKIP() << "NOT TESTED: root here may not become another user";
  EXPECT_EQ(whole, folder + ": cannot list this folder: permission denied");
  EXPECT_EQ(prefix, whole);
  fs::permissions(folder_, fs::perms::none);
  EXPECT_THAT(AsNobody([&] { return Error({folder}); }), HasSubstr("permission denied"));
}

std::string Ranks(std::vector<int> ranks) {
  std::vector<TraceFile> files;
  for (const int r : ranks) files.push_back({"w." + std::to_string(r) + ".et", "w", r});
  const absl::Status s = CheckRanks(&files);
  if (!s.ok()) return std::string(s.message());
  std::string order;
  for (const TraceFile& f : files) order += std::to_string(f.rank);
  return order;
}

TEST(CheckRanks, SortsAndNamesMissingOrDoubleRanks) {
  EXPECT_EQ(Ranks({2, 0, 1}), "012");
  EXPECT_EQ(Ranks({-1}), "0");
  EXPECT_THAT(Ranks({0, 1, 1}), AllOf(HasSubstr("rank 1 has two traces"), HasSubstr("w.1.et")));
  EXPECT_THAT(Ranks({0, 3}), AllOf(HasSubstr("these ranks have no trace: 1, 2;"), HasSubstr("--ranks N")));
  EXPECT_THAT(Ranks({0, -1}), HasSubstr("expected a rank in the name"));
  EXPECT_THAT(Ranks({0, 1000000}), HasSubstr("1, 2, 3, 4, 5, 6, 7, 8, ...;"));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
