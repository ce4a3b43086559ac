// `chakra-replay calibrate` as a user runs it.
#include <gmock/gmock.h>

#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance {
namespace {

using ::testing::HasSubstr;

class CalibrateCli : public Bench {
 protected:
  // A table of `collective` on the machine, as CSV.
  std::string Table(const std::string& cluster, const std::string& name) const {
    const std::string path = At(name);
    const Outcome r =
        Run("collective all_reduce --bytes 1KiB..1GiB --cluster " + cluster + " --format csv -o " + path);
    EXPECT_EQ(r.status, 0) << r.err;
    return path;
  }
};

TEST_F(CalibrateCli, FromATableToAMachine) {
  const std::string slow = Table("dgx-a100:nvlink_gbytes_per_s=240", "slow.csv");
  const Outcome fit =
      Run("calibrate " + slow + " --cluster dgx-a100 -o " + At("fit.txtpb") + " --rows " + At("rows.csv"));
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_THAT(fit.out, HasSubstr("fitted: ring/simple bus_share: 0.952 -> 0.7616"));
  EXPECT_THAT(fit.out, HasSubstr("21 rows fitted: median error"));
  const Outcome again = Run("collective all_reduce --bytes 1GiB --format csv --cluster " + At("fit.txtpb"));
  const Outcome truth =
      Run("collective all_reduce --bytes 1GiB --format csv --cluster dgx-a100:nvlink_gbytes_per_s=240");
  EXPECT_EQ(again.out.substr(again.out.find("simple"), 15), truth.out.substr(truth.out.find("simple"), 15));
  const Outcome json =
      Run("calibrate " + slow + " --cluster dgx-a100 -q -o " + At("fit.json") + " --fit-every 3");
  EXPECT_EQ(json.status, 0) << json.err;
  EXPECT_THAT(json.out, HasSubstr("the other 14 rows: median error"));
  EXPECT_EQ(Run("collective all_reduce --bytes 1GiB --cluster " + At("fit.json")).status, 0);
}

// Files come before what goes to standard output, whose reader may have gone.
TEST_F(CalibrateCli, TheRowsAreThereWhereNobodyReadsTheMachine) {
  const std::string calibrate = "calibrate " + Table("dgx-a100", "table.csv") + " --cluster dgx-a100 ";
  EXPECT_EQ(Run(calibrate + "-o - --rows rows.csv", "&-").status, 1);
  EXPECT_THAT(Content(At("rows.csv")), HasSubstr("all_reduce"));
  EXPECT_EQ(Run(calibrate + "-o fit.txtpb", "&-").status, 1);
  EXPECT_THAT(Content(At("fit.txtpb")), HasSubstr("topology"));
}

TEST_F(CalibrateCli, AFolderOfMeasurementsIsItsFiles) {
  const std::string table = Table("dgx-a100", "table.csv");
  Write("logs/a/1.csv", Content(table));
  Write("logs/notes.txt", "measured in May");
  const Outcome fit = Run("calibrate logs --cluster dgx-a100 -q -o " + At("fit.txtpb"));
  EXPECT_EQ(fit.status, 0) << fit.err;
  EXPECT_THAT(fit.out, HasSubstr("21 rows fitted"));
  EXPECT_THAT(fit.err, HasSubstr("left out, for nccl-tests did not print it: logs/notes.txt"));
  Write("none/notes.txt", "measured in May");
  EXPECT_THAT(Run("calibrate none --cluster dgx-a100 -o x").err, HasSubstr("no log of collective calls"));
}

TEST_F(CalibrateCli, ALogWithoutTimesHasNone) {
  std::string log;
  for (const int r : {0, 1})
    log += "h:" + std::to_string(10 + r) + ":10 [" + std::to_string(r) +
           "] NCCL INFO ncclCommInitRank comm 0x55" + std::to_string(r) + " rank " + std::to_string(r) +
           " nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x7c3f - Init COMPLETE\n";
  for (const int r : {0, 1})
    log += "h:" + std::to_string(10 + r) + ":10 [" + std::to_string(r) +
           "] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f00 recvbuff 0x7f00 acc 0x0 count 1024 datatype 9 "
           "op 0 root 0 comm 0x55" +
           std::to_string(r) + " [nranks=2] stream 0x5\n";
  Write("nccl.log", log);
  EXPECT_THAT(Run("calibrate nccl.log --cluster dgx-a100 -o x").err,
              HasSubstr("0 timed by the host, 0 that not all members logged and 1 without size or time"));
}

TEST_F(CalibrateCli, NothingIsOverwrittenOrReadWithoutEnd) {
  const std::string table = Table("dgx-a100", "table.csv");
  const auto fails = [&](const std::string& arguments, const std::string& message, int status = 1) {
    const Outcome r = Run("calibrate " + arguments);
    EXPECT_EQ(r.status, status) << arguments;
    EXPECT_THAT(r.err, HasSubstr(message)) << arguments;
  };
  fails(table + " --cluster dgx-a100 -o " + table, "would be overwritten");
  fails(table + " --cluster dgx-a100 -o " + At("x") + " --rows " + At("x"), "are the same file");
  fails("/dev/zero --cluster dgx-a100 -o " + At("x"), "more than 256 MiB");
  fails(At("none.log") + " --cluster dgx-a100 -o " + At("x"), "No such file");
  fails("--cluster dgx-a100 -o " + At("x"), "expected at least one log", 2);
  fails(table + " -o " + At("x"), "expected --cluster", 2);
  fails(table + " --cluster dgx-a100", "expected -o FILE", 2);
}

}  // namespace
}  // namespace chakra::acceptance
