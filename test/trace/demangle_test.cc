#include "trace/base/demangle.h"

#include <gtest/gtest.h>

#include <string>

namespace chakra::CHAKRA_FILE {
namespace {

TEST(Demangle, WritesNamesAsTheSourceDoes) {
  EXPECT_EQ(Demangle("_ZN1a1fIiLi8EEEvPT_"), "void a::f<int, 8>(int*)");
  EXPECT_EQ(Demangle("_Z3fooI$"), "") << "no rule fits";
}

TEST(DemangleRoughly, WritesTypesOfFewBitsAsFloat) {
  EXPECT_EQ(DemangleRoughly("_ZN1a1fIiLi8EEEvPT_"), "void a::f<int, 8>(int*)");
  EXPECT_EQ(DemangleRoughly("_ZN1a1fIDF16bLi8EEEvPT_"), "void a::f<float, 8>(float*)");
  EXPECT_EQ(DemangleRoughly("_ZN3ion5aiter3fooIDF16_EEvT_"), "void ion::aiter::foo<float>(float)");
}

TEST(DemangleRoughly, KeepsThePathWhenNoRuleFits) {
  EXPECT_EQ(DemangleRoughly("_ZN5aiter3fooI$$"), "aiter::foo");
  EXPECT_EQ(DemangleRoughly("_Z3fooI$"), "foo");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name :
       {"", "_Z", "_ZN", "foo", "_ZN99999999999foo", "_Z0foo", "DF16b", "_ZDF16b", "_Z9foo"}) {
    EXPECT_EQ(Demangle(name), "") << name;
    EXPECT_EQ(DemangleRoughly(name), "") << name;
  }
  EXPECT_EQ(Demangle("_Z" + std::string(70000, 'x')), "");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
