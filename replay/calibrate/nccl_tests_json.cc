// JSON: one document of nccl-tests -J, or a line for each row of rccl-tests -Z json. Both write some numbers
// and words that are not valid JSON.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "replay/calibrate/nccl_tests_rows.h"
#include "trace/base/status_macros.h"
#include "trace/io/json_value.h"

namespace chakra::nccl_tests {
namespace {

using Kind = JsonValue::Kind;

// Puts quotes around words that JSON does not define, such as inf, -nan, N/A or AllReduce, outside of
// strings.
std::string QuoteWords(absl::string_view json) {
  std::string out;
  out.reserve(json.size());
  const auto in_word = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '/';
  };
  for (size_t i = 0; i < json.size();) {
    size_t end = i + 1;
    if (json[i] == '"') {
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, json.size());
    } else {
      const size_t letter = i + (json[i] == '-');
      if (letter < json.size() && absl::ascii_isalpha(static_cast<unsigned char>(json[letter]))) {
        for (end = letter; end < json.size() && in_word(json[end]);) ++end;
        const absl::string_view word = json.substr(i, end - i);
        if (word != "true" && word != "false" && word != "null") {
          absl::StrAppend(&out, "\"", word, "\"");
          i = end;
          continue;
        }
      } else if (absl::ascii_isdigit(static_cast<unsigned char>(json[i]))) {
        while (end < json.size() && (in_word(json[end]) || absl::StrContains(".+-", json.substr(end, 1))))
          ++end;
      }
    }
    out.append(json.data() + i, end - i);
    i = end;
  }
  return out;
}

class JsonRuns {
 public:
  JsonRuns(absl::string_view text, const std::string& path) : out_(path), text_(text), reader_(text, path) {}

  absl::StatusOr<MeasuredRun> Read() {
    while (!reader_.AtEnd()) {
      ASSIGN_OR_RETURN(JsonValue value, reader_.Next());
      if (value.is(Kind::kArray)) {
        for (const JsonValue& v : value.items) {
          RETURN_IF_ERROR(Top(v));
        }
      } else {
        RETURN_IF_ERROR(Top(value));
      }
    }
    RETURN_IF_ERROR(Flush());
    return out_.Take(
        "\"results\" of nccl-tests -J, or objects with \"name\", \"size\" and \"time\" of rccl-tests");
  }

 private:
  absl::Status Top(const JsonValue& v) {
    if (v.Find("results") != nullptr) return Document(v);
    if (v.Find("name") != nullptr) return Line(v);
    return reader_.Error(v.begin,
                         "expected an object with \"results\" (nccl-tests -J) or \"name\" (rccl-tests)");
  }

  // Continues to count from the last offset, because values are usually read in the order of the text.
  int LineOf(size_t offset) {
    if (offset < counted_) {
      counted_ = 0;
      line_ = 1;
    }
    line_ += static_cast<int>(std::count(text_.begin() + counted_, text_.begin() + offset, '\n'));
    counted_ = offset;
    return line_;
  }

  absl::Status Wrong(const JsonValue& in, absl::string_view key, absl::string_view expected) const {
    const JsonValue* v = in.Find(key);
    return reader_.Error(v != nullptr ? v->begin : in.begin,
                         absl::StrCat("field \"", key, "\": expected ", expected, ", found ",
                                      v == nullptr ? "nothing" : reader_.Raw(*v).substr(0, 32)));
  }

  // Reads an integer, given as a number or as padded text.
  template <typename T>
  absl::Status Integer(const JsonValue& in, absl::string_view key, T* out) const {
    const JsonValue* v = in.Find(key);
    if (v != nullptr && (v->is(Kind::kNumber) || v->is(Kind::kString)) && absl::SimpleAtoi(v->text, out)) {
      return absl::OkStatus();
    }
    return Wrong(in, key, "an integer");
  }

  absl::Status Count(const JsonValue& in, absl::string_view key, int* out) const {
    RETURN_IF_ERROR(Integer(in, key, out));
    return *out >= 1 && *out <= (1 << 22) ? absl::OkStatus() : Wrong(in, key, "1 to 4194304");
  }

  absl::Status Number(const JsonValue& in, absl::string_view key, Figure* out) const {
    const JsonValue* v = in.Find(key);
    if (v != nullptr && v->is(Kind::kNull)) return absl::OkStatus();
    if (v != nullptr && (v->is(Kind::kNumber) || v->is(Kind::kString)) && ParseFigure(v->text, out)) {
      return absl::OkStatus();
    }
    return Wrong(in, key, "a number");
  }

  static std::string Text(const JsonValue& in, absl::string_view key) {
    const JsonValue* v = in.Find(key);
    return v != nullptr && v->is(Kind::kString) ? std::string(absl::StripAsciiWhitespace(v->text)) : "";
  }

  absl::Status Document(const JsonValue& doc) {
    RETURN_IF_ERROR(Flush());
    const JsonValue* args = doc.Find("args");
    if (args != nullptr && !args->items.empty()) run_.test = TestNamed(args->items[0].text);
    const JsonValue* config = doc.Find("config");
    if (config != nullptr && config->is(Kind::kObject)) {
      RETURN_IF_ERROR(Config(*config));
    }
    int64_t version = 0;
    if (doc.Find("nccl_version") != nullptr && out_.result().library_version.empty()) {
      RETURN_IF_ERROR(Integer(doc, "nccl_version", &version));
      out_.result().library_version = VersionText(version);
    }
    const JsonValue& results = *doc.Find("results");
    if (!results.is(Kind::kArray)) return Wrong(doc, "results", "an array");
    for (const JsonValue& r : results.items) {
      RETURN_IF_ERROR(Result(r));
    }
    return Flush();
  }

  // `devices` lists the first GPU of each process.
  absl::Status Config(const JsonValue& config) {
    int threads = 1;
    int gpus = 1;
    RETURN_IF_ERROR(Count(config, "nthreads", &threads));
    RETURN_IF_ERROR(Count(config, "ngpus", &gpus));
    const JsonValue* devices = config.Find("devices");
    if (devices == nullptr || !devices->is(Kind::kArray) || devices->items.empty()) {
      return Wrong(config, "devices", "an array of the processes' first devices");
    }
    std::vector<std::string> hosts;
    int64_t processes = 0;
    int64_t first_group = 0;
    for (const JsonValue& d : devices->items) {
      int64_t group = 0;
      if (d.Find("group") != nullptr) {
        RETURN_IF_ERROR(Integer(d, "group", &group));
      }
      if (&d == &devices->items[0]) first_group = group;
      if (group != first_group) continue;
      ++processes;
      const std::string host = Text(d, "hostname");
      hosts.push_back(host.substr(0, host.find('.')));
    }
    if (processes * threads * gpus > (1 << 22)) return Wrong(config, "ngpus", "at most 4194304 ranks in all");
    std::sort(hosts.begin(), hosts.end());
    run_.nodes = static_cast<int>(std::unique(hosts.begin(), hosts.end()) - hosts.begin());
    run_.ranks = static_cast<int>(processes * threads * gpus);
    run_.device = Text(devices->items[0], "device_info");
    if (out_.result().processes == 0) {
      out_.result().processes = static_cast<int>(devices->items.size());
      out_.result().gpus_per_process = threads * gpus;
    }
    return absl::OkStatus();
  }

  absl::Status Result(const JsonValue& r) {
    if (!r.is(Kind::kObject)) return reader_.Error(r.begin, "field \"results\": expected objects");
    Row row;
    row.line = LineOf(r.begin);
    RETURN_IF_ERROR(Integer(r, "size", &row.size));
    RETURN_IF_ERROR(Integer(r, "count", &row.count.emplace()));
    row.dtype = Text(r, "type");
    row.redop = Text(r, "redop");
    RETURN_IF_ERROR(Integer(r, "root", &row.root.emplace()));
    for (const bool in_place : {false, true}) {
      const JsonValue* h = r.Find(in_place ? "in_place" : "out_of_place");
      if (h == nullptr || h->is(Kind::kNull)) continue;
      Half half;
      half.in_place = in_place;
      half.cpu_time = h->Find("cpu_time") != nullptr;
      Figure wrong;
      RETURN_IF_ERROR(Number(*h, half.cpu_time ? "cpu_time" : "time", &half.time));
      RETURN_IF_ERROR(Number(*h, "alg_bw", &half.alg));
      RETURN_IF_ERROR(Number(*h, "bus_bw", &half.bus));
      RETURN_IF_ERROR(Number(*h, "nwrong", &wrong));
      half.wrong = wrong.value;
      row.halves.push_back(std::move(half));
    }
    if (row.halves.empty()) {
      out_.Warn(row.line, "a result with neither out_of_place nor in_place: left out");
    } else {
      run_.rows.push_back(std::move(row));
    }
    return absl::OkStatus();
  }

  // A row of rccl-tests -Z json.
  absl::Status Line(const JsonValue& v) {
    const std::string name = Text(v, "name");
    const std::optional<Test> test = TestNamed(name);
    if (!test) return Wrong(v, "name", "the name of a collective, as AllReduce");
    int ranks = 0;
    int per_rank = 0;
    int nodes = 1;
    const bool mpi = v.Find("ranks") != nullptr;
    RETURN_IF_ERROR(Count(v, mpi ? "gpusPerRank" : "gpus", &per_rank));
    if (mpi) {
      RETURN_IF_ERROR(Count(v, "ranks", &ranks));
      RETURN_IF_ERROR(Count(v, "nodes", &nodes));
    }
    Row row;
    row.line = LineOf(v.begin);
    const int64_t all = static_cast<int64_t>(mpi ? ranks : 1) * per_rank;
    if (all > (1 << 22)) return Wrong(v, "ranks", "at most 4194304 ranks in all");
    const RcclShape shape{*test, static_cast<int>(all), nodes};
    RETURN_IF_ERROR(StartRcclRun(shape, row.line, &out_, &run_));
    Half half;
    Figure wrong;
    int in_place = 0;
    RETURN_IF_ERROR(Integer(v, "size", &row.size));
    row.dtype = Text(v, "type");
    row.redop = Text(v, "redop");
    RETURN_IF_ERROR(Integer(v, "inPlace", &in_place));
    half.in_place = in_place != 0;
    RETURN_IF_ERROR(Number(v, "time", &half.time));
    RETURN_IF_ERROR(Number(v, "algBw", &half.alg));
    RETURN_IF_ERROR(Number(v, "busBw", &half.bus));
    RETURN_IF_ERROR(Number(v, "wrong", &wrong));
    half.wrong = wrong.value;
    row.halves.push_back(std::move(half));
    run_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  absl::Status Flush() {
    const Run run = std::exchange(run_, Run());
    return out_.Add(run);
  }

  Output out_;
  absl::string_view text_;
  JsonReader reader_;
  Run run_;
  size_t counted_ = 0;  // bytes of text_ whose lines are in line_
  int line_ = 1;
};

}  // namespace

absl::StatusOr<MeasuredRun> ReadJson(absl::string_view text, const std::string& path) {
  const std::string json = QuoteWords(text);
  return JsonRuns(json, path).Read();
}

}  // namespace chakra::nccl_tests
