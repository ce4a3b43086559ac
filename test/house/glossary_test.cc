// The words of the tree are those of the glossary, and files of a folder do not all include each other.
#include "test/house/glossary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "test/folders.h"
#include "test/house/file_circles.h"

namespace chakra::house::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Glossary Ours() {
  std::ifstream in(std::string(CHAKRA_SOURCE_DIR) + "/proto/README.md");
  return ReadGlossary(std::string(std::istreambuf_iterator<char>(in), {}));
}

TEST(Glossary, HasAtMostSixtyTerms) {
  EXPECT_GE(Ours().terms, 40);
  EXPECT_LE(Ours().terms, 60);
  EXPECT_GE(Ours().instead_of.size(), 10u);
}

TEST(Glossary, RulesOutNoWordOfTheTree) {
  const std::vector<std::pair<std::string, std::string>> kAllowed = {
      {"test/replay/help_test.cc", "pinned"},
      {"test/replay/help_test.cc", "twins"},
      {"test/replay/help_test.cc", "rung"},
      {"trace/import/nsys/device_rows.cc", "pinned"},  // of CUDA
      {"test/backends/infragraph_test.cc", "lone"},
      {"test/fuzz/make_corpus.py", "lone"},  // names of inputs
  };
  EXPECT_THAT(WordsRuledOut(CHAKRA_SOURCE_DIR,
                            {".github", "backends", "bench", "examples", "proto", "replay", "test", "trace"},
                            Ours(), kAllowed),
              IsEmpty());
}

TEST(Glossary, IsReadFromItsTable) {
  const Glossary g = ReadGlossary(
      "| a | b | `c` |\n## Terms\n\n| term | what it is | not |\n|---|---|---|\n"
      "| x, y | an x | |\n| z | a z | `zed`, zee, `zeds` |\n");
  EXPECT_EQ(g.terms, 2);
  EXPECT_THAT(g.instead_of, ElementsAre(std::pair("zed", "z"), std::pair("zeds", "z")));
}

TEST(Glossary, SplitsNamesIntoWords) {
  EXPECT_THAT(WordsOf("MakeTwin_of(sentWindow, HTTP) twin2"),
              ElementsAre("http", "make", "of", "sent", "twin", "window"));
}

TEST(FileCircles, AreSmall) {
  EXPECT_THAT(FileCircles(ReadTree(CHAKRA_SOURCE_DIR, {"trace", "backends", "replay"}), 6), IsEmpty());
}

TEST(FileCircles, AreFoundInOneFolder) {
  const Tree tree{.layers = {"a"},
                  .text = {{"a/x.h", ""},
                           {"a/x.cc", "#include \"a/y.h\"\n"},
                           {"a/y.h", "#include \"a/x.h\"\n#include \"a/z.h\"\n"},
                           {"a/z.h", ""},
                           {"a/b/x.h", "#include \"a/x.h\"\n"}}};
  EXPECT_THAT(FileCircles(tree, 1), ElementsAre("2 files include each other: a/x a/y"));
  EXPECT_THAT(FileCircles(tree, 2), IsEmpty());
}

}  // namespace
}  // namespace chakra::house::CHAKRA_FILE
