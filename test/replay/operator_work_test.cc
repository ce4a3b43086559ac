#include "replay/compute/operators/operator_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace chakra::CHAKRA_FILE {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Operations and bytes of an operator on tensors of floats. If `types` is empty, elements have `unknown`
// bytes.
OperatorWork WorkOfCall(const char* name, const char* shapes, const char* types = "", int unknown = 4) {
  const auto work = WorkOfOperator(name, shapes, types, unknown);
  EXPECT_TRUE(work.has_value()) << name << " " << shapes;
  return work.value_or(OperatorWork());
}

TEST(Operands, ReadsHostTraceAndKinetoForms) {
  const auto host =
      ParseOperands("[[32, 3], [], [[64], [5, 2]], [[], []], []]",
                    "['Tensor(float)', 'Int', 'GenericList[Tensor(c10::Half),Tensor(c10::Half)]', "
                    "'GenericList[Int,Int]', 'Tensor(nullptr (uninitialized))']");
  ASSERT_TRUE(host.ok()) << host.status();
  ASSERT_EQ(host->size(), 5u);
  EXPECT_THAT((*host)[0].shapes, ElementsAre(Shape{32, 3}));
  EXPECT_EQ((*host)[0].element_bytes, 4);
  EXPECT_EQ((*host)[0].dtype, "fp32");
  EXPECT_THAT((*host)[2].shapes, ElementsAre(Shape{64}, Shape{5, 2}));
  EXPECT_EQ((*host)[2].element_bytes, 2);
  for (size_t i : {1, 3, 4}) EXPECT_TRUE((*host)[i].shapes.empty()) << i;
  const auto kineto = ParseOperands("[[8], [], [], []]", R"(["long int", "Scalar", "float", ""])");
  ASSERT_TRUE(kineto.ok()) << kineto.status();
  EXPECT_EQ((*kineto)[0].element_bytes, 8);
  EXPECT_TRUE((*kineto)[1].shapes.empty());
  EXPECT_THAT((*kineto)[2].shapes, ElementsAre(Shape{}));  // a tensor of no dimension
}

TEST(Operands, ErrorsNameTheByte) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"", "", "shapes, byte 0: the end, expected a list of shapes"},
      {"[8]", "", "shapes, byte 1: \"8\", expected a shape"},
      {"[[8, -1]]", "", "shapes, byte 5: \"-\", expected a dimension >= 0"},
      {"[[8, 99999999999999999999]]", "", "expected a dimension of 64 bits"},
      {"[[8]", "", "shapes, byte 4: the end, expected \",\" or \"]\""},
      {"[[8]] x", "", "shapes, byte 6: \"x\", expected the end"},
      {"[[[[8]]]]", "", "shapes, byte 3: \"[\", expected a dimension"},
      {"[[8]]", "['float", "dtypes, byte 7: the end, expected the end of a quoted type"},
      {"[[8]]", "[float]", "dtypes, byte 1: \"f\", expected a type in quotes"},
      {"[[8]]", "['float', 'float']", "dtypes has 2 types, expected 1"},
  };
  for (const auto& [shapes, types, message] : cases) {
    EXPECT_THAT(std::string(ParseOperands(shapes, types).status().message()), HasSubstr(message)) << shapes;
  }
}

TEST(OperatorWork, CountsGemms) {
  // 2 m n k; m k + k n + m n floats.
  EXPECT_EQ(WorkOfCall("aten::mm", "[[3, 4], [4, 5]]").operations, 2 * 3 * 4 * 5);
  EXPECT_EQ(WorkOfCall("aten::mm", "[[3, 4], [4, 5]]").bytes, 4 * (12 + 20 + 15));
  EXPECT_EQ(WorkOfCall("mm", "[[3, 4], [4, 5]]", "['Tensor(c10::Half)', 'Tensor(c10::Half)']").bytes, 2 * 47);
  EXPECT_EQ(WorkOfCall("aten::addmm", "[[5], [3, 4], [4, 5], [], []]").bytes, 4 * (47 + 5));
  EXPECT_EQ(WorkOfCall("aten::bmm", "[[2, 3, 4], [2, 4, 5]]").operations, 2 * 120);
  EXPECT_EQ(WorkOfCall("aten::baddbmm", "[[2, 3, 5], [2, 3, 4], [2, 4, 5]]").operations, 2 * 120);
  EXPECT_EQ(WorkOfCall("aten::linear", "[[7, 3, 4], [5, 4], [5]]").operations, 7 * 120);
  EXPECT_EQ(WorkOfCall("aten::matmul", "[[2, 1, 3, 4], [6, 4, 5]]").operations, 12 * 120);
  EXPECT_EQ(WorkOfCall("aten::matmul", "[[4], [4]]").operations, 8);
  EXPECT_EQ(WorkOfCall("aten::mv", "[[3, 4], [4]]").operations, 24);
  for (const auto& [name, shapes] :
       {std::pair("aten::mm", "[[3, 4], [5, 5]]"), std::pair("aten::mm", "[[3, 4]]"),
        std::pair("aten::bmm", "[[2, 3, 4], [3, 4, 5]]"), std::pair("aten::matmul", "[[2, 3, 4], [3, 4, 5]]"),
        std::pair("aten::linear", "[[3, 4], [5, 5]]")}) {
    EXPECT_FALSE(WorkOfOperator(name, shapes, "", 4).has_value()) << name << shapes;
  }
}

TEST(OperatorWork, CountsConvolutionsAndAttention) {
  const OperatorWork forward = WorkOfCall("aten::cudnn_convolution", "[[2, 3, 8, 8], [16, 3, 5, 5]]");
  EXPECT_EQ(forward.operations, 2.0 * (2 * 16 * 8 * 8) * (3 * 5 * 5));
  EXPECT_FALSE(forward.exact);
  const OperatorWork backward =
      WorkOfCall("aten::convolution_backward", "[[2, 16, 4, 4], [2, 3, 8, 8], [16, 3, 5, 5]]");
  EXPECT_EQ(backward.operations, 2 * 2.0 * (2 * 16 * 4 * 4) * (3 * 5 * 5));
  EXPECT_TRUE(backward.exact);
  // batch 2, 4 heads, 16 queries, 32 keys, width 8: scores and values.
  const char* qkv = "[[2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 8]]";
  EXPECT_EQ(WorkOfCall("aten::_scaled_dot_product_flash_attention", qkv).operations,
            2 * 2.0 * (2 * 4 * 16 * 32 * 8));
  EXPECT_EQ(WorkOfCall("aten::_flash_attention_forward", "[[2, 16, 4, 8], [2, 32, 4, 8], [2, 32, 4, 8]]")
                .operations,
            2 * 2.0 * (2 * 4 * 16 * 32 * 8));
  EXPECT_EQ(WorkOfCall("aten::_scaled_dot_product_flash_attention_backward",
                       "[[2, 4, 16, 8], [2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 8], [2, 4, 16, 8]]")
                .operations,
            5 * 2.0 * (2 * 4 * 16 * 32 * 8));
}

TEST(OperatorWork, CountsMemoryBoundOperators) {
  const char* two = "['Tensor(float)', 'Tensor(float)', 'Int']";
  EXPECT_EQ(WorkOfCall("aten::add", "[[6, 4], [4], []]", two).bytes, 4 * (24 + 4 + 24));
  EXPECT_EQ(WorkOfCall("aten::add", "[[4], [6, 4], []]", two).operations, 24);
  EXPECT_EQ(
      WorkOfCall("aten::copy_", "[[24], [24], []]", "['Tensor(float)', 'Tensor(c10::Half)', 'Bool']").bytes,
      24 * (4 + 2));
  EXPECT_EQ(WorkOfCall("aten::_softmax", "[[6, 4]]").operations, 5 * 24);
  EXPECT_EQ(WorkOfCall("aten::native_layer_norm", "[[6, 4], [4], [4]]").bytes, 4 * (24 + 4 + 4 + 24));
  EXPECT_EQ(WorkOfCall("aten::sum", "[[6, 4]]").bytes, 4 * 24);
  EXPECT_EQ(WorkOfCall("aten::zero_", "[[6, 4]]").bytes, 4 * 24);
  // 3 rows of 4 floats read and written, 3 indices read.
  EXPECT_EQ(WorkOfCall("aten::embedding", "[[100, 4], [3]]", "['Tensor(float)', 'Tensor(long int)']").bytes,
            2 * 3 * 4 * 4 + 3 * 8);
  EXPECT_EQ(
      WorkOfCall("aten::cat", "[[[2, 3], [4, 3]], []]", "['GenericList[Tensor(float),Tensor(float)]', 'Int']")
          .bytes,
      2 * 4 * 18);
  const char* lists = "['GenericList[Tensor(float)]', 'GenericList[Tensor(float)]', 'Int']";
  EXPECT_EQ(WorkOfCall("aten::_foreach_add_", "[[[8], [2]], [[8], [2]], []]", lists).bytes,
            4 * (10 + 10 + 10));
}

TEST(OperatorWork, BytesWithoutTypesNeedElementSize) {
  EXPECT_EQ(WorkOfCall("aten::mm", "[[3, 4], [4, 5]]", "", 2).bytes, 2 * 47);
  EXPECT_EQ(WorkOfCall("aten::mm", "[[3, 4], [4, 5]]", "", 0).bytes, 0);
  EXPECT_EQ(WorkOfCall("aten::mm", "[[3, 4], [4, 5]]", "", 0).operations, 120);
}

TEST(OperatorWork, FindsWorkByOperatorOrKernelName) {
  const char* shapes = "[[3, 4], [4, 5]]";
  EXPECT_EQ(WorkOfKernel("volta_sgemm_tn", "", shapes, "", 4)->operations, 120);
  EXPECT_EQ(WorkOfKernel("anything", "aten::mm", shapes, "", 4)->operations, 120);
  EXPECT_FALSE(WorkOfKernel("anything", "", shapes, "", 4).has_value());
  EXPECT_FALSE(WorkOfKernel("volta_sgemm_tn", "aten::unheard_of", shapes, "", 4).has_value());
  EXPECT_FALSE(WorkOfKernel("volta_sgemm_tn", "", "[[3, 4], [5, 5]]", "", 4).has_value());
}

TEST(OperatorWork, KnownOperatorsAreUniqueAndSafe) {
  const std::vector<std::string> names = KnownOperators();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_FALSE(WorkOfOperator("aten::view", "[[3]]", "", 4).has_value());
  // No operator crashes on shapes that do not fit, are empty, or are too large.
  for (const std::string& name : names) {
    for (const char* shapes : {"[]", "[[]]", "[[0, 0], [0, 0], [0, 0], [0, 0]]", "[[[]]]",
                               "[[9223372036854775807, 9223372036854775807], [9223372036854775807, 2]]",
                               "[[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]"}) {
      const auto work = WorkOfOperator(name, shapes, "", 4);
      EXPECT_TRUE(!work.has_value() || (work->operations >= 0 && work->bytes >= 0)) << name << shapes;
    }
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
