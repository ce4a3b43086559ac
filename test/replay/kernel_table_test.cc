#include "replay/compute/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace chakra::CHAKRA_FILE {
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

const KernelAnswer* Find(const KernelTableIndex& index, const char* name, const char* shapes,
                         const char* dtypes, uint64_t operations = 0, uint64_t bytes = 0) {
  return index.Find({name, shapes, dtypes, operations, bytes});
}

int64_t Micros(const KernelAnswer* a) { return a == nullptr ? -1 : a->duration.picos() / 1000000; }

TEST(KernelTable, MostSpecificRowWins) {
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
  EXPECT_EQ(Micros(Find(index, "gemm", "[[4,4]]", "[ 'f' ]")), 9);
  EXPECT_EQ(Micros(Find(index, "gemm", "[[4,4]]", "['h']")), 8);
  EXPECT_EQ(Micros(Find(index, "gemm", "[[5,4]]", "['f']")), 7);
  EXPECT_EQ(Micros(Find(index, "gemm", "", "")), 6);
  EXPECT_EQ(Micros(Find(index, "gelu", "[[8]]", "")), 5);
  EXPECT_EQ(Micros(Find(index, "gelu", "", "")), 2);
  EXPECT_EQ(Micros(Find(index, "gemm2mm", "", "")), 2);
  EXPECT_EQ(Micros(Find(index, "comm", "", "")), 4);
  EXPECT_EQ(Micros(Find(index, "other", "", "")), 1);
}

TEST(KernelTable, NoMatchingRowGivesNoAnswer) {
  proto::KernelTable t;
  AddRow(&t, "gemm", "[[4]]", "", 1);
  EXPECT_EQ(Find(Index(t), "gemm", "[[5]]", ""), nullptr);
  EXPECT_EQ(Find(Index(t), "gem", "[[4]]", ""), nullptr);
  EXPECT_EQ(Find(Index(proto::KernelTable()), "gemm", "", ""), nullptr);
}

TEST(KernelTable, StarInANameAlsoMatchesItself) {
  proto::KernelTable t;
  AddRow(&t, "void f<*>", "", "", 1);
  AddRow(&t, "void f<float*>", "", "", 2);
  EXPECT_EQ(Micros(Find(Index(t), "void f<float*>", "", "")), 2);
  EXPECT_EQ(Micros(Find(Index(t), "void f<half>", "", "")), 1);
}

TEST(KernelTable, KeepsDurationsToThePicosecond) {
  proto::KernelTable t;
  AddRow(&t, "a", "", "", 1.234567);
  EXPECT_EQ(Find(Index(t), "a", "", "")->duration.picos(), 1234567);
}

TEST(KernelTable, ErrorsNumberTheBadRow) {
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

TEST(KernelTable, MatchesTheWorkWithoutShapes) {
  proto::KernelTable t;
  AddRow(&t, "layer", "", "", 1);
  for (int i : {2, 3}) {
    AddRow(&t, "layer", "", "", i);
    t.mutable_row(i - 1)->set_operations(100 * i);
    t.mutable_row(i - 1)->set_bytes(10);
  }
  const KernelTableIndex index = Index(t);
  EXPECT_EQ(Micros(Find(index, "layer", "", "", 200, 10)), 2);
  EXPECT_EQ(Micros(Find(index, "layer", "", "", 300, 10)), 3);
  EXPECT_EQ(Micros(Find(index, "layer", "", "", 300, 11)), 1);
  EXPECT_EQ(Micros(Find(index, "layer", "[[1]]", "['f']", 300, 10)), 3);
  t.mutable_row(2)->set_operations(200);
  EXPECT_THAT(std::string(KernelTableIndex::Make(t, "k").status().message()),
              HasSubstr("operations and bytes are those of row 1"));
}

TEST(KernelTable, ChecksSpreadAndError) {
  proto::KernelTable t;
  AddRow(&t, "a", "", "", 5);
  t.mutable_row(0)->set_min_us(6);
  t.mutable_row(0)->set_max_us(7);
  EXPECT_THAT(std::string(KernelTableIndex::Make(t, "k").status().message()),
              HasSubstr("duration_us is 5; expected one from min_us, 6, to max_us, 7"));
  t.mutable_row(0)->set_min_us(4);
  t.mutable_row(0)->set_error(-1);
  EXPECT_THAT(std::string(KernelTableIndex::Make(t, "k").status().message()), HasSubstr("error is -1"));
}

TEST(KernelCsv, ReadsQuotesCommasAndLineEnds) {
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

TEST(KernelCsv, EveryFieldReadsBackAsWritten) {
  proto::KernelTable t;
  t.set_device("H100, \"SXM\"");
  t.set_source("two\nlines");
  AddRow(&t, "a,b", "[[1, 2]]", "['f']", 0.1 + 0.2);
  AddRow(&t, " blanks ", "", "", 0);
  AddRow(&t, "all", "", "", 1e-9);
  proto::KernelRow* row = t.mutable_row(2);
  row->set_count(3);
  row->set_min_us(1e-10);
  row->set_max_us(12345.678901234567);
  row->set_op("aten::mm");
  row->set_operations(18446744073709551615u);
  row->set_bytes(1);
  row->set_error(1.0 / 3);
  const absl::StatusOr<proto::KernelTable> back = ParseKernelCsv(FormatKernelCsv(t), "k.csv");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->SerializeAsString(), t.SerializeAsString());
  // Columns that no row uses are left out.
  proto::KernelTable plain;
  AddRow(&plain, "a", "", "", 1.5);
  EXPECT_EQ(FormatKernelCsv(plain), "name,shapes,dtypes,duration_us\na,,,1.5\n");
}

TEST(KernelCsv, ErrorsNameOptionalColumns) {
  const std::pair<const char*, const char*> cases[] = {
      {"name,duration_us,count\na,1,x\n", "k.csv:2: count is \"x\"; expected a whole number"},
      {"name,duration_us,operations\na,1,-1\n", "k.csv:2: operations is \"-1\""},
      {"name,duration_us,error\na,1,nan\n", "k.csv:2: error is \"nan\""},
      {"name,duration_us,min_us\na,1,2\n", "k.csv:2: duration_us is 1; expected one from min_us"},
      {"name,duration_us,device\na,1,x\nb,1,y\n", "k.csv:3: device is \"y\"; expected \"x\""},
      {"name,duration_us,operation\n", "unknown column \"operation\"; did you mean 'operations'?"},
      {"name,duration_us\na,\n", "k.csv:2: duration_us is \"\""},
      {"name,duration_us\na,2e12\n", "k.csv:2: duration_us is 2e+12"},
  };
  for (const auto& [content, message] : cases) {
    EXPECT_THAT(std::string(ParseKernelCsv(content, "k.csv").status().message()), HasSubstr(message))
        << content;
  }
}

TEST(KernelTable, EveryFormatReadsBackAsWritten) {
  proto::KernelTable t;
  t.set_device("d");
  AddRow(&t, "a", "[[1]]", "", 1.0 / 3);
  t.mutable_row(0)->set_operations(7);
  for (const char* end : {".csv", ".json", ".txtpb", ".pb"}) {
    const std::string path = testing::TempDir() + "/kernel_formats." + std::to_string(::getpid()) + end;
    ASSERT_TRUE(WriteKernelTable(t, path).ok()) << end;
    const absl::StatusOr<proto::KernelTable> back = LoadKernelTable(path);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(back->SerializeAsString(), t.SerializeAsString()) << end;
    std::filesystem::remove(path);
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
}  // namespace chakra::CHAKRA_FILE
