// Output on a terminal: no line is wider than the terminal, and a note names what is shortened.
#include <gmock/gmock.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "test/folders.h"
#include "test/replay/acceptance_testing.h"
#include "trace/base/text_page.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// `step` and `capture` are links to the examples, with short names.
class TerminalWidth : public Bench {
 protected:
  TerminalWidth() {
    fs::create_directory_symlink(std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step", folder_ / "step");
    fs::create_directory_symlink(std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2", folder_ / "capture");
  }
  void SetUp() override {
    int terminal = -1, program = -1;
    if (openpty(&terminal, &program, nullptr, nullptr, nullptr) != 0)
      GTEST_SKIP() << "NOT TESTED: no pseudo terminal";
    close(terminal);
    close(program);
  }
  // The output of `arguments` on a terminal of `width` columns, with the variables of `environment`.
  std::string Shown(const std::string& arguments, unsigned short width,
                    const std::string& environment = "LC_ALL=C.UTF-8") const {
    winsize size = {};
    size.ws_col = width;
    size.ws_row = 24;
    int terminal = -1;
    const std::string command = absl::StrCat("cd ", folder_.string(), " && env -u COLUMNS ", environment,
                                             " timeout 100 ", CHAKRA_BINARY, " ", arguments, " 2>.err");
    const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
    EXPECT_GE(child, 0);
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    std::string out;
    std::array<char, 4096> buffer;
    for (ssize_t n = 0; (n = read(terminal, buffer.data(), buffer.size())) > 0;) {
      out.append(buffer.data(), static_cast<size_t>(n));
    }
    int raw = 0;
    waitpid(child, &raw, 0);
    close(terminal);
    EXPECT_TRUE(WIFEXITED(raw) && WEXITSTATUS(raw) == 0) << arguments << "\n" << Content(folder_ / ".err");
    return absl::StrReplaceAll(out, {{"\r\n", "\n"}});
  }
  static void Fits(const std::string& out, size_t width) {
    for (const absl::string_view line : absl::StrSplit(out, '\n'))
      EXPECT_LE(DisplayWidth(line), width) << out;
  }
};

// Nodes with names that are too long for any terminal.
std::vector<PbNode> LongNames() {
  std::vector<PbNode> nodes = {Comp(0, 3), Coll(1, 0, 1 << 20, {0}), Comp(2, 5, {1})};
  nodes[0].set_name("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>");
  nodes[2].set_name("\u6f22\u5b57\u304b\u306a\u6df7\u3058\u308a\u6587\u306e\u540d\u524d\u3067\u3059");
  return nodes;
}

TEST_F(TerminalWidth, EveryTableFits) {
  for (int r = 0; r < 2; ++r) Rank("t", r, LongNames());
  ASSERT_EQ(Run("replay -q step --report a.json").status, 0);
  ASSERT_EQ(Run("replay -q step --cluster dgx-a100 --report b.json").status, 0);
  ASSERT_EQ(Run("kernels collect t -o k.csv").status, 0);
  Write("s.txtpb",
        "trace: 'step' axis { name: 'a_rather_long_name_of_an_axis' option: '--cluster' value: ['dgx-h100', "
        "'dgx-a100'] } objective { metric: 'makespan_ps' }");
  const Outcome run = Run("sweep s.txtpb -q -o s");
  ASSERT_EQ(run.status, 0) << run.err;
  const std::vector<std::string> commands = {
      "replay -q --critical-path step",
      "replay -q --fabric fluid --cluster dgx-h100:gpus_per_node=2 --network leaf_spine:k=8 step",
      "replay -q step --scale 'mlp=0.5'",
      "replay -q t --cluster ring2.txtpb --compute recorded --critical-path",
      "inspect step",
      "edit step --dry-run --scale 'mlp=0.5'",
      "compare a.json b.json",
      "kernels show k.csv",
      "kernels check k.csv step",
      "topology list",
      "topology list dragonfly",
      "topology show dgx-h100 --devices 32",
      "topology show leaf_spine:k=16,oversubscription=3:1",
      "topology check fat_tree:k=4",
      "collective all_reduce --bytes 8,1GiB --explain",
      "sweep best s",
      "sweep table s --rows a_rather_long_name_of_an_axis",
      "convert pytorch capture -o c",
      "replay -q capture"};
  for (const unsigned short width : {60, 80, 120}) {
    for (const std::string& command : commands) {
      SCOPED_TRACE(absl::StrCat(width, " columns: ", command));
      Fits(Shown(command, width), width);
    }
  }
}

TEST_F(TerminalWidth, FilesAreNotShortened) {
  const std::string command = "replay -q step";
  const std::string file = Run(command).out;
  EXPECT_EQ(Shown(absl::StrCat(command, " --report r.txt && cat r.txt"), 60), file);
  EXPECT_EQ(Shown(absl::StrCat(command, " | cat"), 60), file);
  EXPECT_EQ(Shown(command, 200), file);
  EXPECT_EQ(Shown(command, 0), file);  // a terminal that does not know its width
  EXPECT_EQ(Run(absl::StrCat("--version > .out; COLUMNS=40 ", CHAKRA_BINARY, " ", command)).out,
            Run(absl::StrCat("--version > .out; ", CHAKRA_BINARY, " ", command)).out);
  for (const char* format : {"json", "csv"}) {
    const std::string data = absl::StrCat(command, " --format ", format);
    EXPECT_EQ(Shown(data, 40), Run(data).out);
  }
}

TEST_F(TerminalWidth, UsesValidColumnsVariable) {
  const std::string command = "inspect step";
  const std::string at60 = Shown(command, 60), at80 = Shown(command, 80);
  EXPECT_NE(at60, at80);
  EXPECT_EQ(Shown(command, 80, "LC_ALL=C.UTF-8 COLUMNS=60"), at60);
  for (const char* columns : {"0", "-5", "19", "1e2", "99999999999", "wide", ""}) {
    EXPECT_EQ(Shown(command, 80, absl::StrCat("LC_ALL=C.UTF-8 COLUMNS=", columns)), at80) << columns;
  }
}

TEST_F(TerminalWidth, NotesShortenedColumns) {
  for (int r = 0; r < 2; ++r) Rank("t", r, LongNames());
  const std::string command = "replay -q t --compute recorded --cluster ring2.txtpb --critical-path";
  const std::string narrow = Shown(command, 40);
  EXPECT_THAT(narrow, HasSubstr("\nShortened to fit 40 columns: 1 % of,\n"));
  EXPECT_THAT(narrow, EndsWith("(whole with \"|cat\")\n"));
  const std::string plain = Shown(command, 40, "LC_ALL=C");
  EXPECT_THAT(plain, Not(HasSubstr("\u2026")));
  EXPECT_THAT(plain, HasSubstr("..."));
  EXPECT_THAT(Shown(command, 200), Not(HasSubstr("Shortened")));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
