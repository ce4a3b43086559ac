#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "replay/cluster/load.h"
#include "replay/cluster/presets.h"
#include "replay/engine/memory_model.h"
#include "replay/run/cluster_model.h"

namespace chakra::CHAKRA_FILE {
namespace {

using testing::AllOf;
using testing::HasSubstr;

proto::Cluster Load(const std::string& spec) {
  absl::StatusOr<proto::Cluster> c = LoadCluster(spec);
  EXPECT_TRUE(c.ok()) << c.status();
  return c.ok() ? *c : proto::Cluster();
}

std::string LoadError(const std::string& spec) { return std::string(LoadCluster(spec).status().message()); }

std::string BuildError(const proto::Cluster& c, int ranks = 8) {
  return std::string(BuildCluster(c, ranks).status().message());
}

std::vector<int> Sizes(const std::string& spec, int ranks) {
  absl::StatusOr<ClusterModel> m = BuildCluster(Load(spec), ranks);
  EXPECT_TRUE(m.ok()) << m.status();
  std::vector<int> sizes;
  if (!m.ok()) return sizes;
  for (const TopologyDimension& d : m->topology.dimensions()) sizes.push_back(d.size);
  EXPECT_EQ(m->proto.topology().dimension_size(), static_cast<int>(sizes.size()));
  return sizes;
}

TEST(Cluster, EveryPresetBuilds) {
  for (const std::string& name : PresetNames()) {
    const proto::Cluster c = Load(name);
    EXPECT_EQ(c.name(), name);
    EXPECT_FALSE(c.source().empty());
    absl::StatusOr<ClusterModel> m = BuildCluster(c, 16);
    ASSERT_TRUE(m.ok()) << m.status();
    EXPECT_EQ(m->topology.devices(), 16);
    EXPECT_GT(m->memory.bandwidth.bytes_per_second(), 0);
  }
}

TEST(Cluster, PresetsHaveTheirKnownRates) {
  absl::StatusOr<ClusterModel> a = BuildCluster(Load("dgx-a100"), 16);
  absl::StatusOr<ClusterModel> h = BuildCluster(Load("dgx-h100"), 16);
  ASSERT_TRUE(a.ok() && h.ok());
  EXPECT_EQ(a->topology.dimensions()[0].bandwidth, Bandwidth::FromGigabytes(300));
  EXPECT_EQ(a->topology.dimensions()[1].bandwidth, Bandwidth::FromGigabytes(25));
  EXPECT_EQ(h->topology.dimensions()[0].bandwidth, Bandwidth::FromGigabytes(450));
  EXPECT_EQ(h->topology.dimensions()[1].bandwidth, Bandwidth::FromGigabytes(50));
  EXPECT_EQ(h->topology.dimensions()[1].latency, Time::Nanos(500));
  EXPECT_EQ(a->proto.device().peak_tflops().at("bf16"), 312);
  EXPECT_EQ(h->proto.device().peak_tflops().at("bf16"), 989);
}

TEST(Cluster, OpenDimensionIsSizedToTheTrace) {
  EXPECT_EQ(Sizes("dgx-h100", 32), (std::vector<int>{8, 4}));
  EXPECT_EQ(Sizes("dgx-h100", 8), (std::vector<int>{8}));
  EXPECT_EQ(Sizes("dgx-h100", 4), (std::vector<int>{4}));
  EXPECT_EQ(Sizes("dgx-h100", 1), (std::vector<int>{1}));
  EXPECT_EQ(Sizes("dgx-h100:gpus_per_node=4", 12), (std::vector<int>{4, 3}));
  EXPECT_EQ(Sizes("dgx-h100:nodes=4", 12), (std::vector<int>{8, 4}));  // fewer ranks than devices
}

TEST(Cluster, RefusesRanksThatDoNotFillBlocks) {
  EXPECT_THAT(BuildError(Load("dgx-h100"), 12), AllOf(HasSubstr("12 ranks"), HasSubstr("multiple of 8")));
}

TEST(Cluster, RefusesMoreRanksThanDevices) {
  EXPECT_THAT(BuildError(Load("dgx-h100:nodes=2"), 24),
              AllOf(HasSubstr("24 ranks"), HasSubstr("16 devices")));
}

TEST(Cluster, OverridesSetTheirFields) {
  absl::StatusOr<ClusterModel> m = BuildCluster(
      Load("dgx-h100:nodes=4,gpus_per_node=2,nic_gbps=800,nic_latency_ns=1.5,nvlink_gbytes_per_s=900,"
           "nvlink_latency_ns=0,memory_gbytes_per_s=8000,memory_latency_ns=3,peak_tflops=2250,"
           "peak_tflops.fp8=4500,splits=1,step_overhead_ns=10,reduce_gbytes_per_s=1600"),
      8);
  ASSERT_TRUE(m.ok()) << m.status();
  const TopologyDimension& nvlink = m->topology.dimensions()[0];
  const TopologyDimension& nic = m->topology.dimensions()[1];
  EXPECT_EQ(nvlink.size, 2);
  EXPECT_EQ(nic.size, 4);
  EXPECT_EQ(nvlink.bandwidth, Bandwidth::FromGigabytes(900));
  EXPECT_EQ(nvlink.latency, Time::Zero());
  EXPECT_EQ(nic.bandwidth, Bandwidth::FromGigabytes(100));
  EXPECT_EQ(nic.latency, Time::Picos(1500));
  EXPECT_EQ(m->memory.bandwidth, Bandwidth::FromGigabytes(8000));
  EXPECT_EQ(m->memory.latency, Time::Nanos(3));
  EXPECT_EQ(m->proto.device().peak_tflops().at("bf16"), 2250);
  EXPECT_EQ(m->proto.device().peak_tflops().at("fp8"), 4500);
  EXPECT_EQ(m->collectives.splits, 1);
  EXPECT_EQ(m->collectives.step_overhead, Time::Nanos(10));
  EXPECT_EQ(m->collectives.reduce_bandwidth, Bandwidth::FromGigabytes(1600));
  EXPECT_THAT(m->proto.name(), HasSubstr("dgx-h100:nodes=4"));
}

TEST(Cluster, BadOverrideErrorsNameTheKey) {
  EXPECT_THAT(LoadError("dgx-h100:nic_gbp=400"),
              AllOf(HasSubstr("\"nic_gbp\""), HasSubstr("'nic_gbps'? See `chakra-replay help cluster`")));
  EXPECT_THAT(LoadError("dgx-h100:nodes=two"), AllOf(HasSubstr("nodes"), HasSubstr("\"two\"")));
  EXPECT_THAT(LoadError("dgx-h100:nodes=2.5"), HasSubstr("whole number"));
  EXPECT_THAT(LoadError("dgx-h100:nodes=0"), HasSubstr("nodes is \"0\"; expected a number > 0"));
  EXPECT_THAT(LoadError("dgx-h100:nic_gbps=0"), HasSubstr("> 0"));
  EXPECT_THAT(LoadError("dgx-h100:nic_gbps=nan"), HasSubstr("a number"));
  EXPECT_THAT(LoadError("dgx-h100:nic_latency_ns=-1"),
              HasSubstr("nic_latency_ns: topology.dimension[1].latency_ns is -1; expected 0 to 1000000000"));
  EXPECT_THAT(LoadError("dgx-h100:nodes=5000000"), HasSubstr("the nearest is 4194304"));
  EXPECT_THAT(LoadError("dgx-h100:nodes"), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(LoadError("dgx-h100:"), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(BuildError(Load("dgx-h100:peak_tflops.bf61=1")), HasSubstr("bf61"));
}

TEST(Cluster, RefusesUnknownPresetsAndMissingFiles) {
  EXPECT_THAT(LoadError("dgx-h10"), AllOf(HasSubstr("\"dgx-h10\""), HasSubstr("did you mean \"dgx-h100\"?"),
                                          HasSubstr("dgx-a100")));
  EXPECT_THAT(LoadError("dgx-h10:nodes=2"), HasSubstr("did you mean \"dgx-h100\"?"));
  EXPECT_THAT(LoadError("no/such/file.txtpb"), HasSubstr("neither a preset nor a file"));
}

TEST(Cluster, ReadsAClusterFile) {
  const std::string path = testing::TempDir() + "/cluster_test." + std::to_string(::getpid()) + ".txtpb";
  std::ofstream(path) << "topology { dimension { kind: RING size: 4 bandwidth_bytes_per_s: 53687091200 "
                         "bandwidth_gbytes_per_s: 1 latency_ns: 500 } }";
  absl::StatusOr<ClusterModel> m = BuildCluster(Load(path), 4);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->topology.dimensions()[0].bandwidth.bytes_per_second(), 53687091200);  // exact before GB/s
  EXPECT_EQ(m->topology.dimensions()[0].name, "dim0");
  EXPECT_EQ(m->proto.name(), path);
  std::ofstream(path) << "topologie {}";
  EXPECT_THAT(LoadError(path), AllOf(HasSubstr(path), HasSubstr("topologie")));
  std::filesystem::remove(path);
}

TEST(Cluster, ReadsAnAstraSimNetwork) {
  const std::string path = testing::TempDir() + "/cluster_test." + std::to_string(::getpid()) + ".yml";
  std::ofstream(path) << "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n";
  absl::StatusOr<ClusterModel> m = BuildCluster(Load(path), 8);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->topology.dimensions()[0].bandwidth.bytes_per_second(), int64_t{50} << 30);
  EXPECT_EQ(m->topology.dimensions()[0].kind, TopologyDimension::Kind::kRing);
  std::filesystem::remove(path);
}

struct BadCase {
  const char* what;
  void (*spoil)(proto::Cluster*);
};

TEST(Cluster, ErrorsNameTheBadField) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const BadCase cases[] = {
      {"topology.dimension is missing", [](proto::Cluster* c) { c->clear_topology(); }},
      {"dimension[0].kind is not set",
       [](proto::Cluster* c) { c->mutable_topology()->mutable_dimension(0)->clear_kind(); }},
      {"dimension[0].size is -1",
       [](proto::Cluster* c) { c->mutable_topology()->mutable_dimension(0)->set_size(-1); }},
      {"dimension[1].size is 0",
       [](proto::Cluster* c) { c->mutable_topology()->mutable_dimension(0)->set_size(0); }},
      {"dimension[1].bandwidth_gbytes_per_s is 0",
       [](proto::Cluster* c) { c->mutable_topology()->mutable_dimension(1)->set_bandwidth_gbytes_per_s(0); }},
      {"dimension[1].bandwidth_gbytes_per_s is nan",
       [](proto::Cluster* c) {
         c->mutable_topology()->mutable_dimension(1)->set_bandwidth_gbytes_per_s(kNan);
       }},
      {"dimension[1].bandwidth_gbytes_per_s is 1e-12",
       [](proto::Cluster* c) {
         c->mutable_topology()->mutable_dimension(1)->set_bandwidth_gbytes_per_s(1e-12);
       }},
      {"dimension[1].bandwidth_bytes_per_s is -5",
       [](proto::Cluster* c) { c->mutable_topology()->mutable_dimension(1)->set_bandwidth_bytes_per_s(-5); }},
      {"dimension[0].latency_ns is inf",
       [](proto::Cluster* c) { c->mutable_topology()->mutable_dimension(0)->set_latency_ns(kInf); }},
      {"device.peak_tflops[\"bf16\"] is -1",
       [](proto::Cluster* c) { (*c->mutable_device()->mutable_peak_tflops())["bf16"] = -1; }},
      {"unknown dtype \"fp12\"",
       [](proto::Cluster* c) { (*c->mutable_device()->mutable_peak_tflops())["fp12"] = 1; }},
      {"device.achieved_tflops[\"bf16\"] is 1e+06; expected at most its peak_tflops, ",
       [](proto::Cluster* c) { (*c->mutable_device()->mutable_achieved_tflops())["bf16"] = 1e6; }},
      {"device.achieved_tflops[\"fp12\"] is 1; expected a dtype of device.peak_tflops",
       [](proto::Cluster* c) { (*c->mutable_device()->mutable_achieved_tflops())["fp12"] = 1; }},
      {"default_dtype is \"half\"",
       [](proto::Cluster* c) { c->mutable_device()->set_default_dtype("half"); }},
      {"device.memory_gbytes_per_s is -1",
       [](proto::Cluster* c) { c->mutable_device()->set_memory_gbytes_per_s(-1); }},
      {"device.memory_latency_ns is nan",
       [](proto::Cluster* c) { c->mutable_device()->set_memory_latency_ns(kNan); }},
      {"remote_memory.bandwidth_gbytes_per_s is 0",
       [](proto::Cluster* c) { c->mutable_remote_memory()->set_kind(proto::RemoteMemory::POOL); }},
      {"remote_memory.ranks_per_node is 0",
       [](proto::Cluster* c) {
         c->mutable_remote_memory()->set_kind(proto::RemoteMemory::PER_NODE);
         c->mutable_remote_memory()->set_bandwidth_gbytes_per_s(1);
       }},
      {"collectives.splits is -2", [](proto::Cluster* c) { c->mutable_collectives()->set_splits(-2); }},
      {"collectives.step_overhead_ns is -1",
       [](proto::Cluster* c) { c->mutable_collectives()->set_step_overhead_ns(-1); }},
      {"collectives.reduce_gbytes_per_s is inf",
       [](proto::Cluster* c) { c->mutable_collectives()->set_reduce_gbytes_per_s(kInf); }},
      {"unknown collective \"allreduce\"",
       [](proto::Cluster* c) { (*c->mutable_collectives()->mutable_algorithm())["allreduce"] = "ring"; }},
      {"algorithm[\"all_reduce\"] is \"rong\"",
       [](proto::Cluster* c) { (*c->mutable_collectives()->mutable_algorithm())["all_reduce"] = "rong"; }},
  };
  for (const BadCase& bad : cases) {
    proto::Cluster c = Load("dgx-h100");
    bad.spoil(&c);
    EXPECT_THAT(BuildError(c), HasSubstr(bad.what));
  }
  EXPECT_THAT(BuildError(Load("dgx-h100"), 0), HasSubstr("0 ranks"));
}

TEST(Cluster, RemoteMemoryReplacesLocal) {
  proto::Cluster c = Load("dgx-h100");
  c.mutable_remote_memory()->set_kind(proto::RemoteMemory::PER_NODE);
  c.mutable_remote_memory()->set_bandwidth_gbytes_per_s(100);
  c.mutable_remote_memory()->set_latency_ns(400);
  c.mutable_remote_memory()->set_ranks_per_node(8);
  absl::StatusOr<ClusterModel> m = BuildCluster(c, 8);
  ASSERT_TRUE(m.ok()) << m.status();
  EXPECT_EQ(m->memory.kind, MemoryModel::Kind::kPerNode);
  EXPECT_EQ(m->memory.bandwidth, Bandwidth::FromGigabytes(100));
  EXPECT_EQ(m->memory.latency, Time::Nanos(400));
  EXPECT_EQ(m->memory.ranks_per_node, 8);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
