// Bad inputs: each is refused with a message that names the place and the fault, or is repaired and counted.
// The tests make the inputs; the binary reads them.
#include <zlib.h>

#include <cmath>
#include <functional>

#include "acceptance_testing.h"

namespace chakra::acceptance::CHAKRA_FILE {
namespace {

using std::to_string;
constexpr char kOn2[] = " --cluster ring2.txtpb";
constexpr int64_t kMicro = 1000000;  // ps

class BadInput : public Bench {
 protected:
  // One rank's file, x/w.0.et.
  std::vector<size_t> One(const std::vector<PbNode>& nodes) const { return Rank("x", 0, nodes); }
  int64_t Makespan(const std::string& arguments = "x") const { return Replayed(arguments).makespan_ps(); }
  static std::string Byte(size_t at) { return "byte " + to_string(at); }
};

PbNode WithCtrl(PbNode n, uint64_t dep) {
  n.add_ctrl_deps(dep);
  return n;
}

TEST_F(BadInput, DanglingDependenciesAreCountedAndIgnored) {
  One({Comp(0, 3), Comp(1, 4, {0, 99}), Comp(2, 5, {98, 1})});
  EXPECT_EQ(Makespan(), 12 * kMicro);
  Repaired("x", "dangling_data_dep", 2);
  One({Comp(0, 3), WithCtrl(Comp(1, 4, {0}), 99)});
  EXPECT_EQ(Makespan(), 7 * kMicro);
  Repaired("x", "dangling_ctrl_dep", 1);
  Refused("replay --strict x", {"x/w.0.et", "rank 0", "node 1", "ctrl", "99"});
}

TEST_F(BadInput, DuplicateIdErrorNamesBothOffsets) {
  const auto at = One({Comp(0, 1), Comp(7, 1), Comp(7, 2)});
  Refused("replay x", {"x/w.0.et", "rank 0", "node 7", "field id", Byte(at[1]), Byte(at[2])});
}

TEST_F(BadInput, DuplicateDependenciesCountOnce) {
  One({Comp(0, 1), WithCtrl(Comp(1, 2, {0, 0, 0}), 0)});
  const proto::Report report = Replayed("--strict x");
  EXPECT_EQ(report.makespan_ps(), 3 * kMicro);
  EXPECT_EQ(report.repair_size(), 0);
}

TEST_F(BadInput, CycleErrorListsItsNodes) {
  const auto at = One({Comp(5, 1), Comp(10, 1, {11}), Comp(11, 1, {12}), Comp(12, 1, {10})});
  Refused("replay x", {"x/w.0.et", "rank 0", "cycle", Byte(at[1]), "10", "11", "12"});
  Refused("inspect x", {"cycle"});
  One({Comp(10, 1, {11}), Comp(11, 1, {10})});  // nothing but the cycle
  Refused("replay x", {"x/w.0.et", "rank 0", "cycle", "10", "11"});
}

TEST_F(BadInput, RefusesDataSelfLoopsRepairsControlOnes) {
  const auto at = One({Comp(0, 1), Comp(1, 1, {1})});
  Refused("replay x", {"x/w.0.et", "rank 0", "node 1", "data_deps", Byte(at[1]), "itself"});
  One({Comp(0, 1), WithCtrl(Comp(1, 2, {0}), 1)});
  EXPECT_EQ(Makespan(), 3 * kMicro);
  Repaired("x", "self_ctrl_dep", 1);
}

TEST_F(BadInput, ForwardReferencesAreAccepted) {
  One({Comp(9, 2, {3}), Comp(3, 1)});
  EXPECT_EQ(Makespan("--strict x"), 3 * kMicro);
}

TEST_F(BadInput, TruncationIsRefusedOrDropsPartialNode) {
  const Encoded e = Encode({Comp(0, 1), Comp(1, 2, {0}), Comp(2, 4, {1})});
  // In the last node's body, and inside its length.
  for (size_t cut = e.at[1] + 1; cut < e.bytes.size(); ++cut) {
    if (cut == e.at[2] - 1) continue;  // the end of node 1: a whole file
    Write("x/w.0.et", e.bytes.substr(0, cut));
    const bool last = cut > e.at[2] - 1;
    Refused("replay x", {"x/w.0.et", "rank 0", "truncated at byte " + to_string(cut)});
    EXPECT_EQ(Makespan("x --allow-truncated"), (last ? 3 : 1) * kMicro) << cut;
  }
  Repaired("x --allow-truncated", "truncated", 1);
  Refused("replay x", {"of " + to_string(e.bytes.size())});
}

TEST_F(BadInput, RefusesStrayBytesAtTheEnd) {
  const Encoded e = Encode({Comp(0, 1)});
  for (const char* stray : {"\xff", "\xff\xff", "\xff\xff\xff\xff\xff\xff", "\x05", "junk"}) {
    Write("x/w.0.et", e.bytes + stray);
    Refused("replay x", {"x/w.0.et", "rank 0", "byte " + to_string(e.bytes.size())});
  }
}

TEST_F(BadInput, RefusesEmptyFilesAcceptsMetadataAlone) {
  Write("x/w.0.et", "");
  Refused("replay x", {"x/w.0.et", "rank 0", "empty"});
  One({});
  const proto::Report report = Replayed("x");
  EXPECT_EQ(report.makespan_ps(), 0);
  ASSERT_EQ(report.rank_size(), 1);
  EXPECT_EQ(report.rank(0).end_ps(), 0);
  Repaired("x", "no_nodes", 1);
}

TEST_F(BadInput, EmptyMetadataFrameIsAccepted) {
  Write("x/w.0.et", std::string(1, '\0') + Encode({Comp(0, 1), Comp(1, 2, {0})}, false).bytes);
  EXPECT_EQ(Makespan("--strict x"), 3 * kMicro);
}

TEST_F(BadInput, ZeroLengthFrameIsNodeZero) {
  const Encoded tail = Encode({Comp(1, 2, {0})}, false);
  const std::string head = Encode({Comp(5, 1)}).bytes + std::string(1, '\0');
  Write("x/w.0.et", head + tail.bytes);
  const proto::Report report = Replayed("x");
  EXPECT_EQ(report.nodes(), 3u);
  EXPECT_EQ(report.makespan_ps(), 3 * kMicro);  // one lane
  EXPECT_EQ(report.invalid_nodes(), 1u);
  Write("x/w.0.et", head + Encode({Comp(0, 2)}, false).bytes);
  Refused("replay x", {"x/w.0.et", "rank 0", "node 0", "field id", Byte(head.size())});
}

TEST_F(BadInput, MissingMetadataFrameLosesNoNode) {
  Write("x/w.0.et", Encode({Comp(4, 1), Comp(5, 2, {4})}, false).bytes);
  const proto::Report report = Replayed("x");
  EXPECT_EQ(report.nodes(), 2u);
  EXPECT_EQ(report.makespan_ps(), 3 * kMicro);
  Repaired("x", "missing_metadata", 1);
}

TEST_F(BadInput, RefusesGarbage) {
  std::string noise;
  uint32_t x = 1;
  for (int i = 0; i < 1000; ++i) noise.push_back(static_cast<char>((x = x * 1664525 + 1013904223) >> 24));
  for (const std::string& content : {noise, std::string("this is a note, not a trace\nof any kind\n"),
                                     std::string("{\"a\": 1}"), std::string("\x1f\x8b broken gzip"),
                                     std::string("\x28\xb5\x2f\xfd broken zstd"), std::string(64, '\xff')}) {
    Write("x/w.0.et", content);
    Refused("replay x", {"x/w.0.et"});
    Refused("inspect x", {"x/w.0.et"});
  }
  Write("x/w.0.et", "this is a note, not a trace\n");
  Refused("replay x", {"x/w.0.et", "not a Chakra"});
}

TEST_F(BadInput, GzipIsDetectedByContent) {
  const std::string plain = Encode({Comp(0, 1), Comp(1, 2, {0})}).bytes;
  fs::create_directories(At("x"));
  gzFile gz = gzopen(At("x/w.0.et").c_str(), "wb");
  gzwrite(gz, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose(gz);
  EXPECT_EQ(Makespan("--strict x"), 3 * kMicro);
  const std::string packed = Content(At("x/w.0.et"));
  Write("x/w.0.et", packed.substr(0, packed.size() - 6));
  Refused("replay x", {"x/w.0.et", "gzip"});
}

TEST_F(BadInput, ReadsBigNodesRefusesBigLengths) {
  PbNode big = Comp(1, 2, {0});
  big.mutable_inputs()->set_values(std::string(40000, 'v'));
  One({Comp(0, 1), big});
  EXPECT_EQ(Makespan("--strict x"), 3 * kMicro);
  Write("x/w.0.et", Encode({Comp(0, 1)}).bytes + "\xff\xff\xff\xff\x0f");  // a frame of 4 GiB
  Refused("replay x", {"x/w.0.et", "truncated"});
}

TEST_F(BadInput, RefusesMissingFilesWithoutCreatingThem) {
  Refused("replay nowhere", {"nowhere"});
  Refused("replay x/w.0.et", {"x/w.0.et"});
  EXPECT_FALSE(fs::exists(At("nowhere")));
  fs::create_directories(At("hollow"));
  Refused("replay hollow", {"hollow"});
}

TEST_F(BadInput, RefusesMissingOrUnknownCommType) {
  const auto at = One({Comp(0, 1), Without(Coll(3, 0, 64), "comm_type")});
  Refused("replay x", {"x/w.0.et", "rank 0", "node 3", "comm_type", "missing", Byte(at[1])});
  for (const int type : {10, 99, -1}) {
    One({Coll(3, type, 64)});
    Refused("replay x", {"x/w.0.et", "rank 0", "node 3", "comm_type", "unknown"});
  }
}

TEST_F(BadInput, IsCpuOpAcceptsAnyIntegerType) {
  PbNode host = Comp(0, 5);
  Attr(&host, "is_cpu_op")->set_int32_val(1);
  PbNode device = Comp(1, 3, {0});
  Attr(&device, "is_cpu_op")->set_uint64_val(0);
  One({host, device});
  const proto::Report report = Replayed("--strict x");
  ASSERT_EQ(report.rank_size(), 1);
  EXPECT_EQ(report.rank(0).host_busy_ps(), 5 * kMicro);
  EXPECT_EQ(report.rank(0).compute_busy_ps(), 3 * kMicro);
}

// The closed form of a ring all-reduce of `bytes` over 2 ranks: two rounds.
int64_t AllReduce2(int64_t bytes) {
  return 2 * TransferTime(static_cast<uint64_t>(bytes / 2), Bandwidth::BytesPerSecond(53687091200)).picos() +
         2 * 500000;
}

TEST_F(BadInput, CallsWithoutGroupUseAllRanks) {
  for (int r = 0; r < 2; ++r) Rank("x", r, {Coll(0, 0, 1 << 20)});
  EXPECT_EQ(Makespan(std::string("x") + kOn2), AllReduce2(1 << 20));
}

TEST_F(BadInput, RefusesUndefinedGroupsAndBadGroupFiles) {
  std::vector<size_t> at;
  for (int r = 0; r < 2; ++r)
    at = Rank("x", r, {Comp(0, 1), With(Coll(1, 0, 1 << 20, {0}), "pg_name", "tp/ä 1")});
  Refused(std::string("replay x") + kOn2,
          {"x/w.0.et", "rank 0", "node 1", "pg_name", "tp/ä 1", Byte(at[1]), "--groups"});
  Write("g.json", R"({"other": [0, 1]})");
  Refused(std::string("replay x --groups g.json") + kOn2, {"node 1", "pg_name", "tp/ä 1", "g.json"});
  Write("g.json", R"({"tp/ä 1": [0, 1]})");
  const proto::Report report = Replayed(std::string("x --groups g.json") + kOn2);
  EXPECT_EQ(report.makespan_ps(), 1 * kMicro + AllReduce2(1 << 20));
  EXPECT_NE(report.group_source().find("g.json"), std::string::npos);
  for (const char* bad :
       {"", "{", "[]", R"({"a": [0, "b"]})", R"({"a": [0, 0]})", R"({"a": [-1]})", R"({"a": 7})"}) {
    Write("g.json", bad);
    Refused(std::string("replay x --groups g.json") + kOn2, {"g.json"});
  }
  Refused(std::string("replay x --groups none.json") + kOn2, {"none.json"});
}

TEST_F(BadInput, RefusesGroupMemberWithoutTrace) {
  for (int r = 0; r < 2; ++r) Rank("x", r, {With(Coll(1, 0, 64), "pg_name", "7")});
  Write("g.json", R"({"7": [0, 1, 2]})");
  Refused("replay x --groups g.json --cluster ring4.txtpb", {"\"7\"", "rank 2", "no trace", "--ranks"});
}

TEST_F(BadInput, RefusesCallsOnGroupsOfOtherRanks) {
  for (int r = 0; r < 2; ++r) Rank("x", r, {With(Coll(1, 0, 64), "pg_name", "7")});
  Write("g.json", R"({"7": [0]})");
  Refused(std::string("replay x --groups g.json") + kOn2,
          {"x/w.1.et", "rank 1", "node 1", "pg_name", "not a member"});
}

TEST_F(BadInput, RefusesMessagesWithoutPartner) {
  const auto at = Rank("x", 0, {Send(4, 1, 64, 3)});
  Rank("x", 1, {Comp(0, 1)});
  Refused(std::string("replay x") + kOn2, {"x/w.0.et", "rank 0", "node 4", Byte(at[0]),
                                           "send without receive", "src 0", "dst 1", "tag 3", "64 bytes"});
  Rank("x", 0, {Comp(0, 1)});
  Rank("x", 1, {Recv(5, 0, 64, 3), Recv(6, 0, 65, 3)});
  Refused(std::string("replay x") + kOn2,
          {"2 messages", "rank 1", "node 5", "node 6", "receive without send", "65"});
  Rank("x", 0, {Send(4, 1, 64, 3)});
  Rank("x", 1, {Recv(5, 0, 64, 2)});  // another tag
  Refused(std::string("replay x") + kOn2, {"node 4", "node 5", "tag 3", "tag 2"});
  for (const int to : {2, -5}) {
    Rank("x", 0, {Send(4, to, 64)});
    Refused(std::string("replay x") + kOn2, {"x/w.0.et", "rank 0", "node 4", "comm_dst"});
  }
  Rank("x", 0, {Without(Send(4, 1, 64), "comm_size")});
  Refused(std::string("replay x") + kOn2, {"rank 0", "node 4", "comm_size"});
}

TEST_F(BadInput, UnequalMessageSizesNameBothSides) {
  const auto a = Rank("x", 0, {Send(4, 1, 64)});
  const auto b = Rank("x", 1, {Comp(0, 1), Recv(5, 0, 128)});
  Refused(std::string("replay x") + kOn2, {"x/w.0.et", "x/w.1.et", "node 4", "node 5", "comm_size",
                                           "64 bytes", "128 bytes", Byte(a[0]), Byte(b[1])});
}

TEST_F(BadInput, RefusesMessagesThatDeadlock) {
  for (int r = 0; r < 2; ++r) {
    PbNode recv = Recv(0, 1 - r, 64);
    PbNode send = Send(1, 1 - r, 64);
    send.add_data_deps(0);
    Rank("x", r, {recv, send});
  }
  Refused(std::string("replay x") + kOn2, {"cannot finish", "rank 0 waits", "rank 1 waits", "node 0"});
}

TEST_F(BadInput, EmptyMessagesCostLatencyEmptyCollectivesNothing) {
  for (int r = 0; r < 2; ++r) Rank("x", r, {Coll(0, 0, 0)});
  EXPECT_EQ(Makespan(std::string("x") + kOn2), 0);  // a library launches nothing
  Rank("x", 0, {Send(0, 1, 0)});
  Rank("x", 1, {Recv(0, 0, 0)});
  EXPECT_EQ(Makespan(std::string("x") + kOn2), 500000);
}

TEST_F(BadInput, DisagreeingCallsNameBothNodes) {
  const auto a = Rank("x", 0, {Coll(1, 0, 64), Coll(2, 2, 64, {1})});
  const auto b = Rank("x", 1, {Coll(1, 2, 64), Coll(2, 0, 64, {1})});
  Refused(std::string("replay x") + kOn2, {"x/w.0.et", "x/w.1.et", "rank 0", "rank 1", "comm_type",
                                           "all_reduce", "all_gather", Byte(a[0]), Byte(b[0])});
  Rank("x", 0, {Coll(1, 0, 64)});
  Rank("x", 1, {Coll(9, 0, 65)});
  Refused(std::string("replay x") + kOn2, {"node 1", "node 9", "comm_size", "64 bytes", "65 bytes"});
}

TEST_F(BadInput, RefusesRankThatNeverCalls) {
  const auto at = Rank("x", 0, {Coll(1, 0, 64), Coll(2, 0, 64, {1})});
  Rank("x", 1, {Comp(1, 5), Coll(3, 0, 64)});
  Refused(std::string("replay x") + kOn2,
          {"rank 1", "never", "call 1", "all_reduce", "x/w.0.et", "node 2", Byte(at[1]), "node 3"});
  Rank("x", 1, {Comp(1, 5)});
  Refused(std::string("replay x") + kOn2, {"rank 1", "call 0", "no call"});
}

TEST_F(BadInput, EveryCollectiveIsSimulated) {
  for (int type = 0; type <= 9; ++type) {
    for (int r = 0; r < 4; ++r) Rank("x", r, {Coll(0, type, 1 << 20)});
    const std::string arguments = "x --cluster ring4.txtpb";
    const proto::Report report = Replayed(arguments);
    EXPECT_GE(report.makespan_ps(), 500000) << type;
    EXPECT_EQ(report.nodes(), 4u) << type;
    EXPECT_EQ(Replayed(arguments + " --no-fast-path").makespan_ps(), report.makespan_ps()) << type;
  }
}

TEST_F(BadInput, MetadataAndInvalidNodesTakeNoTime) {
  One({MakeNode(0, ChakraProtoMsg::METADATA_NODE), Comp(1, 2, {0}),
       MakeNode(2, ChakraProtoMsg::INVALID_NODE, {1}), Comp(3, 1, {2})});
  const proto::Report report = Replayed("x");
  EXPECT_EQ(report.makespan_ps(), 3 * kMicro);
  EXPECT_EQ(report.invalid_nodes(), 1u);
  EXPECT_EQ(report.nodes(), 4u);
}

TEST_F(BadInput, MemoryNodesNeedBandwidthAndSize) {
  PbNode load = With(MakeNode(6, ChakraProtoMsg::MEM_LOAD_NODE, {0}), "tensor_size", 1 << 20);
  const auto at = One({Comp(0, 1), load});
  Write("one.txtpb", Ring(1));
  Refused("replay x --cluster one.txtpb",
          {"x/w.0.et", "rank 0", "node 6", Byte(at[1]), "memory_gbytes_per_s"});
  Write("one.txtpb", Ring(1) + "device { memory_gbytes_per_s: 1 }");
  EXPECT_EQ(Makespan("x --cluster one.txtpb"), 1 * kMicro + 1048576000);
  One({Without(load, "tensor_size")});
  Refused("replay x --cluster one.txtpb", {"x/w.0.et", "rank 0", "node 6", "tensor_size"});
}

TEST_F(BadInput, CommSizeIsParsedOrRefused) {
  const auto at = One({Comp(0, 1), Without(Coll(1, 0, 0), "comm_size")});
  Refused("replay x", {"x/w.0.et", "rank 0", "node 1", "comm_size", Byte(at[1])});
  const auto both = [&](const std::function<void(ChakraProtoMsg::AttributeProto*)>& set) {
    PbNode n = Coll(1, 0, 0);
    set(Attr(&n, "comm_size"));
    for (int r = 0; r < 2; ++r) Rank("y", r, {n});
  };
  both([](auto* a) { a->set_string_val("1048576"); });
  EXPECT_EQ(Makespan(std::string("y") + kOn2), AllReduce2(1 << 20));
  both([](auto* a) { a->set_double_val(1048576.0); });
  EXPECT_EQ(Makespan(std::string("y") + kOn2), AllReduce2(1 << 20));
  for (const char* text : {"", "12 bytes", "0x10", "1e6", "-4", "99999999999999999999999"}) {
    both([&](auto* a) { a->set_string_val(text); });
    Refused(std::string("replay y") + kOn2, {"y/w.0.et", "rank 0", "node 1", "comm_size", "byte "});
  }
  for (const double real : {0.5, -1.0, 1e300, std::nan(""), HUGE_VAL}) {
    both([&](auto* a) { a->set_double_val(real); });
    Refused(std::string("replay y") + kOn2, {"y/w.0.et", "rank 0", "node 1", "comm_size", "byte "});
  }
  both([](auto* a) { a->set_int64_val(-1); });
  Refused(std::string("replay y") + kOn2, {"y/w.0.et", "rank 0", "node 1", "comm_size", "byte "});
}

TEST_F(BadInput, RefusesTimesThatOverflow) {
  One({Comp(0, 9000000000000), Comp(1, 9000000000000, {0})});  // together more than int64 picoseconds
  Refused("replay x", {"rank 0", "node "});
  One({Comp(3, UINT64_MAX)});
  Refused("replay x", {"x/w.0.et", "rank 0", "node 3", "duration_micros", "byte "});
  for (int type = 0; type <= 8; ++type) {
    for (int r = 0; r < 2; ++r) Rank("y", r, {Coll(1, type, INT64_MAX)});
    Refused(std::string("replay y") + kOn2, {"node 1"});
  }
  Rank("y", 0, {Send(1, 1, INT64_MAX)});
  Rank("y", 1, {Recv(1, 0, INT64_MAX)});
  Refused(std::string("replay y") + kOn2, {"node 1"});
}

TEST_F(BadInput, RefusesFewerOrMoreFilesThanDevices) {
  for (const int r : {0, 3}) Rank("x", r, {Comp(0, 1)});
  Refused("replay x --cluster ring4.txtpb", {"1", "2", "--ranks"});
  for (int r = 0; r < 4; ++r) Rank("y", r, {Comp(0, 1)});
  Refused(std::string("replay y") + kOn2, {"4", "2"});
  EXPECT_EQ(Replayed("y/w.0.et --ranks 4 --cluster ring4.txtpb").ranks(), 4);
}

TEST_F(BadInput, FifoFabricUsesBothDimensions) {
  const std::string d =
      "dimension { kind: RING size: 2 bandwidth_bytes_per_s: 53687091200 latency_ns: 500 } ";
  Write("torus.txtpb", "topology { " + d + d + "}");
  for (int r = 0; r < 4; ++r) Rank("x", r, {Coll(0, 0, 1 << 20)});
  const proto::Report report = Replayed("x --fabric analytical-fifo --cluster torus.txtpb");
  EXPECT_GT(report.makespan_ps(), 0);
  ASSERT_EQ(report.dimension_size(), 2);
  EXPECT_GT(report.dimension(0).bytes(), 0u);
  EXPECT_GT(report.dimension(1).bytes(), 0u);
}

TEST_F(BadInput, UnknownNamesSuggestTheNearest) {
  One({Comp(0, 1)});
  Write("bad.yml", "topology: [ Rng ]\nnpus_count: [ 1 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n");
  Write("sys.json", R"({"preferred-dataset-splits": 1})");
  Refused("convert astra-sim --network bad.yml --system sys.json -o c.txtpb",
          {"bad.yml", "Rng", "Ring", "Switch"});
  Refused("replay x --workload-config y", {"--workload-config"}, 2);
  Refused("replay x --fabrik analytical", {"--fabrik", "--fabric"}, 2);
  Refused("replay x --fabric analitical", {"analitical", "analytical"}, 2);
  Refused("replay x --cluster dgx-h10", {"dgx-h10", "dgx-h100"});
  Write("c.txtpb", "topology { dimension { kind: RNG size: 1 } }");
  Refused("replay x --cluster c.txtpb", {"c.txtpb", "RNG"});
  for (const char* field :
       {"size: 0", "bandwidth_gbytes_per_s: nan", "bandwidth_gbytes_per_s: -1", "latency_ns: -1"}) {
    Write("c.txtpb",
          std::string("topology { dimension { kind: RING ") + field + " } dimension { kind: RING } }");
    Refused("replay x --cluster c.txtpb", {"c.txtpb", "dimension"});
  }
}

}  // namespace
}  // namespace chakra::acceptance::CHAKRA_FILE
