// Helpers of the tests of configuration files.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test/folders.h"
#include "trace/foreign/foreign.h"

namespace chakra::foreign {

// A folder with files, removed at the end.
class ForeignFiles {
 public:
  explicit ForeignFiles(const std::string& name)
      : folder_(std::filesystem::path(::testing::TempDir()) / ("foreign_" + name)) {
    std::filesystem::create_directories(folder_);
  }
  ~ForeignFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ForeignFiles(const ForeignFiles&) = delete;
  ForeignFiles& operator=(const ForeignFiles&) = delete;

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  // Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
    return Path(name);
  }

 private:
  const std::filesystem::path folder_;
};

// What a user says beside a file: a model, and ranks of dp.
inline Beside WithModel(int64_t dp = 8) {
  Beside out;
  out.has_model = true;
  out.given.mutable_parallel()->set_dp(dp);
  return out;
}

inline proto::Workload ReadText(const std::string& text, const Beside& beside = WithModel(),
                                const std::string& name = "run.conf") {
  const auto read = ReadForeign(text, name, beside);
  EXPECT_TRUE(read.ok()) << read.status() << "\n" << text;
  return read.ok() ? *read : proto::Workload();
}

inline std::string ErrorOf(const std::string& text, const Beside& beside = WithModel(),
                           const std::string& name = "run.conf") {
  const auto read = ReadForeign(text, name, beside);
  EXPECT_FALSE(read.ok()) << text;
  return std::string(read.status().message());
}

inline std::vector<std::string> LeftOutOf(const proto::Workload& w) {
  return {w.left_out().begin(), w.left_out().end()};
}

// A published file of the shared data; "": the data is absent.
inline std::string PublishedFile(const std::string& name) {
  std::ifstream in(std::string(CHAKRA_SHARED_DATA) + "/models/files/" + name);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace chakra::foreign
