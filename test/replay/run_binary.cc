#include "test/folders.h"
#include "test/replay/run_binary.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "replay/cli/command_line.h"

namespace chakra {
namespace {

constexpr unsigned kSeconds = 100;  // a run that takes longer hangs

// The words of a shell's line. Returns none if the shell would do more than split and unquote the words.
std::optional<std::vector<std::string>> PlainWords(absl::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && (c == ' ' || c == '\n')) {
      in_word = false;
      continue;
    }
    const bool special = quote == 0 ? absl::string_view("|&;<>()$`*?[\\").find(c) != absl::string_view::npos
                         : quote == '"' ? absl::string_view("$`\\").find(c) != absl::string_view::npos
                                        : false;
    if (special || (!in_word && (c == '#' || c == '~'))) return std::nullopt;
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      words.back().push_back(c);
    }
  }
  if (quote != 0) return std::nullopt;
  return words;
}

// A file without a name.
class Scratch {
 public:
  Scratch() : fd_(memfd_create("output", MFD_CLOEXEC)) {}
  ~Scratch() { close(fd_); }
  int fd() const { return fd_; }
  std::string Content() const {
    std::string content;
    std::array<char, 65536> buffer;
    lseek(fd_, 0, SEEK_SET);
    for (ssize_t n = 0; (n = read(fd_, buffer.data(), buffer.size())) > 0;) {
      content.append(buffer.data(), static_cast<size_t>(n));
    }
    return content;
  }

 private:
  int fd_;
};

void Flush() {
  std::cout.flush();
  for (std::FILE* file : {stdout, stderr}) {
    std::fflush(file);
    __fpurge(file);  // drops data that could not be written
    std::clearerr(file);
  }
}

// Gives this process's standard streams and working folder to a run, and restores them.
class Lent {
 public:
  Lent(const std::string& folder, int out, int err) : before_(std::filesystem::current_path()) {
    Flush();
    if (!folder.empty()) std::filesystem::current_path(folder);
    const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int lent[] = {empty, out, err};
    for (int fd = 0; fd < 3; ++fd) {
      kept_[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
      dup2(lent[fd], fd);
    }
    close(empty);
    alarm(kSeconds);
  }
  ~Lent() {
    alarm(0);
    Flush();
    for (int fd = 0; fd < 3; ++fd) {
      dup2(kept_[fd], fd);
      close(kept_[fd]);
    }
    std::filesystem::current_path(before_);
  }

 private:
  std::filesystem::path before_;
  int kept_[3];
};

int RunHere(const std::vector<std::string>& words, const std::string& folder, int out, int err) {
  const Lent lent(folder, out, err);
  return cli::RunCommandLine(words);
}

// An output below 0 is closed.
int RunInShell(const std::string& arguments, const std::string& folder, int out, int err) {
  const std::string command = absl::StrCat(folder.empty() ? "" : absl::StrCat("cd ", folder, " && "),
                                           "timeout ", kSeconds, " ", CHAKRA_BINARY, " ", arguments);
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    dup2(open("/dev/null", O_RDONLY), 0);
    if (out >= 0) dup2(out, 1);
    if (out < 0) close(1);
    dup2(err, 2);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  int raw = 0;
  waitpid(child, &raw, 0);
  return WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
}

int Run(const std::string& arguments, const std::string& folder, int out, int err) {
  const auto words = PlainWords(arguments);
  if (words.has_value() && out >= 0) return RunHere(*words, folder, out, err);
  return RunInShell(arguments, folder, out, err);
}

}  // namespace

CommandResult RunCommand(const std::string& arguments, const std::string& folder, const std::string& out) {
  CommandResult result;
  const Scratch returned, err;
  int file = -1;
  if (!out.empty() && out != "&-") {
    file =
        open((std::filesystem::path(folder) / out).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return result;
  }
  result.status = Run(arguments, folder, out.empty() ? returned.fd() : file, err.fd());
  if (file >= 0) close(file);
  result.out = returned.Content();
  result.err = err.Content();
  return result;
}

std::string RunBinary(const std::string& arguments, int* status) {
  const Scratch both;
  *status = Run(arguments, "", both.fd(), both.fd());
  return both.Content();
}

}  // namespace chakra
