// The progress line on a terminal.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/folders.h"
#include "test/replay/acceptance_testing.h"
#include "test/replay/trace_builder.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

// Runs the binary on a terminal. Returns its output and status; the status is -1 if no terminal is available.
Outcome OnATerminal(const std::vector<std::string>& arguments) {
  Outcome result;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child < 0) return result;
  if (child == 0) {
    std::vector<char*> argv = {const_cast<char*>(CHAKRA_BINARY)};
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    execv(CHAKRA_BINARY, argv.data());
    _exit(127);
  }
  char buffer[4096];
  for (ssize_t n; (n = read(terminal, buffer, sizeof buffer)) > 0;) {
    result.out.append(buffer, static_cast<size_t>(n));
  }
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

class ProgressOnATerminal : public Bench {
 protected:
  // A trace of `calls` all-reduces, each of 64 * 126 flows with --ranks 64.
  std::string Calls(int calls) const {
    TraceBuilder b(1);
    for (int i = 0; i < calls; ++i) b.Coll(0, CollectiveType::kAllReduce, 64);
    EXPECT_TRUE(b.Write(0, At("long.et")).ok());
    return At("long.et");
  }
  std::vector<std::string> Command(const std::string& trace) const {
    return {"replay", trace, "--ranks", "64", "--no-fast-path", "--report", At("report.json")};
  }
};

// The speed of the machine is not known, so the run grows until the line appears. The largest run is long
// enough on any machine.
TEST_F(ProgressOnATerminal, LongRunDrawsAndErasesTheLine) {
  std::string trace;
  Outcome run;
  for (int calls = 500; calls <= 32000; calls *= 4) {
    trace = Calls(calls);
    run = OnATerminal(Command(trace));
    if (run.status == -1) GTEST_SKIP() << "NOT TESTED: no pseudo terminal";
    ASSERT_EQ(run.status, 0) << run.out;
    if (!run.out.empty()) break;
  }
  EXPECT_NE(run.out.find("\r\033[Ksimulated "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(" nodes ("), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(" left"), std::string::npos) << run.out;
  const std::string erase = "\r\033[K";
  ASSERT_GE(run.out.size(), erase.size());
  EXPECT_EQ(run.out.substr(run.out.size() - erase.size()), erase) << run.out;
  EXPECT_NE(Content(At("report.json")).find("makespan_ps"), std::string::npos);

  std::vector<std::string> quiet = Command(trace);
  quiet.emplace_back("-q");
  EXPECT_EQ(OnATerminal(quiet).out, "");
}

TEST_F(ProgressOnATerminal, ErrorHasItsOwnLine) {
  const Outcome run = OnATerminal(Command(At("none.et")));
  if (run.status == -1) GTEST_SKIP() << "NOT TESTED: no pseudo terminal";
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out.rfind("chakra-replay: ", 0), 0u) << run.out;
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
