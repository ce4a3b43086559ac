#include "replay/calibrate/nccl_tests_layout.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"

namespace chakra::nccl_tests {
namespace {

using enum LogColumn;
using Tokens = std::vector<absl::string_view>;

struct ColumnName {
  absl::string_view name;
  LogColumn column;
};
constexpr ColumnName kColumnNames[] = {
    {"size", kSize},      {"bytes", kSize},         {"count", kCount}, {"N", kCount},
    {"type", kType},      {"redop", kRedop},        {"op", kRedop},    {"root", kRoot},
    {"time", kTime},      {"cputime", kCpuTime},    {"algbw", kAlg},   {"busbw", kBus},
    {"error", kWrong},    {"#wrong", kWrong},       {"res", kWrong},   {"i_min", kStat},
    {"i_max", kStat},     {"i_p99", kStat},         {"i_cv%", kStat},  {"algo", kAlgorithm},
    {"proto", kProtocol}, {"nchannels", kChannels},
};

bool IsWord(absl::string_view s) { return absl::ascii_isalpha(static_cast<unsigned char>(s[0])); }

bool HasShape(absl::string_view s, absl::string_view shape) {
  return s.size() == shape.size() && std::equal(s.begin(), s.end(), shape.begin(), [](char c, char p) {
           return p == '9' ? absl::ascii_isdigit(static_cast<unsigned char>(c)) : c == p;
         });
}

// Reads the columns of a row from its tokens, left to right.
class RowReader {
 public:
  RowReader(absl::Span<const absl::string_view> rest, bool milliseconds, Row* row)
      : rest_(rest), milliseconds_(milliseconds), row_(row) {}

  std::string Read(const std::vector<LogColumn>& columns, bool empty_redop) {
    const bool named = std::find(columns.begin(), columns.end(), kAlgorithm) != columns.end();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == kRedop && empty_redop) {
        row_->redop = "";
        continue;
      }
      if (rest_.empty()) return absl::StrCat("expected ", columns.size(), " columns, found ", i);
      if (!Take(columns[i], rest_[0]))
        return absl::StrCat("\"", rest_[0].substr(0, 32), "\" in column ", i + 1);
      rest_.remove_prefix(1);
      const bool half_ends = i + 1 == columns.size() || columns[i + 1] == kTime || columns[i + 1] == kCpuTime;
      if (half_ends && !named && !row_->halves.empty()) TakeAlgorithm();
    }
    return rest_.empty() ? ""
                         : absl::StrCat("\"", rest_[0].substr(0, 32), "\" after column ", columns.size());
  }

 private:
  // Reads "RING  SIMPLE  24" after a half, in the form of rccl-tests -M.
  void TakeAlgorithm() {
    if (rest_.size() < 3 || !IsWord(rest_[0]) || !IsWord(rest_[1])) return;
    int channels = 0;
    if (!absl::SimpleAtoi(rest_[2], &channels) || channels < 0) return;
    Half& half = row_->halves.back();
    half.algorithm = std::string(rest_[0]);
    half.protocol = std::string(rest_[1]);
    half.channels = channels;
    rest_.remove_prefix(3);
  }

  bool Take(LogColumn column, absl::string_view s) {
    switch (column) {
      case kSize:
        return absl::SimpleAtoi(s, &row_->size);
      case kCount:
        return absl::SimpleAtoi(s, &row_->count.emplace());
      case kType:
        row_->dtype = std::string(s);
        return IsWord(s);
      case kRedop:
        row_->redop = std::string(s);
        return IsWord(s);
      case kRoot:
        return absl::SimpleAtoi(s, &row_->root.emplace());
      case kTime:
      case kCpuTime:
        return TakeTime(column, s);
      case kOther:
        return true;
      default:
        return !row_->halves.empty() && TakeOfHalf(column, s, &row_->halves.back());
    }
  }

  bool TakeTime(LogColumn column, absl::string_view s) {
    Half& half = row_->halves.emplace_back();
    half.cpu_time = column == kCpuTime;
    if (!ParseFigure(s, &half.time)) return false;
    if (milliseconds_) {
      half.time.value *= 1000;
      half.time.half *= 1000;
    }
    return true;
  }

  bool TakeOfHalf(LogColumn column, absl::string_view s, Half* half) {
    Figure f;
    switch (column) {
      case kAlg:
        return ParseFigure(s, &half->alg);
      case kBus:
        return ParseFigure(s, &half->bus);
      case kStat:
        return ParseFigure(s, &f);
      case kWrong:
        // "*", as in "1e-07*", marks an error that is too large.
        if (!ParseFigure(absl::StripSuffix(s, "*"), &f)) return false;
        half->wrong = absl::EndsWith(s, "*") || f.value >= 1 ? std::max(f.value, 1.0) : 0;
        return true;
      case kAlgorithm:
        half->algorithm = s == "N/A" ? "" : std::string(s);
        return true;
      case kProtocol:
        half->protocol = s == "N/A" ? "" : std::string(s);
        return true;
      default:
        return s == "N/A" || (absl::SimpleAtoi(s, &half->channels) && half->channels >= 0);
    }
  }

  absl::Span<const absl::string_view> rest_;
  bool milliseconds_;
  Row* row_;
};

std::string ReadWith(const std::vector<LogColumn>& columns, absl::Span<const absl::string_view> tokens,
                     const Layout& layout, bool empty_redop, Row* row) {
  const int line = row->line;
  *row = Row();
  row->line = line;
  std::string fault = RowReader(tokens, layout.milliseconds, row).Read(columns, empty_redop);
  if (!fault.empty()) return fault;
  std::vector<Half>& halves = row->halves;
  if (halves.size() > 2) return "more than two times";
  halves.back().in_place = halves.size() == 2 || !layout.only_out_of_place;
  // The name of the algorithm may be printed only once, at the end.
  if (halves.size() == 2 && halves[0].algorithm.empty()) {
    halves[0].algorithm = halves[1].algorithm;
    halves[0].protocol = halves[1].protocol;
    halves[0].channels = halves[1].channels;
  }
  return "";
}

// The layouts that a row may have if its header is missing.
std::vector<std::vector<LogColumn>> KnownLayouts() {
  const std::vector<LogColumn> half = {kTime, kAlg, kBus, kWrong};
  const std::vector<LogColumn> stats = {kTime, kAlg, kBus, kWrong, kStat, kStat, kStat, kStat};
  std::vector<std::vector<LogColumn>> out;
  const auto add = [&](std::vector<LogColumn> c, const std::vector<LogColumn>& h, int halves) {
    for (int i = 0; i < halves; ++i) c.insert(c.end(), h.begin(), h.end());
    out.push_back(std::move(c));
  };
  add({kSize, kCount, kType, kRedop, kRoot}, half, 2);
  add({kSize, kCount, kType, kRedop}, half, 2);
  add({kSize, kCount, kType, kRoot}, half, 2);
  add({kSize, kCount, kType}, half, 2);
  add({kSize, kCount, kType, kRedop, kRoot}, stats, 2);
  add({kSize, kCount, kType, kRedop, kRoot}, half, 1);
  return out;
}

}  // namespace

bool Layout::OfHeader(const Tokens& tokens, Layout* out) {
  if (tokens.size() < 6 || (tokens[0] != "size" && tokens[0] != "bytes")) return false;
  *out = Layout();
  for (const absl::string_view token : tokens) {
    if (token == "timestamp") continue;
    const auto* name = std::find_if(std::begin(kColumnNames), std::end(kColumnNames),
                                    [&](const ColumnName& n) { return n.name == token; });
    out->columns.push_back(name == std::end(kColumnNames) ? kOther : name->column);
  }
  const auto has = [&](LogColumn c) {
    return std::find(out->columns.begin(), out->columns.end(), c) != out->columns.end();
  };
  // Up to version 1.0, the header was "bytes N ...", and times were in milliseconds.
  out->milliseconds = tokens[0] == "bytes";
  return has(kCount) && has(kType) && (has(kTime) || has(kCpuTime));
}

std::string ReadRow(const Tokens& tokens, const Layout& layout, Row* row) {
  absl::Span<const absl::string_view> rest(tokens);
  if (rest.size() > 2 && HasShape(rest[rest.size() - 2], "9999-99-99") && HasShape(rest.back(), "99:99:99")) {
    rest.remove_suffix(2);
  }
  const bool no_redop = rest.size() > 3 && !IsWord(rest[3]);
  std::string fault;
  if (!layout.columns.empty()) {
    const auto has = [&](LogColumn c) {
      return std::find(layout.columns.begin(), layout.columns.end(), c) != layout.columns.end();
    };
    fault = ReadWith(layout.columns, rest, layout, no_redop && has(kRedop) && has(kRoot), row);
    // Other output may have been mixed into the header.
    if (fault.empty() || !has(kOther)) return fault;
  }
  static const auto& kLayouts = *new std::vector<std::vector<LogColumn>>(KnownLayouts());
  for (const std::vector<LogColumn>& columns : kLayouts) {
    const std::string f = ReadWith(columns, rest, layout, false, row);
    if (f.empty()) return "";
    if (fault.empty()) fault = f;
  }
  // The tests hypercube and alltoallv have an empty redop.
  if (no_redop && ReadWith(kLayouts[0], rest, layout, true, row).empty()) return "";
  return fault;
}

}  // namespace chakra::nccl_tests
