// The public captures that tests read where they are installed.
#pragma once

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "test/folders.h"
#include "trace/io/byte_source.h"

namespace chakra::pytorch {

inline bool HasSharedData() { return std::filesystem::is_directory(CHAKRA_SHARED_DATA); }

inline std::string Shared(const std::string& file) { return absl::StrCat(CHAKRA_SHARED_DATA, "/", file); }

// The one file of `folder` whose name begins with `prefix`.
inline std::string SharedWithPrefix(const std::string& folder, const std::string& prefix) {
  for (const auto& e : std::filesystem::directory_iterator(Shared(folder))) {
    if (e.path().filename().string().rfind(prefix, 0) == 0) return e.path().string();
  }
  ADD_FAILURE() << folder << " has no " << prefix;
  return "";
}

// The unpacked content of a file.
inline std::string Unpacked(const std::string& path) {
  auto raw = FileSource::Open(path);
  if (!raw.ok()) {
    ADD_FAILURE() << raw.status();
    return "";
  }
  auto content = OpenContent(raw->get(), path);
  Buffer all;
  if (!content.ok() || !ReadAll(content->get(), path, &all).ok()) {
    ADD_FAILURE() << path << " cannot be unpacked";
    return "";
  }
  return std::string(all.view());
}

}  // namespace chakra::pytorch

#define SKIP_WITHOUT_SHARED_DATA()         \
  if (!::chakra::pytorch::HasSharedData()) \
  GTEST_SKIP() << "NOT CHECKED: the public captures are not at " << CHAKRA_SHARED_DATA
