// CSV of rccl-tests -Z csv, of `chakra-replay collective`, and tables of measurements with gpus and
// size_bytes.
#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/calibrate/nccl_tests_rows.h"
#include "trace/base/status_macros.h"
#include "trace/io/csv.h"

namespace chakra::nccl_tests {
namespace {

using Fields = std::vector<std::string>;

enum Key {
  kKeyCollective,
  kKeyGpu,
  kKeyRanks,
  kKeyNodes,
  kKeyGpusPerRank,
  kKeySize,
  kKeyTime,
  kKeyDtype,
  kKeyRedop,
  kKeyInPlace,
  kKeyAlg,
  kKeyBus,
  kKeyWrong,
  kKeyAlgorithm,
  kKeyProtocol,
  kKeyChannels,
  kKeyNote,
  kKeys,
};

struct KeyName {
  absl::string_view name;  // lower case
  Key key;
};
constexpr KeyName kKeyNames[] = {
    {"collective", kKeyCollective},
    {"gpu", kKeyGpu},
    {"ranks", kKeyRanks},
    {"gpus", kKeyRanks},
    {"nodes", kKeyNodes},
    {"gpusperrank", kKeyGpusPerRank},
    {"bytes", kKeySize},
    {"size", kKeySize},
    {"size_bytes", kKeySize},
    {"time_us", kKeyTime},
    {"time", kKeyTime},
    {"type", kKeyDtype},
    {"redop", kKeyRedop},
    {"inplace", kKeyInPlace},
    {"algbw", kKeyAlg},
    {"algbw_gbps", kKeyAlg},
    {"busbw", kKeyBus},
    {"busbw_gbps", kKeyBus},
    {"#wrong", kKeyWrong},
    {"wrong", kKeyWrong},
    {"algorithm", kKeyAlgorithm},
    {"protocol", kKeyProtocol},
    {"channels", kKeyChannels},
    {"note", kKeyNote},
};

// Whether the text is a name such as "ring" or "NVLS", and not a sentence.
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
      ASSIGN_OR_RETURN(const bool more, csv.Next(&fields));
      if (!more) break;
      line_ = static_cast<int>(csv.line());
      RETURN_IF_ERROR(columns_ == 0 ? Header(fields) : Record(fields, csv.whole()));
    }
    RETURN_IF_ERROR(Flush());
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
    rccl_ = at_[kKeyInPlace] >= 0 && at_[kKeyDtype] >= 0;
    const auto need = [&](Key key, absl::string_view names) {
      return at_[key] >= 0 ? absl::OkStatus()
                           : out_.Error(line_, absl::StrCat("no column ", names, "; found ",
                                                            absl::StrJoin(fields, ", ").substr(0, 200)));
    };
    RETURN_IF_ERROR(need(kKeyCollective, "collective"));
    RETURN_IF_ERROR(need(kKeyRanks, "ranks or gpus"));
    RETURN_IF_ERROR(need(kKeySize, "bytes, size or size_bytes"));
    return need(kKeyTime, "time_us or time");
  }

  // rccl-tests writes the number of nodes after the name, but has no column for it.
  absl::Status Record(Fields& fields, bool whole) {
    extra_nodes_.clear();
    if (fields.size() == columns_ + 1 && rccl_ && at_[kKeyNodes] < 0 && at_[kKeyGpusPerRank] >= 0) {
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
    RETURN_IF_ERROR(Shape());
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

  // Reads collective, ranks and nodes. A change of any of these begins another run.
  absl::Status Shape() {
    const std::optional<Test> test = TestNamed(Field(kKeyCollective));
    if (!test)
      return Wrong(kKeyCollective,
                   "all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, ...");
    int ranks = 0;
    int per_rank = 1;
    int nodes = 0;
    RETURN_IF_ERROR(Count(kKeyRanks, &ranks));
    if (at_[kKeyGpusPerRank] >= 0) {
      RETURN_IF_ERROR(Count(kKeyGpusPerRank, &per_rank));
    }
    if (at_[kKeyNodes] >= 0 && !Field(kKeyNodes).empty()) {
      RETURN_IF_ERROR(Count(kKeyNodes, &nodes));
    }
    if (!extra_nodes_.empty() && (!absl::SimpleAtoi(extra_nodes_, &nodes) || nodes < 1)) {
      return out_.Error(line_, absl::StrCat("field 2: expected the number of nodes, found \"",
                                            extra_nodes_.substr(0, 64), "\""));
    }
    const int64_t all = static_cast<int64_t>(ranks) * per_rank;
    if (all > (1 << 22)) return Wrong(kKeyRanks, "at most 4194304 ranks in all");
    const std::string device(Field(kKeyGpu));
    const int n = static_cast<int>(all);
    if (rccl_) return StartRcclRun({*test, n, at_[kKeyGpusPerRank] < 0 ? 1 : nodes}, line_, &out_, &run_);
    if (run_.test == test && run_.ranks == n && run_.nodes == nodes && run_.device == device)
      return absl::OkStatus();
    RETURN_IF_ERROR(Flush());
    run_.test = test;
    run_.ranks = n;
    run_.nodes = nodes;
    run_.device = device;
    return absl::OkStatus();
  }

  absl::Status Measurement(Row row) {
    if (!absl::SimpleAtoi(Field(kKeySize), &row.size)) return Wrong(kKeySize, "a number of bytes");
    row.dtype = std::string(Field(kKeyDtype));
    if (at_[kKeyRedop] >= 0) row.redop = std::string(Field(kKeyRedop));
    Half half;
    Figure wrong;
    RETURN_IF_ERROR(Number(kKeyTime, &half.time));
    RETURN_IF_ERROR(Number(kKeyAlg, &half.alg));
    RETURN_IF_ERROR(Number(kKeyBus, &half.bus));
    RETURN_IF_ERROR(Number(kKeyWrong, &wrong));
    half.wrong = wrong.value;
    if (at_[kKeyInPlace] >= 0) {
      if (Field(kKeyInPlace) != "0" && Field(kKeyInPlace) != "1") return Wrong(kKeyInPlace, "0 or 1");
      half.in_place = Field(kKeyInPlace) == "1";
    } else {
      half.in_place = absl::StrContains(Field(kKeyNote), "in-place");
    }
    if (IsName(Field(kKeyAlgorithm))) half.algorithm = std::string(Field(kKeyAlgorithm));
    if (IsName(Field(kKeyProtocol))) half.protocol = std::string(Field(kKeyProtocol));
    if (!Field(kKeyChannels).empty() &&
        (!absl::SimpleAtoi(Field(kKeyChannels), &half.channels) || half.channels < 0)) {
      return Wrong(kKeyChannels, "0 or more");
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
  size_t columns_ = 0;  // 0: the header has not been read
  std::array<int, kKeys> at_;
  bool rccl_ = false;
  std::string extra_nodes_;
  const Fields* fields_ = nullptr;  // of the record that is being read
  Run run_;
};

}  // namespace

absl::StatusOr<MeasuredRun> ReadCsv(absl::string_view text, const std::string& path) {
  return CsvTable(path).Read(text);
}

}  // namespace chakra::nccl_tests
