#include "replay/compare/print.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "google/protobuf/util/json_util.h"
#include "trace/base/text_table.h"
#include "trace/io/csv.h"
#include "trace/io/printable_message.h"

namespace chakra {
namespace {

constexpr size_t kColumns = 110;
constexpr size_t kNameWidth = 44;
constexpr size_t kTextWidth = 40;
constexpr uint64_t kLongCount = 10000000000;  // from here on counts are printed with an exponent

// A value as text; the measure's name determines its unit.
std::string Value(absl::string_view name, int64_t n) {
  const uint64_t size = n < 0 ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
  const char* sign = n < 0 ? "-" : "";
  if (absl::EndsWith(name, "_ps")) {
    const int64_t ps = n == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : n;
    return absl::StrCat(sign, FormatTime(Time::Picos(ps < 0 ? -ps : ps)));
  }
  if (size >= kLongCount && !absl::EndsWith(name, "bytes"))
    return absl::StrFormat("%.4g", static_cast<double>(n));
  if (absl::EndsWith(name, "bytes")) return absl::StrCat(sign, FormatBytes(size));
  return absl::StrCat(sign, FormatCount(size));
}

std::string Signed(const std::string& value, bool positive) {
  return absl::StrCat(positive ? "+" : "", value);
}

std::string ValueA(const proto::MeasureChange& m) {
  return m.has_real_a() ? absl::StrFormat("%.4g", m.real_a()) : Value(m.name(), m.a());
}
std::string ValueB(const proto::MeasureChange& m) {
  return m.has_real_b() ? absl::StrFormat("%.4g", m.real_b()) : Value(m.name(), m.b());
}
bool Differs(const proto::MeasureChange& m) {
  return m.has_real_difference() ? m.real_difference() != 0 : m.difference() != 0;
}
std::string DifferenceOf(const proto::MeasureChange& m) {
  if (!Differs(m)) return "-";
  if (m.has_real_difference()) return absl::StrFormat("%+.4g", m.real_difference());
  return Signed(Value(m.name(), m.difference()), m.difference() > 0);
}

// "+3.2 %": three digits, more above a thousand.
std::string PercentText(double percent) {
  if (percent == 0) return "0 %";
  const double size = std::fabs(percent);
  if (size >= 1e6) return absl::StrFormat("%+.3g %%", percent);
  if (size < 0.005) return percent > 0 ? "< +0.01 %" : "> -0.01 %";
  return absl::StrFormat("%+.*f %%", size >= 1000 ? 0 : size >= 100 ? 1 : 2, percent);
}
std::string PercentOf(const proto::MeasureChange& m) {
  return m.has_percent() ? PercentText(m.percent()) : Differs(m) ? "from 0" : "-";
}

// "compute busy" for "compute_busy_ps"
std::string Title(absl::string_view measure) {
  for (const char* end : {"_ps", "_gbytes_per_s"}) {
    if (absl::EndsWith(measure, end)) measure.remove_suffix(std::string(end).size());
  }
  std::string out(measure);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string Heading(const std::string& section) {
  return section == "last_rank" ? "time of the rank that ends last" : Title(section);
}

const proto::MeasureChange* Find(const proto::Change& change, const std::string& measure) {
  for (const proto::MeasureChange& m : change.measure()) {
    if (m.name() == measure) return &m;
  }
  return nullptr;
}

std::string NameOf(const proto::Section& section, const proto::Change& change, size_t width) {
  const bool cut = change.only_in() == "a" ? section.cut_b() : section.cut_a();
  const std::string only = change.only_in().empty() ? ""
                                                    : absl::StrCat(cut ? " [listed in " : " [only ",
                                                                   change.only_in() == "a" ? "A]" : "B]");
  return absl::StrCat(Shorten(change.name(), width > only.size() + 8 ? width - only.size() : 8, "(no name)"),
                      only);
}

// The smallest width, at least `width`, at which rows of different names look different.
size_t WidthToTellApart(const proto::Section& section, const std::vector<const proto::Change*>& rows,
                        size_t width) {
  constexpr size_t kMost = 160;
  for (; width < kMost; width += 4) {
    std::set<std::string> shown;
    for (const proto::Change* change : rows) shown.insert(NameOf(section, *change, width));
    if (shown.size() == rows.size()) break;
  }
  return width;
}

size_t Widest(const std::string& text) {
  size_t widest = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    widest = std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

// The rows of a section, with the measure that the section is sorted by, and the measures in `others`.
std::string PrintRows(const proto::Section& section, const std::vector<const proto::Change*>& rows,
                      const std::vector<std::string>& others, size_t name_width, TextPage* page) {
  std::vector<std::string> header = {Title(section.name()), absl::StrCat(Title(section.by()), " A"), "B",
                                     "change", "%"};
  std::vector<bool> left = {true, false, false, false, false};
  for (const std::string& other : others) {
    header.push_back(Title(other));
    left.push_back(false);
  }
  TextTable table(header, left);
  for (const proto::Change* change : rows) {
    const proto::MeasureChange& by = *Find(*change, section.by());
    std::vector<std::string> row = {NameOf(section, *change, name_width),
                                    change->only_in() == "b" ? "-" : ValueA(by),
                                    change->only_in() == "a" ? "-" : ValueB(by), DifferenceOf(by),
                                    change->only_in().empty() ? PercentOf(by) : "-"};
    for (const std::string& other : others) {
      const proto::MeasureChange* m = Find(*change, other);
      row.push_back(m == nullptr ? "-" : DifferenceOf(*m));
    }
    table.Add(std::move(row));
  }
  return table.Print(page);
}

// The measures that differ in a shown row, except the one that sorts, in the order of their first appearance.
std::vector<std::string> OtherMeasures(const proto::Section& section,
                                       const std::vector<const proto::Change*>& rows) {
  std::vector<std::string> names;
  for (const proto::Change* change : rows) {
    for (const proto::MeasureChange& m : change->measure()) {
      const bool known = std::find(names.begin(), names.end(), m.name()) != names.end();
      if (m.name() != section.by() && !known && Differs(m)) names.push_back(m.name());
    }
  }
  return names;
}

std::string Texts(const std::vector<const proto::Change*>& rows) {
  std::string out;
  for (const proto::Change* change : rows) {
    if (!change->only_in().empty()) continue;
    for (const proto::TextChange& text : change->text()) {
      absl::StrAppend(&out, "  ", text.name(), " of ", Shorten(change->name(), 30, "(no name)"), ": ",
                      Shorten(text.a(), 30, "none"), " -> ", Shorten(text.b(), 30, "none"), "\n");
    }
  }
  return out;
}

std::string SectionText(const proto::Section& section, size_t top, TextPage* page) {
  std::vector<const proto::Change*> rows;
  for (const proto::Change& change : section.change()) rows.push_back(&change);
  if (top > 0 && rows.size() > top) rows.resize(top);
  std::vector<std::string> others = OtherMeasures(section, rows);
  std::string table;
  const size_t least = WidthToTellApart(section, rows, 20);
  size_t width = std::max(kNameWidth, least);
  while (true) {
    table = PrintRows(section, rows, others, width, page);
    const bool fits_itself = page != nullptr && page->limited();  // with all columns
    if (fits_itself || Widest(table) <= kColumns + std::max(kNameWidth, least) - kNameWidth) break;
    if (width > std::max<size_t>(28, least)) {
      width = std::max(least, width - 8);
    } else if (!others.empty()) {
      others.pop_back();
    } else {
      break;
    }
  }
  std::string head = absl::StrCat("\n", Heading(section.name()), ": ", FormatCount(section.changed()), " of ",
                                  FormatCount(section.rows_a() + section.only_b()), " differ");
  head[1] = static_cast<char>(std::toupper(static_cast<unsigned char>(head[1])));
  if (section.only_a() > 0)
    absl::StrAppend(&head, ", ", FormatCount(section.only_a()),
                    section.cut_b() ? " listed only in A" : " only in A");
  if (section.only_b() > 0)
    absl::StrAppend(&head, ", ", FormatCount(section.only_b()),
                    section.cut_a() ? " listed only in B" : " only in B");
  if (section.changed() > 1) {
    absl::StrAppend(&head, "; ", Title(section.by()), " in all ", DifferenceOf(section.total()), " (",
                    PercentOf(section.total()), ")");
  }
  const size_t rest = static_cast<size_t>(section.change_size()) - rows.size();
  return absl::StrCat(
      head, "\n", table, Texts(rows),
      rest > 0 ? absl::StrCat("  ... and ", FormatCount(rest), " more (--top 0 shows all)\n") : "");
}

// "run" has one row, which is printed as a line for each measure that differs.
std::string RunText(const proto::Section& section, TextPage* page) {
  if (section.change_size() == 0) return "";
  TextTable table({"the whole", "A", "B", "change", "%"}, {true, false, false, false, false});
  for (const proto::MeasureChange& m : section.change(0).measure()) {
    if (Differs(m) || m.name() == section.by() || m.name() == "mean_step_ps") {
      table.Add({Title(m.name()), ValueA(m), ValueB(m), DifferenceOf(m), PercentOf(m)});
    }
  }
  return absl::StrCat("\n", table.Print(page));
}

// Whether a setting is about a capture's window and steps. These are left out, since "the whole" has their
// times.
bool IsOfWindow(absl::string_view setting) {
  for (const absl::string_view key : {"window_end_ns", "step_names", "step_first_nodes", "step_last_nodes"}) {
    absl::string_view rest = setting;
    if (absl::ConsumePrefix(&rest, "metadata ") && absl::ConsumePrefix(&rest, key) &&
        (rest.empty() || rest[0] == ' '))
      return true;
  }
  return false;
}

std::string Settings(const proto::Comparison& c) {
  std::string out;
  for (const proto::TextChange& s : c.setting()) {
    if (IsOfWindow(s.name())) continue;
    if (out.empty()) out = "\nDifferent from the start\n";
    absl::StrAppend(&out, "  ", Shorten(s.name(), kTextWidth, "-"), "\n    A  ",
                    Shorten(s.a(), kColumns - 8, "none"), "\n    B  ", Shorten(s.b(), kColumns - 8, "none"),
                    "\n");
  }
  return out;
}

std::string Nodes(const proto::Comparison& c, size_t top, TextPage* page) {
  if (!c.has_nodes()) return "";
  const proto::NodeChanges& n = c.nodes();
  if (n.change_size() == 0 && n.renumbered() + n.only_a() + n.only_b() == 0) return "";
  std::string out = absl::StrCat(
      "\nNodes: ", FormatCount(n.paired()), " in both, ", FormatCount(n.changed()), " of them changed",
      n.renumbered() > 0 ? absl::StrCat(", ", FormatCount(n.renumbered()), " renumbered") : "", "; ",
      FormatCount(n.only_a()), " only in A, ", FormatCount(n.only_b()), " only in B\n");
  if (n.change_size() == 0) return out;
  TextTable table({"what changed", "nodes", "first", "A", "B"}, {true, false, true, true, true});
  const int rows = top > 0 ? std::min(n.change_size(), static_cast<int>(top)) : n.change_size();
  for (int i = 0; i < rows; ++i) {
    const proto::NodeChange& x = n.change(i);
    table.Add(
        {Shorten(x.name(), 22, "-"), FormatCount(x.nodes()),
         Shorten(absl::StrCat("rank ", x.first_rank(), ", ", x.first_node(), " ", x.first_name()), 28, "-"),
         Shorten(x.a(), 20, "-"), Shorten(x.b(), 20, "-")});
  }
  absl::StrAppend(&out, table.Print(page));
  if (rows < n.change_size())
    absl::StrAppend(&out, "  ... and ", n.change_size() - rows, " more (--top 0 shows all)\n");
  return out;
}

std::string Verdict(const proto::Comparison& c) {
  if (c.limit().empty()) return "";
  if (c.failure_size() == 0) return absl::StrCat("\nWithin the limit of ", c.limit(), "\n");
  std::string out = absl::StrCat("\nBeyond the limit of ", c.limit(), "\n");
  constexpr int kFailures = 10;
  for (int i = 0; i < std::min(kFailures, c.failure_size()); ++i) {
    absl::StrAppend(&out, "  ", DescribeFailure(c.failure(i)), "\n");
  }
  if (c.failure_size() > kFailures)
    absl::StrAppend(&out, "  ... and ", c.failure_size() - kFailures, " more\n");
  return out;
}

std::string Text(const proto::Comparison& c, size_t top, TextPage* page) {
  std::string out;
  for (const auto& [letter, side] : {std::pair{"A  ", &c.a()}, std::pair{"B  ", &c.b()}}) {
    absl::StrAppend(&out, letter, Shorten(side->path(), 60, "-"), "  (", Shorten(side->about(), 44, "-"),
                    ")\n");
  }
  if (c.identical()) absl::StrAppend(&out, "\nNo differences.\n");
  for (const std::string& note : c.note()) absl::StrAppend(&out, "Note: ", note, "\n");
  absl::StrAppend(&out, Settings(c));
  std::vector<std::string> same;
  for (const proto::Section& section : c.section()) {
    if (section.changed() == 0) {
      if (section.name() != "run") same.push_back(Heading(section.name()));
    } else {
      absl::StrAppend(&out,
                      section.name() == "run" ? RunText(section, page) : SectionText(section, top, page));
    }
  }
  absl::StrAppend(&out, Nodes(c, top, page));
  if (!c.identical() && !same.empty())
    absl::StrAppend(&out, "\nThe same in both: ", absl::StrJoin(same, ", "), "\n");
  return absl::StrCat(out, Verdict(c));
}

std::string CsvLine(const std::vector<std::string>& fields) {
  return absl::StrCat(
      absl::StrJoin(fields, ",",
                    [](std::string* out, const std::string& f) { absl::StrAppend(out, CsvField(f)); }),
      "\n");
}

std::string Real(double x) { return absl::StrFormat("%.17g", x); }

std::string Csv(const proto::Comparison& c) {
  std::string out = "section,name,only_in,measure,a,b,difference,percent\n";
  for (const proto::TextChange& s : c.setting()) {
    absl::StrAppend(&out, CsvLine({"settings", s.name(), "", "", s.a(), s.b(), "", ""}));
  }
  for (const proto::Section& section : c.section()) {
    for (const proto::Change& x : section.change()) {
      for (const proto::MeasureChange& m : x.measure()) {
        if (!Differs(m)) continue;
        const bool real = m.has_real_a();
        absl::StrAppend(&out, CsvLine({section.name(), x.name(), x.only_in(), m.name(),
                                       real ? Real(m.real_a()) : absl::StrCat(m.a()),
                                       real ? Real(m.real_b()) : absl::StrCat(m.b()),
                                       real ? Real(m.real_difference()) : absl::StrCat(m.difference()),
                                       m.has_percent() ? absl::StrFormat("%.6g", m.percent()) : ""}));
      }
      for (const proto::TextChange& t : x.text()) {
        absl::StrAppend(&out,
                        CsvLine({section.name(), x.name(), x.only_in(), t.name(), t.a(), t.b(), "", ""}));
      }
      if (x.only_in().empty() || std::any_of(x.measure().begin(), x.measure().end(), Differs)) continue;
      absl::StrAppend(&out, CsvLine({section.name(), x.name(), x.only_in(), "", "", "", "", ""}));
    }
  }
  for (const proto::NodeChange& n : c.nodes().change()) {
    absl::StrAppend(&out, CsvLine({"nodes", n.name(), "", "nodes", "", "", absl::StrCat(n.nodes()), ""}));
  }
  return out;
}

}  // namespace

std::string DescribeFailure(const proto::Failure& f) {
  proto::MeasureChange m;
  m.set_name(f.measure());
  m.set_a(f.a());
  m.set_b(f.b());
  m.set_difference(f.b() > f.a() ? 1 : -1);
  if (f.has_percent()) m.set_percent(f.percent());
  const std::string title = Title(f.measure());
  return absl::StrCat(Shorten(f.subject(), kNameWidth, "-"),
                      title == f.subject() ? "" : absl::StrCat(" (", title, ")"), ": A ", ValueA(m), ", B ",
                      ValueB(m), ", ", PercentOf(m));
}

absl::StatusOr<std::string> PrintComparison(const proto::Comparison& comparison, ReportFormat format,
                                            size_t top, TextPage* page) {
  if (format == ReportFormat::kText) return Text(PrintableCopy(comparison), top, page);
  proto::Comparison cut = comparison;
  for (proto::Section& section : *cut.mutable_section()) {
    if (top > 0 && static_cast<size_t>(section.change_size()) > top) {
      section.mutable_change()->DeleteSubrange(static_cast<int>(top),
                                               section.change_size() - static_cast<int>(top));
    }
  }
  if (format == ReportFormat::kCsv) return Csv(cut);
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string out;
  const auto status = google::protobuf::util::MessageToJsonString(cut, &out, options);
  if (!status.ok())
    return absl::InternalError(absl::StrCat("cannot print the comparison: ", status.ToString()));
  return out;
}

}  // namespace chakra
