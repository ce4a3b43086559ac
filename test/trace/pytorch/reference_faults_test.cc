// One test for each fault of the conversion with chakra_trace_link and chakra_converter: information that is
// lost there is kept here.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/trace/pytorch/capture_builder.h"

namespace chakra::pytorch::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;

std::string Rf(int64_t id) { return absl::StrCat(",\"Record function id\":", id); }

// A rank of two that all-reduces 1,000 floats on stream 20, from `begin` to
// `end`, with a kernel before it on stream 7.
KinetoBuilder AllReduceRank(int64_t begin, int64_t end,
                            const std::string& kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
                            const std::string& args = CommArgs("allreduce", 1000, 1000, "7", "[0, 1]", 2)) {
  return KinetoBuilder()
      .Op(1, "c10d::allreduce_", 1000, 9000, Rf(5))
      .Op(1, "record_param_comms", 2000, 7000, Rf(6))
      .Launch(1, 3000, 2000, 20, kernel, begin, end - begin, args)
      .Op(1, "aten::mul", 11000, 1000, Rf(7));
}
HostBuilder AllReduceHost(int rank, const std::string& collective = "allreduce") {
  return HostBuilder()
      .Node(10, "c10d::allreduce_", 2, 5)
      .Comm(11, 10, 6, collective, 1000, "7", rank, 0, 1, 2)
      .Node(12, "aten::mul", 2, 7);
}

TEST(ReferenceFault, KeepsStreamOrder) {
  CaptureFolder folder;
  folder.Rank(0, KinetoBuilder()
                     .Op(1, "a", 0, 9000)
                     .Launch(1, 1000, 1000, 7, "k1", 5000, 20000)
                     .Launch(1, 3000, 1000, 7, "k2", 26000, 1000));
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(w.Dep(w.Only("k2"), w.Only("k1")), "stream");
}

TEST(ReferenceFault, WritesDeviceToHostSynchronisation) {
  CaptureFolder folder;
  folder.Rank(0, KinetoBuilder()
                     .Op(1, "a", 0, 40000)
                     .Launch(1, 1000, 1000, 7, "k1", 5000, 20000)
                     .Call(1, "cudaStreamSynchronize", 3000, 23000, 9));
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(w.Dep(w.Only("cudaStreamSynchronize"), w.Only("k1")), "sync");
}

TEST(ReferenceFault, KeepsCrossStreamWaits) {
  CaptureFolder folder;
  folder.Rank(0, KinetoBuilder()
                     .Op(1, "a", 0, 40000)
                     .Launch(1, 1000, 1000, 7, "k1", 5000, 20000)
                     .Call(1, "cudaEventRecord", 2500, 100, 8)
                     .Call(1, "cudaStreamWaitEvent", 2700, 100, 9)
                     .Launch(1, 3000, 1000, 20, "k2", 26000, 1000));
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(w.Dep(w.Only("k2"), w.Only("k1")), "event_wait");
}

TEST(ReferenceFault, KeepsThreadsIndependent) {
  CaptureFolder folder;
  folder.Rank(0, KinetoBuilder().Op(1, "main", 0, 50000).Op(2, "loader", 1000, 48000));
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(w.Dep(w.Only("loader"), w.Only("main")), "none");
  EXPECT_EQ(w.Dep(w.Only("main"), w.Only("loader")), "none");
  EXPECT_NE(Written::Value(w.Only("main"), "tid"), Written::Value(w.Only("loader"), "tid"));
}

TEST(ReferenceFault, DoesNotCountWaitingAsCompute) {
  CaptureFolder folder;
  folder.Rank(0, KinetoBuilder()
                     .Op(1, "fwd", 0, 40000)
                     .Annotation(1, "## backward ##", 41000, 80000)
                     .Op(2, "autograd::engine::evaluate_function: Mul", 45000, 65000)
                     .Launch(1, 121500, 500, 7, "k", 123000, 50000)
                     .Call(1, "cudaDeviceSynchronize", 122500, 51500, 9));
  const Written w = Emitted(folder.Read());
  int64_t host = 0;
  for (const auto& n : w.nodes) {
    if (Written::Value(n, "is_cpu_op") == "true" && Written::Attr(n, "duration_ns") != nullptr)
      host += Written::Attr(n, "duration_ns")->int64_val();
  }
  // fwd, Mul, the end of the annotation, the launch, the call after k; and between these the threads' own
  // work: after fwd, before Mul, before the launch and after it.
  EXPECT_EQ(host, 40000 + 65000 + 11000 + 500 + 1000 + 1000 + 4000 + 500 + 500);
}

TEST(ReferenceFault, KeepsMemsetsAndGraphKernels) {
  CaptureFolder folder;
  folder.Rank(0, KinetoBuilder()
                     .Op(1, "a", 0, 40000)
                     .Call(1, "cudaMemsetAsync", 1000, 1000, 3)
                     .OnDevice("gpu_memset", 7, "Memset (Device)", 4000, 1000, 3, ",\"bytes\":4096")
                     .Call(1, "cudaGraphLaunch", 3000, 1000, 4)
                     .Kernel(7, "g1", 8000, 1000, 4)
                     .Kernel(7, "g2", 9500, 1000, 4)
                     .Call(1, "cuLaunchKernelEx", 6000, 1000, 5)
                     .Kernel(7, "triton", 12000, 1000, 5));
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(Written::Value(w.Only("Memset (Device)"), "tensor_size"), "4096");
  EXPECT_EQ(Written::Value(w.Only("Memset (Device)"), "category"), "gpu_memset");
  EXPECT_EQ(w.Dep(w.Only("g1"), w.Only("cudaGraphLaunch")), "launch");
  EXPECT_EQ(w.Dep(w.Only("g2"), w.Only("cudaGraphLaunch")), "launch");
  EXPECT_EQ(w.Dep(w.Only("triton"), w.Only("cuLaunchKernelEx")), "launch");
}

TEST(ReferenceFault, KeepsTheGroupWithOldNcclNames) {
  // A kernel of NCCL 2.18 and before, without arguments: the host trace knows.
  const std::string kernel = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)";
  CaptureFolder folder;
  for (const int rank : {0, 1}) {
    const HostBuilder host = AllReduceHost(rank);
    folder.Rank(rank, AllReduceRank(20000, 30000, kernel, ""), &host);
  }
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(w.Only(kernel).type(), ChakraProtoMsg::COMM_COLL_NODE);
  EXPECT_EQ(Written::Value(w.Only(kernel), "pg_name"), "7");
  EXPECT_EQ(Written::Value(w.Only(kernel), "comm_size"), "4000");
  EXPECT_EQ(Written::Value(w.Only(kernel), "comm_type"), "0");
}

TEST(ReferenceFault, ReadsReduceAndGenericKernels) {
  struct Case {
    const char *kernel, *collective;
    CollectiveType type;
  };
  for (const Case& c :
       {Case{"ncclDevKernel_Reduce_Sum_f32_RING_LL(x)", "reduce", CollectiveType::kReduce},
        Case{"ncclDevKernel_Generic_4(x)", "_allgather_base", CollectiveType::kAllGather},
        Case{"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(x)", "all_to_all", CollectiveType::kAllToAll},
        Case{"ncclDevKernel_SendRecv(x)", "gather", CollectiveType::kGather}}) {
    CaptureFolder folder;
    for (const int rank : {0, 1}) {
      const HostBuilder host =
          AllReduceHost(rank == 0 || std::string(c.collective) == "reduce" ? 0 : rank, c.collective);
      folder.Rank(rank, AllReduceRank(20000, 30000, c.kernel, ""), &host);
    }
    const Capture capture = folder.Read();
    EXPECT_EQ(PlanOf(capture, 1, c.kernel).type, NodeType::kCollective) << c.kernel;
    EXPECT_EQ(PlanOf(capture, 1, c.kernel).collective, c.type) << c.kernel;
    EXPECT_EQ(PlanOf(capture, 1, c.kernel).bytes, 4000u) << c.kernel;
  }
  // Without a host trace, the name of Reduce shows the kind. Nothing shows the kind of a Generic kernel: the
  // kernel keeps its time, and is counted.
  CaptureFolder alone;
  alone.Rank(0, AllReduceRank(20000, 30000, "ncclDevKernel_Reduce_Sum_f32_RING_LL(x)", ""));
  EXPECT_EQ(PlanOf(alone.Read(), 0, "ncclDevKernel_Reduce_Sum_f32_RING_LL(x)").collective,
            CollectiveType::kReduce);
  CaptureFolder by_operator;
  by_operator.Rank(0, AllReduceRank(20000, 30000, "ncclDevKernel_Generic_4(x)", ""));
  EXPECT_EQ(PlanOf(by_operator.Read(), 0, "ncclDevKernel_Generic_4(x)").collective,
            CollectiveType::kAllReduce)
      << "its operator tells";
  CaptureFolder unknown;
  unknown.Rank(0, KinetoBuilder()
                      .Op(1, "aten::mul", 1000, 1000)
                      .Launch(1, 3000, 2000, 20, "ncclDevKernel_Generic_4(x)", 20000, 10000));
  const Capture capture = unknown.Read();
  EXPECT_EQ(Notes(capture, "comm_kernel_unknown"), 1u);
  EXPECT_EQ(Emitted(capture).Only("ncclDevKernel_Generic_4(x)").type(), ChakraProtoMsg::COMP_NODE);
}

// Ranks 0 to 3; group "odd" is {1, 3}. `on1`, `on3`: the calls of ranks 1 and 3; `root1`, `root3`: their
// roots or peers.
CaptureFolder* OddPair(CaptureFolder* folder, const std::string& on1, const std::string& on3, int root1,
                       int root3) {
  for (const int rank : {0, 1, 2, 3}) {
    KinetoBuilder k =
        KinetoBuilder().Op(1, "c10d::call", 1000, 9000, Rf(5)).Op(1, "record_param_comms", 2000, 7000, Rf(6));
    HostBuilder h = HostBuilder().Node(10, "c10d::call", 2, 5);
    const bool odd = rank % 2 == 1;
    if (odd) {
      k.Launch(1, 3000, 2000, 20, "ncclDevKernel_SendRecv(x)", 20000, 5000);
      h.Comm(11, 10, 6, rank == 1 ? on1 : on3, 1000, "odd", rank == 1 ? root1 : root3, 1, 2, 2);
    } else {
      k.Launch(1, 3000, 2000, 7, "gemm", 20000, 5000);
      h.Node(11, "record_param_comms", 10, 6);
    }
    folder->Rank(rank, k, &h);
  }
  return folder;
}

TEST(ReferenceFault, WritesThePeerOfASend) {
  CaptureFolder folder;
  // As PyTorch writes it: the peer inside the group, which is {1, 3}.
  const Capture capture = OddPair(&folder, "send", "recv", 1, 0)->Read();
  const CommPlan send = PlanOf(capture, 1, "ncclDevKernel_SendRecv(x)"),
                 recv = PlanOf(capture, 3, "ncclDevKernel_SendRecv(x)");
  EXPECT_EQ(send.type, NodeType::kSend);
  EXPECT_EQ(send.peer, 3);
  EXPECT_EQ(recv.type, NodeType::kRecv);
  EXPECT_EQ(recv.peer, 1);
  EXPECT_EQ(send.tag, recv.tag);
  const Written w = Emitted(capture, 1);
  EXPECT_EQ(Written::Value(w.Only("ncclDevKernel_SendRecv(x)"), "comm_dst"), "3");
  EXPECT_EQ(Written::Value(Emitted(capture, 3).Only("ncclDevKernel_SendRecv(x)"), "comm_src"), "1");
}

TEST(ReferenceFault, WritesTheRootOfABroadcast) {
  CaptureFolder folder;
  const Capture capture = OddPair(&folder, "broadcast", "broadcast", 1, 1)->Read();
  EXPECT_EQ(PlanOf(capture, 1, "ncclDevKernel_SendRecv(x)").root, 3)
      << "member 1 of {1, 3}, as a global rank";
  EXPECT_EQ(Written::Value(Emitted(capture, 1).Only("ncclDevKernel_SendRecv(x)"), "root"), "3");
}

TEST(ReferenceFault, WritesUnevenSplits) {
  CaptureFolder folder;
  for (const int rank : {0, 1}) {
    const HostBuilder host =
        HostBuilder()
            .Node(10, "c10d::allreduce_", 2, 5)
            .Comm(11, 10, 6, "all_to_allv", 1000, "7", rank, 0, 1, 2, 1, "[900, 100]", "[400, 600]")
            .Node(12, "aten::mul", 2, 7);
    folder.Rank(rank, AllReduceRank(20000, 30000, "ncclDevKernel_SendRecv(x)", ""), &host);
  }
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(Written::Value(w.Only("ncclDevKernel_SendRecv(x)"), "in_split"), "900,100");
  EXPECT_EQ(Written::Value(w.Only("ncclDevKernel_SendRecv(x)"), "out_split"), "400,600");
}

TEST(ReferenceFault, KeepsNanoseconds) {
  CaptureFolder folder;
  folder.Rank(0, KinetoBuilder()
                     .Op(1, "a", 0, 9999)
                     .Launch(1, 1000, 1000, 7, "k1", 5001, 1999)
                     .Launch(1, 3000, 1000, 7, "k2", 7123, 456));
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(Written::Value(w.Only("k1"), "duration_ns"), "1999");
  EXPECT_EQ(w.Only("k1").duration_micros(), 2u) << "rounded, for readers that know only microseconds";
  EXPECT_EQ(Written::Value(w.Only("k1"), "start_ns"), "5001");
  EXPECT_EQ(w.Only("k1").start_time_micros(), 5u);
}

TEST(ReferenceFault, KeepsTimesBelowAMicrosecond) {
  CaptureFolder folder;
  folder.Rank(0, KinetoBuilder().Op(1, "a", 0, 300).Launch(1, 1000, 1, 7, "k", 1500, 456));
  auto traces = CaptureTraces(folder.Read(), {});
  ASSERT_TRUE(traces.ok());
  const Graph& g = *traces->ranks[0].graph;
  for (uint32_t i = 0; i < g.size(); ++i) {
    if (g.name_of(i) == "k") {
      EXPECT_EQ(g.duration[i], Time::Nanos(456));
    }
    if (g.name_of(i) == "a") {
      EXPECT_EQ(g.duration[i], Time::Nanos(300));
    }
  }
}

TEST(ReferenceFault, RemovesSkewFromCollectives) {
  CaptureFolder folder;
  folder.Rank(0, AllReduceRank(10000, 40000));
  folder.Rank(1, AllReduceRank(32000, 40000));
  const std::string kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";
  const Capture capture = folder.Read();
  EXPECT_EQ(PlanOf(capture, 0, kernel).transfer_ns, 8000) << "of 30,000 it waited 22,000 for rank 1";
  EXPECT_EQ(PlanOf(capture, 1, kernel).transfer_ns, 8000);
  EXPECT_EQ(Written::Value(Emitted(capture).Only(kernel), "transfer_ns"), "8000");
  EXPECT_EQ(Written::Value(Emitted(capture).Only(kernel), "duration_ns"), "30000")
      << "what was measured stays";
}

TEST(ReferenceFault, AcceptsRepeatedRecordFunctionIds) {
  const KinetoBuilder k = KinetoBuilder()
                              .Op(1, "aten::add", 0, 1000, Rf(5))
                              .Op(1, "aten::mul", 2000, 1000, Rf(5))
                              .Op(1, "aten::sub", 4000, 1000, Rf(6))
                              .Op(1, "aten::div", 6000, 1000, Rf(7));
  const HostBuilder h =
      HostBuilder().Node(10, "aten::add", 2, 5).Node(11, "aten::sub", 2, 6).Node(12, "aten::div", 2, 7);
  const Linked l = Link(k, h);
  EXPECT_EQ(l.pairing.matched, 3u);
  for (const char* name : {"aten::add", "aten::sub", "aten::div"}) {
    const uint32_t node = l.pairing.node_of_event[l.t.nodes[l.Find(name)].event];
    ASSERT_NE(node, kNoRow) << name;
    EXPECT_EQ(l.host.name_of(l.host.nodes[node]), name);
  }
  EXPECT_EQ(l.pairing.node_of_event[l.t.nodes[l.Find("aten::mul")].event], kNoRow);
}

TEST(ReferenceFault, AcceptsRepeatedExternalIds) {
  // simple_add's numbers: an operator's External id is another kernel's correlation.
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "aten::add", 0, 9000, ",\"External id\":22")
                            .Call(1, "cudaLaunchKernel", 1000, 1000, 39)
                            .Kernel(7, "k1", 5000, 1000, 39, ",\"External id\":39")
                            .Op(1, "aten::mul", 10000, 9000, ",\"External id\":39")
                            .Call(1, "cudaLaunchKernelExC", 11000, 1000, 22)
                            .Kernel(7, "k2", 15000, 1000, 22, ",\"External id\":22"));
  EXPECT_EQ(l.Edge("cudaLaunchKernel", "k1"), "launch+3000");
  EXPECT_EQ(l.Edge("cudaLaunchKernelExC", "k2"), "launch+3000");
}

TEST(ReferenceFault, AcceptsRepeatedCorrelations) {
  const Linked l = Link(KinetoBuilder()
                            .Op(1, "a", 0, 99000)
                            .Call(1, "first", 1000, 1000, 5)
                            .Kernel(7, "k1", 5000, 1000, 5)
                            .Call(1, "second", 51000, 1000, 5)
                            .Kernel(7, "k2", 55000, 1000, 5));
  EXPECT_EQ(l.Edge("first", "k1"), "launch+3000");
  EXPECT_EQ(l.Edge("second", "k2"), "launch+3000") << "the last call before it";
  EXPECT_EQ(l.Edge("first", "k2"), "none");
  ExpectReplaysItself(l);
  uint64_t counted = 0;
  for (const Repair& r : l.device.repairs) counted += r.kind == "kineto_duplicate_correlation" ? r.count : 0;
  EXPECT_EQ(counted, 1u);
}

TEST(ReferenceFault, KeepsOperatorsOutsideTheRootsTree) {
  CaptureFolder folder;
  for (const int rank : {0, 1}) {
    // The broadcast's parent, 77, is not in the file; nor is the thread's root.
    const HostBuilder host = HostBuilder()
                                 .Node(10, "c10d::allreduce_", 77, 5)
                                 .Comm(11, 10, 6, "broadcast", 1000, "7", 0, 0, 1, 2)
                                 .Node(12, "aten::mul", 78, 7);
    folder.Rank(rank, AllReduceRank(20000, 30000, "ncclDevKernel_Broadcast_RING_LL(x)", ""), &host);
  }
  const Capture capture = folder.Read();
  const CommPlan plan = PlanOf(capture, 0, "ncclDevKernel_Broadcast_RING_LL(x)");
  EXPECT_EQ(plan.collective, CollectiveType::kBroadcast);
  EXPECT_EQ(plan.bytes, 4000u);
  EXPECT_EQ(plan.root, 0);
  EXPECT_EQ(Notes(capture, "missing_parent"), 4u) << "two on each rank";
}

TEST(ReferenceFault, CorrectsRecordFunctionIdsOffByOne) {
  CaptureFolder folder;
  for (const int rank : {0, 1}) {
    HostBuilder host;  // one operator earlier: all ids are one less than Kineto's
    host.Node(10, "c10d::allreduce_", 2, 4)
        .Comm(11, 10, 5, "allreduce", 1000, "7", rank, 0, 1, 2)
        .Node(12, "aten::mul", 2, 6);
    folder.Rank(rank, AllReduceRank(20000, 30000, "ncclKernel_AllReduce_RING_LL_Sum_float(x)", ""), &host);
  }
  const Capture capture = folder.Read();
  EXPECT_EQ(capture.ranks[0].pairing.rf_offset, 1);
  EXPECT_EQ(capture.ranks[0].pairing.matched, 3u);
  EXPECT_EQ(PlanOf(capture, 0, "ncclKernel_AllReduce_RING_LL_Sum_float(x)").bytes, 4000u);
  EXPECT_EQ(Notes(capture, "rf_offset"), 6u) << "three operators on each rank";
}

TEST(ReferenceFault, SeparatesCoalescedSendsAndReceives) {
  // batch_isend_irecv on two ranks: calls without a kernel each, then one kernel.
  CaptureFolder folder;
  for (const int rank : {0, 1}) {
    const std::string peer = std::to_string(1 - rank);
    const auto args = [&](const std::string& what, int64_t elements) {
      return CommArgs(what, elements, elements, "7", "[0, 1]", 2, "Float",
                      absl::StrCat(what == "send" ? ",\"Dst Rank\":" : ",\"Src Rank\":", peer));
    };
    folder.Rank(rank,
                KinetoBuilder()
                    .Op(1, "c10d::send", 1000, 1000)
                    .Op(1, "record_param_comms", 1100, 800, args("send", rank == 0 ? 1000 : 2000))
                    .Op(1, "c10d::recv_", 3000, 1000)
                    .Op(1, "record_param_comms", 3100, 800, args("recv", rank == 0 ? 2000 : 1000))
                    .Op(1, "record_param_comms", 5000, 3000, CommArgs("coalesced", 0, 0, "7", "[0, 1]", 2))
                    .Launch(1, 6000, 1000, 20, "ncclDevKernel_SendRecv(x)", 10000 + rank * 5000,
                            20000 - rank * 5000));
  }
  const Capture capture = folder.Read();
  for (const int rank : {0, 1}) {
    std::vector<std::string> found;
    for (const TimelineNode& n : capture.ranks[static_cast<size_t>(rank)].timeline.nodes) {
      if (n.comm == kNoRow) continue;
      const CommPlan& plan = capture.joined.comms[static_cast<size_t>(rank)][n.comm];
      found.push_back(absl::StrCat(std::string(Name(plan.type)), " ", plan.bytes, " ", plan.peer, " ",
                                   plan.transfer_ns, " ", n.dur));
    }
    const std::string measured = std::to_string(20000 - rank * 5000);
    EXPECT_THAT(
        found,
        ElementsAre(
            absl::StrCat("COMM_SEND_NODE ", rank == 0 ? 4000 : 8000, " ", 1 - rank, " 15000 ", measured),
            absl::StrCat("COMM_RECV_NODE ", rank == 0 ? 8000 : 4000, " ", 1 - rank, " 15000 ", measured)));
  }
  const Written w = Emitted(capture);
  const auto nodes = w.Named("ncclDevKernel_SendRecv(x)");
  ASSERT_EQ(nodes.size(), 3u) << "the send, the receive, and the kernel that both end";
  EXPECT_EQ(nodes[2]->type(), ChakraProtoMsg::COMP_NODE);
  EXPECT_EQ(w.Dep(*nodes[2], *nodes[0]), "collective");
  EXPECT_EQ(w.Dep(*nodes[2], *nodes[1]), "collective");
  EXPECT_EQ(Written::Value(*nodes[2], "duration_ns"), "0");
}

TEST(ReferenceFault, CountsCallsWithoutAKernel) {
  CaptureFolder folder;
  for (const int rank : {0, 1}) {
    KinetoBuilder k = AllReduceRank(20000, 30000);
    k.Op(1, "record_param_comms", 50000, 1000,
         CommArgs("allreduce", 500, 500, absl::StrCat("alone", rank), absl::StrCat("[", rank, "]"), 1));
    k.Op(1, "record_param_comms", 60000, 1000, CommArgs("wait", 0, 0, "7", "[0, 1]", 2));
    folder.Rank(rank, k);
  }
  const Capture capture = folder.Read();
  EXPECT_EQ(Notes(capture, "calls_without_kernel"), 2u) << "one on each rank; a wait is no call";
  EXPECT_EQ(capture.report.ranks(0).comm_left_out(), 1u);
  EXPECT_EQ(capture.report.ranks(0).comm_left_out_bytes(), 2000u);
  EXPECT_EQ(capture.report.ranks(0).comm_nodes(), 1u);
  EXPECT_EQ(capture.report.ranks(0).comm_node_bytes(), 4000u);
}

TEST(ReferenceFault, KernelsHaveShapesWithoutOperands) {
  CaptureFolder folder;
  folder.Rank(
      0, KinetoBuilder()
             .Op(1, "aten::mm", 0, 9000, ",\"Input Dims\":[[8,8],[8,8]],\"Input type\":[\"float\",\"float\"]")
             .Launch(1, 1000, 1000, 7, "k", 5000, 1000));
  const Written w = Emitted(folder.Read());
  EXPECT_EQ(Written::Value(w.Only("k"), "op"), "aten::mm");
  EXPECT_EQ(w.Only("k").inputs().shapes(), "[[8,8],[8,8]]") << "shapes, for the kernel table";
  EXPECT_EQ(w.Only("k").inputs().values(), "") << "no tensors";
}

}  // namespace
}  // namespace chakra::pytorch::CHAKRA_FILE
