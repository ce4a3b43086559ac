// Settings of the machine on the command line: remote memory, kernel tables, ASTRA-sim's files, one trace as
// many ranks.
#include <gmock/gmock.h>

#include "test/replay/acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kAccess = 10400000;  // ps: 400 ns and 1,000,000 bytes at 100 GB/s

class Machine : public Bench {
 protected:
  // Each of 4 ranks loads 1,000,000 bytes.
  void FourLoads() const {
    for (int r = 0; r < 4; ++r) {
      Rank("loads", r, {With(MakeNode(0, ChakraProtoMsg::MEM_LOAD_NODE), "tensor_size", 1000000)});
    }
  }
  std::vector<int64_t> Ends(const std::string& cluster) const {
    std::vector<int64_t> ends;
    const proto::Report report = Replayed("loads --cluster " + cluster);
    for (const auto& rank : report.rank()) ends.push_back(rank.end_ps());
    return ends;
  }
};

TEST_F(Machine, ReadsRemoteMemoryOfClusterFile) {
  FourLoads();
  const auto cluster = [&](const std::string& kind, const std::string& more) {
    return Write("memory.txtpb", Ring(4) + "remote_memory { kind: " + kind +
                                     " latency_ns: 400 bandwidth_gbytes_per_s: 100 " + more + " }\n");
  };
  EXPECT_THAT(Ends(cluster("PER_RANK", "")), ElementsAre(kAccess, kAccess, kAccess, kAccess));
  EXPECT_THAT(Ends(cluster("PER_NODE", "ranks_per_node: 2")),
              ElementsAre(kAccess, 2 * kAccess, kAccess, 2 * kAccess));
  EXPECT_THAT(Ends(cluster("PER_NODE", "ranks_per_node: 3")),
              ElementsAre(kAccess, 2 * kAccess, 3 * kAccess, kAccess));
  EXPECT_THAT(Ends(cluster("POOL", "")), ElementsAre(kAccess, 2 * kAccess, 3 * kAccess, 4 * kAccess));
  Refused("replay loads --cluster " + cluster("PER_NODE", ""), {"ranks_per_node", "memory.txtpb"});
  Refused("replay loads --cluster ring4.txtpb", {"loads/w.0.et", "node 0", "no memory", "remote_memory"});
}

// Four ranks, and a switch of five or six devices, 100 GB/s each. The devices without a rank are storage
// nodes.
TEST_F(Machine, SimulatesStorageNodesOnTheNetwork) {
  FourLoads();
  for (int r = 0; r < 4; ++r)
    Rank("stores", r, {With(MakeNode(0, ChakraProtoMsg::MEM_STORE_NODE), "tensor_size", 1000000)});
  const auto cluster = [&](int devices, const std::string& more) {
    return Write("storage.txtpb", "topology { dimension { kind: SWITCH size: " + std::to_string(devices) +
                                      " bandwidth_gbytes_per_s: 100 } } remote_memory { kind: NETWORK " +
                                      more + " }");
  };
  const auto ends = [&](const std::string& traces, const std::string& machine) {
    const proto::Report report = Replayed(traces + " --fabric fluid --cluster " + machine);
    std::vector<int64_t> out;
    for (const auto& rank : report.rank()) out.push_back(rank.end_ps());
    return out;
  };
  constexpr int64_t kFlow = 10000000;  // ps: 1,000,000 bytes at 100 GB/s
  for (const std::string traces : {"loads", "stores"}) {
    // Four ranks share the link of one storage node; then two ranks share each of two; then four ranks share
    // one, though two devices have no rank.
    EXPECT_THAT(ends(traces, cluster(5, "")), ElementsAre(4 * kFlow, 4 * kFlow, 4 * kFlow, 4 * kFlow));
    EXPECT_THAT(ends(traces, cluster(6, "")), ElementsAre(2 * kFlow, 2 * kFlow, 2 * kFlow, 2 * kFlow));
    EXPECT_THAT(ends(traces, cluster(6, "storage_nodes: 1")), Contains(4 * kFlow));
    // Drives of 20 GB/s take one after the other; latency comes on top of a flow.
    EXPECT_THAT(ends(traces, cluster(6, "bandwidth_gbytes_per_s: 20")),
                ElementsAre(5 * kFlow, 5 * kFlow, 10 * kFlow, 10 * kFlow));
    EXPECT_THAT(ends(traces, cluster(5, "latency_ns: 400")), Contains(4 * kFlow + 400000));
  }
  Refused("replay stores --cluster " + cluster(4, ""),
          {"remote_memory.storage_nodes", "of 4 devices 4 have one"});
  Refused("replay stores --cluster " + cluster(5, "storage_nodes: 2"), {"remote_memory.storage_nodes is 2"});
}

TEST_F(Machine, ConvertsAstraSimMemoryFile) {
  FourLoads();
  Write("net.yml", "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n");
  Write("memory.json", R"({"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-latency": 400,
    "remote-mem-bw": 100, "num-npus-per-node": 2, "num-nodes": 2})");
  const Outcome r = Run("convert astra-sim --network net.yml --memory memory.json -o node.txtpb");
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("num-nodes"));
  EXPECT_THAT(Ends("node.txtpb"), ElementsAre(kAccess, 2 * kAccess, kAccess, 2 * kAccess));
  Write("memory.json", R"({"memory-type": "MEMORY_POOL", "remote-mem-latency": 400, "remote-mem-bw": 100})");
  EXPECT_EQ(Run("convert astra-sim --network net.yml --memory memory.json -o pool.json").status, 0);
  EXPECT_THAT(Ends("pool.json"), ElementsAre(kAccess, 2 * kAccess, 3 * kAccess, 4 * kAccess));
}

TEST_F(Machine, WarnsOfClusterFileWithNetworkOnly) {
  Rank("x", 0, {Comp(0, 5)});
  Rank("x", 1, {Comp(0, 5)});
  Write("net.yml", "topology: [ Ring ]\nnpus_count: [ 2 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n");
  const proto::Report report = Replayed("x --cluster net.yml");
  const auto open = HasSubstr("net.yml: only a network");
  EXPECT_THAT(report.warning(), Contains(open));
  const proto::Report whole = Replayed("x --cluster ring2.txtpb");
  EXPECT_THAT(whole.warning(), Not(Contains(HasSubstr("nothing else"))));
}

PbNode Kernel(uint64_t id, const std::string& name, const std::string& shapes, const std::string& types) {
  PbNode n = Comp(id, 1000);
  n.set_name(name);
  n.mutable_inputs()->set_shapes(shapes);
  n.mutable_inputs()->set_types(types);
  return n;
}

TEST_F(Machine, ReadsKernelTablesOfThreeFormats) {
  Rank("x", 0,
       {Kernel(0, "gemm", "[[8, 16]]", "['half']"), Kernel(1, "gemm", "[[4]]", "['half']"),
        Kernel(2, "gemm_fused_7", "[]", "[]"), Kernel(3, "softmax", "[]", "[]")});
  const std::string text =
      "row { name: \"gemm\" shapes: \"[[8,16]]\" dtypes: \"['half']\" duration_us: 2.5 }\n"
      "row { name: \"gemm\" duration_us: 20 }\n"
      "row { name: \"gemm_*\" duration_us: 300 }\n";
  Write("k.txtpb", text);
  Write("k.json",
        R"({"row": [{"name": "gemm", "shapes": "[[8,16]]", "dtypes": "['half']", "duration_us": 2.5},
    {"name": "gemm", "duration_us": 20}, {"name": "gemm_*", "duration_us": 300}]})");
  Write("k.csv",
        "name,shapes,dtypes,duration_us\ngemm,\"[[8, 16]]\",['half'],2.5\ngemm,,,20\ngemm_*,,,300\n");
  for (const std::string file : {"k.txtpb", "k.json", "k.csv"}) {
    const proto::Report report = Replayed("x --cluster ring2.txtpb --kernels " + file);
    EXPECT_EQ(report.makespan_ps(), 1322500000) << file;  // softmax: 1,000 us, recorded
    std::string time_sources;
    for (const auto& r : report.time_source()) {
      if (r.nodes() == 0) continue;
      time_sources +=
          r.time_source() + " " + std::to_string(r.nodes()) + " " + std::to_string(r.time_ps()) + "\n";
    }
    EXPECT_EQ(time_sources, "table 3 322500000\nrecorded 1 1000000000\n") << file;
    bool listed = false;
    for (const auto& input : report.input()) listed |= input.role() == "kernels" && input.path() == file;
    EXPECT_TRUE(listed) << report.DebugString();
  }
  EXPECT_EQ(Replayed("x --cluster ring2.txtpb --kernels k.csv --compute recorded,table").makespan_ps(),
            4000000000);
  Write("twice.txtpb", text + "row { name: \"gemm\" duration_us: 21 }\n");
  Refused("replay x --kernels twice.txtpb", {"twice.txtpb: row 3", "those of row 1"});
}

// A stage of a pipeline, traced on rank 3 of 4: receives from the rank before, computes 10 us, sends to the
// rank after.
TEST_F(Machine, OneTracedRankKeepsItsPlace) {
  PbNode work = Comp(1, 10);
  PbNode send = With(Send(0, 0, 1000, 1), "comm_src", 3);
  PbNode recv = With(Recv(2, 2, 1000, 1), "comm_dst", 3);
  Write("p/stage.3.et", Encode({send, work, recv}).bytes);
  const proto::Report report = Replayed("p/stage.3.et --ranks 4 --cluster ring4.txtpb");
  EXPECT_EQ(report.rank_size(), 4);
  EXPECT_EQ(report.repair_size(), 0) << report.DebugString();
  // Every message goes one link up the ring: 4 links carry 1,000 bytes each.
  ASSERT_EQ(report.dimension_size(), 1);
  EXPECT_EQ(report.dimension(0).bytes(), 4000u);
  for (const auto& rank : report.rank()) EXPECT_EQ(rank.end_ps(), 10000000) << rank.rank();
  Refused("replay p/stage.3.et --ranks 3 --cluster ring4.txtpb", {"stage.3.et", "rank 3", "--ranks"});
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
