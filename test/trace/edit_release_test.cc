// Dependencies that release a node before their end (dep_release), through edits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/trace/edit_testing.h"

namespace chakra::edit {
namespace {

using ::testing::HasSubstr;

// Three kernels of a stream, each released by the one before it.
constexpr char kKernels[] = R"(
  1 comp a us=8 start=0 stream=7
  2 comp b us=8 start=2 stream=1000000001 <- 1@250:release
  3 comp c us=8 start=8 stream=7 <- 1+1000:stream 2@750+500:release
)";

std::string Edit(const std::string& edit) { return EditText(kKernels, "edit { " + edit + " }"); }

TEST(EditRelease, StaysWhereDurationsAndDependenciesChange) {
  EXPECT_THAT(Edit("select { name: '^b$' } duration { factor: 0.5 }"),
              HasSubstr("<- 1+1000:stream 2@750+500:release\n"));
  EXPECT_THAT(Edit("select { name: '^c$' } delay { set: 0 }"), HasSubstr("<- 1:stream 2@750:release\n"));
}

TEST(EditRelease, OfTwoDependenciesOnOneNodeTheLaterHolds) {
  // Without b, c waits for what b waited for: the end of a holds longer than a quarter of a.
  EXPECT_THAT(Edit("select { name: '^b$' } remove {}"),
              HasSubstr("3 comp c start=8 us=8 stream=7 <- 1+1000:stream\n"));
}

TEST(EditRelease, GoesAlongWithTheDependenciesOfCopies) {
  EXPECT_THAT(Edit("select { name: '^b$' } duplicate { times: 2 }"), HasSubstr("@750+500:release"));
}

TEST(EditRelease, IsNoAttributeForTheEditOfAttributes) {
  EXPECT_THAT(Edit("attribute { name: 'dep_release' int_value: 1 }"), HasSubstr("expected another name"));
}

}  // namespace
}  // namespace chakra::edit
