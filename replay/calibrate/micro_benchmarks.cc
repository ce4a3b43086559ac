#include "replay/calibrate/micro_benchmarks.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"

namespace chakra {
namespace {

using Words = std::vector<absl::string_view>;

constexpr double kLongestMicros = 1e12;
constexpr double kMostGigabytes = 1e6;
constexpr uint64_t kLargestBytes = uint64_t{1} << 50;
constexpr double kRatesAgree = 0.03;  // maximum difference between a row's rate and the product of its
                                      // messages and their size
constexpr size_t kMostWarnings = 200;

Words WordsOf(absl::string_view s) { return absl::StrSplit(s, absl::ByAnyChar(" \t"), absl::SkipEmpty()); }

// Whether a line consists of dashes: a rule, or a table's frame.
bool IsRule(absl::string_view s) {
  return s.size() >= 5 && s.find_first_not_of('-') == absl::string_view::npos;
}

enum class TableKind : uint8_t { kNone, kLatency, kBandwidth, kCollective, kOther };

struct CollectiveName {
  absl::string_view title;  // the text between "OSU MPI" and "Latency Test"
  CollectiveType type;
  bool one_part;  // sizes are those of one rank's part
};
constexpr CollectiveName kCollectives[] = {
    {"Allreduce", CollectiveType::kAllReduce, false},
    {"Allgather", CollectiveType::kAllGather, true},
    {"All-to-All Personalized Exchange", CollectiveType::kAllToAll, true},
    {"Reduce_scatter", CollectiveType::kReduceScatter, false},
    {"Broadcast", CollectiveType::kBroadcast, false},
    {"Reduce", CollectiveType::kReduce, false},
    {"Gather", CollectiveType::kGather, true},
    {"Scatter", CollectiveType::kScatter, true},
};

// The table that is currently read.
struct MicroTable {
  TableKind kind = TableKind::kNone;
  std::string title;
  bool perftest = false;
  bool header = false;     // whether its line of columns was read
  bool both_ways = false;  // whether times are there and back, or rates of both directions together
  double unit = 0;         // bytes of the bandwidth's unit
  const CollectiveName* collective = nullptr;
  size_t columns = 0, value = 0;
  std::optional<size_t> messages;  // column of millions of messages a second
  int line = 0;                    // of the title or the header
};

// A line of perftest's columns, with each column as one word: "BW average[MB/sec]" becomes
// "BW_average[MB/sec]".
std::string JoinedColumns(absl::string_view line) {
  return absl::StrReplaceAll(line, {{"BW peak", "BW_peak"},
                                    {"BW average", "BW_average"},
                                    {"BW min", "BW_min"},
                                    {"% percentile", "%_percentile"}});
}

// Whether the line is a header of perftest: "#bytes #iterations ...".
bool IsPerftestHeader(absl::string_view line) {
  const Words t = WordsOf(line.substr(0, 512));
  return t.size() >= 3 && t[0] == "#bytes" && t[1] == "#iterations" &&
         (absl::StrContains(line, "usec]") || absl::StrContains(line, "BW average["));
}

// The title "# OSU MPI-CUDA Latency Test v7.5" without "# " and the version; "" for other lines.
std::string OsuTitle(absl::string_view line) {
  if (!absl::ConsumePrefix(&line, "# OSU ")) return "";
  const size_t end = line.find(" Test");
  return end > 200 ? "" : absl::StrCat("OSU ", line.substr(0, end + 5));
}

MicroTable OfOsuTitle(std::string title, int line) {
  MicroTable out;
  out.kind = TableKind::kOther;
  out.line = line;
  absl::string_view name = title;
  name.remove_prefix(4);  // "OSU "
  const size_t library = std::min(name.find(' ') + 1, name.size());
  // "MPI_Put", "MPI_Get_accumulate": these measure no message, or measure there and back.
  const bool one_sided = absl::StrContains(name.substr(0, library), "_");
  name.remove_prefix(library);  // "MPI-CUDA "
  absl::ConsumeSuffix(&name, " Test");
  absl::ConsumePrefix(&name, "Persistent ");
  if (one_sided) name = "";
  if (name == "Latency") out.kind = TableKind::kLatency;
  if (name == "Bandwidth" || name == "Bi-Directional Bandwidth") {
    out.kind = TableKind::kBandwidth;
    out.both_ways = name != "Bandwidth";
    out.unit = 1e6;
  }
  absl::ConsumeSuffix(&name, " Latency");
  absl::ConsumeSuffix(&name, " Persistent");
  for (const CollectiveName& c : kCollectives) {
    if (name != c.title) continue;
    out.kind = TableKind::kCollective;
    out.collective = &c;
  }
  out.title = std::move(title);
  return out;
}

class MicroReader {
 public:
  MicroReader(const std::string& path, int ranks) : path_(path), ranks_(ranks) {}

  absl::StatusOr<MicroRun> Read(absl::string_view text) {
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      ++line_;
      RETURN_IF_ERROR(Line(line));
    }
    if (out_.points.empty() && out_.rows.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_,
                       ": no measurement found; looked for rows \"SIZE VALUE\" below \"# OSU MPI Latency "
                       "Test\" and \"# Size "
                       "Latency (us)\", or of perftest below \"#bytes #iterations ...\"",
                       out_.warnings.empty() ? "" : absl::StrCat(". Left out: ", out_.warnings[0])));
    }
    if (unsaid_ > 0) out_.warnings.push_back(absl::StrCat(path_, ": and ", unsaid_, " more like these"));
    return std::move(out_);
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ":", line_, ": ", what));
  }
  void Warn(absl::string_view what) {
    if (out_.warnings.size() < kMostWarnings) {
      out_.warnings.push_back(absl::StrCat(path_, ":", line_, ": ", what));
    } else {
      ++unsaid_;
    }
  }

  absl::Status Line(absl::string_view line) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) return absl::OkStatus();
    if (std::string title = OsuTitle(line); !title.empty()) return OsuBegins(std::move(title));
    if (IsPerftestHeader(line)) return PerftestHeader(line);
    // "RDMA_Write Latency Test" is printed above a table, centred.
    if (line.size() < 64 && (absl::EndsWith(line, " Latency Test") || absl::EndsWith(line, " BW Test")) &&
        line[0] != '#') {
      perftest_title_ = std::string(line);
      table_ = MicroTable();
      return absl::OkStatus();
    }
    if (line[0] == '#') {
      const bool columns = absl::StartsWith(absl::StripLeadingAsciiWhitespace(line.substr(1)), "Size");
      return table_.kind != TableKind::kNone && !table_.perftest && columns ? OsuHeader(line)
                                                                            : absl::OkStatus();
    }
    if (IsRule(line)) {
      if (table_.perftest) table_ = MicroTable();
      return absl::OkStatus();
    }
    const Words t = WordsOf(line);
    // A line that begins with a sign, a fraction or an exponent is also a row, but a wrong one.
    double number = 0;
    const bool starts = absl::ascii_isdigit(t[0][0]) || t[0][0] == '-' || t[0][0] == '+' || t[0][0] == '.';
    if (!starts || !absl::SimpleAtod(t[0], &number) || table_.kind == TableKind::kNone ||
        table_.kind == TableKind::kOther)
      return absl::OkStatus();
    return Row(t);
  }

  absl::Status OsuBegins(std::string title) {
    table_ = OfOsuTitle(std::move(title), line_);
    if (table_.kind == TableKind::kOther) {
      Warn(absl::StrCat("\"", table_.title, "\" measures neither messages nor a collective: left out"));
    }
    if (table_.kind == TableKind::kCollective && ranks_ < 2) {
      return Error(absl::StrCat("the file does not say how many ranks ran \"", table_.title,
                                "\"; expected --ranks N, or --ranks FILE=N"));
    }
    if (table_.kind == TableKind::kCollective && absl::StrContains(table_.title, "MPI")) {
      Warn(absl::StrCat("\"", table_.title, "\": taken as calls of the cluster's library, on ", ranks_,
                        " ranks"));
    }
    return absl::OkStatus();
  }

  absl::Status OsuHeader(absl::string_view line) {
    table_.header = true;
    table_.columns = 2;
    table_.value = 1;
    const bool bandwidth = absl::StrContains(line, "(MB/s)"), latency = absl::StrContains(line, "(us)");
    if (table_.kind == TableKind::kOther) return absl::OkStatus();
    if (table_.kind == TableKind::kBandwidth ? bandwidth : latency) return absl::OkStatus();
    return Error(absl::StrCat(
        "columns \"", line.substr(0, 80), "\" below \"", table_.title, "\"; expected ",
        table_.kind == TableKind::kBandwidth ? "\"# Size  Bandwidth (MB/s)\"" : "\"# Size  Latency (us)\""));
  }

  absl::Status PerftestHeader(absl::string_view line) {
    const std::string joined = JoinedColumns(line);
    const Words columns = WordsOf(joined);
    MicroTable table;
    table.perftest = table.header = true;
    table.line = line_;
    table.title = std::exchange(perftest_title_, "");
    std::optional<size_t> typical, average;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] == "t_typical[usec]") typical = i;
      if (columns[i] == "t_avg[usec]") average = i;
      if (columns[i] == "MsgRate[Mpps]") table.messages = i;
      if (!absl::StartsWith(columns[i], "BW_average[")) continue;
      table.kind = TableKind::kBandwidth;
      table.value = i;
      table.unit = columns[i] == "BW_average[Gb/sec]"                                          ? 1e9 / 8
                   : columns[i] == "BW_average[MB/sec]" || columns[i] == "BW_average[MiB/sec]" ? 1048576
                                                                                               : 0;
      if (table.unit == 0)
        return Error(absl::StrCat("column \"", columns[i], "\"; expected MB/sec, MiB/sec or Gb/sec"));
    }
    if (table.kind == TableKind::kNone && (typical || average)) {
      table.kind = TableKind::kLatency;
      table.value = typical ? *typical : *average;
    }
    if (table.kind == TableKind::kNone)
      return Error("columns of perftest without t_typical, t_avg or BW average");
    RETURN_IF_ERROR(Title(&table));
    table.columns =
        table.kind == TableKind::kBandwidth && table.messages ? *table.messages + 1 : table.value + 1;
    table_ = std::move(table);
    return absl::OkStatus();
  }

  // Determines from the title, or else from the file's name, whether the table measures both ways.
  absl::Status Title(MicroTable* table) const {
    const bool latency = table->kind == TableKind::kLatency;
    if (table->title.empty()) {
      const absl::string_view name = absl::string_view(path_).substr(path_.rfind('/') + 1);
      for (const absl::string_view verb : {"write", "send", "read"}) {
        const std::string test = absl::StrCat("ib_", verb, latency ? "_lat" : "_bw");
        if (absl::StrContains(name, test)) table->title = test;
      }
    }
    if (table->title.empty() && latency) {
      return Error(
          "a table of latencies without its title; expected \"RDMA_Write Latency Test\" or the like above "
          "it, or a file name with ib_write_lat, because ib_read_lat measures a round trip");
    }
    if (table->title.empty()) table->title = "perftest";
    if (latency != absl::StrContains(absl::AsciiStrToLower(table->title), "lat") &&
        table->title != "perftest") {
      return Error(
          absl::StrCat("columns of ", latency ? "latencies" : "rates", " below \"", table->title, "\""));
    }
    table->both_ways = latency ? absl::StrContains(absl::AsciiStrToLower(table->title), "read")
                               : absl::StrContains(table->title, "Bidirectional");
    return absl::OkStatus();
  }

  absl::Status Row(const Words& t) {
    if (!table_.header)
      return Error(absl::StrCat("a row of \"", table_.title, "\" before its line \"# Size ...\""));
    uint64_t bytes = 0;
    if (!absl::SimpleAtoi(t[0], &bytes) || bytes > kLargestBytes)
      return Error(absl::StrCat("size \"", t[0].substr(0, 40), "\"; expected whole bytes up to 2^50"));
    if (t.size() < table_.columns) {
      return Error(absl::StrCat("a row of ", t.size(), " columns; expected ", table_.columns,
                                " or more, as \"", table_.title, "\" has: the file is cut here"));
    }
    double value = 0;
    const absl::string_view token = t[table_.value];
    const bool read = absl::SimpleAtod(token, &value);
    if (read && NoRate(value)) return absl::OkStatus();
    if (!read || !std::isfinite(value) || value <= 0 || value > kLongestMicros) {
      return Error(absl::StrCat(table_.kind == TableKind::kBandwidth ? "rate" : "time", " \"",
                                token.substr(0, 40), "\"; expected a number above 0"));
    }
    if (!table_.perftest && t.back() == "Fail") Warn("its data was wrong (Fail), time kept");
    return table_.kind == TableKind::kCollective ? Collective(bytes, value) : Point(bytes, value, t);
  }

  // Small messages on a slow network may have the rate "0.00".
  bool NoRate(double value) {
    if (table_.kind != TableKind::kBandwidth || value != 0) return false;
    Warn("a rate of 0, which has too few digits: left out");
    return true;
  }

  // Checks that perftest's rate is its messages times their size. MsgRate has six decimals, and small rates
  // have two.
  absl::Status CheckMessages(uint64_t bytes, double value, const Words& t) const {
    double messages = 0;
    if (!table_.messages || !absl::SimpleAtod(t[*table_.messages], &messages) || !(messages > 1e-4))
      return absl::OkStatus();
    const double of_messages = messages * 1e6 * static_cast<double>(bytes) / table_.unit;
    const double rounding = 0.5e-6 / messages + 0.005 / value;
    if (std::abs(of_messages / value - 1) <= kRatesAgree + rounding) return absl::OkStatus();
    return Error(absl::StrCat("rate ", value, " is not that of ", messages, " million messages of ", bytes,
                              " bytes a second; expected ", of_messages));
  }

  absl::Status Point(uint64_t bytes, double value, const Words& t) {
    PointRow row;
    row.test = table_.title;
    row.bytes = bytes;
    row.halved = table_.both_ways;
    row.file = path_;
    row.line = line_;
    const double counts = table_.both_ways ? value / 2 : value;
    if (table_.kind == TableKind::kLatency) {
      row.latency_us = counts;
    } else {
      row.gbytes_per_s = counts * table_.unit * 1e-9;
      if (row.gbytes_per_s > kMostGigabytes)
        return Error(
            absl::StrCat("a rate of ", row.gbytes_per_s, " GB/s; expected at most ", kMostGigabytes));
      RETURN_IF_ERROR(CheckMessages(bytes, value, t));
    }
    out_.points.push_back(std::move(row));
    return absl::OkStatus();
  }

  absl::Status Collective(uint64_t bytes, double us) {
    MeasuredRow row;
    row.type = table_.collective->type;
    row.ranks = ranks_;
    const uint64_t parts = table_.collective->one_part ? static_cast<uint64_t>(ranks_) : 1;
    if (bytes > kLargestBytes / parts) return Error("a size above 2^50 bytes");
    row.bytes = bytes * parts;
    row.time_us = us;
    row.devices_per_thread = 1;
    row.file = path_;
    row.line = line_;
    if (row.bytes == 0) {
      Warn("a collective of 0 bytes: left out");
      return absl::OkStatus();
    }
    out_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  std::string path_;
  int ranks_;
  int line_ = 0;
  size_t unsaid_ = 0;  // warnings beyond kMostWarnings
  std::string perftest_title_;
  MicroTable table_;
  MicroRun out_;
};

}  // namespace

bool LooksLikeMicroBenchmark(absl::string_view text) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(line, "#") && (!OsuTitle(line).empty() || IsPerftestHeader(line))) return true;
  }
  return false;
}

absl::StatusOr<MicroRun> ReadMicroBenchmarks(absl::string_view text, const std::string& path, int ranks) {
  return MicroReader(path, ranks).Read(text);
}

}  // namespace chakra
