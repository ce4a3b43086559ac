// A decoder that compares files with earlier files, against a new decoder.
#include "trace/et/alike_ranks.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "proto/et_def.pb.h"
#include "trace/et/decode.h"

namespace chakra::CHAKRA_FILE {
namespace {

struct Choice {
  int peer, tag, group;  // of the messages and calls of a rank
  std::string name;      // of a computation
};

std::string FileOf(const Choice& c) {
  std::string file = std::string("\x07\x0a\x05") + "0.0.4";
  for (int i = 0; i < 12; ++i) {
    ChakraProtoMsg::Node n;
    n.set_id(static_cast<uint64_t>(i));
    n.set_name(i == 5 ? c.name : "n" + std::to_string(i));
    if (i > 0) n.add_data_deps(static_cast<uint64_t>(i - 1));
    const auto attr = [&](const char* name) {
      ChakraProtoMsg::AttributeProto* a = n.add_attr();
      a->set_name(name);
      return a;
    };
    n.set_type(i % 3 == 0   ? ChakraProtoMsg::COMM_SEND_NODE
               : i % 3 == 1 ? ChakraProtoMsg::COMM_COLL_NODE
                            : ChakraProtoMsg::COMP_NODE);
    if (i % 3 == 0) {
      attr("comm_dst")->set_int32_val(c.peer + i);
      attr("comm_src")->set_uint64_val(static_cast<uint64_t>(c.peer));
      attr("comm_tag")->set_int32_val(c.tag);
    }
    if (i % 3 == 1) attr("comm_type")->set_int64_val(0);
    if (i % 3 != 0) attr("comm_group")->set_string_val("outer");
    if (i % 3 != 0) attr("pg_name")->set_string_val(std::to_string(c.group + i % 2));
    const std::string body = n.SerializeAsString();
    file.push_back(static_cast<char>((body.size() & 0x7f) | 0x80));
    file.push_back(static_cast<char>(body.size() >> 7));
    file += body;
  }
  return file;
}

TEST(AlikeRanks, ComparedFileEqualsDecodedFile) {
  std::mt19937 random(7);
  GraphPool pool;
  Decoder decoder(&pool);
  for (int round = 0; round < 400; ++round) {
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const std::string file =
        FileOf({below(140), below(3) == 0 ? -1 : below(200), below(120), below(4) == 0 ? "mm" : "mx"});
    Decoder fresh(&pool);
    const auto want = fresh.Decode(file, "f.et", round, ReadOptions());
    const auto got = decoder.Decode(file, "f.et", round, ReadOptions());
    ASSERT_TRUE(want.ok() && got.ok()) << want.status() << got.status();
    EXPECT_EQ(got->graph, want->graph);
    EXPECT_EQ(got->rank, round);
    EXPECT_EQ(got->metadata, want->metadata);
    EXPECT_EQ(got->group_names, want->group_names);
    ASSERT_EQ(got->peers.size(), want->peers.size());
    for (size_t i = 0; i < want->peers.size(); ++i) {
      const Peer &a = got->peers[i], &b = want->peers[i];
      EXPECT_TRUE(a.src == b.src && a.dst == b.dst && a.tag == b.tag && a.root == b.root &&
                  a.group == b.group)
          << round << " " << i;
    }
  }
}

TEST(AlikeRanks, FindsFilesThatDifferOnlyInVaryingValues) {
  AlikeRanks ranks;
  EXPECT_FALSE(ranks.Wants(6));
  EXPECT_TRUE(ranks.Wants(6));
  ranks.Keep(
      {"ab12\x05z", {{2, 4, 0, VaryingValue::kGroup}, {4, 5, 0, VaryingValue::kSource}}, {}, nullptr, ""});
  EXPECT_NE(ranks.Find("ab77\x06z"), nullptr);
  EXPECT_EQ(ranks.Find("aX12\x05z"), nullptr);
  EXPECT_EQ(ranks.Find("ab12\x05y"), nullptr);
  EXPECT_EQ(ranks.Find("ab12\x85z"), nullptr);  // a varint that goes on
  EXPECT_EQ(ranks.Find("ab12\x05zz"), nullptr);
  EXPECT_FALSE(ranks.Wants(AlikeRanks::kMostBytes));
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
