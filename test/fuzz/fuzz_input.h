// Helpers of the structured targets: fuzzed bytes as numbers, and files for readers that take paths.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/string_view.h"

namespace chakra::fuzz {

// Ends the process with a message when `ok` is false: a finding.
inline void Require(bool ok, absl::string_view what) {
  if (ok) return;
  std::fprintf(stderr, "not so: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Reads the input byte by byte; gives zeros after its end.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint8_t Next() { return at_ < size_ ? data_[at_++] : 0; }
  // In [0, n). Precondition: n > 0.
  uint32_t Below(uint32_t n) { return Next() % n; }
  template <typename T, size_t n>
  T Pick(const T (&choices)[n]) {
    return choices[Next() % n];
  }
  bool done() const { return at_ == size_; }
  absl::string_view Rest() {
    const absl::string_view rest(reinterpret_cast<const char*>(data_) + at_, size_ - at_);
    at_ = size_;
    return rest;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t at_ = 0;
};

// A folder for this process only; the destructor removes it.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "chakra_fuzz.XXXXXX").string();
    Require(mkdtemp(name.data()) != nullptr, "a temporary folder can be made");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  // Creates or replaces a file and returns its path.
  std::string Write(const std::string& name, absl::string_view content) const {
    const std::string file = path_ + "/" + name;
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    Require(out.good(), "a temporary file can be written");
    return file;
  }

 private:
  std::string path_;
};

inline const TempFolder& Folder() {
  static const TempFolder folder;
  return folder;
}

}  // namespace chakra::fuzz
