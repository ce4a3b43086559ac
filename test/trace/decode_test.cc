#include "trace/et/decode.h"

#include <zlib.h>
#include <zstd.h>

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/et_def.pb.h"
#include "trace/et/read_options.h"
#include "trace/import/reader.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ChakraProtoMsg::AttributeProto;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using PbNode = ChakraProtoMsg::Node;

std::string Varint(uint64_t v) {
  std::string s;
  for (; v >= 0x80; v >>= 7) s.push_back(static_cast<char>(v | 0x80));
  s.push_back(static_cast<char>(v));
  return s;
}

std::string Frame(const std::string& body) { return Varint(body.size()) + body; }

const std::string kMetadata = std::string("\x07\x0a\x05") + "0.0.4";

PbNode MakeNode(uint64_t id, std::vector<uint64_t> data = {}, std::vector<uint64_t> ctrl = {}) {
  PbNode n;
  n.set_id(id);
  n.set_name("n" + std::to_string(id));
  n.set_type(ChakraProtoMsg::COMP_NODE);
  for (const uint64_t d : data) n.add_data_deps(d);
  for (const uint64_t d : ctrl) n.add_ctrl_deps(d);
  return n;
}

AttributeProto* Attr(PbNode* n, const std::string& name) {
  AttributeProto* a = n->add_attr();
  a->set_name(name);
  return a;
}

std::string File(const std::vector<PbNode>& nodes) {
  std::string s = kMetadata;
  for (const PbNode& n : nodes) s += Frame(n.SerializeAsString());
  return s;
}

absl::StatusOr<RankTrace> Read(const std::string& content, const ReadOptions& options = {}) {
  return DecodeTrace(content, "f.et", 3, options);
}

std::string ErrorOf(const std::string& content, const ReadOptions& options = {}) {
  const auto t = Read(content, options);
  return t.ok() ? "no error" : std::string(t.status().message());
}

std::vector<std::string> RepairsOf(const std::string& content, const ReadOptions& options = {}) {
  const auto t = Read(content, options);
  std::vector<std::string> kinds;
  if (!t.ok()) return {t.status().ToString()};
  for (const Repair& r : t->repairs) kinds.push_back(r.kind + " " + std::to_string(r.count));
  return kinds;
}

std::vector<uint32_t> DepsOf(const Graph& g, uint32_t row) {
  return {g.dep.begin() + g.dep_begin[row], g.dep.begin() + g.dep_begin[row + 1]};
}

TEST(Decode, ReadsColumns) {
  PbNode a = MakeNode(0);
  a.set_start_time_micros(5);
  a.set_duration_micros(28);
  a.mutable_inputs()->set_shapes("[[4]]");
  Attr(&a, "num_ops")->set_int64_val(7);
  Attr(&a, "is_cpu_op")->set_bool_val(true);
  Attr(&a, "tid")->set_int64_val(2);
  PbNode b = MakeNode(1, {0, 0}, {0});
  b.set_type(ChakraProtoMsg::COMM_COLL_NODE);
  Attr(&b, "comm_type")->set_int64_val(5);
  Attr(&b, "comm_size")->set_int64_val(212480);
  Attr(&b, "pg_name")->set_string_val("dp");
  Attr(&b, "stream")->set_int64_val(7);
  auto* dims = Attr(&b, "involved_dim")->mutable_bool_list();
  dims->add_values(true);
  dims->add_values(false);
  dims->add_values(true);
  const auto t = Read(File({a, b}));
  ASSERT_TRUE(t.ok()) << t.status();
  const Graph& g = *t->graph;
  ASSERT_EQ(g.size(), 2u);
  EXPECT_EQ(g.name_of(1), "n1");
  EXPECT_EQ(g.start[0], Time::Micros(5));
  EXPECT_EQ(g.duration[0], Time::Micros(28));
  EXPECT_EQ(g.strings.Get(g.shapes[0]), "[[4]]");
  EXPECT_TRUE(g.types.empty());
  EXPECT_TRUE(g.is_cpu(0));
  EXPECT_THAT(g.lane, ElementsAre(2, 7));
  EXPECT_EQ(g.work[g.payload[0]].num_ops, 7);
  const Comm& c = g.comm[g.payload[1]];
  EXPECT_EQ(c.bytes, 212480u);
  EXPECT_EQ(c.type, 5);
  EXPECT_EQ(c.dims_count, 3);
  EXPECT_EQ(c.involved_dims, 5u);
  EXPECT_EQ(t->group_names[t->peers[g.payload[1]].group], "dp");
  EXPECT_THAT(DepsOf(g, 1), ElementsAre(0u));
  EXPECT_THAT(g.child, ElementsAre(1u));
  EXPECT_THAT(t->repairs, IsEmpty());
}

TEST(Decode, RefusesBadTimeFactors) {
  PbNode n = MakeNode(0);
  Attr(&n, "time_factor")->set_double_val(-1);
  EXPECT_THAT(ErrorOf(File({n})), HasSubstr("expected a double from 0 to 1e+09, found -1"));
  n.mutable_attr()->Mutable(n.attr_size() - 1)->set_int64_val(2);
  EXPECT_THAT(ErrorOf(File({n})), HasSubstr("found int64_val"));
}

// One case for each form of the number 3 (and of -1 where the kind has a sign).
TEST(Decode, TakesAnyIntegerKind) {
  std::vector<std::pair<std::string, void (*)(AttributeProto*)>> cases = {
      {"int32", [](AttributeProto* a) { a->set_int32_val(3); }},
      {"int64", [](AttributeProto* a) { a->set_int64_val(3); }},
      {"uint32", [](AttributeProto* a) { a->set_uint32_val(3); }},
      {"uint64", [](AttributeProto* a) { a->set_uint64_val(3); }},
      {"sint32", [](AttributeProto* a) { a->set_sint32_val(3); }},
      {"sint64", [](AttributeProto* a) { a->set_sint64_val(3); }},
      {"fixed32", [](AttributeProto* a) { a->set_fixed32_val(3); }},
      {"fixed64", [](AttributeProto* a) { a->set_fixed64_val(3); }},
      {"sfixed32", [](AttributeProto* a) { a->set_sfixed32_val(3); }},
      {"sfixed64", [](AttributeProto* a) { a->set_sfixed64_val(3); }},
      {"double", [](AttributeProto* a) { a->set_double_val(3); }},
      {"float", [](AttributeProto* a) { a->set_float_val(3); }},
      {"string", [](AttributeProto* a) { a->set_string_val("3"); }}};
  for (const auto& [kind, set] : cases) {
    PbNode n = MakeNode(0);
    n.set_type(ChakraProtoMsg::COMM_SEND_NODE);
    set(Attr(&n, "comm_size"));
    set(Attr(&n, "comm_dst"));
    const auto t = Read(File({n}));
    ASSERT_TRUE(t.ok()) << kind << t.status();
    EXPECT_EQ(t->graph->comm[0].bytes, 3u) << kind;
    EXPECT_EQ(t->peers[0].dst, 3) << kind;
  }
  PbNode n = MakeNode(0);
  n.set_type(ChakraProtoMsg::COMM_SEND_NODE);
  Attr(&n, "comm_tag")->set_sint32_val(-9);
  EXPECT_EQ(Read(File({n}))->peers[0].tag, -9);
}

TEST(Decode, RefusesOtherKinds) {
  PbNode n = MakeNode(17);
  Attr(&n, "comm_size")->set_double_val(1.5);
  EXPECT_THAT(ErrorOf(File({n})),
              HasSubstr("f.et: rank 3, node 17 (\"n17\"), field attribute comm_size, byte 31"));
  n.clear_attr();
  Attr(&n, "comm_size")->set_string_val("12 MB");
  EXPECT_THAT(ErrorOf(File({n})), HasSubstr("found string_val \"12 MB\""));
  n.clear_attr();
  Attr(&n, "comm_size")->set_int64_val(-1);
  EXPECT_THAT(ErrorOf(File({n})), HasSubstr("out of range"));
  n.clear_attr();
  Attr(&n, "comm_size")->mutable_int64_list()->add_values(1);
  EXPECT_THAT(ErrorOf(File({n})), HasSubstr("int64_list"));
}

TEST(Decode, PrefersNanosecondsToMicroseconds) {
  PbNode n = MakeNode(0);
  Attr(&n, "duration_ns")->set_int64_val(1234);
  n.set_duration_micros(1);
  Attr(&n, "start_ns")->set_int64_val(77);
  const auto t = Read(File({n}));
  EXPECT_EQ(t->graph->duration[0], Time::Nanos(1234));
  EXPECT_EQ(t->graph->start[0], Time::Nanos(77));
}

TEST(Decode, HandlesLargeTimes) {
  PbNode n = MakeNode(0);
  n.set_duration_micros(9223372036855);
  EXPECT_THAT(ErrorOf(File({n})), HasSubstr("field duration_micros"));
  PbNode a = MakeNode(0), b = MakeNode(1);  // microseconds of the epoch: counted from the first
  a.set_start_time_micros(1700000000000000);
  b.set_start_time_micros(1700000000000005);
  const auto t = Read(File({a, b}));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->graph->start[1], Time::Micros(5));
}

TEST(Decode, ReadsPackedAndUnpackedDeps) {
  const std::string unpacked = Frame(std::string("\x08\x02\x18\x04\x28\x00\x28\x01", 8));
  const auto t = Read(File({MakeNode(0), MakeNode(1)}) + unpacked);
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_THAT(DepsOf(*t->graph, 2), ElementsAre(0u, 1u));
}

TEST(Decode, CountsRepairsAndRefusesThemIfStrict) {
  const std::string dangling = File({MakeNode(0), MakeNode(1, {99}), MakeNode(2, {98}, {97})});
  EXPECT_THAT(RepairsOf(dangling), ElementsAre("dangling_data_dep 2", "dangling_ctrl_dep 1"));
  EXPECT_THAT(RepairsOf(File({MakeNode(0, {}, {0})})), ElementsAre("self_ctrl_dep 1"));
  EXPECT_THAT(RepairsOf(kMetadata), ElementsAre("no_nodes 1"));
  EXPECT_THAT(RepairsOf(Frame(MakeNode(7).SerializeAsString())), ElementsAre("missing_metadata 1"));
  ReadOptions strict;
  strict.strict = true;
  EXPECT_THAT(ErrorOf(dangling, strict), HasSubstr("dangling_data_dep"));
  EXPECT_EQ(ErrorOf(File({MakeNode(0)}), strict), "no error");
}

TEST(Decode, HostCollectiveWrapperBecomesHostOperation) {
  PbNode n = MakeNode(0);
  n.set_type(ChakraProtoMsg::COMM_COLL_NODE);
  Attr(&n, "is_cpu_op")->set_bool_val(true);
  EXPECT_THAT(RepairsOf(File({n})), ElementsAre("host_collective_wrapper 1"));
  EXPECT_EQ(Read(File({n}))->graph->type[0], NodeType::kComp);
}

TEST(Decode, RefusesDuplicateIds) {
  const std::string e = ErrorOf(File({MakeNode(1), MakeNode(2), MakeNode(1)}));
  EXPECT_THAT(e, HasSubstr("node 1, field id, byte 27"));
  EXPECT_THAT(e, HasSubstr("at byte 9,"));
  const uint64_t far = uint64_t{1} << 60;
  EXPECT_THAT(ErrorOf(File({MakeNode(far), MakeNode(far)})), HasSubstr("field id"));
}

TEST(Decode, ReadsHugeIds) {
  const uint64_t far = ~uint64_t{0};
  const auto t = Read(File({MakeNode(far), MakeNode(5, {far})}));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_THAT(DepsOf(*t->graph, 1), ElementsAre(0u));
}

TEST(Decode, RefusesCycles) {
  EXPECT_THAT(ErrorOf(File({MakeNode(0), MakeNode(1, {2}), MakeNode(2, {1})})),
              HasSubstr("1 (\"n1\") waits for 2 (\"n2\") waits for 1 (\"n1\")"));
  EXPECT_THAT(ErrorOf(File({MakeNode(1, {}, {2}), MakeNode(2, {1})})), HasSubstr("cycle of 2 nodes"));
  EXPECT_THAT(ErrorOf(File({MakeNode(1, {1})})), HasSubstr("field data_deps, byte 9"));
  // Control dependencies that use the ids of another trace are all dropped.
  const std::string foreign = File({MakeNode(0, {}, {0}), MakeNode(1, {0}, {2}), MakeNode(2, {1})});
  EXPECT_THAT(RepairsOf(foreign), ElementsAre("self_ctrl_dep 1", "cyclic_ctrl_deps 2"));
  EXPECT_THAT(DepsOf(*Read(foreign)->graph, 1), ElementsAre(0u));
}

TEST(Decode, OrdersByStartThenId) {
  PbNode a = MakeNode(5), b = MakeNode(3, {4}), c = MakeNode(4);
  c.set_start_time_micros(9);
  EXPECT_THAT(Read(File({a, b, c}))->graph->order, ElementsAre(0u, 2u, 1u));
  EXPECT_THAT(Read(File({MakeNode(2), MakeNode(1), MakeNode(0)}))->graph->order, ElementsAre(2u, 1u, 0u));
}

// Cutting a good file anywhere but between frames is an error that says so;
// with allow_truncated the whole nodes before the cut are kept.
TEST(Decode, ReportsTruncationAtEveryByte) {
  const std::string good = File({MakeNode(0), MakeNode(1, {0})});
  const size_t first = kMetadata.size(), second = first + 1 + MakeNode(0).ByteSizeLong();
  ReadOptions lenient;
  lenient.allow_truncated = true;
  for (size_t n = 1; n < good.size(); ++n) {
    const std::string cut = good.substr(0, n);
    if (n == first || n == second) {
      EXPECT_EQ(ErrorOf(cut), "no error") << n;
      continue;
    }
    EXPECT_THAT(ErrorOf(cut), HasSubstr("truncated at byte " + std::to_string(n))) << n;
    if (n < first) continue;
    const auto t = Read(cut, lenient);
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(t->graph->size(), n < second ? 0u : 1u);
    EXPECT_EQ(t->repairs[0].kind, "truncated");
  }
}

TEST(Decode, RefusesFilesThatAreNoTrace) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("empty"));
  EXPECT_THAT(ErrorOf("hello world, this is not a trace"), HasSubstr("not a Chakra trace"));
  EXPECT_THAT(ErrorOf("hello world, this is not a trace"), HasSubstr("looks like text"));
  EXPECT_THAT(ErrorOf("\x01\x02\x03\x04"), HasSubstr("not a Chakra trace"));
  EXPECT_THAT(ErrorOf(kMetadata + "\xff"), HasSubstr("truncated"));
  EXPECT_THAT(ErrorOf(kMetadata + "\xff\xff\xff\xff\xff\xff\x01"), HasSubstr("at most 5 bytes"));
}

TEST(Decode, OldSchemaIsNamed) {
  // node_type 3 (COMP), parent 0 unpacked, num_ops 12
  const std::string old = std::string("\x08\x01\x12\x01x\x18\x03\x20\x00\x60\x05", 11);
  EXPECT_THAT(ErrorOf(Frame(old)), HasSubstr("schema 0.0.1 is not supported"));
}

TEST(Decode, RefusesDamagedNodes) {
  const auto node = [](const std::string& body) { return ErrorOf(kMetadata + Frame(body)); };
  EXPECT_THAT(node("\x02x"), HasSubstr("field number 0"));
  EXPECT_THAT(node("\x0b\x0c"), HasSubstr("group"));
  EXPECT_THAT(node("\x0a\x01x"), HasSubstr("field id, byte 9: wire type 2, expected 0"));
  EXPECT_THAT(node("\x12\x09x"), HasSubstr("longer than the message"));
  EXPECT_THAT(node("\x18\x08"), HasSubstr("unknown node type 8"));
  EXPECT_THAT(node("\x2a\x01\x80"), HasSubstr("field data_deps"));
  EXPECT_THAT(node("\x08\x80"), HasSubstr("a varint that does not end"));
}

TEST(Decode, HandlesUnknownFieldsAndEmptyFrames) {
  EXPECT_EQ(ErrorOf(kMetadata + Frame(std::string("\x08\x01\xa0\x06\x05", 5))), "no error");  // field 100
  const auto t = Read(File({MakeNode(5)}) + std::string(1, '\0'));
  ASSERT_TRUE(t.ok()) << t.status();
  EXPECT_EQ(t->graph->id[1], 0u);
  EXPECT_THAT(ErrorOf(kMetadata + std::string(2, '\0')), HasSubstr("field id"));
}

TEST(Decode, KeepsRawFrames) {
  ReadOptions keep;
  keep.keep_raw = true;
  const std::string body = MakeNode(4).SerializeAsString();
  const auto t = Read(kMetadata + Frame(body), keep);
  EXPECT_TRUE(t->raw->has_metadata);
  EXPECT_EQ(t->raw->frame(0), kMetadata.substr(1));
  EXPECT_EQ(t->raw->frame(1), body);
  const auto bare = Read(Frame(body), keep);
  EXPECT_FALSE(bare->raw->has_metadata);
  EXPECT_EQ(bare->raw->frame(0), "");
  EXPECT_EQ(bare->raw->frame(1), body);
}

TEST(Decode, ReadsMetadataWithoutVersion) {
  ChakraProtoMsg::GlobalMetadata md;
  md.add_attr()->set_name("schema");
  EXPECT_EQ(Read(Frame(md.SerializeAsString()))->metadata, md.SerializeAsString());
  EXPECT_THAT(RepairsOf(Frame(MakeNode(0).SerializeAsString())), ElementsAre("missing_metadata 1"));
}

TEST(Decode, ReadsZstd) {
  std::string good = File({MakeNode(0), MakeNode(1, {0})});
  std::string packed(ZSTD_compressBound(good.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), good.data(), good.size(), 3));
  EXPECT_EQ(Read(packed)->graph->size(), 2u);
  EXPECT_THAT(ErrorOf(packed.substr(0, packed.size() - 3)), HasSubstr("truncated"));
  packed[packed.size() / 2] ^= 0x55;
  EXPECT_NE(ErrorOf(packed), "no error");
}

TEST(Decode, ReadsGzipMembers) {
  const auto gzip = [](const std::string& s) {
    z_stream z = {};
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(s.size() + 100, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(s.data()));
    z.avail_in = static_cast<uInt>(s.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    deflate(&z, Z_FINISH);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
  };
  const std::string two = gzip(kMetadata) + gzip(Frame(MakeNode(3).SerializeAsString()));
  EXPECT_EQ(Read(two)->graph->id[0], 3u);
  EXPECT_THAT(ErrorOf(two.substr(0, two.size() - 2)), HasSubstr("compressed byte"));
  EXPECT_THAT(ErrorOf(two + "x"), HasSubstr("trailing bytes"));
}

// Each id, name, type, duration and dependency equals that of protobuf's parser.
TEST(Decode, AgreesWithProtobuf) {
  std::vector<PbNode> nodes;
  for (uint64_t i = 0; i < 500; ++i) {
    PbNode n = MakeNode(i * 3, {}, {});
    for (uint64_t k = 0; k < i % 4 && k < i; ++k) n.add_data_deps((i - 1 - k) * 3);
    n.set_type(static_cast<ChakraProtoMsg::NodeType>(i % 8));
    n.set_duration_micros(i * 977);
    Attr(&n, "comm_size")->set_uint64_val(i << 33);
    Attr(&n, "unknown")->set_string_val(std::string(i, 'z'));
    nodes.push_back(n);
  }
  const auto t = Read(File(nodes));
  ASSERT_TRUE(t.ok()) << t.status();
  const Graph& g = *t->graph;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(g.id[i], nodes[i].id());
    EXPECT_EQ(g.name_of(i), nodes[i].name());
    EXPECT_EQ(static_cast<int>(g.type[i]), nodes[i].type());
    EXPECT_EQ(g.duration[i], Time::Micros(static_cast<int64_t>(nodes[i].duration_micros())));
    EXPECT_EQ(DepsOf(g, i).size(), static_cast<size_t>(nodes[i].data_deps_size()));
    if (g.type[i] >= NodeType::kSend) {
      EXPECT_EQ(g.comm[g.payload[i]].bytes, uint64_t{i} << 33);
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
