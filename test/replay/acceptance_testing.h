// Helpers of the acceptance tests: they make traces node by node, and call the binary as a user's script
// does.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "proto/et_def.pb.h"
#include "proto/report.pb.h"
#include "test/replay/run_binary.h"
#include "test/sanitized.h"
#include "trace/base/units.h"
#include "trace/et/writer.h"
#include "trace/io/proto_io.h"

namespace chakra::acceptance {

namespace fs = std::filesystem;
using PbNode = ChakraProtoMsg::Node;

using Outcome = CommandResult;

inline PbNode MakeNode(uint64_t id, ChakraProtoMsg::NodeType type, std::vector<uint64_t> deps = {}) {
  PbNode n;
  n.set_id(id);
  n.set_name("n" + std::to_string(id));
  n.set_type(type);
  for (const uint64_t d : deps) n.add_data_deps(d);
  auto* cpu = n.add_attr();
  cpu->set_name("is_cpu_op");
  cpu->set_bool_val(false);
  return n;
}
inline PbNode Comp(uint64_t id, uint64_t micros, std::vector<uint64_t> deps = {}) {
  PbNode n = MakeNode(id, ChakraProtoMsg::COMP_NODE, std::move(deps));
  n.set_duration_micros(micros);
  return n;
}
inline ChakraProtoMsg::AttributeProto* Attr(PbNode* n, const std::string& name) {
  for (auto& a : *n->mutable_attr()) {
    if (a.name() == name) return &a;
  }
  auto* a = n->add_attr();
  a->set_name(name);
  return a;
}
inline PbNode With(PbNode n, const std::string& name, int64_t value) {
  Attr(&n, name)->set_int64_val(value);
  return n;
}
inline PbNode With(PbNode n, const std::string& name, const char* value) {
  Attr(&n, name)->set_string_val(value);
  return n;
}
inline PbNode Without(const PbNode& n, const std::string& name) {
  PbNode r = n;
  r.clear_attr();
  for (const auto& a : n.attr()) {
    if (a.name() != name) *r.add_attr() = a;
  }
  return r;
}
inline PbNode Coll(uint64_t id, int type, int64_t bytes, std::vector<uint64_t> deps = {}) {
  return With(With(MakeNode(id, ChakraProtoMsg::COMM_COLL_NODE, std::move(deps)), "comm_type", type),
              "comm_size", bytes);
}
inline PbNode Send(uint64_t id, int to, int64_t bytes, int tag = 0) {
  return With(With(With(MakeNode(id, ChakraProtoMsg::COMM_SEND_NODE), "comm_dst", to), "comm_tag", tag),
              "comm_size", bytes);
}
inline PbNode Recv(uint64_t id, int from, int64_t bytes, int tag = 0) {
  return With(With(With(MakeNode(id, ChakraProtoMsg::COMM_RECV_NODE), "comm_src", from), "comm_tag", tag),
              "comm_size", bytes);
}

// The bytes of a file, and where each node's message begins.
struct Encoded {
  std::string bytes;
  std::vector<size_t> at;
};

inline Encoded Encode(const std::vector<PbNode>& nodes, bool metadata = true) {
  Encoded e;
  EtWriter writer(&e.bytes, Compression::kNone);
  ChakraProtoMsg::GlobalMetadata m;
  m.set_version("0.0.4");
  if (metadata) {
    EXPECT_TRUE(writer.AddMetadata(m).ok());
  }
  size_t end = metadata ? 1 + m.ByteSizeLong() : 0;
  for (const PbNode& n : nodes) {
    EXPECT_TRUE(writer.AddFrame(n.SerializeAsString()).ok());
    const size_t size = n.ByteSizeLong();
    end += size < 128 ? 1 : size < 16384 ? 2 : 3;
    e.at.push_back(end);
    end += size;
  }
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_EQ(end, e.bytes.size());
  return e;
}

// A temporary folder, and the binary with its output.
class Bench : public testing::Test {
 protected:
  Bench() {
    std::string pattern = (fs::temp_directory_path() / "acceptance.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    Write("ring4.txtpb", Ring(4));
    Write("ring2.txtpb", Ring(2));
  }
  ~Bench() override { fs::remove_all(folder_); }

  // Each link has 50 * 2^30 B/s and 500 ns.
  static std::string Ring(int n) {
    return "topology { dimension { kind: RING size: " + std::to_string(n) +
           " bandwidth_bytes_per_s: 53687091200 latency_ns: 500 } }\n";
  }

  static std::string Content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& content) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return At(name);
  }
  // Writes DIR/w.RANK.et; returns where each node begins.
  std::vector<size_t> Rank(const std::string& dir, int rank, const std::vector<PbNode>& nodes) const {
    const Encoded e = Encode(nodes);
    Write(RankName(dir, rank), e.bytes);
    return e.at;
  }
  static std::string RankName(const std::string& dir, int rank) {
    return dir + "/w." + std::to_string(rank) + ".et";
  }

  // Runs in the folder; a shell would take the same `arguments`.
  Outcome Run(const std::string& arguments, const std::string& out = "") const {
    return RunCommand(arguments, folder_.string(), out);
  }

  // The report of a run that must succeed. A second run with the critical path checks that the path explains
  // every picosecond, and that it changes only the numbers of flows and of collectives in closed form, and
  // the range of the makespan (which comes from the path, if there is one).
  proto::Report Replayed(const std::string& arguments) const {
    const proto::Report report = ReportOf(arguments);
    proto::Report explained = ReportOf(arguments + " --critical-path");
    ExpectWholePath(explained);
    explained.clear_critical_path();
    explained.set_flows(report.flows());
    explained.set_fast_collectives(report.fast_collectives());
    if (report.makespan_high_ps() > 0) {
      EXPECT_LE(explained.makespan_low_ps(), explained.makespan_ps());
      EXPECT_GE(explained.makespan_high_ps(), explained.makespan_ps());
      explained.set_makespan_low_ps(report.makespan_low_ps());
      explained.set_makespan_high_ps(report.makespan_high_ps());
    }
    EXPECT_EQ(explained.SerializeAsString(), report.SerializeAsString()) << arguments;
    return report;
  }
  // The report of one run, without these checks.
  proto::Report ReportOf(const std::string& arguments) const {
    proto::Report report;
    const Outcome r = Run("replay " + arguments + " -q --format json --report report.json");
    EXPECT_EQ(r.status, 0) << arguments << "\n" << r.err;
    if (r.status != 0) return report;
    const absl::Status read = ReadMessageFile(At("report.json"), &report);
    EXPECT_TRUE(read.ok()) << read;
    return report;
  }
  static int64_t Sum(const google::protobuf::RepeatedPtrField<proto::PathShare>& rows) {
    int64_t sum = 0;
    for (const proto::PathShare& row : rows) sum += row.time_ps();
    return sum;
  }
  static void ExpectWholePath(const proto::Report& report) {
    EXPECT_TRUE(report.has_critical_path());
    EXPECT_EQ(Sum(report.critical_path().cause()), report.makespan_ps());
    EXPECT_EQ(Sum(report.critical_path().rank()), report.makespan_ps());
    EXPECT_EQ(Sum(report.critical_path().lane()), report.makespan_ps());
    // Every picosecond on links belongs to a link, and messages waited only on links.
    int64_t links = 0, waiting = 0;
    for (const proto::PathShare& cause : report.critical_path().cause()) {
      if (cause.name() == "link latency" || cause.name() == "link transfer") links += cause.time_ps();
      if (cause.name() == "waiting in the network") waiting += cause.time_ps();
    }
    for (const proto::PathShare& link : report.critical_path().link())
      (absl::EndsWith(link.name(), " waiting") ? waiting : links) -= link.time_ps();
    EXPECT_EQ(links, 0);
    EXPECT_EQ(waiting, 0);
  }
  // Expects `status`, nothing on stdout, and every one of `texts` on stderr.
  void Refused(const std::string& arguments, const std::vector<std::string>& texts, int status = 1) const {
    const Outcome r = Run(arguments);
    EXPECT_EQ(r.status, status) << arguments << "\n" << r.err;
    EXPECT_EQ(r.out, "") << arguments;
    for (const std::string& text : texts) {
      EXPECT_NE(r.err.find(text), std::string::npos) << arguments << "\nlacks \"" << text << "\" in\n"
                                                     << r.err;
    }
  }
  // Expects that the repair `kind` was counted `count` times, and is an error with --strict.
  void Repaired(const std::string& arguments, const std::string& kind, uint64_t count) const {
    const proto::Report report = Replayed(arguments);
    uint64_t found = 0;
    for (const auto& r : report.repair()) found += r.kind() == kind ? r.count() : 0;
    EXPECT_EQ(found, count) << kind << "\n" << report.DebugString();
    Refused("replay --strict " + arguments, {kind, "strict"});
  }

  fs::path folder_;
};

}  // namespace chakra::acceptance
