#include "trace/base/text_table.h"

#include <gmock/gmock.h>

#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  lines.pop_back();
  return lines;
}

size_t Widest(const std::string& text) {
  size_t widest = 0;
  for (const std::string& line : Lines(text)) widest = std::max(widest, DisplayWidth(line));
  return widest;
}

// Ranks as the report has them: numbers alone.
TextTable Ranks() {
  TextTable table({"rank", "end", "compute", "comm", "exposed comm", "memory", "host", "idle", "nodes"},
                  std::vector<bool>(9, false));
  table.Add({"0", "38.15 ms", "23.4 ms", "7.371 ms", "5.01 ms", "120.2 us", "0 s", "9.621 ms", "157"});
  table.Add({"1", "38.15 ms", "23.4 ms", "7.371 ms", "5.01 ms", "120.2 us", "0 s", "9.621 ms", "157"});
  return table;
}

TextTable Links() {
  TextTable table({"busiest links", "class", "flows", "bytes", "of makespan"},
                  {true, true, false, false, false});
  table.Add({"leaf.2 - spine.2 of leaf_spine", "uplink of a leaf", "1,234", "20.24 MiB", "97.1 %"});
  table.Add({"spine.6 - leaf.3 of leaf_spine", "uplink of a leaf", "56", "21.20 MiB", "88.9 %"});
  return table;
}

TEST(TextTable, PrintsWholeTextsToFiles) {
  const char* expected =
      "  busiest links                   class             flows      bytes  of makespan\n"
      "  leaf.2 - spine.2 of leaf_spine  uplink of a leaf  1,234  20.24 MiB       97.1 %\n"
      "  spine.6 - leaf.3 of leaf_spine  uplink of a leaf     56  21.20 MiB       88.9 %\n";
  EXPECT_EQ(Links().Print(), expected);
  TextPage file, wide(82, true);
  EXPECT_EQ(Links().Print(&file), expected);
  EXPECT_EQ(Links().Print(&wide), expected);
}

TEST(TextTable, FirstBreaksHeadersIntoLines) {
  TextPage page(78, true);
  EXPECT_EQ(Links().Print(&page),
            "                                                                            of\n"
            "  busiest links                   class             flows      bytes  makespan\n"
            "  leaf.2 - spine.2 of leaf_spine  uplink of a leaf  1,234  20.24 MiB    97.1 %\n"
            "  spine.6 - leaf.3 of leaf_spine  uplink of a leaf     56  21.20 MiB    88.9 %\n");
  EXPECT_EQ(page.Finish(""), "");
  TextPage eighty(80, true);
  EXPECT_THAT(Lines(Ranks().Print(&eighty)),
              ElementsAre("                                     exposed",
                          "  rank       end  compute      comm     comm    memory  host      idle  nodes",
                          "     0  38.15 ms  23.4 ms  7.371 ms  5.01 ms  120.2 us   0 s  9.621 ms    157",
                          "     1  38.15 ms  23.4 ms  7.371 ms  5.01 ms  120.2 us   0 s  9.621 ms    157"));
  TextPage seventy(70, true);
  EXPECT_THAT(Lines(Ranks().Print(&seventy)),
              ElementsAre("                                 exposed",
                          "  rank      end compute     comm    comm   memory host     idle nodes",
                          "     0 38.15 ms 23.4 ms 7.371 ms 5.01 ms 120.2 us  0 s 9.621 ms   157",
                          "     1 38.15 ms 23.4 ms 7.371 ms 5.01 ms 120.2 us  0 s 9.621 ms   157"));
  EXPECT_EQ(seventy.Finish(""), "");
}

TEST(TextTable, ThenShortensTexts) {
  TextPage page(60, true);
  EXPECT_EQ(Links().Print(&page),
            "                                                          of\n"
            "  busiest links    class            flows     bytes makespan\n"
            "  leaf.2 \u2026af_spine uplink of a leaf 1,234 20.24 MiB   97.1 %\n"
            "  spine.6\u2026af_spine uplink of a leaf    56 21.20 MiB   88.9 %\n");
  EXPECT_EQ(page.Finish(""), "\nShortened to fit 60 columns: busiest links (whole with\n  \"|cat\")\n");
}

TEST(TextTable, ThenStacksColumns) {
  TextPage page(40, true);
  EXPECT_EQ(Ranks().Print(&page),
            "  rank       end  compute      comm\n"
            "     0  38.15 ms  23.4 ms  7.371 ms\n"
            "     1  38.15 ms  23.4 ms  7.371 ms\n"
            "\n"
            "        exposed\n"
            "  rank     comm    memory  host\n"
            "     0  5.01 ms  120.2 us   0 s\n"
            "     1  5.01 ms  120.2 us   0 s\n"
            "\n"
            "  rank      idle  nodes\n"
            "     0  9.621 ms    157\n"
            "     1  9.621 ms    157\n");
  EXPECT_EQ(page.Finish(""), "");
}

TEST(TextTable, ThenStacksCells) {
  TextTable table({"kind", "a rather long name", "n"}, {true, true, false});
  table.Add({"all_reduce of everything", "tree over all of the nodes", "12,345,678"});
  TextPage page(20, false);
  EXPECT_EQ(table.Print(&page),
            "  kind:\n"
            "    all_re...rything\n"
            "  a rather long name:\n"
            "    tree o...e nodes\n"
            "  n:\n"
            "    12,345,678\n");
  TextPage thirty(30, false);
  EXPECT_EQ(table.Print(&thirty),
            "  kind:\n"
            "    all_reduce of everything\n"
            "  a rather long name:\n"
            "    tree over all of the nodes\n"
            "  n:               12,345,678\n");
}

TEST(TextTable, KeepsGivenWidths) {
  TextTable table =
      TextTable::OfWidths({{"bytes", false, 12}, {"algorithm", true, 20, 2}, {"time us", false, 8}}, "#");
  table.Add({"65536", "tree", "54.91"});
  table.Add({"1234567890123", "an algorithm of a long name", "1.00"});
  table.AddLine("#     because");
  EXPECT_EQ(table.Print(),
            "#       bytes  algorithm             time us\n"
            "        65536  tree                    54.91\n"
            " 1234567890123  an algorithm of a long name     1.00\n"
            "#     because\n");
  TextPage page(38, true);
  EXPECT_EQ(table.Print(&page),
            "#                                 time\n"
            "#        bytes algorithm            us\n"
            "         65536 tree              54.91\n"
            " 1234567890123 an algor\u2026ong name  1.00\n"
            "#     because\n");
}

// Any table on any page: no line is too wide, no number is cut, and the page reports shortened texts.
TEST(TextTable, FitsEveryWidth) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const std::vector<std::string> texts = {
      "all_reduce",
      "-",
      "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
      "\u6f22\u5b57\u304b\u306a\u6df7\u3058\u308a\u6587\u306e\u540d\u524d\u3067\u3059",
      "leaf.2 - spine.2 of leaf_spine",
      "a\x1b[31m\xff",
      ""};
  const std::vector<std::string> numbers = {"0", "38.15 ms", "1,234,567", "84.0 %",
                                            "-", "+3.2 %",   "20.24 MiB"};
  const std::vector<std::string> names = {
      "rank", "exposed comm", "kept others waiting", "%", "topology.dimension[0].latency_ns", "group"};
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> header;
    std::vector<bool> left;
    const size_t columns = 1 + below(10);
    for (size_t c = 0; c < columns; ++c) {
      header.push_back(names[below(names.size())]);
      left.push_back(below(2) == 0);
    }
    TextTable table(header, left);
    std::vector<std::string> all;
    const size_t rows = below(5);
    for (size_t r = 0; r < rows; ++r) {
      std::vector<std::string> row;
      for (size_t c = 0; c < columns; ++c) {
        row.push_back(left[c] ? texts[below(texts.size())] : numbers[below(numbers.size())]);
        if (!left[c]) all.push_back(row.back());
      }
      table.Add(row);
    }
    for (size_t width = 20; width <= 200; width += round < 5 ? 1 : 9) {
      TextPage page(width, round % 2 == 0);
      const std::string out = page.Finish(table.Print(&page));
      EXPECT_LE(Widest(out), width) << out;
      for (const std::string& number : all) EXPECT_THAT(out, HasSubstr(number));
      EXPECT_EQ(out.find('\x1b'), out.npos);
      const bool cut = absl::StrContains(out, round % 2 == 0 ? "\u2026" : "...");
      EXPECT_EQ(cut, absl::StrContains(out, "|cat")) << out;
    }
  }
}

TEST(TextTable, KeepsNumbersInTextColumnsWhole) {
  TextTable table({"axis", "value"}, {true, true});
  table.Add({"topology.dimension[0].bandwidth", "<= 1,000,000,000,000.5 Gb/s"});
  table.Add({"topology.dimension[0].latency", "0 1 2 3 4 5 6 7 8 9 10 11 12"});
  for (size_t width = 31; width < 60; ++width) {
    TextPage page(width, true);
    const std::string out = table.Print(&page);
    EXPECT_THAT(out, HasSubstr("<= 1,000,000,000,000.5 Gb/s")) << width;
    EXPECT_THAT(out, HasSubstr("0 1 2 3 4 5 6 7 8 9 10 11 12")) << width;
  }
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
