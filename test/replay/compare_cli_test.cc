// `compare` as users and scripts see it.
#include <gmock/gmock.h>

#include "proto/compare.pb.h"
#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Compare : public Bench {
 protected:
  Compare() {
    for (int r = 0; r < 2; ++r) {
      Rank("t", r, {Comp(0, 100), Coll(1, kAllReduce, 100000, {0})});
      Rank("slow", r, {Comp(0, r == 0 ? 110 : 100), Coll(1, kAllReduce, 100000, {0}), Comp(2, 1, {1})});
      Rank("untimed", r, {Comp(0, 0)});
    }
    Replay("t", "a.json");
    Replay("slow", "b.json");
  }
  void Replay(const std::string& traces, const std::string& report) const {
    const Outcome r =
        Run("replay " + traces + " --cluster ring2.txtpb --compute recorded -q --report " + report);
    EXPECT_EQ(r.status, 0) << r.err;
  }
  Outcome Done(const std::string& arguments, int status = 0) const {
    Outcome r = Run("compare " + arguments);
    EXPECT_EQ(r.status, status) << arguments << "\n" << r.err;
    return r;
  }
  static constexpr int kAllReduce = static_cast<int>(CollectiveType::kAllReduce);
};

TEST_F(Compare, IdenticalInputsHaveNoDifferences) {
  for (const char* pair : {"a.json a.json", "t t", "t/w t"}) {
    const Outcome r = Done(std::string(pair) + " --exact");
    EXPECT_THAT(r.out, HasSubstr("No differences."));
    EXPECT_EQ(r.err, "");
  }
}

// Before and after on one page, with both timelines.
TEST_F(Compare, PageShowsBothSides) {
  for (const char* pair : {"a.json b.json", "t slow"}) {
    SCOPED_TRACE(pair);
    Done(std::string(pair) + " --html c.html -o c.txt");
    const std::string page = Content(folder_ / "c.html");
    EXPECT_THAT(page, AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("id=\"comparison\""),
                            HasSubstr("\"section\":[{\"name\":"), HasSubstr("<section id=\"timelines\">")));
    if (pair[0] == 'a') {
      EXPECT_THAT(page, AllOf(HasSubstr("\"a\":{\"makespan_ps\":"), HasSubstr("\"busy\":\"9")));
    }
  }
  Refused("compare a.json b.json --html c.txt -o c.txt", {"--html"}, 2);
  Refused("compare a.json b.json --html ''", {"--html names no file"}, 2);
}

// Files are written before the text, which goes to a closed standard output here.
TEST_F(Compare, WritesThePageDespiteClosedOutput) {
  for (const char* command : {"compare a.json b.json --html page.html", "compare t slow --html page.html",
                              "replay t --cluster ring2.txtpb --compute recorded -q --html page.html"}) {
    std::filesystem::remove(folder_ / "page.html");
    EXPECT_EQ(Run(command, "&-").status, 1) << command;
    EXPECT_THAT(Content(folder_ / "page.html"), HasSubstr("<!DOCTYPE html>")) << command;
  }
  // The text is also written to its file if the page goes to a closed standard output.
  EXPECT_EQ(Run("compare a.json b.json --html - -o c.txt", "&-").status, 1);
  EXPECT_THAT(Content(folder_ / "c.txt"), HasSubstr("makespan"));
}

TEST_F(Compare, ComparesByOperatorCollectiveLaneAndRank) {
  const Outcome text = Done("a.json b.json");
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("makespan"), HasSubstr("\n  n0  "), HasSubstr("n2 [only B]"),
                    HasSubstr("all_reduce on all ranks"), HasSubstr("\nLanes: "), HasSubstr("\n  rank 0 ")));
  proto::Comparison c;
  const absl::Status read = ParseMessage(Done("a.json b.json --format json").out, "json", &c);
  ASSERT_TRUE(read.ok()) << read;
  ASSERT_GT(c.section_size(), 0);
  EXPECT_EQ(c.section(0).name(), "run");
  EXPECT_EQ(c.section(0).change(0).measure(0).difference(), 11000000) << "10 us longer before, 1 us after";
  EXPECT_EQ(c.a().path(), "a.json");
  EXPECT_FALSE(c.identical());
}

TEST_F(Compare, ReadsAndWritesEveryFormat) {
  proto::Report report;
  ASSERT_TRUE(ReadMessageFile(At("b.json"), &report).ok());
  ASSERT_TRUE(WriteMessageFile(report, MessageFormat::kText, At("b.txtpb")).ok());
  ASSERT_TRUE(WriteMessageFile(report, MessageFormat::kBinary, At("b.pb")).ok());
  EXPECT_THAT(Done("b.txtpb b.pb").out, HasSubstr("No differences."));
  EXPECT_EQ(Done("a.json b.pb -o d.csv").out, "");
  EXPECT_THAT(Content(At("d.csv")), AllOf(HasSubstr("section,name,only_in,measure,a,b,difference,percent\n"),
                                          HasSubstr("\noperators,n2,b,time_ps,0,2000000,2000000,\n")));
  EXPECT_EQ(Done("a.json b.json -o d.json").out, "");
  proto::Comparison c;
  EXPECT_TRUE(ReadMessageFile(At("d.json"), &c).ok());
}

TEST_F(Compare, FailOverDecidesTheStatus) {
  const Outcome over = Done("a.json b.json --fail-over 2%", 1);
  EXPECT_THAT(over.err, AllOf(HasSubstr("B is slower than A by more than 2%: makespan: A "), HasSubstr("+")));
  EXPECT_THAT(over.out, HasSubstr("Beyond the limit of 2%")) << "the comparison is printed all the same";
  Done("a.json b.json --fail-over 50%");
  Done("b.json a.json --fail-over 2%");
  EXPECT_THAT(Done("b.json a.json --fail-over 2% --both-ways", 1).err, HasSubstr("differs"));
  Done("a.json b.json --fail-over 12us");
  Done("a.json b.json --fail-over 10999999ps", 1);
  EXPECT_THAT(Done("a.json b.json --fail-over 5% --fail-on operators,ranks", 1).err, HasSubstr(" more"));
  EXPECT_THAT(Done("a.json b.json --exact", 1).err, HasSubstr("differ"));
  EXPECT_THAT(Done("t slow --fail-over 0%", 1).err, HasSubstr("duration: A 200 us, B 212 us"));
}

TEST_F(Compare, ComparesTraces) {
  const Outcome r = Done("t slow");
  EXPECT_THAT(r.out, AllOf(HasSubstr("4 in both, 1 of them changed; 0 only in A, 2 only in B"),
                           HasSubstr("100000000 ps"), HasSubstr("The same in both:"),
                           Not(HasSubstr("Collectives:"))));
}

TEST_F(Compare, ComparesUnusedAttributesWhenAsked) {
  for (int r = 0; r < 2; ++r) {
    Rank("tagged", r, {With(Comp(0, 100), "colour", "red"), Coll(1, kAllReduce, 100000, {0})});
  }
  EXPECT_THAT(Done("t tagged --exact").out, HasSubstr("2 input files differ in form, or in attributes"));
  EXPECT_THAT(Done("t tagged --attributes --exact", 1).out,
              AllOf(HasSubstr("attr.colour"), HasSubstr("red")));
  ASSERT_EQ(Run("convert t -o packed --compression zstd").status, 0);
  EXPECT_THAT(Done("t packed --attributes --exact").out, HasSubstr("2 input files differ only in form"));
}

TEST_F(Compare, MisuseGivesStatus2) {
  Refused("compare", {"expects two", "--help"}, 2);
  Refused("compare a.json", {"was given 1"}, 2);
  Refused("compare a.json b.json t", {"was given 3"}, 2);
  Refused("compare a.json b.json --fail-over 2", {"--fail-over", "\"2\"", "2%"}, 2);
  Refused("compare a.json b.json --fail-on ranks", {"--fail-over"}, 2);
  Refused("compare a.json b.json --both-ways", {"--fail-over"}, 2);
  Refused("compare a.json b.json --fail-over 2% --fail-on rank", {"did you mean 'ranks'"}, 2);
  Refused("compare t slow --fail-over 2% --fail-on makespan", {"in traces", "duration"}, 2);
  Refused("compare a.json b.json --attributes", {"for traces"}, 2);
  Refused("compare a.json b.json --fail-ovr 2%", {"--fail-over"}, 2);
  Refused("compare a.json b.json --top -1", {"--top"}, 2);
}

TEST_F(Compare, BadInputGivesStatus1) {
  Refused("compare a.json t", {"a.json is a report", "but t is not", "--report"});
  Refused("compare t a.json", {"a.json is a report", "but t is not"});
  Refused("compare a.json absent", {"absent"});
  Write("bad.json", "{\"makespan_ps\": \"5\",\n \"rnks\": 3}");
  Refused("compare a.json bad.json", {"bad.json:2", "rnks", "ranks"});
  Write("cut.json", Content(At("a.json")).substr(0, 500));
  Refused("compare a.json cut.json", {"cut.json"});
  Write("slip.txtpb", "makspan_ps: 5");
  Refused("compare a.json slip.txtpb", {"slip.txtpb:1", "makspan_ps", "makespan_ps"});
  Write("negative.txtpb", "makespan_ps: -5 rank {}");
  Refused("compare a.json negative.txtpb", {"makespan_ps: -5", "at least 0"});
  Write("nobody.txtpb", "makespan_ps: 5");
  Refused("compare nobody.txtpb a.json", {"rank: none"});
  Run("replay t --cluster ring2.txtpb -q --report a.csv");
  Refused("compare a.csv a.json", {"a.csv", "CSV", "--format json"});
  Run("replay t --cluster ring2.txtpb -q --report a.txt");
  Refused("compare a.json a.txt", {"text for people"});
  Refused("compare untimed untimed --fail-over 1%", {"recorded times", "--exact"});
  Refused("compare a.json b.json -o no/where.txt", {"no folder"});
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
