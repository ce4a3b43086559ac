// The tree keeps the rules of its rooms, and the checks find breaches of each rule.
#include "test/folders.h"
#include "test/house/rooms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chakra::house::CHAKRA_FILE {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Tree& Ours() {
  static const Tree tree = ReadTree(CHAKRA_SOURCE_DIR, {"trace", "backends", "replay"});
  return tree;
}

TEST(House, HasNoCircleOfRooms) { EXPECT_THAT(Circles(Ours()), IsEmpty()); }

TEST(House, HasNoIncludeUpward) { EXPECT_THAT(ArrowsUp(Ours()), IsEmpty()); }

TEST(House, DefinesEachTypeOnce) { EXPECT_THAT(TypesTwice(Ours()), IsEmpty()); }

TEST(House, HasEachLocalNameOnceInARoom) { EXPECT_THAT(LocalNamesTwice(Ours()), IsEmpty()); }

TEST(House, HasNoFolderOfMoreThanFortySources) { EXPECT_THAT(FoldersTooFull(Ours(), 40), IsEmpty()); }

TEST(House, ListsItsFiles) { EXPECT_THAT(FilesUnlisted(Ours()), IsEmpty()); }

// The whole tree with one more include.
Tree With(const std::string& file, const std::string& include) {
  Tree tree = Ours();
  EXPECT_TRUE(tree.text.contains(file) && tree.text.contains(include)) << file << " or " << include;
  tree.text[file] += "#include \"" + include + "\"\n";
  return tree;
}

TEST(House, FindsIncludesUpward) {
  EXPECT_THAT(ArrowsUp(With("trace/base/units.h", "replay/engine/engine.h")),
              ElementsAre("trace/base/units.h includes replay/engine/engine.h, of a layer above"));
  EXPECT_THAT(ArrowsUp(With("replay/engine/engine.h", "replay/report/report.h")),
              ElementsAre("replay/engine/engine.h includes replay/report/report.h, of a room below in "
                          "replay/README.md"));
  EXPECT_THAT(Circles(With("replay/engine/engine.h", "replay/report/report.h")), ::testing::Not(IsEmpty()));
}

TEST(Rooms, FlatFilesOfAFolderWithRoomsAreRooms) {
  const Tree tree{.layers = {"a"}, .text = {{"a/x.h", ""}, {"a/r/y.h", ""}}};
  EXPECT_EQ(RoomOf(tree, "a/x.h"), "a/x");
  EXPECT_EQ(RoomOf(tree, "a/r/y.h"), "a/r");
}

TEST(Rooms, CirclesNameTheirIncludes) {
  const Tree tree{
      .layers = {"a"},
      .text = {
          {"a/x/1.h", "#include \"a/y/1.h\"\n"}, {"a/y/1.h", ""}, {"a/y/2.h", "#include \"a/x/1.h\"\n"}}};
  EXPECT_THAT(Circles(tree), ElementsAre(AllOf(HasSubstr("a/x -> a/y (a/x/1.h includes a/y/1.h)"),
                                               HasSubstr("a/y -> a/x (a/y/2.h includes a/x/1.h)"))));
}

TEST(Rooms, RegistryAboveItsEntriesIsNoCircle) {
  const Tree tree{.layers = {"a"},
                  .text = {{"a/entry.h", ""},
                           {"a/registry.h", "#include \"a/entry.h\"\n#include \"a/r/one.h\"\n"},
                           {"a/r/one.h", "#include \"a/entry.h\"\n"}}};
  EXPECT_THAT(Circles(tree), IsEmpty());
}

TEST(Rooms, RoomListsMustBeComplete) {
  const Tree tree{
      .layers = {"a"},
      .text = {{"a/README.md", "## Rooms\n\n- `x/`: one\n- `z/`: gone\n"}, {"a/x/1.h", ""}, {"a/y/1.h", ""}}};
  EXPECT_THAT(ArrowsUp(tree), ElementsAre("a/README.md: \"## Rooms\" leaves out y/",
                                          "a/README.md: \"## Rooms\" has z/, which does not exist"));
}

TEST(Types, AreComparedWithTheirNamespaces) {
  const auto twice = [](const std::string& a, const std::string& b) {
    return TypesTwice({.layers = {"a"}, .text = {{"a/1.h", a}, {"a/2.h", b}}});
  };
  EXPECT_THAT(twice("namespace n {\nstruct A {};\n}", "namespace n {\nclass A final : public B {};\n}"),
              ElementsAre("n::A is defined in a/1.h and in a/2.h"));
  EXPECT_THAT(twice("namespace n {\nenum class A : int { k };\n}", "namespace n { enum A { k }; }"),
              ElementsAre("n::A is defined in a/1.h and in a/2.h"));
  EXPECT_THAT(twice("namespace n {\nstruct A {};\n}", "namespace n {\nnamespace {\nstruct A {};\n}\n}"),
              IsEmpty());
  EXPECT_THAT(twice("namespace n { struct A {}; }", "namespace m { struct A {}; }"), IsEmpty());
  EXPECT_THAT(twice("struct A { struct B {}; };", "struct C { struct B {}; }; // struct A {}"), IsEmpty());
  EXPECT_THAT(twice("struct A {};", "void F() { struct A {}; }"), IsEmpty());
  EXPECT_THAT(twice("struct A { struct B; };", "struct A::B { int c; };"), IsEmpty());
  EXPECT_THAT(twice("struct A {};", "struct A; enum class E; const char* s = \"struct A {};\";"), IsEmpty());
}

TEST(LocalNames, AreFoundOutsideOfTypesAndFunctions) {
  const auto twice = [](const std::string& a, const std::string& b) {
    return LocalNamesTwice({.layers = {"a"}, .text = {{"a/1.cc", a}, {"a/2.cc", b}}});
  };
  const auto both = [&](const std::string& text) {
    return twice("namespace n {\nnamespace {\n" + text + "\n}\n}",
                 "namespace n {\nnamespace {\n" + text + "\n}\n}");
  };
  EXPECT_THAT(both("struct A { int b; };"), ElementsAre("A is a local name in a/1.cc and in a/2.cc"));
  EXPECT_THAT(both("class A final : public B {};"), ElementsAre(HasSubstr("A is")));
  EXPECT_THAT(both("enum class A : uint8_t { kB };"), ElementsAre(HasSubstr("A is")));
  EXPECT_THAT(both("constexpr int kA = 1;"), ElementsAre(HasSubstr("kA is")));
  EXPECT_THAT(both("const char* const kA[] = {\"B\"};"), ElementsAre(HasSubstr("kA is")));
  EXPECT_THAT(both("absl::Status A(int b) { return C(b); }"), ElementsAre(HasSubstr("A is")));
  EXPECT_THAT(both("template <typename T>\nconst B<T>& A(T b) { int kC = 1; }"),
              ElementsAre(HasSubstr("A is")));
  EXPECT_THAT(both("struct A { int B(); };\nint A::B() { return 1; }").size(), 1);
  EXPECT_THAT(both("using m::kA;"), IsEmpty());
  EXPECT_THAT(both("using A = m::B;"), IsEmpty());
  EXPECT_THAT(twice("namespace { using A = B; }", "namespace { using A = C; }"),
              ElementsAre(HasSubstr("A is")));
  EXPECT_THAT(twice("struct A {};", "namespace { struct A {}; }"), IsEmpty());
  EXPECT_THAT(LocalNamesTwice({.layers = {"a"},
                               .text = {{"a/x/1.cc", "namespace { struct A {}; }"},
                                        {"a/y/1.cc", "namespace { struct A {}; }"}}}),
              IsEmpty());
  EXPECT_THAT(LocalNamesTwice({.layers = {"a"},
                               .text = {{"a/x/1.cc", "namespace { struct A {}; }"},
                                        {"a/x/y/1.cc", "namespace { struct A {}; }"}}}),
              ElementsAre(HasSubstr("A is")));
  EXPECT_THAT(
      twice("namespace n { namespace { struct A {}; } }", "namespace m { namespace { struct A {}; } }"),
      IsEmpty());
}

TEST(Rooms, ReportsFoldersWithTooManySources) {
  const Tree tree{.layers = {"a"}, .text = {{"a/x.h", ""}, {"a/x.cc", ""}, {"a/y.h", ""}, {"a/r/z.h", ""}}};
  EXPECT_THAT(FoldersTooFull(tree, 1), ElementsAre("a has 2 sources; expected at most 1, or rooms"));
  EXPECT_THAT(FoldersTooFull(tree, 2), IsEmpty());
}

TEST(Files, MustBeListedInFileTables) {
  Tree tree{.layers = {"a"}, .text = {{"a/x.h", ""}, {"a/y.cc", ""}, {"a/z_1.h", ""}}};
  const auto with = [&](const std::string& rows) {
    tree.text["a/README.md"] = "| file | what |\n|---|---|\n" + rows;
    return FilesUnlisted(tree);
  };
  EXPECT_THAT(with("| `x.h`, `z_*` | one |\n"), ElementsAre("a/README.md lists files and leaves out y"));
  EXPECT_THAT(with("| `x.*` | of `y.cc` |\n| `z_1.{h,cc}`, `z.h` | |\n"),
              ElementsAre("a/README.md lists `z.h`, which does not exist"));
  tree.text["a/README.md"] = "Prose about `x.h`.\n";
  EXPECT_THAT(FilesUnlisted(tree), IsEmpty());
}

}  // namespace
}  // namespace chakra::house::CHAKRA_FILE
