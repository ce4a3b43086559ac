// `chakra-replay kernels` and the time source `interpolate` as scripts see them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/report.pb.h"
#include "replay/compute/kernel_table.h"
#include "test/folders.h"
#include "test/replay/run_binary.h"
#include "trace/io/proto_io.h"

namespace CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;

const std::string kCapture = std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2";

using Result = chakra::CommandResult;

class KernelsCli : public testing::Test {
 protected:
  KernelsCli() {
    std::string pattern = (fs::temp_directory_path() / "kernels_cli.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~KernelsCli() override { fs::remove_all(folder_); }

  Result Run(const std::string& arguments) const { return chakra::RunCommand(arguments); }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  std::string Content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
    return At(name);
  }
  void ExpectRefused(const std::string& arguments, int status, const std::string& text) const {
    const Result r = Run(arguments);
    EXPECT_EQ(r.status, status) << arguments << "\n" << r.err;
    EXPECT_EQ(r.out, "") << arguments;
    EXPECT_NE(r.err.find(text), std::string::npos) << arguments << "\n" << r.err;
  }
  // A trace of one rank with a COMP node for each shapes text.
  std::string Trace(const std::vector<std::string>& shapes) const {
    std::string json = "{\"version\": \"0.0.4\"}\n";
    for (size_t i = 0; i < shapes.size(); ++i) {
      absl::StrAppend(&json, "{\"id\": ", i + 1, ", \"name\": \"aten::mm\", \"type\": \"COMP_NODE\", ",
                      "\"durationMicros\": 1000, \"inputs\": {\"shapes\": \"", shapes[i],
                      "\"}, \"attr\": [{\"name\": \"is_cpu_op\", \"boolVal\": false}]}\n");
    }
    Write("trace.json", json);
    const Result r = Run(absl::StrCat("convert ", At("trace.json"), " -o ", At("trace.0.et")));
    EXPECT_EQ(r.status, 0) << r.err;
    return At("trace.0.et");
  }

  fs::path folder_;
};

constexpr char kTable[] =
    "name,shapes,duration_us\n"
    "aten::mm,\"[[64, 64], [64, 64]]\",10\n"
    "aten::mm,\"[[256, 256], [256, 256]]\",40\n";

TEST_F(KernelsCli, CollectsShowsChecksAndMergesACapture) {
  Result r = Run(
      absl::StrCat("kernels collect ", kCapture, " --host-operations --device-name CPU -o ", At("a.csv")));
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out, "");
  EXPECT_NE(r.err.find("rows of"), std::string::npos) << r.err;
  const auto table = chakra::LoadKernelTable(At("a.csv"));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->device(), "CPU");
  const auto mm = std::find_if(table->row().begin(), table->row().end(),
                               [](const auto& row) { return row.name() == "aten::addmm"; });
  ASSERT_NE(mm, table->row().end());
  EXPECT_GT(mm->operations(), 0u);
  EXPECT_GT(mm->count(), 0u);

  r = Run(absl::StrCat("kernels show ", At("a.csv"), " --name 'aten::addmm' --format csv"));
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_EQ(r.out.rfind("name,shapes,dtypes,duration_us,count,min_us,max_us,", 0), 0u) << r.out;
  EXPECT_EQ(r.out.find("aten::mm,"), std::string::npos);
  r = Run(absl::StrCat("kernels show ", At("a.csv"), " --rows 3"));
  EXPECT_NE(r.out.find("more rows"), std::string::npos) << r.out;

  r = Run(absl::StrCat("kernels check ", At("a.csv"), " ", kCapture, " --compute table,interpolate"));
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("interpolation: "), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("table "), std::string::npos) << r.out;

  r = Run(absl::StrCat("kernels merge ", At("a.csv"), " ", At("a.csv"), " -o ", At("b.txtpb")));
  ASSERT_EQ(r.status, 0) << r.err;
  const auto merged = chakra::LoadKernelTable(At("b.txtpb"));
  ASSERT_TRUE(merged.ok());
  ASSERT_EQ(merged->row_size(), table->row_size());
  EXPECT_EQ(merged->row(0).count(), 2 * table->row(0).count());
  EXPECT_EQ(merged->row(0).duration_us(), table->row(0).duration_us());
}

TEST_F(KernelsCli, InterpolatesInAReplay) {
  const std::string kernels = Write("k.csv", kTable);
  const std::string trace =
      Trace({"[[64, 64], [64, 64]]", "[[128, 128], [128, 128]]", "[[512, 512], [512, 512]]"});
  Result r = Run(absl::StrCat("replay ", trace, " --kernels ", kernels,
                              " --compute table,interpolate,recorded -q --format json"));
  ASSERT_EQ(r.status, 0) << r.err;
  chakra::proto::Report report;
  ASSERT_TRUE(chakra::ParseMessage(r.out, "report", &report).ok());
  ASSERT_EQ(report.time_source(1).time_source(), "interpolate");
  EXPECT_EQ(report.time_source(0).nodes(), 1u);
  EXPECT_EQ(report.time_source(1).nodes(), 1u);
  EXPECT_EQ(report.time_source(1).outside(), 1u);
  EXPECT_GT(report.time_source(1).time_ps(), 10000000);
  EXPECT_LT(report.time_source(1).time_ps(), 40000000);
  EXPECT_GT(report.time_source(1).error_ps(), 0);
  EXPECT_EQ(report.time_source(3).nodes(), 1u);
  r = Run(absl::StrCat("replay ", trace, " --kernels ", kernels, " --compute interpolate,roofline -q"));
  EXPECT_NE(r.out.find("interpolate refused 1 nodes"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("roofline derived the work of 1 nodes"), std::string::npos) << r.out;
  r = Run(absl::StrCat("replay ", trace, " --compute interpolate -q"));
  EXPECT_NE(r.out.find("has no kernel table"), std::string::npos) << r.out;
}

TEST_F(KernelsCli, TransfersATable) {
  const std::string kernels = Write("k.csv", kTable);
  ExpectRefused(absl::StrCat("kernels transfer ", kernels, " --to H100 -o ", At("x.csv")), 1,
                "does not name its device; expected --from DEVICE");
  ExpectRefused(absl::StrCat("kernels transfer ", kernels, " --from A100 --to H1OO -o ", At("x.csv")), 1,
                "\"H1OO\" is not a device");
  EXPECT_FALSE(fs::exists(At("x.csv")));
  const Result r =
      Run(absl::StrCat("kernels transfer ", kernels, " --from A100 --to H100 -o ", At("x.json")));
  ASSERT_EQ(r.status, 0) << r.err;
  const auto moved = chakra::LoadKernelTable(At("x.json"));
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(moved->device(), "H100-SXM5-80GB");
  EXPECT_LE(moved->row(1).duration_us(), 40);
  EXPECT_GT(moved->row(1).error(), 0);
}

TEST_F(KernelsCli, TransferRefusesContradictions) {
  const std::string kernels = Write("k.csv", "name,duration_us,operations,device\nmm,30,1000000,A100\n");
  const std::string to = absl::StrCat(" -o ", At("x.csv"));
  ExpectRefused(absl::StrCat("kernels transfer ", kernels, " --from V100 --to H100", to), 1,
                "k.csv is a table of \"A100\", expected --from A100, or none");
  ExpectRefused(absl::StrCat("kernels transfer ", kernels, " --to H100 --dtype bf61", to), 1,
                "has a peak of \"bf61\"");
  EXPECT_FALSE(fs::exists(At("x.csv")));
  const Result same = Run(absl::StrCat("kernels transfer ", kernels, " --from A100 --to A100", to));
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_NE(same.err.find("the same device, no row changes"), std::string::npos) << same.err;
  EXPECT_EQ(chakra::LoadKernelTable(At("x.csv"))->SerializeAsString(),
            chakra::LoadKernelTable(kernels)->SerializeAsString());
}

TEST_F(KernelsCli, MergeReportsItsTables) {
  const std::string a = Write("a.csv", "name,duration_us,device\nmm,10,A100\nrelu,3,A100\nadd,2,A100\n");
  const std::string b = Write("b.csv", "name,duration_us\nmm,25\nrelu,3\nmul,1\n");
  const Result r = Run(absl::StrCat("kernels merge ", a, " ", b, " -o ", At("ab.csv")));
  EXPECT_EQ(r.status, 0) << r.err;
  for (const char* text :
       {"b.csv names no device; used as a table of A100", "4 rows of 2 tables",
        "2 of them are in several tables", "1 of these had other times, at most 2.5 x (\"mm\")"})
    EXPECT_NE(r.err.find(text), std::string::npos) << r.err;
}

TEST_F(KernelsCli, PredictsAndCalibratesRows) {
  const std::string rows = Write("rows.csv", "op,m,n,k,measured_us\ngemm,4096,4096,4096,900\ngemm,0,8,8,\n");
  const Result r = Run(absl::StrCat("kernels predict ", rows, " --device L40S"));
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("op,m,n,k,measured_us,time_us,low_us,high_us,from\n"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("refused: gemm: m is 0"), std::string::npos) << r.out;
  EXPECT_NE(r.err.find("1 of 2 rows are refused"), std::string::npos) << r.err;
  const std::string one = Write("one.csv", "op,m,n,k,measured_us\ngemm,4096,4096,4096,900\n");
  const std::string moved = At("moved.txtpb");
  ASSERT_EQ(Run(absl::StrCat("kernels calibrate ", one, " --device L40S -o ", moved)).status, 0);
  // A slow row raises the prediction; a cluster file may be the device.
  const auto time = [&](const std::string& device) {
    const Result p = Run(absl::StrCat("kernels predict ", one, " --device ", device));
    EXPECT_EQ(p.status, 0) << p.err;
    const std::vector<std::string> fields = absl::StrSplit(p.out.substr(p.out.find('\n') + 1), ',');
    return std::stod(fields.at(5));
  };
  EXPECT_GT(time(moved), 1.2 * time("L40S"));
  ExpectRefused("kernels predict", 2, "kernels predict expects ROWS");
  ExpectRefused(absl::StrCat("kernels predict ", rows), 2, "expects --device DEVICE");
  ExpectRefused(absl::StrCat("kernels predict ", rows, " --device H1000"), 1, "H100");
  ExpectRefused(absl::StrCat("kernels predict ", At("none.csv"), " --device H100"), 1, "none.csv");
  ExpectRefused(absl::StrCat("kernels predict ", Write("noop.csv", "m,n,k\n1,1,1\n"), " --device H100"), 1,
                "the header has no column op");
  const std::string none = Write("none_measured.csv", "op,m,n,k\ngemm,8,8,8\n");
  ExpectRefused(absl::StrCat("kernels calibrate ", none, " --device H100"), 1, "no row has a measured time");
  const std::string zero = Write("zero.csv", "op,m,n,k,measured_us\ngemm,0,8,8,3\n");
  ExpectRefused(absl::StrCat("kernels calibrate ", zero, " --device H100"), 1, "row 1: gemm: m is 0");
}

TEST_F(KernelsCli, RefusesBadInput) {
  const std::string good = Write("good.csv", kTable);
  ExpectRefused("kernels", 2, "expected collect, merge, show, check, transfer, predict or calibrate");
  ExpectRefused("kernels shwo", 2, "did you mean 'show'");
  ExpectRefused("kernels merge x.csv", 2, "expected --output TABLE");
  ExpectRefused(absl::StrCat("kernels show ", good, " ", good), 2, "expected one TABLE");
  ExpectRefused(absl::StrCat("kernels check ", good, " --compute tabel"), 2, "did you mean \"table\"");
  ExpectRefused(absl::StrCat("kernels show ", good, " --name 'x*'"), 1, "no name matches \"x*\"");
  ExpectRefused(absl::StrCat("kernels collect ", Trace({"[]"}), " -o ", At("no/t.csv")), 1,
                "there is no folder");
  ExpectRefused(absl::StrCat("kernels check ", Write("empty.txtpb", "")), 1, "the table has no rows");
  const std::string bad = Write("bad.csv", "name,duration_us\na,1\na,2\n");
  ExpectRefused(absl::StrCat("kernels check ", bad), 1,
                "bad.csv:3: \"a\": name, shapes and dtypes are those of ");
  ExpectRefused(absl::StrCat("kernels merge ", good, " ", Write("c.csv", "name,duration_us\na,-1\n"), " -o ",
                             At("out.csv")),
                1, "c.csv:2: duration_us is \"-1\"");
  EXPECT_FALSE(fs::exists(At("out.csv")));
  const std::string a = Write("a.csv", "name,duration_us,device\na,1,A\n");
  const std::string b = Write("b.csv", "name,duration_us,device\na,1,B\n");
  ExpectRefused(absl::StrCat("kernels merge ", a, " ", b, " -o ", At("out.csv")), 1, "--any-device");
}

}  // namespace
}  // namespace CHAKRA_FILE
