// Completion and the manual page, for terminals.
#include <gmock/gmock.h>

#include "test/folders.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Terminal : public Bench {
 protected:
  // Bash's completions of a line with an unfinished last word.
  std::string Offers(const std::string& words) const {
    const std::string script = (folder_ / "c.bash").string(), out = (folder_ / "offers").string();
    Write("try.bash",
          ". " + script + "\nCOMP_WORDS=(" + words +
              ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_chakra_replay\necho \"${COMPREPLY[*]}\" > " + out +
              "\n");
    EXPECT_EQ(std::system(("bash " + (folder_ / "try.bash").string()).c_str()), 0);
    return Content(out);
  }
};

TEST_F(Terminal, BashCompletesCommandsOptionsAndValues) {
  const Outcome script = Run("completion bash");
  ASSERT_EQ(script.status, 0) << script.err;
  Write("c.bash", script.out);
  EXPECT_THAT(Offers("chakra-replay comp"), StartsWith("compare completion"));
  EXPECT_EQ(Offers("chakra-replay replay --crit"), "--critical-path\n");
  EXPECT_EQ(Offers("chakra-replay replay --fabric pa"), "packet\n");
  EXPECT_EQ(Offers("chakra-replay replay --cluster dgx-h1"), "dgx-h100\n");
  EXPECT_EQ(Offers("chakra-replay topology show --outp"), "--output\n");
  // Values of an option are those of its command.
  EXPECT_EQ(Offers("chakra-replay replay --format \"\""), "text json csv\n");
  EXPECT_EQ(Offers("chakra-replay topology draw --format \"\""), "svg dot\n");
  EXPECT_EQ(Offers("chakra-replay sweep best --format \"\""), "text csv\n");
  EXPECT_EQ(Offers("chakra-replay replay --lanes s"), "single\n");
  EXPECT_EQ(Offers("chakra-replay replay --comm re"), "recorded\n");
  EXPECT_EQ(Offers("chakra-replay replay --compute ro"), "roofline\n");
}

TEST_F(Terminal, WritesScriptsForOtherShells) {
  EXPECT_THAT(Run("completion zsh").out, HasSubstr("bashcompinit"));
  EXPECT_THAT(Run("completion fish").out, HasSubstr("-n '__fish_use_subcommand' -a replay -d '"));
  EXPECT_THAT(Run("completion fish").out, HasSubstr(" -l layout -r -d "));
  EXPECT_THAT(Run("completion fish").out, HasSubstr(" -l comm -x -a 'simulated recorded' -d "));
  EXPECT_EQ(Run("completion csh").status, 2);
}

TEST_F(Terminal, ManualHasEveryCommandAndOption) {
  const std::string page = Run("manual").out;
  EXPECT_THAT(page, StartsWith(".TH CHAKRA"));
  for (const char* part :
       {".SS replay\n", ".SS topology show\n", ".SS manual\n", "\\-\\-critical\\-path", "EXIT STATUS"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, Not(HasSubstr("\n..")));
}

// No colours, with any NO_COLOR or TERM.
TEST_F(Terminal, OutputHasNoColours) {
  const Outcome r = Run("replay -q " + std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step");
  EXPECT_THAT(r.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(r.err, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
