// The binary, as a shell runs it.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace chakra {

// What it wrote, standard output and error, and its exit status; -1 where it was not run or was killed.
inline std::string RunBinary(const std::string& arguments, int* status) {
  std::FILE* pipe = popen((std::string(CHAKRA_BINARY) + " " + arguments + " 2>&1").c_str(), "r");
  std::string out;
  *status = -1;
  if (pipe == nullptr) return out;
  std::array<char, 4096> buffer;
  size_t n = 0;
  while ((n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0) out.append(buffer.data(), n);
  const int raw = pclose(pipe);
  if (WIFEXITED(raw)) *status = WEXITSTATUS(raw);
  return out;
}

}  // namespace chakra
