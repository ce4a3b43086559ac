// The parts of the reader of Nsight Systems' exports that are functions of their arguments.
#include <gmock/gmock.h>

#include "test/trace/nsys_sql.h"
#include "trace/import/capture/step_ranges.h"
#include "trace/import/nsys/export_file.h"
#include "trace/import/nsys/kernel_pattern.h"
#include "trace/import/nsys/nccl_payload.h"
#include "trace/import/nsys/operator_text.h"
#include "trace/import/nsys/session.h"

namespace chakra::nsys::CHAKRA_FILE {

using pytorch::StepRange;
using pytorch::StepRanges;

namespace {

// The forms of getNvtxStr() in PyTorch's torch/csrc/profiler/util.cpp, 1.8 to 2.9.
TEST(NsysOperatorText, ReadsTheFormsOfPyTorch) {
  struct Case {
    const char *text, *name;
    int64_t seq;
    const char* shapes;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"aten::mm, op_id = 7", "aten::mm", -1, ""},
           {"aten::mm, seq = 12, op_id = 7, sizes = [[8, 4], [4, 2], []]", "aten::mm", 12,
            "[[8,4],[4,2],[]]"},
           {"aten::add, seq = 3, sizes = [[8], []], input_op_ids = [(5,0), (6,0)]", "aten::add", 3,
            "[[8],[]]"},
           {"autograd::engine::evaluate_function: MmBackward0, seq = 12, op_id = 90, sizes = [[8, 2]]",
            "autograd::engine::evaluate_function: MmBackward0", 12, "[[8,2]]"},
           {"aten::cat, op_id = 1, sizes = [[[2, 3], [4, 3]], []]", "aten::cat", -1, "[[[2,3],[4,3]],[]]"},
           {"aten::odd, op_id = 1, sizes = [[8, 4", "aten::odd", -1, ""},
           {"aten::odd, op_id = 1, sizes = [[8; DROP]]", "aten::odd", -1, ""},
           {"aten::far, seq = 99999999999999999999999", "aten::far", -1, ""}}) {
    OperatorText op;
    ASSERT_TRUE(ReadOperatorText(c.text, &op)) << c.text;
    EXPECT_EQ(op.name, c.name);
    EXPECT_EQ(op.seq, c.seq) << c.text;
    EXPECT_EQ(op.shapes, c.shapes) << c.text;
  }
  OperatorText op;
  for (const char* text : {"iteration 3", "", ", seq = 1", "ncclAllReduce"})
    EXPECT_FALSE(ReadOperatorText(text, &op)) << text;
}

std::string LittleEndian(std::initializer_list<std::pair<uint64_t, int>> numbers) {
  std::string out;
  for (const auto& [v, bytes] : numbers) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i) & 0xff);
  }
  return out;
}

class NsysPayload : public testing::Test {
 protected:
  void SetUp() override { Schemas(""); }
  void Schemas(const std::string& sql) {
    static int n = 0;
    const std::string path = folder_.At("s" + std::to_string(++n) + ".sqlite");
    RunSql(path, std::string(kLeast) + sql);
    const auto db = SqliteReader::Open(path, kExports);
    ASSERT_TRUE(db.ok());
    auto schemas = NcclSchemas::Read(**db);
    ASSERT_TRUE(schemas.ok()) << schemas.status();
    schemas_ = *std::move(schemas);
  }
  static std::string Headed(uint64_t schema, const std::string& body) {
    return LittleEndian({{1, 8}, {(1 << 24) + schema, 8}, {body.size(), 8}, {32, 8}}) + body;
  }
  const ScratchFolder folder_;
  NcclSchemas schemas_;
};

// The structs of NCCL's src/include/nvtx_payload_schemas.h, 2.19 to 2.29.
TEST_F(NsysPayload, DecodesStructsOfNccl) {
  NcclPayload p;
  ASSERT_TRUE(schemas_.Decode(
      Headed(5, LittleEndian({{0xabcdef0123456789, 8}, {1 << 20, 8}, {0, 4}, {0, 4}})), "", &p));
  EXPECT_EQ(p.comm, 0xabcdef0123456789u);
  EXPECT_EQ(p.bytes, 1 << 20);
  EXPECT_EQ(p.peer, -1);
  ASSERT_TRUE(schemas_.Decode(Headed(9, LittleEndian({{7, 8}, {4096, 8}, {3, 4}, {0, 4}})), "", &p));
  EXPECT_EQ(p.peer, 3);
  ASSERT_TRUE(schemas_.Decode(Headed(8, LittleEndian({{7, 8}, {4096, 8}, {2, 4}, {0, 4}})), "", &p));
  EXPECT_EQ(p.root, 2);
  ASSERT_TRUE(schemas_.Decode(Headed(11, LittleEndian({{7, 8}, {16, 4}, {5, 4}, {1, 4}, {0, 4}})), "", &p));
  EXPECT_EQ(p.ranks, 16);
  EXPECT_EQ(p.rank, 5);
  EXPECT_EQ(p.device, 1);
  EXPECT_EQ(p.member_of, 7u);
  // A split gives the caller's place in the parent (init.cc).
  ASSERT_TRUE(schemas_.Decode(
      Headed(13, LittleEndian({{8, 8}, {7, 8}, {16, 4}, {5, 4}, {1, 4}, {0, 4}, {5, 4}, {0, 4}})), "", &p));
  EXPECT_EQ(p.comm, 8u);
  EXPECT_EQ(p.member_of, 7u);
  EXPECT_EQ(p.rank, 5);
}

TEST_F(NsysPayload, CallNamesTheStructWithoutAHeader) {
  NcclPayload p;
  const std::string body = LittleEndian({{7, 8}, {4096, 8}, {3, 4}, {0, 4}});
  ASSERT_TRUE(schemas_.Decode(body, "ncclRecv", &p));
  EXPECT_EQ(p.peer, 3);
  EXPECT_FALSE(schemas_.Decode(body, "ncclNobodyKnows", &p));
  std::string hex;
  for (const char c : body) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  ASSERT_TRUE(schemas_.Decode(hex, "ncclRecv", &p));
  EXPECT_EQ(p.bytes, 4096);
}

TEST_F(NsysPayload, UsesTheMemberOffsetsOfTheFile) {
  Schemas(
      "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, type "
      "INTEGER, name TEXT, "
      "offset INTEGER); INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1,16777225,0,5,'Peer rank',NULL),"
      "(1,16777225,1,18,'NCCL communicator ID',8),(1,16777225,2,22,'Message size [bytes]',16)");
  NcclPayload p;
  ASSERT_TRUE(schemas_.Decode(Headed(9, LittleEndian({{3, 4}, {0, 4}, {7, 8}, {4096, 8}})), "", &p));
  EXPECT_EQ(p.peer, 3);
  EXPECT_EQ(p.comm, 7u);
  EXPECT_EQ(p.bytes, 4096);
}

TEST(NsysPattern, FindsPeriodsOfSequences) {
  const auto repeated = [](const std::vector<uint32_t>& once, int times) {
    std::vector<uint32_t> out;
    for (int i = 0; i < times; ++i) out.insert(out.end(), once.begin(), once.end());
    return out;
  };
  EXPECT_EQ(PeriodOf(repeated({1, 2, 3, 1, 2, 4}, 4), 0.95), 6u);
  EXPECT_EQ(PeriodOf(repeated({1, 2, 3}, 10), 0.95), 3u);
  EXPECT_EQ(PeriodOf({1, 2, 3, 4, 5}, 0.95), 0u);
  EXPECT_EQ(PeriodOf({1, 2, 3, 1, 2}, 0.95), 0u);  // less than twice
  EXPECT_EQ(PeriodOf({}, 0.95), 0u);
  // A few kernels that differ (another size, another algorithm) do not hide the period; many do.
  std::vector<uint32_t> noisy = repeated({1, 2, 3, 1, 2, 4, 7, 8, 9, 10}, 20);
  for (size_t i = 5; i < noisy.size(); i += 50) noisy[i] = 99;
  EXPECT_EQ(PeriodOf(noisy, 0.9), 10u);
  for (size_t i = 0; i < noisy.size(); i += 3) noisy[i] = static_cast<uint32_t>(1000 + i);
  EXPECT_EQ(PeriodOf(noisy, 0.9), 0u);
}

TEST(NsysSteps, ChoosesRangesThatFollowEachOther) {
  const auto numbers = [](const StepRanges& ranges) {
    std::vector<int64_t> out;
    for (const auto& [process, steps] : ranges.Choose()) {
      for (const StepRange& s : steps) out.push_back(s.number);
    }
    return out;
  };
  StepRanges byname("");
  EXPECT_TRUE(byname.MayBe("train_step"));
  EXPECT_TRUE(byname.MayBe("Iteration 7"));
  EXPECT_FALSE(byname.MayBe("Optimizer.step#AdamW.step"));
  EXPECT_FALSE(byname.MayBe("forward"));
  for (int i = 0; i < 3; ++i) {
    byname.Add(1, {5, i * 1000, i * 1000 + 900}, "Iteration " + std::to_string(7 + i));
    byname.Add(1, {5, i * 1000 + 10, i * 1000 + 60}, "optimizer step");  // a small part of the time
  }
  EXPECT_EQ(numbers(byname), (std::vector<int64_t>{7, 8, 9}));
  StepRanges one("");
  one.Add(1, {5, 0, 900}, "step");
  EXPECT_TRUE(numbers(one).empty());
  StepRanges asked("st*");
  EXPECT_FALSE(asked.MayBe("a step"));
  asked.Add(1, {5, 0, 900}, "st 5");
  asked.Add(1, {5, 100, 200}, "st 6");  // inside
  asked.Add(1, {5, 1000, 1900}, "st 5");
  EXPECT_EQ(numbers(asked),
            (std::vector<int64_t>{0, 1}));  // numbers that do not grow are not numbers of steps
}

}  // namespace
}  // namespace chakra::nsys::CHAKRA_FILE
