// CSV: of rccl-tests -Z csv, of `chakra-replay collective`, and tables of
// measurements with gpus and size_bytes.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/calibrate/nccl_tests_rows.h"
#include "trace/io/csv.h"

namespace chakra::nccl_tests {
namespace {

using Fields = std::vector<std::string>;

enum Key {
  kCollective,
  kGpu,
  kRanks,
  kNodes,
  kGpusPerRank,
  kSize,
  kTime,
  kDtype,
  kRedop,
  kInPlace,
  kAlg,
  kBus,
  kWrong,
  kAlgorithm,
  kProtocol,
  kChannels,
  kNote,
  kKeys,
};

struct KeyName {
  absl::string_view name;  // lower case
  Key key;
};
constexpr KeyName kKeyNames[] = {
    {"collective", kCollective},
    {"gpu", kGpu},
    {"ranks", kRanks},
    {"gpus", kRanks},
    {"nodes", kNodes},
    {"gpusperrank", kGpusPerRank},
    {"bytes", kSize},
    {"size", kSize},
    {"size_bytes", kSize},
    {"time_us", kTime},
    {"time", kTime},
    {"type", kDtype},
    {"redop", kRedop},
    {"inplace", kInPlace},
    {"algbw", kAlg},
    {"algbw_gbps", kAlg},
    {"busbw", kBus},
    {"busbw_gbps", kBus},
    {"#wrong", kWrong},
    {"wrong", kWrong},
    {"algorithm", kAlgorithm},
    {"protocol", kProtocol},
    {"channels", kChannels},
    {"note", kNote},
};

// "ring", "NVLS"; no sentence.
bool IsName(absl::string_view s) {
  return !s.empty() && s != "n/a" && std::all_of(s.begin(), s.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '+' || c == '.';
  });
}

class CsvTable {
 public:
  explicit CsvTable(const std::string& path) : out_(path) { at_.fill(-1); }

  absl::StatusOr<MeasuredRun> Read(absl::string_view text) {
    CsvReader csv(text, out_.path(), CsvReader::Fields::kTrimmed);
    Fields fields;
    for (;;) {
      const absl::StatusOr<bool> more = csv.Next(&fields);
      if (!more.ok()) return more.status();
      if (!*more) break;
      line_ = static_cast<int>(csv.line());
      absl::Status s = columns_ == 0 ? Header(fields) : Record(fields, csv.whole());
      if (!s.ok()) return s;
    }
    if (absl::Status s = Flush(); !s.ok()) return s;
    return out_.Take("rows below the header");
  }

 private:
  absl::Status Header(const Fields& fields) {
    columns_ = fields.size();
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string name = absl::AsciiStrToLower(fields[i]);
      for (const KeyName& k : kKeyNames) {
        if (k.name != name) continue;
        if (at_[k.key] >= 0) return out_.Error(line_, absl::StrCat("column \"", name, "\" is there twice"));
        at_[k.key] = static_cast<int>(i);
      }
    }
    rccl_ = at_[kInPlace] >= 0 && at_[kDtype] >= 0;
    const auto need = [&](Key key, absl::string_view names) {
      return at_[key] >= 0 ? absl::OkStatus()
                           : out_.Error(line_, absl::StrCat("no column ", names, "; found ",
                                                            absl::StrJoin(fields, ", ").substr(0, 200)));
    };
    if (absl::Status s = need(kCollective, "collective"); !s.ok()) return s;
    if (absl::Status s = need(kRanks, "ranks or gpus"); !s.ok()) return s;
    if (absl::Status s = need(kSize, "bytes, size or size_bytes"); !s.ok()) return s;
    return need(kTime, "time_us or time");
  }

  // rccl-tests writes the number of nodes after the name, and no column for it.
  absl::Status Record(Fields& fields, bool whole) {
    extra_nodes_.clear();
    if (fields.size() == columns_ + 1 && rccl_ && at_[kNodes] < 0 && at_[kGpusPerRank] >= 0) {
      extra_nodes_ = fields[1];
      fields.erase(fields.begin() + 1);
    }
    if (fields.size() != columns_) {
      const std::string what =
          absl::StrCat("expected ", columns_, " fields as in the header, found ", fields.size());
      if (whole) return out_.Error(line_, what);
      out_.Warn(line_, absl::StrCat("the last line is cut (", what, "): left out"));
      return absl::OkStatus();
    }
    fields_ = &fields;
    Row row;
    row.line = line_;
    if (absl::Status s = Shape(); !s.ok()) return s;
    return Measurement(std::move(row));
  }

  absl::string_view Field(Key key) const { return at_[key] < 0 ? absl::string_view() : (*fields_)[at_[key]]; }

  absl::Status Wrong(Key key, absl::string_view expected) const {
    const auto* name = std::find_if(std::begin(kKeyNames), std::end(kKeyNames),
                                    [&](const KeyName& k) { return k.key == key; });
    return out_.Error(line_, absl::StrCat("column ", at_[key] + 1, " (", name->name, "): expected ", expected,
                                          ", found \"", Field(key).substr(0, 64), "\""));
  }

  absl::Status Count(Key key, int* out) const {
    if (absl::SimpleAtoi(Field(key), out) && *out >= 1 && *out <= (1 << 22)) return absl::OkStatus();
    return Wrong(key, "1 to 4194304");
  }

  absl::Status Number(Key key, Figure* out) const {
    if (at_[key] < 0 || Field(key).empty() || ParseFigure(Field(key), out)) return absl::OkStatus();
    return Wrong(key, "a number");
  }

  // Collective, ranks and nodes: another of them is another run.
  absl::Status Shape() {
    const std::optional<Test> test = TestNamed(Field(kCollective));
    if (!test)
      return Wrong(kCollective, "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, ...");
    int ranks = 0;
    int per_rank = 1;
    int nodes = 0;
    if (absl::Status s = Count(kRanks, &ranks); !s.ok()) return s;
    if (at_[kGpusPerRank] >= 0) {
      if (absl::Status s = Count(kGpusPerRank, &per_rank); !s.ok()) return s;
    }
    if (at_[kNodes] >= 0 && !Field(kNodes).empty()) {
      if (absl::Status s = Count(kNodes, &nodes); !s.ok()) return s;
    }
    if (!extra_nodes_.empty() && (!absl::SimpleAtoi(extra_nodes_, &nodes) || nodes < 1)) {
      return out_.Error(line_, absl::StrCat("field 2: expected the number of nodes, found \"",
                                            extra_nodes_.substr(0, 64), "\""));
    }
    const int64_t all = static_cast<int64_t>(ranks) * per_rank;
    if (all > (1 << 22)) return Wrong(kRanks, "at most 4194304 ranks in all");
    const std::string device(Field(kGpu));
    const int n = static_cast<int>(all);
    if (rccl_) return StartRcclRun({*test, n, at_[kGpusPerRank] < 0 ? 1 : nodes}, line_, &out_, &run_);
    if (run_.test == test && run_.ranks == n && run_.nodes == nodes && run_.device == device)
      return absl::OkStatus();
    if (absl::Status s = Flush(); !s.ok()) return s;
    run_.test = test;
    run_.ranks = n;
    run_.nodes = nodes;
    run_.device = device;
    return absl::OkStatus();
  }

  absl::Status Measurement(Row row) {
    if (!absl::SimpleAtoi(Field(kSize), &row.size)) return Wrong(kSize, "a number of bytes");
    row.dtype = std::string(Field(kDtype));
    if (at_[kRedop] >= 0) row.redop = std::string(Field(kRedop));
    Half half;
    Figure wrong;
    if (absl::Status s = Number(kTime, &half.time); !s.ok()) return s;
    if (absl::Status s = Number(kAlg, &half.alg); !s.ok()) return s;
    if (absl::Status s = Number(kBus, &half.bus); !s.ok()) return s;
    if (absl::Status s = Number(kWrong, &wrong); !s.ok()) return s;
    half.wrong = wrong.value;
    if (at_[kInPlace] >= 0) {
      if (Field(kInPlace) != "0" && Field(kInPlace) != "1") return Wrong(kInPlace, "0 or 1");
      half.in_place = Field(kInPlace) == "1";
    } else {
      half.in_place = absl::StrContains(Field(kNote), "in-place");
    }
    if (IsName(Field(kAlgorithm))) half.algorithm = std::string(Field(kAlgorithm));
    if (IsName(Field(kProtocol))) half.protocol = std::string(Field(kProtocol));
    if (!Field(kChannels).empty() &&
        (!absl::SimpleAtoi(Field(kChannels), &half.channels) || half.channels < 0)) {
      return Wrong(kChannels, "0 or more");
    }
    row.halves.push_back(std::move(half));
    run_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  absl::Status Flush() {
    const Run run = std::exchange(run_, Run());
    return out_.Add(run);
  }

  Output out_;
  int line_ = 0;
  size_t columns_ = 0;  // 0: before the header
  std::array<int, kKeys> at_;
  bool rccl_ = false;
  std::string extra_nodes_;
  const Fields* fields_ = nullptr;  // of the record that is read
  Run run_;
};

}  // namespace

absl::StatusOr<MeasuredRun> ReadCsv(absl::string_view text, const std::string& path) {
  return CsvTable(path).Read(text);
}

}  // namespace chakra::nccl_tests
