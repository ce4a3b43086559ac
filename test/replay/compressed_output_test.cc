// The output of a command is compressed if its name ends in .gz or .zst, and commands can read it again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/folders.h"
#include "test/replay/switch_bench.h"
#include "trace/io/compressed_file.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::StartsWith;

class CompressedOutput : public SwitchBench {
 protected:
  // Runs `command`, in which @ stands for a file's name, with `name`, `name`.gz and `name`.zst.
  void ExpectOneContent(const std::string& command, const std::string& name) const {
    const auto run = [&](const std::string& file) {
      const std::string line = absl::StrReplaceAll(command, {{"@", file}});
      const Outcome r = Run(line);
      EXPECT_EQ(r.status, 0) << line << "\n" << r.err;
    };
    run(name);
    const std::string plain = Content(folder_ / name);
    EXPECT_NE(plain, "") << command;
    for (const char* end : {".gz", ".zst"}) {
      const std::string file = name + end;
      run(file);
      EXPECT_THAT(Content(folder_ / file),
                  StartsWith(end == std::string(".gz") ? "\x1f\x8b" : "\x28\xb5\x2f\xfd"))
          << command << " " << file;
      EXPECT_EQ(Unpacked(file), plain) << command << " " << file;
    }
  }
};

TEST_F(CompressedOutput, EveryCommandCompressesByName) {
  const std::string replay = "replay -q t --compute recorded --cluster switch.txtpb ";
  for (const char* report : {"r.json", "r.csv", "r.txt"}) ExpectOneContent(replay + "--report @", report);
  ExpectOneContent(replay + "--html @", "r.html");
  ExpectOneContent(replay + "--flow-log @", "f.csv");
  ExpectOneContent("compare r.json r.json -o @", "c.json");
  ExpectOneContent("compare r.json r.json -o @", "c.csv");
  ExpectOneContent("collective all_reduce --bytes 1MiB --cluster switch.txtpb --ranks 4 -o @", "c.txt");
  ExpectOneContent("topology draw switch:devices=4 -o @", "n.svg");
  ExpectOneContent("convert t/w.0.et -o @", "w.json");
  ExpectOneContent("convert t/w.0.et -o @", "w.txtpb");
  ExpectOneContent("convert t/w.0.et -o @", "w.et");
  ExpectOneContent("edit t/w.0.et -o e.et --scale n0=2 --report @", "e.json");
  ExpectOneContent("edit t/w.0.et -o e.et --scale n0=2 --report @", "e.txt");
  for (const char* table : {"k.csv", "k.json", "k.txtpb", "k.pb"}) {
    ExpectOneContent("kernels collect " + std::string(CHAKRA_SOURCE_DIR) +
                         "/examples/capture/gloo_ddp_2 --host-operations -o @",
                     table);
  }
}

TEST_F(CompressedOutput, CommandsReadCompressedFiles) {
  Runs("replay -q t --compute recorded --cluster switch.txtpb --report r.json.gz");
  Runs("replay -q t --compute recorded --cluster switch.txtpb --report r.json");
  Runs("compare r.json.gz r.json --fail-over 0%");
  ASSERT_TRUE(WriteFile(At("s.txtpb.zst"), Content(folder_ / "switch.txtpb")).ok());
  Runs("replay -q t --compute recorded --cluster s.txtpb.zst --report again.csv");
  const std::string collect =
      "kernels collect " + std::string(CHAKRA_SOURCE_DIR) + "/examples/capture/gloo_ddp_2 --host-operations ";
  EXPECT_EQ(Run(absl::StrCat(collect, "-o k.csv.gz")).status, 0);
  Runs("kernels show k.csv.gz");
  for (const char* to : {"json", "text", "et"}) {
    Runs(absl::StrCat("convert t -o as_", to, " --compression gzip --to ", to));
    Runs(absl::StrCat("convert as_", to, " -o back_", to));
    for (const char* file : {"/w.0.et", "/w.3.et"}) {
      EXPECT_EQ(Content(folder_ / ("back_" + std::string(to) + file)),
                Content(folder_ / ("t" + std::string(file))));
    }
  }
}

// A file whose name ends in .gz is read as gzip: a damaged stream is refused, with the byte.
TEST_F(CompressedOutput, RefusesDamagedStreams) {
  ASSERT_TRUE(WriteFile(At("c.txtpb.gz"), Content(folder_ / "switch.txtpb")).ok());
  Write("cut.txtpb.gz", Content(folder_ / "c.txtpb.gz").substr(0, 40));
  const Outcome r = Run("replay -q t --cluster cut.txtpb.gz");
  EXPECT_EQ(r.status, 1);
  EXPECT_THAT(r.err, testing::HasSubstr("cut.txtpb.gz: gzip stream, compressed byte 40: truncated"));
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
