// Help: the text of `--help`, `--help GROUP` and `help TOPIC`, its number of lines, and errors that point to
// it.
#include "replay/cli/help/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/cluster.pb.h"
#include "proto/workload.pb.h"
#include "replay/cluster/load.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "trace/base/text_page.h"
#include "trace/io/settings.h"

namespace CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Lines = std::vector<std::string>;

const std::string kStep = std::string(CHAKRA_SOURCE_DIR) + "/examples/transformer_step";

// Each test begins without COLUMNS.
class Help : public testing::Test {
 protected:
  Help() { unsetenv("COLUMNS"); }
  ~Help() override { unsetenv("COLUMNS"); }

  static std::string Printed(const std::string& arguments) {
    const chakra::CommandResult r = chakra::RunCommand(arguments);
    EXPECT_EQ(r.status, 0) << arguments << "\n" << r.err;
    EXPECT_EQ(r.err, "") << arguments;
    return r.out;
  }
  static std::string Refused(const std::string& arguments) {
    const chakra::CommandResult r = chakra::RunCommand(arguments);
    EXPECT_NE(r.status, 0) << arguments;
    EXPECT_EQ(r.out, "") << arguments;
    return r.err;
  }
  static Lines LinesOf(const std::string& text) {
    return absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
  }
  // The words that begin rows of a section.
  static Lines Rows(const std::string& text, const std::string& heading) {
    Lines names;
    bool inside = false;
    for (const std::string& line : LinesOf(text)) {
      if (inside && line.empty()) break;
      if (inside && line.size() > 2 && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
      inside = inside || line == heading + ":";
    }
    return names;
  }
  // All commands: "", "replay", "topology", "topology list", ...
  static Lines Commands(const std::string& path = "") {
    Lines out = {path};
    for (const std::string& name : Rows(Printed(path + " --help"), "Commands"))
      for (std::string& inner : Commands(absl::StrCat(path, path.empty() ? "" : " ", name)))
        out.push_back(std::move(inner));
    return out;
  }
  static size_t Widest(const std::string& text) {
    size_t widest = 0;
    for (const std::string& line : LinesOf(text)) widest = std::max(widest, chakra::DisplayWidth(line));
    return widest;
  }
  static Lines GroupsOf(const std::string& command) {
    std::string more = Printed(command + " --help");
    more = more.substr(more.find("--help ", more.rfind("\nMore: ")) + 7);
    return absl::StrSplit(absl::StrReplaceAll(more, {{"\n", " "}, {"|", " "}}), ' ', absl::SkipEmpty());
  }
};

TEST_F(Help, EachCommandFitsTwoScreens) {
  const Lines commands = Commands();
  EXPECT_GT(commands.size(), 35u);
  for (const std::string& command : commands) {
    const std::string help = Printed(command + " --help");
    EXPECT_LE(Widest(help), 79u) << help;
    EXPECT_LE(LinesOf(help).size(), 60u) << help;
    EXPECT_THAT(help, StartsWith("Usage: chakra-replay"));
    EXPECT_THAT(help, Not(HasSubstr(" \n"))) << command;
    EXPECT_EQ(Printed(command + " -h"), help);
    if (!command.empty()) {
      EXPECT_EQ(Printed("help " + command), help);
      EXPECT_THAT(help, HasSubstr(absl::StrCat("More: chakra-replay ", command, " --help")));
    }
  }
}

TEST_F(Help, FitsTheTerminal) {
  setenv("COLUMNS", "60", 1);
  for (const char* command : {"--help", "replay --help", "replay --help report", "plan --help",
                              "kernels predict --help", "help", "help packet", "help model", "help fat_tree"})
    EXPECT_LE(Widest(Printed(command)), 60u) << command << "\n" << Printed(command);
  setenv("COLUMNS", "500", 1);
  EXPECT_LE(Widest(Printed("replay --help all")), 100u);
  EXPECT_GT(Widest(Printed("replay --help all")), 90u);
}

TEST_F(Help, UsageNamesOptionsAndArguments) {
  EXPECT_THAT(Printed("kernels --help"),
              StartsWith("Usage: chakra-replay kernels COMMAND [OPTION]... [ARGUMENT]...\n\n"));
  EXPECT_THAT(Printed("replay --help"), StartsWith("Usage: chakra-replay replay [OPTION]... [TRACE]...\n"));
  EXPECT_THAT(Printed("completion --help"), StartsWith("Usage: chakra-replay completion SHELL\n"));
  EXPECT_THAT(Printed("convert --help"),
              StartsWith("Usage: chakra-replay convert [OPTION]... [IN]...\n       "
                         "chakra-replay convert COMMAND [OPTION]... [ARGUMENT]...\n"));
}

// The help of each option of each command begins with a sentence that is clear by itself.
TEST_F(Help, FirstSentencesAreShortAndPlain) {
  size_t options = 0;
  for (const std::string& line : LinesOf(Printed("completion fish"))) {
    const size_t at = line.find(" -d '");
    if (!absl::StrContains(line, " -l ") || at == std::string::npos) continue;
    ++options;
    const std::string text = absl::StrReplaceAll(line.substr(at + 5, line.size() - at - 6), {{"\\'", "'"}});
    if (absl::StrContains(line, " -l help ") || absl::StrContains(line, " -l version ")) continue;
    EXPECT_LE(chakra::cli::FirstSentence(text).size(), 110u) << text;
    EXPECT_THAT(text, EndsWith(".")) << line;
    EXPECT_THAT(text,
                Not(ContainsRegex("pinned|twins|anew|so many|of which|[^a-z]cards?[^a-z]|[^a-z]rung[^s]")));
    EXPECT_THAT(text.substr(0, 3), Not(AnyOf("Of ", "of "))) << line;
  }
  EXPECT_GT(options, 300u);
}

TEST_F(Help, ShowsTheOptionsOfAGroup) {
  for (const char* command :
       {"replay", "plan", "collective", "edit", "compare", "inspect", "sweep", "topology show"}) {
    const std::string all = Printed(absl::StrCat(command, " --help all"));
    EXPECT_LE(Widest(all), 79u) << all;
    for (const std::string& group : GroupsOf(command)) {
      const std::string help = Printed(absl::StrCat(command, " --help ", group));
      EXPECT_LE(Widest(help), 79u) << help;
      EXPECT_EQ(Printed(absl::StrCat("help ", command, " ", group)), help);
      EXPECT_EQ(Printed(absl::StrCat(command, " --help=", group)), help);
    }
  }
  EXPECT_THAT(GroupsOf("replay"),
              testing::ElementsAre("workload", "machine", "network", "traces", "run", "report", "edits",
                                   "ranks", "energy", "failures", "logs", "all"));
  EXPECT_THAT(Printed("replay --help network"),
              AllOf(HasSubstr("--fluid-tolerance"), HasSubstr("span=rails"), Not(HasSubstr("--model"))));
  EXPECT_THAT(Printed("replay --help"), Not(HasSubstr("--fluid-tolerance")));
  EXPECT_THAT(Printed("replay " + kStep + " --help all"), HasSubstr("--fluid-tolerance"));
}

TEST_F(Help, UnknownNamesSuggestTheNearest) {
  EXPECT_THAT(Refused("replay --help netwrk"),
              AllOf(HasSubstr("expected one of workload, machine, network"),
                    HasSubstr("did you mean 'network'? See "), HasSubstr("`chakra-replay replay --help`")));
  EXPECT_THAT(Refused("help modle"), HasSubstr("no command or topic \"modle\"; did you mean 'model'? See"));
  EXPECT_THAT(Refused("help replay network x"), HasSubstr("unexpected argument \"x\""));
  EXPECT_THAT(Refused("help model x"), HasSubstr("unexpected argument \"x\""));
  EXPECT_THAT(Refused("--help modle"), HasSubstr("did you mean 'model'?"));
}

TEST_F(Help, EachTopicIsATable) {
  const std::string list = Printed("help");
  for (const std::string& topic : Rows(list, "Topics")) {
    const std::string table = Printed("help " + topic);
    EXPECT_LE(Widest(table), 79u) << table;
    EXPECT_GT(LinesOf(table).size(), 5u) << table;
    EXPECT_EQ(Printed("--help " + topic), table);
  }
  const std::pair<const char*, const google::protobuf::Descriptor*> types[] = {
      {"model", chakra::proto::Model::descriptor()},
      {"parallel", chakra::proto::Parallel::descriptor()},
      {"training", chakra::proto::Training::descriptor()},
      {"packet", chakra::proto::PacketNetwork::descriptor()},
      {"fault", chakra::proto::LinkFault::descriptor()},
      {"mixed", chakra::proto::PacketChoice::descriptor()},
      {"routing", chakra::proto::Routing::descriptor()}};
  for (const auto& [topic, type] : types) {
    const Lines lines = LinesOf(Printed(absl::StrCat("help ", topic)));
    for (const chakra::SettingDoc& d : chakra::DescribeSettings(*type))
      EXPECT_THAT(lines, testing::Contains(StartsWith(absl::StrCat("  ", d.key, " ")))) << topic;
  }
  const std::string cluster = Printed("help cluster");
  for (const std::string& key : chakra::OverrideKeys()) EXPECT_THAT(cluster, HasSubstr("\n  " + key + " "));
  EXPECT_THAT(Printed("help packet"),
              HasSubstr("  mtu              4096     64B to 65000B      payload of a full packet\n"));
}

TEST_F(Help, NetworksTransportsAndFabricsHaveTheirKeys) {
  const std::string networks = Printed("help network");
  EXPECT_THAT(networks, AllOf(HasSubstr("\n  fat_tree "), HasSubstr("\n  dragonfly ")));
  EXPECT_THAT(Printed("help fat_tree"), AllOf(HasSubstr("\n  k  "), HasSubstr("\n  injection  ")));
  EXPECT_THAT(Printed("help transport"), HasSubstr("\n  dcqcn "));
  EXPECT_THAT(Printed("help dcqcn"), HasSubstr("\n  alpha_timer "));
  EXPECT_THAT(Printed("help fabric"),
              AllOf(HasSubstr("\n  analytical-fifo "), HasSubstr("loggps`")));
  EXPECT_THAT(Printed("help loggps"), HasSubstr("\n  L    2500 "));
}

TEST_F(Help, ErrorsOfKeysNameTheTable) {
  const std::pair<const char*, const char*> wrong[] = {
      {"replay --model llama3-70b:layer=3",
       "--model: unknown key \"layer\"; did you mean 'layers'? See `chakra-replay help model`"},
      {"replay --model llama3-70b --parallel tq=3", "help parallel`"},
      {"replay --model llama3-70b --training zzzz=3",
       "unknown key \"zzzz\"; see `chakra-replay help training`"},
      {"replay STEP --cluster dgx-h100:ndoes=2", "did you mean 'nodes'? See `chakra-replay help cluster`"},
      {"replay STEP --network fat_tree:kk=8", "did you mean 'k'? See `chakra-replay help fat_tree`"},
      {"replay STEP --routing ecmp:pth=3", "help routing`"},
      {"replay STEP --fault down:vrtx=leaf.0", "help fault`"},
      {"replay STEP --fabric packet --packet mtuu=3", "help packet`"},
      {"replay STEP --fabric packet --packet 'transport=(dcqcn:zz=1)'", "help dcqcn`"},
      {"replay STEP --fabric mixed --mixed lnk=leaf.0", "help mixed`"},
      {"replay STEP --fabric loggps:zz=1", "help loggps`"},
      {"goodput --devices 8 --step-seconds 1 --steps 9 --checkpoint mod=x", "help checkpoint`"},
      {"replay STEP --set packet.mtu_byts=4096",
       "--set packet.mtu_byts=4096: unknown field packet.mtu_byts; did you mean 'mtu_bytes'? See "
       "`chakra-replay help packet`"},
      {"replay STEP --set device.foo=1", "unknown field device.foo; known: name, peak_tflops"}};
  for (const auto& [words, text] : wrong)
    EXPECT_THAT(Refused(absl::StrReplaceAll(words, {{"STEP", kStep}})), HasSubstr(text)) << words;
}

TEST_F(Help, ErrorsExplainCommasInPlaceOfColons) {
  const std::pair<const char*, const char*> wrong[] = {
      {"replay --model llama3-70b,layers=12",
       "--model llama3-70b,layers=12: a change of a named model follows a colon; expected "
       "llama3-70b:layers=12"},
      {"replay STEP --cluster dgx-h100,nodes=2",
       "a change of a preset follows a colon; expected dgx-h100:nodes=2"},
      {"replay STEP --network fat_tree,k=8,tiers=2", "expected fat_tree:k=8,tiers=2"},
      {"replay STEP --routing ecmp,paths=2", "expected ecmp:paths=2"},
      {"replay STEP --fault down,vertex=leaf.0", "expected down:vertex=leaf.0"},
      {"replay STEP --fabric loggps,L=3", "a parameter of a fabric follows a colon; expected loggps:L=3"},
      {"replay STEP --fabric packet --packet 'transport=(dcqcn,g=1)'", "expected dcqcn:g=1"},
      {"topology show fat_tree,k=8", "expected fat_tree:k=8"}};
  for (const auto& [words, text] : wrong)
    EXPECT_THAT(Refused(absl::StrReplaceAll(words, {{"STEP", kStep}})), HasSubstr(text)) << words;
}

// The longest run of lines that two texts share, in characters.
size_t Shared(const std::string& a, const std::string& b) {
  const Lines x = absl::StrSplit(a, '\n'), y = absl::StrSplit(b, '\n');
  size_t most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t k = 0; k < y.size(); ++k) {
      size_t length = 0;
      for (size_t n = 0; i + n < x.size() && k + n < y.size() && x[i + n] == y[k + n]; ++n)
        length += x[i + n].size() + 1;
      most = std::max(most, length);
    }
  }
  return most;
}

TEST_F(Help, NoCommandRepeatsTheHelpOfAnother) {
  std::vector<std::string> helps;
  for (const std::string& command : Commands()) helps.push_back(Printed(command + " --help"));
  for (size_t i = 0; i < helps.size(); ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_LT(Shared(helps[i], helps[k]), 600u) << helps[i];
  }
}

TEST_F(Help, ManualHasTheTablesOfKeys) {
  const std::string manual = Printed("manual");
  EXPECT_THAT(manual, AllOf(HasSubstr(".SH KEYS"), HasSubstr(".SS Keys of \\-\\-packet\n"),
                            HasSubstr("\\fBalpha_timer"), HasSubstr("\\-\\-fluid\\-tolerance"),
                            HasSubstr("span=rails: one network for each rail")));
}

}  // namespace
}  // namespace CHAKRA_FILE
