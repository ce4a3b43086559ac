#include "trace/import/registry.h"

#include <gtest/gtest.h>

#include <set>

namespace chakra::CHAKRA_FILE {
namespace {

TEST(Registry, DescribesEveryFormat) {
  std::set<absl::string_view> names;
  for (const Importer* i : Importers()) {
    EXPECT_TRUE(names.insert(i->name).second) << i->name;
    EXPECT_NE(i->title, "") << i->name;
    EXPECT_NE(i->help, "") << i->name;
    EXPECT_FALSE(i->endings.empty()) << i->name;
    EXPECT_NE(i->sniff, nullptr) << i->name;
    EXPECT_NE(i->frames == nullptr, i->run == nullptr) << i->name << " reads files or runs";
    EXPECT_TRUE(!i->native || i->frames != nullptr) << i->name;
  }
  EXPECT_EQ(Importers().back(), &kEtImporter) << "it takes what no other claims";
}

TEST(Registry, ChoosesByContent) {
  EXPECT_EQ(ImporterOf("{\"nodes\": []}").name, "json");
  EXPECT_EQ(ImporterOf("metadata { version: \"0.0.4\" }").name, "text");
  EXPECT_EQ(ImporterOf("").name, "et");
  EXPECT_EQ(ImporterOf("PK\x03\x04").name, "et");
}

TEST(Registry, ChoosesByName) {
  const struct {
    const char *name, *stem, *format;
  } kNames[] = {{"w.0.et", "w.0", "et"},         {"w.0.et.gz", "w.0", "et"},
                {"w.0.json.zst", "w.0", "json"}, {"w.0.txtpb", "w.0", "text"},
                {"w.0.txt", "w.0.txt", nullptr}, {"w.gz", "w.gz", nullptr}};
  for (const auto& n : kNames) {
    absl::string_view stem = n.name;
    const Importer* importer = ConsumeEnding(&stem);
    EXPECT_EQ(stem, n.stem);
    EXPECT_EQ(importer == nullptr, n.format == nullptr) << n.name;
    if (importer != nullptr) {
      EXPECT_EQ(importer->name, n.format);
    }
  }
}

TEST(Registry, MessagesListTheFormats) {
  EXPECT_EQ(NamesOfTraces(), "PREFIX.N.et[.zst|.gz]");
  EXPECT_EQ(
      ExpectedInFolders(),
      "traces named PREFIX.N.et[.zst|.gz] (or .json, .txtpb), or a collective log (NCCL's Inspector, "
      "profiler example or NCCL_DEBUG=INFO, PyTorch's Flight Recorder), or a PyTorch capture (JSON of "
      "torch.profiler "
      "or the ExecutionTraceObserver), or a rocprofv3 recording (its JSON or rocpd database), or a JAX "
      "profile (*.xplane.pb of jax.profiler, or its *.trace.json.gz), or an HLO module of XLA (text or proto "
      "after optimisations, "
      "of --xla_dump_to), or a GOAL program (text or binary, as LogGOPSim reads it), or a "
      "liballprof trace (MPI calls, pmpi-trace-rank-N.txt), or a text workload (layers and their "
      "collectives, "
      "as ASTRA-sim 1 and SimAI read them), or a workload (a training step by its model, "
      "see `chakra-replay generate`), or a folder of ranks that share files (what `chakra-replay generate "
      "--share` writes, with PREFIX.ranks.json), or an SQLite nsys export (of `nsys export -t sqlite`)");
  EXPECT_EQ(KindsOfRuns(),
            "collective logs, PyTorch captures, rocprofv3 recordings, JAX profiles and SQLite nsys exports");
  EXPECT_EQ(
      InputsHelp(),
      "Traces: files, folders, prefixes or tar archives. dir/workload is a prefix. Each is one of: Chakra "
      "trace, collective log, PyTorch capture, rocprofv3 recording, JAX profile, HLO module of XLA, GOAL "
      "program, liballprof trace, text workload, workload, folder of ranks that share files, SQLite nsys "
      "export.");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
