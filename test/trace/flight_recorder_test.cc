// Dumps of PyTorch's Flight Recorder, as pickles and as JSON; and pickles that the reader refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/trace/call_log_testing.h"
#include "trace/import/collective_logs/pickle.h"

namespace chakra::collective_logs::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FlightDump Dump(int rank) {
  FlightDump dump;
  dump.groups = {{"0", {0, 1, 2, 3}}, {"5", {rank / 2 * 2, rank / 2 * 2 + 1}}};
  const int64_t base = 1700000000000000000 + rank * 1000;
  dump.entries = {
      {.sequence = 1, .created_ns = base, .completed_ns = base + 900000, .duration_ms = 0.5},
      {.group = "5",
       .desc = "undefined",
       .name = "nccl:_all_gather_base",
       .sequence = 1,
       .in = {128},
       .out = {256},
       .dtype = "Float",
       .created_ns = base + 1000000,
       .completed_ns = base + 1400000,
       .duration_ms = 0.25},
      {.group = "5",
       .desc = "undefined",
       .name = rank % 2 == 0 ? "nccl:send 0->1" : "nccl:recv 1<-0",
       .sequence = 1,
       .p2p = true,
       .in = {64},
       .out = {64},
       .dtype = "Half",
       .created_ns = base + 2000000,
       .completed_ns = base + 2300000},
  };
  return dump;
}

TEST(FlightRecorder, PickleAndJsonGiveTheSameTraces) {
  LogFolder pickles("pickles"), jsons("jsons");
  for (int r = 0; r < 4; ++r) {
    pickles.Add(absl::StrCat("nccl_trace_rank_", r), PrintPickle(Dump(r)));
    jsons.Add(absl::StrCat("nccl_trace_rank_", r, ".json"), PrintJson(Dump(r)));
  }
  const auto a = pickles.Read(), b = jsons.Read();
  ASSERT_TRUE(a.ok()) << a.status();
  ASSERT_TRUE(b.ok()) << b.status();
  ASSERT_EQ(a->ranks.size(), 4u);
  EXPECT_EQ(a->groups, b->groups);
  EXPECT_THAT(a->groups.at("default_pg"), ElementsAre(0, 1, 2, 3));
  for (int r = 0; r < 4; ++r) {
    const Graph &x = *a->ranks[r].graph, &y = *b->ranks[r].graph;
    EXPECT_EQ(x.start, y.start);
    EXPECT_EQ(x.duration, y.duration);
    EXPECT_EQ(x.type, y.type);
  }
  const Graph& g = *a->ranks[1].graph;
  ASSERT_EQ(g.comm.size(), 3u);
  EXPECT_EQ(g.comm[0].bytes, 1024u * 256 * 2);
  EXPECT_EQ(g.comm[1].bytes, 128u * 4);  // the input of an all-gather
  EXPECT_EQ(g.comm[2].bytes, 64u * 2);
  EXPECT_EQ(g.start[3], Time::Micros(1));
  EXPECT_EQ(g.duration[3], Time::Micros(500));  // by the device
  EXPECT_EQ(a->ranks[1].peers[2].src, 0);
  EXPECT_EQ(a->ranks[2].peers[2].dst, 3);
}

TEST(FlightRecorder, JoinsPartsOfACoalescedCall) {
  LogFolder folder("coalesced");
  for (int r = 0; r < 2; ++r) {
    FlightDump dump;
    dump.groups = {{"0", {0, 1}}};
    for (const char* name :
         {"nccl:all_gather_into_tensor_coalesced", "nccl:all_gather_into_tensor_coalesced"})
      dump.entries.push_back({.name = name, .sequence = 4, .created_ns = 1000});
    dump.entries.push_back({.name = "nccl:coalesced",
                            .sequence = 4,
                            .created_ns = 1500,
                            .completed_ns = 901000,
                            .duration_ms = 0.3});
    folder.Add(absl::StrCat("rank_", r), PrintPickle(dump));
  }
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  const Graph& g = *set->ranks[0].graph;
  ASSERT_EQ(g.comm.size(), 1u);
  EXPECT_EQ(g.comm[0].bytes, 2 * 1024u * 256 * 2);
  EXPECT_EQ(g.duration[g.size() - 1], Time::Micros(300));
  EXPECT_TRUE(set->ranks[0].repairs.empty());
}

TEST(FlightRecorder, CoalescedKindsShareTheTime) {
  LogFolder folder("kinds");
  for (int r = 0; r < 2; ++r) {
    FlightDump dump;
    dump.groups = {{"0", {0, 1}}};
    for (const char* name : {"nccl:all_gather_into_tensor_coalesced", "nccl:all_reduce"})
      dump.entries.push_back({.name = name, .sequence = 4, .created_ns = 1000});
    dump.entries.push_back({.name = "nccl:coalesced",
                            .sequence = 4,
                            .created_ns = 1500,
                            .completed_ns = 901000,
                            .duration_ms = 0.3});
    folder.Add(absl::StrCat("rank_", r), PrintPickle(dump));
  }
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  const Graph& g = *set->ranks[0].graph;
  ASSERT_EQ(g.comm.size(), 2u);
  EXPECT_EQ(g.duration[g.size() - 2], Time::Micros(150));
  EXPECT_EQ(g.duration[g.size() - 1], Time::Micros(150));
}

TEST(FlightRecorder, CountsCallsThatDidNotFinish) {
  LogFolder folder("hang");
  for (int r = 0; r < 4; ++r) {
    FlightDump dump = Dump(r);
    dump.entries.push_back({.sequence = 2, .created_ns = 1700000000009000000});
    folder.Add(absl::StrCat("nccl_trace_rank_", r), PrintPickle(dump));
  }
  const auto set = folder.Read();
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->ranks[0].repairs[0].kind, "calls_not_finished");
  EXPECT_THAT(set->ranks[0].repairs[0].detail, HasSubstr("entry 4"));
}

TEST(FlightRecorder, RefusesBadDumps) {
  const auto error = [](const FlightDump& dump, const char* file = "nccl_trace_rank_1") {
    return ErrorOf(PrintPickle(dump), file);
  };
  const auto entry = [&](const auto& change) {
    FlightDump dump = Dump(1);
    change(&dump.entries[1]);
    return error(dump);
  };
  FlightDump dump = Dump(1);
  dump.version = "1.5";
  EXPECT_THAT(error(dump), HasSubstr("field version: \"1.5\", expected 2.x"));
  EXPECT_THAT(error(Dump(1), "dump"), HasSubstr("expected a name that ends in it"));
  dump = Dump(1);
  dump.groups["0"] = {0, 0, 1};
  EXPECT_THAT(error(dump), HasSubstr("pg_config[\"0\"].ranks"));
  dump.groups["0"] = {0, -4};
  EXPECT_THAT(error(dump), HasSubstr("pg_config[\"0\"].ranks"));
  EXPECT_THAT(error(Dump(1), "nccl_trace_rank_3"),
              HasSubstr("entry 2, field process_group: \"5\" is not a group of rank 3"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->group = "77"; }),
              HasSubstr("entry 2, field process_group: \"77\""));
  EXPECT_THAT(entry([](FlightEntry* e) { e->dtype = "Quark"; }),
              HasSubstr("entry 2, field input_dtypes: \"Quark\""));
  EXPECT_THAT(entry([](FlightEntry* e) { e->in = {-1}; }),
              HasSubstr("field input_sizes: expected sizes of 0 or more"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->in = {1 << 30, 1 << 30}; }), HasSubstr("2^56 bytes or more"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->created_ns = -5; }), HasSubstr("field time_created_ns: -5"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->created_ns = INT64_MAX; }), HasSubstr("field time_created_ns"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->created_ns = 0; }), HasSubstr("field time_created_ns: missing"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->completed_ns = 5; }), HasSubstr("before the call was made"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->duration_ms = 1e300; }), HasSubstr("field duration_ms"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->sequence = -2; }), HasSubstr("field collective_seq_id: -2"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->name = "nccl:send 0->9"; }),
              HasSubstr("expected another member of the group"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->name = "nccl:send 1->1"; }),
              HasSubstr("expected another member"));
  EXPECT_THAT(entry([](FlightEntry* e) { e->name = "nccl:send"; }), HasSubstr("expected another member"));
  const std::string good = PrintPickle(Dump(1)), json = PrintJson(Dump(1));
  EXPECT_THAT(ErrorOf(json.substr(0, json.size() - 9), "rank_1.json"), HasSubstr("invalid JSON"));
  EXPECT_THAT(
      ErrorOf(absl::StrReplaceAll(json, {{"\"is_p2p\"", "\"p\""}, {"\"collective_seq_id\"", "\"c\""}}),
              "rank_1.json"),
      HasSubstr("field collective_seq_id: missing"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(json, {{"\"entries\":[", "\"entries\":[3,"}}), "rank_1.json"),
              HasSubstr("entry 1, field entries: expected a dictionary"));
  EXPECT_THAT(ErrorOf(absl::StrReplaceAll(json, {{"[[1024,256]]", "[1024,256]"}}), "rank_1.json"),
              HasSubstr("field input_sizes"));
  // The reader reports a pickle that is cut at any byte.
  for (size_t n = 3; n < good.size(); n += 7)
    EXPECT_THAT(ErrorOf(good.substr(0, n), "nccl_trace_rank_1"),
                ::testing::AnyOf(HasSubstr("cut short"), HasSubstr("not a log of collective calls")))
        << n;
}

TEST(Pickle, ExecutesNothing) {
  const auto error = [](std::string body) {
    return std::string(ReadPickle("\x80\x02" + body, "p").status().message());
  };
  EXPECT_THAT(error("cos\nsystem\n(U\x02lstR."),
              HasSubstr("pickle, byte 2: opcode GLOBAL, which plain data does not need"));
  EXPECT_THAT(error("}\x93"), HasSubstr("byte 3: opcode STACK_GLOBAL"));
  // A file with only a call is taken as a log, so that the error names the opcode.
  EXPECT_THAT(ErrorOf("\x80\x02"
                      "cos\nsystem\nU\x02ls\x85R.",
                      "nccl_trace_rank_1"),
              HasSubstr("opcode GLOBAL, which plain data does not need"));
  const std::pair<std::string, const char*> kCalls[] = {
      {"NR", "REDUCE"},       {"Nb", "BUILD"},       {"(ios\nsystem\n", "INST"},
      {"(o", "OBJ"},          {"N\x81", "NEWOBJ"},   {"N\x92", "NEWOBJ_EX"},
      {"\x82\x01", "EXT1"},   {"\x83\x01", "EXT2"},  {"\x84\x01", "EXT4"},
      {"Px\n", "PERSID"},     {"NQ", "BINPERSID"},   {"\x97", "NEXT_BUFFER"},
      {"\x96", "BYTEARRAY8"}, {"\x8f", "EMPTY_SET"}, {"N0", "POP"},
      {"N2", "DUP"},          {"(1", "POP_MARK"},    {"I01\n", "INT"},
      {"S'x'\n", "STRING"},   {"Vx\n", "UNICODE"},   {"Np0\n", "PUT"}};
  for (const auto& [body, name] : kCalls)
    EXPECT_THAT(error(body), HasSubstr(absl::StrCat("opcode ", name, ",")));
}

TEST(Pickle, RefusesDamage) {
  const auto error = [](std::string bytes) { return std::string(ReadPickle(bytes, "p").status().message()); };
  const auto s = [](const char* bytes, size_t n) { return std::string(bytes, n); };
  EXPECT_THAT(error(""), HasSubstr("cut short"));
  EXPECT_THAT(error("\x80\x06N."), HasSubstr("pickle protocol 6, expected 2 to 5"));
  EXPECT_THAT(error("\x80\x01N."), HasSubstr("pickle protocol 1"));
  EXPECT_THAT(error("\x80"), HasSubstr("ends early"));
  EXPECT_THAT(error("\x80\x02."), HasSubstr("the end with 0 values"));
  EXPECT_THAT(error("\x80\x02NN."), HasSubstr("the end with 2 values"));
  EXPECT_THAT(error("\x80\x02(."), HasSubstr("the end with 1 values"));
  EXPECT_THAT(error("\x80\x02N.N"), HasSubstr("1 bytes after the end"));
  EXPECT_THAT(error("\x80\x02\xffN."), HasSubstr("0xff is not an opcode"));
  EXPECT_THAT(error("\x80\x02h\x07."), HasSubstr("entry 7 of the memo, which was never set"));
  EXPECT_THAT(error("\x80\x02q\x01."), HasSubstr("nothing on the stack to remember"));
  EXPECT_THAT(error("\x80\x02u."), HasSubstr("no MARK on the stack"));
  EXPECT_THAT(error("\x80\x02](N"), HasSubstr("cut short"));
  EXPECT_THAT(error("\x80\x02N(Ne."), HasSubstr("items for a value that is not a list"));
  EXPECT_THAT(error("\x80\x02](NNu."), HasSubstr("items for a value that is not a dictionary"));
  EXPECT_THAT(error("\x80\x02}(Nu."), HasSubstr("a key without a value"));
  EXPECT_THAT(error("\x80\x02Na."), HasSubstr("items for a value that is not a list"));
  EXPECT_THAT(error("\x80\x02\x87."), HasSubstr("a tuple with more values"));
  EXPECT_THAT(error("\x80\x02(\x85."), HasSubstr("a MARK in a tuple"));
  EXPECT_THAT(error(s("\x80\x02\x8a\x09"
                      "123456789.",
                      14)),
              HasSubstr("an integer of 9 bytes"));
  EXPECT_THAT(error(s("\x80\x02X\xff\xff\xff\x7fhi", 9)), HasSubstr("ends early"));
  EXPECT_THAT(error(s("\x80\x02X\x01\0\0\0\xff.", 9)), HasSubstr("not UTF-8"));
  EXPECT_THAT(error(s("\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\xff", 11)), HasSubstr("ends early"));
}

TEST(Pickle, ReadsPlainDataOfAllProtocols) {
  // pickle.dumps({"a": [1, -2, 300, 70000, 2**40, 1.5, True, None, (1, 2), ()]}, 4)
  const char kFour[] =
      "\x80\x04\x95\x35\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01"
      "a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06"
      "\x00\x00\x00\x00\x00\x01G?\xf8\x00\x00\x00\x00\x00\x00\x88NK\x01K\x02\x86\x94)es.";
  const auto data = ReadPickle(absl::string_view(kFour, sizeof(kFour) - 1), "p");
  ASSERT_TRUE(data.ok()) << data.status();
  const PlainData::Value* list = data->Find(data->root(), "a");
  ASSERT_NE(list, nullptr);
  std::vector<int64_t> integers;
  for (int i = 0; i < 5; ++i) integers.push_back(data->at(data->items(*list)[i]).integer());
  EXPECT_THAT(integers, ElementsAre(1, -2, 300, 70000, int64_t{1} << 40));
  EXPECT_EQ(data->at(data->items(*list)[5]).real(), 1.5);
  EXPECT_EQ(data->items(data->at(data->items(*list)[8])).size(), 2u);
}

// Lists that grow in turn, a few items at a time, and a tuple between them; keys of the memo with gaps.
TEST(Pickle, ReadsContainersThatGrowInTurn) {
  using std::string_literals::operator""s;
  std::string p = "\x80\x02}q\x01(K\x01]q\x05K\x02]q\x00uK\x03("s;
  for (int i = 0; i < 100; ++i) {
    for (const std::string& list : {"h\x05"s, "h\x00"s}) {
      p += list + "(";
      for (int k = 0; k <= i % 3; ++k) p += "K"s + static_cast<char>(i);
      p += "K\x07\x85"s + "e";
    }
  }
  p += "ts.";  // both are left on the stack each time, and become a tuple: the value of 3
  const auto data = ReadPickle(p, "p");
  ASSERT_TRUE(data.ok()) << data.status();
  const auto root = data->items(data->root());
  ASSERT_EQ(root.size(), 6u);
  EXPECT_EQ(data->items(data->at(root[5])).size(), 200u);
  for (const size_t value : {1, 3}) {
    const auto items = data->items(data->at(root[value]));
    size_t at = 0;
    for (int i = 0; i < 100; ++i) {
      for (int k = 0; k <= i % 3; ++k) EXPECT_EQ(data->at(items[at++]).integer(), i);
      EXPECT_EQ(data->at(data->items(data->at(items[at++]))[0]).integer(), 7);
    }
    EXPECT_EQ(at, items.size());
  }
}

TEST(Pickle, ReadsAValueThatHoldsItself) {
  const auto data = ReadPickle(absl::string_view("\x80\x02]q\x00h\x00"
                                                 "a.",
                                                 9),
                               "p");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(&data->at(data->items(data->root())[0]), &data->root());
}

}  // namespace
}  // namespace chakra::collective_logs::CHAKRA_FILE
