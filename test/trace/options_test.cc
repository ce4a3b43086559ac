#include "trace/io/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/command.pb.h"
#include "proto/run.pb.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using Words = std::vector<std::string>;

proto::Run Read(const Words& words) {
  proto::Run run;
  const absl::Status s = ReadWords(words, &run);
  EXPECT_TRUE(s.ok()) << s;
  return run;
}

std::string ErrorOf(const Words& words) {
  proto::Run run;
  return std::string(ReadWords(words, &run).message());
}

TEST(Options, WordsSetFields) {
  const proto::Run run =
      Read({"a", "--fabric", "fluid", "--ranks=8", "--strict", "b", "--flow-startup-ns", "0.1", "--", "-c"});
  EXPECT_THAT(run.trace(), ElementsAre("a", "b", "-c"));
  EXPECT_EQ(run.machine().fabric(), "fluid");
  EXPECT_EQ(run.reading().ranks(), 8);
  EXPECT_TRUE(run.reading().strict());
  EXPECT_EQ(run.machine().flows().flow_startup_ns(), 0.1);
}

TEST(Options, FlagsTakeAValueAfterEquals) {
  EXPECT_EQ(Read({"--energy", "x"}).energy().energy(), "built-in");
  EXPECT_EQ(Read({"--energy=x"}).energy().energy(), "x");
  EXPECT_THAT(Read({"--energy", "x"}).trace(), ElementsAre("x"));
  EXPECT_FALSE(Read({"--strict=false"}).reading().strict());
}

TEST(Options, ListOptionsTakeAllWordsOrOne) {
  const proto::Run run = Read({"--program", "p", "q", "--job", "j", "t", "--select-ranks", "1,2", "3"});
  EXPECT_THAT(run.machine().program(), ElementsAre("p", "q"));
  EXPECT_THAT(run.ranks().job(), ElementsAre("j"));
  EXPECT_THAT(run.trace(), ElementsAre("t"));
  EXPECT_THAT(run.capture().select_ranks(), ElementsAre(1, 2, 3));
}

TEST(Options, NumbersHaveTheRangeOfTheirField) {
  EXPECT_EQ(Read({"--ranks", "0x10"}).reading().ranks(), 16);
  proto::CollectiveRun collective;
  ASSERT_TRUE(ReadWords({"broadcast", "--root", "-1"}, &collective).ok());
  EXPECT_EQ(collective.priced().root(), -1);
}

TEST(Options, EditsKeepTheirOrder) {
  const Words words = {"--scale", "a=1", "--edit", "f", "--scale", "b=2"};
  const proto::Run run = Read(words);
  ASSERT_EQ(run.edit_size(), 3);
  EXPECT_EQ(run.edit(0).scale(), "a=1");
  EXPECT_EQ(run.edit(1).edit_file(), "f");
  EXPECT_EQ(PrintWords(run), words);
}

TEST(Options, PrintedWordsReadBack) {
  const Words words = {"t",
                       "--device-memory",
                       "80000000000",
                       "--store-and-forward",
                       "--fluid-tolerance",
                       "0.0125",
                       "--strict-causes",
                       "--threads",
                       "4",
                       "--straggler",
                       "3=1.5",
                       "--energy=e",
                       "--rank-of",
                       "TP-(\\d+)"};
  EXPECT_EQ(PrintWords(Read(words)), words);
}

TEST(Options, ErrorsNameTheOption) {
  EXPECT_EQ(ErrorOf({"--fabrik", "x"}), "there is no option --fabrik; did you mean \"--fabric\"?");
  EXPECT_EQ(ErrorOf({"--script", "x"}).substr(0, 27), "there is no option --script");
  EXPECT_EQ(ErrorOf({"--fabric"}), "--fabric: 1 required NAME missing");
  EXPECT_EQ(ErrorOf({"--ranks", "0"}), "--ranks: it is 0; expected a whole number from 1 to 16777216");
  EXPECT_EQ(ErrorOf({"--seed", "-1"}),
            "--seed: it is -1; expected a whole number from 1 to 18446744073709551615");
  EXPECT_EQ(ErrorOf({"--lanes", "singl"}), "--lanes: singl not in {recorded,single,unlimited}");
  EXPECT_EQ(ErrorOf({"--fabric", "fluid", "--fabric", "fluid"}), "--fabric is given twice; expected once");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
