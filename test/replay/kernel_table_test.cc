#include "replay/compute/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace chakra {
namespace {

using testing::HasSubstr;

void AddRow(proto::KernelTable* t, const char* name, const char* shapes, const char* dtypes, double us) {
  proto::KernelRow* r = t->add_row();
  r->set_name(name);
  r->set_shapes(shapes);
  r->set_dtypes(dtypes);
  r->set_duration_us(us);
}

KernelTableIndex Index(const proto::KernelTable& t) {
  absl::StatusOr<KernelTableIndex> i = KernelTableIndex::Make(t, "t");
  EXPECT_TRUE(i.ok()) << i.status();
  return i.ok() ? *std::move(i) : KernelTableIndex();
}

int64_t Micros(const Time* t) { return t == nullptr ? -1 : t->picos() / 1000000; }

TEST(KernelTable, TheMostSpecificRowWins) {
  proto::KernelTable t;
  AddRow(&t, "*", "", "", 1);
  AddRow(&t, "ge*", "", "", 2);
  AddRow(&t, "g*", "", "", 3);
  AddRow(&t, "*mm", "", "", 4);  // as many literals as "ge*", but later
  AddRow(&t, "g*", "[[8]]", "", 5);
  AddRow(&t, "gemm", "", "", 6);
  AddRow(&t, "gemm", "", "['f']", 7);
  AddRow(&t, "gemm", "[[4, 4]]", "", 8);
  AddRow(&t, "gemm", "[[4, 4]]", "['f']", 9);
  const KernelTableIndex index = Index(t);
  EXPECT_EQ(Micros(index.Find("gemm", "[[4,4]]", "[ 'f' ]")), 9);
  EXPECT_EQ(Micros(index.Find("gemm", "[[4,4]]", "['h']")), 8);
  EXPECT_EQ(Micros(index.Find("gemm", "[[5,4]]", "['f']")), 7);
  EXPECT_EQ(Micros(index.Find("gemm", "", "")), 6);
  EXPECT_EQ(Micros(index.Find("gelu", "[[8]]", "")), 5);
  EXPECT_EQ(Micros(index.Find("gelu", "", "")), 2);
  EXPECT_EQ(Micros(index.Find("gemm2mm", "", "")), 2);
  EXPECT_EQ(Micros(index.Find("comm", "", "")), 4);
  EXPECT_EQ(Micros(index.Find("other", "", "")), 1);
}

TEST(KernelTable, NoRowNoAnswer) {
  proto::KernelTable t;
  AddRow(&t, "gemm", "[[4]]", "", 1);
  EXPECT_EQ(Index(t).Find("gemm", "[[5]]", ""), nullptr);
  EXPECT_EQ(Index(t).Find("gem", "[[4]]", ""), nullptr);
  EXPECT_EQ(Index(proto::KernelTable()).Find("gemm", "", ""), nullptr);
}

TEST(KernelTable, AStarInAKernelsOwnNameIsAlsoExact) {
  proto::KernelTable t;
  AddRow(&t, "void f<*>", "", "", 1);
  AddRow(&t, "void f<float*>", "", "", 2);
  EXPECT_EQ(Micros(Index(t).Find("void f<float*>", "", "")), 2);
  EXPECT_EQ(Micros(Index(t).Find("void f<half>", "", "")), 1);
}

TEST(KernelTable, DurationIsKeptToThePicosecond) {
  proto::KernelTable t;
  AddRow(&t, "a", "", "", 1.234567);
  EXPECT_EQ(Index(t).Find("a", "", "")->picos(), 1234567);
}

TEST(KernelTable, BadRowsAreNumbered) {
  for (double us :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    proto::KernelTable t;
    AddRow(&t, "a", "", "", 1);
    AddRow(&t, "b", "", "", us);
    EXPECT_THAT(std::string(KernelTableIndex::Make(t, "k.json").status().message()),
                HasSubstr("k.json: row 1 (\"b\"): duration_us"));
  }
  proto::KernelTable t;
  AddRow(&t, "a", "[1, 2]", "", 1);
  AddRow(&t, "b", "", "", 1);
  AddRow(&t, "a", "[1,2]", "", 3);
  EXPECT_THAT(std::string(KernelTableIndex::Make(t, "k").status().message()), HasSubstr("those of row 0"));
  proto::KernelTable unnamed;
  AddRow(&unnamed, "", "", "", 1);
  EXPECT_THAT(std::string(KernelTableIndex::Make(unnamed, "k").status().message()),
              HasSubstr("name is empty"));
}

TEST(Glob, Matches) {
  EXPECT_TRUE(GlobMatch("*", ""));
  EXPECT_TRUE(GlobMatch("a*c*e", "abcde"));
  EXPECT_TRUE(GlobMatch("a*b", "aabab"));
  EXPECT_TRUE(GlobMatch("**", "x"));
  EXPECT_FALSE(GlobMatch("a*b", "abc"));
  EXPECT_FALSE(GlobMatch("", "a"));
  EXPECT_FALSE(GlobMatch("a", ""));
  EXPECT_FALSE(GlobMatch("a?c", "abc"));
  // Linear in what a naive matcher takes exponential time for.
  EXPECT_FALSE(GlobMatch("a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
}

TEST(KernelCsv, QuotesCommasAndLineEnds) {
  absl::StatusOr<proto::KernelTable> t = ParseKernelCsv(
      "\xef\xbb\xbf"
      "duration_us,name,shapes\r\n1.5,\"a \"\"b\"\", c\",\"[[1, 2]]\"\r\n\r\n2,\"two\nlines\",\n3,z,q",
      "k.csv");
  ASSERT_TRUE(t.ok()) << t.status();
  ASSERT_EQ(t->row_size(), 3);
  EXPECT_EQ(t->row(0).name(), "a \"b\", c");
  EXPECT_EQ(t->row(0).shapes(), "[[1, 2]]");
  EXPECT_EQ(t->row(0).duration_us(), 1.5);
  EXPECT_EQ(t->row(1).name(), "two\nlines");
  EXPECT_EQ(t->row(2).shapes(), "q");
}

TEST(KernelCsv, ErrorsNameFileAndLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "k.csv: empty"},
      {"name,time\n", "k.csv:1: unknown column \"time\""},
      {"name,name,duration_us\n", "k.csv:1: column \"name\" is there twice"},
      {"name,shapes\n", "k.csv:1: no column \"duration_us\""},
      {"name,duration_us\na,1\nb\n", "k.csv:3: 1 fields; expected 2"},
      {"name,duration_us\n\na,1us\n", "k.csv:3: duration_us is \"1us\""},
      {"name,duration_us\na,-1\n", "k.csv:2: duration_us is \"-1\""},
      {"name,duration_us\na,nan\n", "k.csv:2: duration_us is \"nan\""},
      {"name,duration_us\n,1\n", "k.csv:2: name is empty"},
      {"name,duration_us\n\"a\n\nb\",1\n\"c,1\n", "k.csv:5: a quote that is not closed"},
      {"name,duration_us\n\"a\"b,1\n", "k.csv:2: text after a closing quote"},
  };
  for (const auto& [content, message] : cases) {
    EXPECT_THAT(std::string(ParseKernelCsv(content, "k.csv").status().message()), HasSubstr(message));
  }
}

TEST(KernelTable, LoadsCsvAndTextByName) {
  const std::string csv = testing::TempDir() + "/kernel_table_test." + std::to_string(::getpid()) + ".CSV";
  std::ofstream(csv) << "name,duration_us\na,1\n";
  const std::string text = testing::TempDir() + "/kernel_table_test." + std::to_string(::getpid()) + ".txtpb";
  std::ofstream(text) << "device: \"d\" row { name: \"a\" duration_us: 1 }";
  for (const std::string& path : {csv, text}) {
    absl::StatusOr<proto::KernelTable> t = LoadKernelTable(path);
    ASSERT_TRUE(t.ok()) << t.status();
    ASSERT_EQ(t->row_size(), 1);
    EXPECT_EQ(t->row(0).duration_us(), 1);
    std::filesystem::remove(path);
  }
  EXPECT_FALSE(LoadKernelTable("no/such.csv").ok());
  EXPECT_FALSE(LoadKernelTable("no/such.txtpb").ok());
}

}  // namespace
}  // namespace chakra
