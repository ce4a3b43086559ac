// A small run on one switch, for tests of the output of runs.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "test/replay/acceptance_testing.h"
#include "trace/io/byte_source.h"
#include "trace/model/trace.h"

namespace chakra::acceptance {

// Folder t has four ranks that compute for 3 us and exchange 40,000 bytes; switch.txtpb joins them at 50 GB/s
// and 500 ns.
class SwitchBench : public Bench {
 protected:
  SwitchBench() {
    for (int r = 0; r < 4; ++r) Rank("t", r, {Comp(0, 3), Coll(1, kAllToAll, 40000, {0})});
    Write("switch.txtpb",
          "topology { dimension { name: 'net' kind: SWITCH size: 4 bandwidth_gbytes_per_s: 50 latency_ns: "
          "500 } }\n");
  }
  // The command of a run with its report in report.txt; options may follow.
  const std::string run_ = "replay -q t --compute recorded --report report.txt --cluster switch.txtpb ";

  // Runs a command that must succeed and print `err` on standard error.
  void Runs(const std::string& arguments, const std::string& err = "") const {
    const Outcome r = Run(arguments);
    EXPECT_EQ(r.status, 0) << arguments << "\n" << r.err;
    EXPECT_EQ(r.err, err) << arguments;
  }
  // The content of a compressed file, up to 4 MiB of it.
  std::string Unpacked(const std::string& name) const {
    const std::string packed = Content(folder_ / name);
    MemorySource raw(packed);
    auto content = OpenContent(&raw, name);
    EXPECT_TRUE(content.ok()) << content.status();
    std::string text(4 << 20, '\0');
    size_t got = 0;
    for (size_t n = 1; n > 0; got += n) {
      const auto read = (*content)->Read(text.data() + got, text.size() - got);
      EXPECT_TRUE(read.ok()) << read.status();
      n = read.ok() ? *read : 0;
    }
    return text.substr(0, got);
  }

  static constexpr int kAllToAll = static_cast<int>(CollectiveType::kAllToAll);
};

}  // namespace chakra::acceptance
