// Relations between replays that hold for any correct times: real inputs, random settings.
#include <gmock/gmock.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "test/folders.h"
#include "test/replay/acceptance_testing.h"
#include "test/sanitized.h"
#include "trace/io/file.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

namespace et = ChakraProtoMsg;

class TraceRelations : public Bench {
 protected:
  static std::string Example(const std::string& name) {
    return absl::StrCat(CHAKRA_SOURCE_DIR, "/examples/", name);
  }
  // A generated step, captures of PyTorch, and logs of calls.
  static std::vector<std::string> Inputs() {
    return {Example("transformer_step"), Example("capture/gloo_ddp_2"), Example("what_if/captures/batch_1/a"),
            Example("what_if/captures/input_1/b"), Example("capture/inspector_8")};
  }
  template <typename T>
  const T& Any(const std::vector<T>& of) {
    return of[random_() % of.size()];
  }
  // Generated steps have no recorded times of communication.
  static bool HasRecordedComm(const std::string& input) { return input != Example("transformer_step"); }
  // The number of random settings; fewer in sanitized processes, which are slow.
  static int Runs(int optimised) { return kSanitized ? std::max(2, optimised / 6) : optimised; }
  void ExpectRelations(int least) { EXPECT_GE(relations_, kSanitized ? 1 : least); }
  // `named`: times may come from names of kernels. `recorded`: communication may keep its recorded times.
  std::string Settings(bool named, bool recorded) {
    const std::vector<std::string> compute =
        named ? std::vector<std::string>{"recorded", "table,model,roofline,recorded", "roofline,recorded"}
              : std::vector<std::string>{"recorded", "roofline,recorded"};
    return absl::StrCat(" --cluster ", Any<std::string>({"dgx-a100", "dgx-h100", "dgx-b200", "l40s"}),
                        " --fabric ", Any<std::string>({"analytical", "analytical-fifo", "fluid"}),
                        " --lanes ", Any<std::string>({"recorded", "single", "unlimited"}), " --compute ",
                        Any(compute), " --comm ",
                        recorded ? Any<std::string>({"simulated", "recorded"}) : "simulated", " --threads ",
                        1 + random_() % 3);
  }
  // Returns nothing if the run is refused.
  std::optional<proto::Report> Reported(const std::string& traces, const std::string& settings) {
    const Outcome r =
        Run(absl::StrCat("replay ", traces, settings, " -q --format json --report report.json"));
    if (r.status != 0) return std::nullopt;
    proto::Report report;
    const absl::Status read = ReadMessageFile(At("report.json"), &report);
    EXPECT_TRUE(read.ok()) << read;
    return report;
  }
  // The values that the relations compare.
  static std::string Times(const proto::Report& report) {
    std::string out = absl::StrCat(report.makespan_ps(), " ", report.nodes(), " ", report.flows());
    for (const proto::RankReport& r : report.rank())
      absl::StrAppend(&out, "\n", r.rank(), " ", r.end_ps(), " ", r.compute_busy_ps(), " ", r.comm_busy_ps(),
                      " ", r.exposed_comm_ps(), " ", r.memory_busy_ps(), " ", r.host_busy_ps(), " ",
                      r.idle_ps());
    for (const proto::CollectiveReport& c : report.collective())
      absl::StrAppend(&out, "\n", c.ShortDebugString());
    return out;
  }
  // Expects equal results of `traces` and `other` under `runs` random settings. `recorded`: both have
  // recorded communication.
  void ExpectSame(const std::string& traces, const std::string& other, int runs, bool recorded,
                  bool named = true) {
    for (int i = 0; i < runs; ++i) {
      const std::string settings = Settings(named, recorded);
      const auto a = Reported(traces, settings), b = Reported(other, settings);
      ASSERT_TRUE(a.has_value() && b.has_value()) << traces << settings << "\n" << other;
      ++relations_;
      EXPECT_EQ(Times(*a), Times(*b)) << traces << settings << "\n" << other;
    }
  }
  void Done(const std::string& command) {
    const Outcome r = Run(command);
    ASSERT_EQ(r.status, 0) << command << "\n" << r.err;
  }
  // Applies `change` to each trace of a folder, file by file.
  template <typename Change>
  void Rewrite(const std::string& folder, const Change& change) {
    for (const std::string& name : ListFolder(At(folder))) {
      if (!absl::EndsWith(name, ".et")) continue;
      const std::string path = At(folder + "/" + name), content = Content(path);
      google::protobuf::io::ArrayInputStream in(content.data(), static_cast<int>(content.size()));
      et::GlobalMetadata metadata;
      std::vector<et::Node> nodes;
      bool end = false;
      ASSERT_TRUE(google::protobuf::util::ParseDelimitedFromZeroCopyStream(&metadata, &in, &end));
      for (et::Node node; google::protobuf::util::ParseDelimitedFromZeroCopyStream(&node, &in, &end);
           node.Clear())
        nodes.push_back(node);
      change(&nodes);
      EtWriter writer(path);
      ASSERT_TRUE(writer.AddMetadata(metadata).ok());
      for (const et::Node& node : nodes) ASSERT_TRUE(writer.AddNode(node).ok());
      ASSERT_TRUE(writer.Finish().ok());
    }
  }

  std::mt19937 random_{44};
  int relations_ = 0;
};

TEST_F(TraceRelations, EmptyEditChangesNothing) {
  Write("nothing.txtpb", "edit { duration { factor: 1 } }\n");
  for (const std::string& input : Inputs()) {
    Done(absl::StrCat("convert ", input, " -o plain --to et"));
    Done(absl::StrCat("edit ", input, " --script nothing.txtpb -o edited -q"));
    Done("convert edited -o again --to et --compression none");
    ExpectSame(input, "edited", Runs(12), HasRecordedComm(input));
    for (const char* folder : {"plain", "again", "edited"}) fs::remove_all(At(folder));
  }
  ExpectRelations(60);
}

TEST_F(TraceRelations, ConvertedTracesReplayEqually) {
  for (const std::string& input : Inputs()) {
    Done(absl::StrCat("convert ", input, " -o et"));
    for (const char* form : {" --compression gzip", " --compression zstd", " --to json", " --to text"}) {
      Done(absl::StrCat("convert et -o other", form));
      ExpectSame(input, "other", Runs(4), HasRecordedComm(input));
      // Converted back: the same bytes after compression only, else the same text.
      const bool compressed = absl::StrContains(form, "--compression");
      const std::string to = compressed ? " --to et --compression none" : " --to text";
      Done("convert other -o back" + to);
      Done("convert et -o there" + to);
      const std::vector<std::string> names = ListFolder(At("there"));
      EXPECT_EQ(ListFolder(At("back")), names) << input << form;
      for (const std::string& name : names) {
        EXPECT_TRUE(Content(At("back/" + name)) == Content(At("there/" + name))) << input << form << name;
      }
      for (const char* folder : {"other", "back", "there"}) fs::remove_all(At(folder));
    }
    fs::remove_all(At("et"));
  }
  ExpectRelations(80);
}

TEST_F(TraceRelations, DoubledTimesDoubleTheMakespan) {
  Write("twice.txtpb", "edit { duration { factor: 2 } }\nedit { delay { factor: 2 } }\n");
  for (const std::string& input : Inputs()) {
    Done(absl::StrCat("edit ", input, " --script twice.txtpb -o twice -q"));
    for (const char* lanes : {"recorded", "single", "unlimited"}) {
      const std::string settings = absl::StrCat(" --comm recorded --compute recorded --lanes ", lanes);
      if (!HasRecordedComm(input)) continue;
      const auto once = Reported(input, settings), twice = Reported("twice", settings);
      ASSERT_TRUE(once.has_value() && twice.has_value()) << input << settings;
      ++relations_;
      EXPECT_EQ(2 * once->makespan_ps(), twice->makespan_ps()) << input << settings;
      for (int r = 0; r < once->rank_size(); ++r)
        EXPECT_EQ(2 * once->rank(r).end_ps(), twice->rank(r).end_ps());
    }
    fs::remove_all(At("twice"));
  }
  ExpectRelations(12);
}

TEST_F(TraceRelations, NamesDoNotChangeTimes) {
  Write("names.txtpb", "edit { rename { to: 'x' } }\n");
  for (const std::string& input : Inputs()) {
    Done(absl::StrCat("edit ", input, " --script names.txtpb -o named -q"));
    ExpectSame(input, "named", Runs(12), HasRecordedComm(input), /*named=*/false);
    fs::remove_all(At("named"));
  }
  ExpectRelations(60);
}

TEST_F(TraceRelations, OrderOfNodesDoesNotChangeTimes) {
  for (const std::string& input : Inputs()) {
    Done(absl::StrCat("convert ", input, " -o et"));
    Done("convert et -o mixed");
    Rewrite("mixed",
            [&](std::vector<et::Node>* nodes) { std::shuffle(nodes->begin(), nodes->end(), random_); });
    ExpectSame("et", "mixed", Runs(12), HasRecordedComm(input));
    for (const char* folder : {"et", "mixed"}) fs::remove_all(At(folder));
  }
  ExpectRelations(60);
}

TEST_F(TraceRelations, IdsAndFileOrderDoNotChangeTimes) {
  Done(absl::StrCat("convert ", Example("transformer_step"), " -o et"));
  Done("convert et -o ids");
  Rewrite("ids", [&](std::vector<et::Node>* nodes) {
    std::vector<uint64_t> old;
    for (const et::Node& n : *nodes) old.push_back(n.id());
    std::sort(old.begin(), old.end());
    std::map<uint64_t, uint64_t> now;
    uint64_t next = random_() % 1000;
    for (const uint64_t id : old) now[id] = next += 1 + random_() % 1000;
    for (et::Node& n : *nodes) {
      n.set_id(now[n.id()]);
      for (auto* deps : {n.mutable_data_deps(), n.mutable_ctrl_deps()}) {
        for (uint64_t& d : *deps) d = now[d];
      }
    }
  });
  ExpectSame("et", "ids", Runs(40), /*recorded=*/false);
  std::vector<std::string> files;
  for (const std::string& name : ListFolder(At("et"))) {
    if (absl::EndsWith(name, ".et")) files.push_back("et/" + name);
  }
  std::string groups;
  if (fs::exists(At("et/workload.json"))) groups = " --groups et/workload.json";
  for (int i = 0; i < Runs(10); ++i) {
    std::shuffle(files.begin(), files.end(), random_);
    std::string all;
    for (const std::string& file : files) absl::StrAppend(&all, all.empty() ? "" : " ", file);
    ExpectSame("et" + groups, all + groups, Runs(3), /*recorded=*/false);
  }
  ExpectRelations(70);
}

TEST_F(TraceRelations, SplitNodesTakeEqualTime) {
  // The parts of a node run one after another. Nodes that waited for a part of the node still do.
  Write("split.txtpb", "edit { select { type: 'COMP_NODE' } split { parts: 3 } }\n");
  for (const std::string& input : Inputs()) {
    if (!HasRecordedComm(input)) continue;
    Done(absl::StrCat("edit ", input, " --script split.txtpb -o split -q"));
    const std::string settings = " --comm recorded --compute recorded --lanes recorded";
    const auto whole = Reported(input, settings), parts = Reported("split", settings);
    ASSERT_TRUE(whole.has_value() && parts.has_value()) << input;
    ++relations_;
    // Releases are parts of 10^-12.
    EXPECT_NEAR(static_cast<double>(parts->makespan_ps()), static_cast<double>(whole->makespan_ps()),
                1e-6 * static_cast<double>(whole->makespan_ps()))
        << input;
    fs::remove_all(At("split"));
  }
  ExpectRelations(2);
}

TEST_F(TraceRelations, CategoriesOfARankAddUp) {
  for (const std::string& input : Inputs()) {
    for (int i = 0; i < Runs(12); ++i) {
      const std::string settings = Settings(/*named=*/true, HasRecordedComm(input));
      const auto report = Reported(input, settings);
      ASSERT_TRUE(report.has_value()) << input << settings;
      for (const proto::RankReport& r : report->rank()) {
        ++relations_;
        const std::string where = absl::StrCat(input, settings, " rank ", r.rank());
        EXPECT_LE(r.exposed_comm_ps(), r.comm_busy_ps()) << where;
        EXPECT_LE(r.compute_busy_ps() + r.exposed_comm_ps() + r.idle_ps(), r.end_ps()) << where;
        EXPECT_GE(
            r.compute_busy_ps() + r.comm_busy_ps() + r.memory_busy_ps() + r.host_busy_ps() + r.idle_ps(),
            r.end_ps())
            << where;
        if (r.memory_busy_ps() == 0 && r.host_busy_ps() == 0) {
          EXPECT_EQ(r.compute_busy_ps() + r.exposed_comm_ps() + r.idle_ps(), r.end_ps()) << where;
        }
        EXPECT_LE(r.end_ps(), report->makespan_ps()) << where;
      }
    }
  }
  ExpectRelations(200);
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
