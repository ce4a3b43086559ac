// Bad HLO modules: errors name the file and the fault, and no module runs forever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test/trace/xspace_builder.h"
#include "trace/import/hlo/proto_reader.h"
#include "trace/import/hlo/step.h"
#include "trace/import/hlo/text_reader.h"
#include "trace/import/reader.h"

namespace chakra::hlo_bad::CHAKRA_FILE {
namespace {

using namespace chakra::testing_xplane;  // NOLINT: a builder of messages
using testing::AllOf;
using testing::HasSubstr;

const HloShape kF32{11, {16, 8}};

std::string Number(uint32_t field, uint64_t n) {
  std::string out;
  wire::AppendNumber(field, n, &out);
  return out;
}
std::string Message(uint32_t field, absl::string_view body) {
  std::string out;
  wire::AppendText(field, body, &out);
  return out;
}
// A field of a type that no proto writer uses there.
std::string Fixed32(uint32_t field) {
  std::string out;
  wire::AppendVarint(uint64_t{field} << 3 | 5, &out);
  return out + "\1\2\3\4";
}

// A step of a loop around an all-reduce, and the faults that a test gives to the step.
struct LoopStep {
  std::string trips = "{\"known_trip_count\":{\"n\":\"5\"}}";
  std::string groups = IotaGroups(2, 4, {4, 2}, {1, 0});
  HloComputation body, condition, entry;
  std::vector<HloComputation> more;
  int partitions = 8;
  LoopStep() {
    body = {"body",
            1,
            12,
            {{"p", "parameter", kF32, 11, {}, {}, ""}, {"ar", "all-reduce", kF32, 12, {11}, {}, ""}}};
    condition = {"cond", 2, 21, {{"q", "parameter", kF32, 21, {}, {}, ""}}};
    entry = {"main",
             3,
             33,
             {{"x", "parameter", kF32, 31, {}, {}, ""},
              {"loop", "while", kF32, 32, {31}, {1, 2}, ""},
              {"y", "add", kF32, 33, {32, 32}, {}, ""}}};
  }
  std::string Encode() const {
    HloComputation with_groups = body, with_trips = entry;
    with_groups.instructions[1].extra += Number(26, 2) + Number(71, 1) + groups;
    with_trips.instructions[1].extra += Message(43, trips);
    std::vector<HloComputation> all = {with_groups, condition};
    all.insert(all.end(), more.begin(), more.end());
    all.push_back(with_trips);
    return EncodeHlo("jit_f", all, partitions);
  }
};

template <typename Change>
std::string With(const Change& change) {
  LoopStep step;
  change(&step);
  return step.Encode();
}

std::string WithExtra(const std::string& fields) {
  return With([&](LoopStep* s) { s->body.instructions[1].extra = fields; });
}
std::string WithGroups(const std::string& groups) {
  return With([&](LoopStep* s) { s->groups = groups; });
}
std::string Listed(const std::vector<std::vector<uint64_t>>& groups) {
  std::string list;
  for (const auto& group : groups) {
    std::string ids;
    for (const uint64_t id : group) ids += Number(1, id);
    list += Message(1, ids);
  }
  return Message(87, list);
}
// The step with a collective-permute in place of the all-reduce.
std::string WithPermute(const std::vector<std::pair<uint64_t, uint64_t>>& pairs) {
  return With([&](LoopStep* s) {
    s->groups.clear();
    s->body.instructions[1].opcode = "collective-permute";
    for (const auto& [from, to] : pairs)
      s->body.instructions[1].extra += Message(52, Number(1, from) + Number(2, to));
  });
}
// `levels` computations, each of which calls the next `times`.
std::string WithCalls(int levels, int times) {
  return With([&](LoopStep* s) {
    for (int i = 0; i < levels; ++i) {
      HloComputation c{absl::StrCat("c", i), 100 + i, 1000 * (i + 1), {}};
      c.instructions.push_back({"p", "parameter", kF32, 1000 * (i + 1), {}, {}, ""});
      for (int k = 0; k < times && i > 0; ++k) {
        c.instructions.push_back(
            {absl::StrCat("call", k), "call", kF32, 1000 * (i + 1) + k + 1, {1000 * (i + 1)}, {99 + i}, ""});
      }
      s->more.push_back(c);
    }
    s->entry.instructions.push_back({"deep", "call", kF32, 40, {31}, {99 + levels}, ""});
  });
}
std::string WithShape(const std::string& shape) { return WithExtra(Message(3, shape)); }

std::vector<std::pair<std::string, const char*>> BadProtos() {
  const std::string good = LoopStep().Encode();
  std::string deep = Number(2, 11);
  for (int i = 0; i < 80; ++i) deep = Number(2, 13) + Message(4, deep);
  return {
      {"", "expected an HloProto"},
      {"\x0a", "expected an HloProto"},
      {good.substr(0, good.size() / 2), "expected an HloProto"},
      {good.substr(0, good.size() - 1), "expected an HloProto"},
      {std::string(64, '\xff'), "expected an HloProto"},
      {Message(1, Message(1, "jit_f") + Message(2, "main")), "no entry computation"},
      {Message(1, Message(1, "jit_f") + Message(2, "main") + Number(3, 1)),
       "a computation that is not a message"},
      {Message(1, Number(1, 7) + Message(2, "main")), "a text of another type"},
      {Message(1, Message(1, "jit_f") + Message(6, "three")), "a number of another type"},
      {With([](LoopStep* s) { s->body.instructions[1].operands = {99}; }), "operand 99"},
      {With([](LoopStep* s) { s->body.instructions[1].operands = {12}; }), "operand 12"},
      {With([](LoopStep* s) { s->body.instructions[0].operands = {12}; }), "operand 12"},
      {With([](LoopStep* s) { s->body.instructions[1].id = 11; }), "two instructions of id 11"},
      {With([](LoopStep* s) { s->condition.id = 1; }), "two computations of id 1"},
      {With([](LoopStep* s) { s->body.root = 77; }), "root 77"},
      {With([](LoopStep* s) {
         s->entry.instructions[1].calls = {1, 9};
       }),
       "computation 9"},
      {With([](LoopStep* s) { s->body.instructions[1] = {"again", "call", kF32, 12, {11}, {1}, ""}; }),
       "calls itself"},
      {With([](LoopStep* s) {
         s->body.instructions[0] = {"a", "call", kF32, 11, {}, {2}, ""};
         s->condition.instructions[0] = {"b", "call", kF32, 21, {}, {1}, ""};
       }),
       "calls itself"},
      {With([](LoopStep* s) { s->condition.instructions[0] = {"b", "call", kF32, 21, {}, {3}, ""}; }),
       "calls itself"},
      {WithCalls(300, 1), "too deeply"},
      {With([](LoopStep* s) { s->trips = "{\"known_trip_count\":{\"n\":\"4611686018427387904\"}}"; }),
       "loop"},
      {With([](LoopStep* s) { s->trips = "{\"known_trip_count\":{\"n\":\"99999999999999999999999\"}}"; }),
       "loop"},
      {With([](LoopStep* s) { s->body.instructions[1].opcode.clear(); }), "no opcode"},
      {WithExtra(Number(1, 5)), "a text of another type"},
      {WithExtra(Number(2, 5)), "a text of another type"},
      {WithExtra(Message(35, "id")), "a number of another type"},
      {WithExtra(Fixed32(36)), "numbers of another type"},
      {WithExtra(Message(36, "\xff\xff")), "a varint that does not end"},
      {WithExtra(Number(43, 5)), "a text of another type"},
      {WithExtra(Number(3, 5)), "a shape that is not a message"},
      {WithShape(deep), "nested too deeply"},
      {WithShape(Number(2, 11) + Number(3, ~uint64_t{0})), "a dimension below 0"},
      {WithShape(Message(2, "f32")), "an element type of another type"},
      {WithGroups(Listed({{0, 1, 2, 3}, {4, 5, 6, 8}})), "device 8"},
      {WithGroups(Listed({{0, 1, 2, 3}, {3, 5, 6, 7}})), "twice"},
      {WithGroups(IotaGroups(2, 4, {4, 3}, {1, 0})), "do not match"},
      {WithGroups(IotaGroups(2, 4, {4, 2}, {1, 1})), "do not match"},
      {WithGroups(IotaGroups(int64_t{1} << 40, int64_t{1} << 40, {int64_t{1} << 40, int64_t{1} << 40})),
       "do not match"},
      {WithPermute({{0, 1}, {1, 9}}), "{1,9}"},
      {WithPermute({{0, 1}, {0, 2}}), "twice"},
  };
}

TEST(HloBad, RefusesBadProtos) {
  const auto whole = hlo::ReadHloProto(LoopStep().Encode(), "good.pb");
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_TRUE(hlo::BuildStep(*whole, "good.pb").ok());
  const auto bad = BadProtos();
  EXPECT_EQ(bad.size(), 40u);
  for (size_t i = 0; i < bad.size(); ++i) {
    const auto module = hlo::ReadHloProto(bad[i].first, "bad.pb");
    const absl::Status status = module.ok() ? hlo::BuildStep(*module, "bad.pb").status() : module.status();
    EXPECT_FALSE(status.ok()) << i << " " << bad[i].second;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("bad.pb"), HasSubstr(bad[i].second))) << i;
  }
}

// Files of XLA or of tools before it that are no module: the error names the form, and the file to use
// instead.
TEST(HloBad, ErrorsExplainOtherForms) {
  const std::pair<const char*, const char*> kForms[] = {
      {"// a comment\nmodule @jit_f attributes {mhlo.num_partitions = 4 : i32} {\n  func.func public @main() "
       "{\n"
       "    return\n  }\n}\n",
       "StableHLO"},
      {"hlo_module {\n  name: \"jit_f\"\n  entry_computation_name: \"main\"\n}\n", "text form"},
      {"// RUN: x\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT n = f32[8] negate(p)\n}\n",
       "HloModule NAME"}};
  for (const auto& [content, what] : kForms) {
    for (const char* ending : {"hlo", "mlir"}) {
      const std::string path = absl::StrCat(::testing::TempDir(), "/other_form.", ending);
      std::ofstream(path) << content;
      const auto traces = ReadTraceSet({path}, ReadOptions());
      EXPECT_THAT(std::string(traces.status().message()),
                  AllOf(HasSubstr(path), HasSubstr(what), HasSubstr("--xla_dump_to")));
    }
  }
}

// Long names are cut in messages.
TEST(HloBad, MessagesAreShort) {
  const std::string name(1000000, 'x');
  for (const std::string& text :
       {absl::StrCat("HloModule ", name, "\nENTRY e {\n  p = f32[8] parameter(0)\n}\n"),
        absl::StrCat("HloModule m\nENTRY e {\n  ", name, " = f32[8] negate(", name, "1)\n}\n"),
        absl::StrCat("HloModule m\nENTRY ", name, " {\n  p = f32[8] parameter(0)\n")}) {
    const auto module = hlo::ReadHloText(text, "long.hlo");
    const absl::Status status = module.ok() ? hlo::BuildStep(*module, "long.hlo").status() : module.status();
    EXPECT_FALSE(status.ok());
    EXPECT_LT(status.message().size(), 500u);
  }
}

// Computations that call the next one twice, 60 deep, run nothing, or would run 2^60 times.
TEST(HloBad, EndsCallsThatDouble) {
  const auto module = hlo::ReadHloProto(WithCalls(60, 2), "twice.pb");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(hlo::BuildStep(*module, "twice.pb").ok());
}

}  // namespace
}  // namespace chakra::hlo_bad::CHAKRA_FILE
