// Reads the terminal output of nccl-tests and rccl-tests.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "replay/calibrate/nccl_tests_layout.h"
#include "replay/calibrate/nccl_tests_rows.h"
#include "trace/base/status_macros.h"

namespace chakra::nccl_tests {
namespace {

using Tokens = std::vector<absl::string_view>;

Tokens Split(absl::string_view s) { return absl::StrSplit(s, absl::ByAnyChar(" \t"), absl::SkipEmpty()); }

bool IsCount(absl::string_view s) {
  uint64_t n = 0;
  return absl::SimpleAtoi(s, &n) && absl::ascii_isdigit(static_cast<unsigned char>(s[0]));
}

// The integer after the token `key`, if there is one.
template <typename T>
bool After(const Tokens& tokens, absl::string_view key, T* out) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i] == key) return absl::SimpleAtoi(tokens[i + 1], out);
  }
  return false;
}

// Whether `s` begins with this shape, where 9 matches any digit.
bool BeginsAs(absl::string_view s, absl::string_view shape) {
  return s.size() >= shape.size() && std::equal(shape.begin(), shape.end(), s.begin(), [](char p, char c) {
           return p == '9' ? absl::ascii_isdigit(static_cast<unsigned char>(c)) : c == p;
         });
}

// Whether the rest of a line, after a tag, was printed by nccl-tests.
bool IsOwn(absl::string_view rest) {
  rest = absl::StripLeadingAsciiWhitespace(rest);
  if (absl::StartsWith(rest, "#")) return true;
  const Tokens t = Split(rest.substr(0, 256));
  return t.size() > 2 && IsCount(t[0]) && IsCount(t[1]) && ElementBytes(t[2]) > 0;
}

// Removes one tag from the front of a line. Tags are "[1,0]<stdout>:" of mpirun --tag-output, "0: " of srun
// -l, "[pod/nccl-0/main] " and "2026-11-27T10:00:00.5Z " of kubectl logs, "2026-11-27 10:00:00,5 ", "nccl-1
// | " of docker compose, and "node1: " of pdsh.
bool CutTag(absl::string_view* line) {
  constexpr size_t kLongest = 160;
  const absl::string_view body = absl::StripLeadingAsciiWhitespace(*line);
  const auto cut = [&](size_t n) {
    *line = body.substr(n);
    return true;
  };
  if (absl::StartsWith(body, "[")) {
    const size_t end = body.find(']');
    if (end == body.npos || end > kLongest) return false;
    size_t after = end + 1;
    for (const absl::string_view stream : {"<stdout>", "<stderr>", ":"}) {
      if (absl::StartsWith(body.substr(after), stream)) after += stream.size();
    }
    return IsOwn(body.substr(after)) || after > end + 1 || absl::StartsWith(body, "[pod/") ||
                   BeginsAs(body.substr(1), "9999-99-99")
               ? cut(after)
               : false;
  }
  // "(Worker pid=17) " of Ray, or "Nov 27 10:00:00 node1 job[17]: " of a system log.
  for (const absl::string_view end : {") ", ": "}) {
    const size_t at = body.substr(0, kLongest).find(end);
    const bool begins = end[0] == ')'
                            ? absl::StartsWith(body, "(")
                            : BeginsAs(body.substr(std::min<size_t>(3, body.size())), " 99 99:99:99");
    if (begins && at != body.npos && IsOwn(body.substr(at + 2))) return cut(at + 2);
  }
  const size_t blank = std::min(body.find_first_of(" \t"), body.size());
  const absl::string_view token = body.substr(0, blank);
  if (BeginsAs(token, "9999-99-99T99:99:99")) return cut(blank);
  if (BeginsAs(body, "9999-99-99 99:99:99") || BeginsAs(body, "9999/99/99 99:99:99"))
    return cut(std::min(body.find_first_of(" \t", 11), body.size()));
  if (BeginsAs(token, "99:99:99")) return cut(blank);
  const absl::string_view rest = absl::StripLeadingAsciiWhitespace(body.substr(blank));
  if (absl::StartsWith(rest, "| ") && blank < kLongest)
    return cut(static_cast<size_t>(rest.data() - body.data()) + 2);
  const bool number = token.size() > 1 && token.back() == ':' && IsCount(token.substr(0, token.size() - 1));
  if (number && token.size() < 8) return cut(blank);
  if (token.size() > 1 && token.back() == ':' && IsOwn(rest)) return cut(blank);
  return false;
}

// `line` without the tags that other programs put in front.
absl::string_view WithoutTag(absl::string_view line) {
  for (int tags = 0; tags < 4 && CutTag(&line); ++tags) {
  }
  return line;
}

// The devices of a run.
struct Devices {
  struct Line {
    int rank;
    int group;
    std::string host, process;
  };
  std::vector<Line> lines;
  std::string name;  // of the first device

  // The number of distinct ranks in the first rank's group.
  int Ranks(int per_process) const {
    std::set<int> ranks;
    std::set<std::pair<std::string, std::string>> processes;
    bool pids = true;
    for (const Line& l : lines) {
      if (l.group != lines[0].group) continue;
      ranks.insert(l.rank);
      processes.insert({l.host, l.process});
      pids = pids && !l.process.empty();
    }
    const int64_t count = std::max<int64_t>(static_cast<int64_t>(ranks.size()), Least());
    const int64_t all = static_cast<int64_t>(processes.size()) * per_process;
    // The lines of one process are cut at 2,048 bytes, but its first rank is always there. Ranks that are
    // printed more than once belong to independent processes.
    const bool once =
        static_cast<ptrdiff_t>(ranks.size()) ==
        std::count_if(lines.begin(), lines.end(), [&](const Line& l) { return l.group == lines[0].group; });
    return static_cast<int>(pids && once && all > count && all < (1 << 22) ? all : count);
  }

  // The minimum number of ranks. Ranks count from 0, so a list of one group that lost lines has at least as
  // many ranks as its highest rank plus 1.
  int Least() const {
    int least = 0;
    for (const Line& l : lines) {
      if (l.group != lines[0].group) return 0;
      least = std::max(least, std::min(l.rank, (1 << 22) - 2) + 1);
    }
    return least;
  }

  // The number of nodes; 0: the list lost its first lines.
  int Nodes() const {
    std::set<int> ranks;
    std::set<absl::string_view> hosts;
    for (const Line& l : lines) {
      if (l.group == lines[0].group && ranks.insert(l.rank).second) {
        hosts.insert(absl::string_view(l.host).substr(0, l.host.find('.')));
      }
    }
    return ranks.contains(0) ? static_cast<int>(hosts.size()) : 0;
  }

  int Processes() const {
    std::set<std::pair<std::string, std::string>> processes;
    for (const Line& l : lines) {
      if (!l.process.empty()) processes.insert({l.host, l.process});
    }
    return static_cast<int>(processes.size());
  }
};

class TextReader {
 public:
  explicit TextReader(const std::string& path) : out_(path) {}

  absl::StatusOr<MeasuredRun> Read(absl::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      RETURN_IF_ERROR(Line(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    RETURN_IF_ERROR(EndRun());
    return out_.Take(
        "rows of nccl-tests or rccl-tests (\"1048576  262144  float  sum  -1  35.2 ...\" below \"#  size  "
        "count  "
        "type ...\"), their JSON, or CSV that begins with a column \"collective\"");
  }

 private:
  absl::Status Line(absl::string_view line) {
    line = absl::StripAsciiWhitespace(WithoutTag(absl::StripSuffix(line, "\r")));
    if (line.empty()) return absl::OkStatus();
    const bool comment = absl::ConsumePrefix(&line, "#");
    const Tokens tokens = Split(line);
    if (tokens.empty()) return absl::OkStatus();
    Layout layout;
    if (Layout::OfHeader(tokens, &layout)) return Header(layout);
    if (!comment && RowBegins(tokens)) {
      AddRow(tokens);
      return absl::OkStatus();
    }
    return Other(line, tokens);
  }

  // Whether the tokens begin a row: "SIZE COUNT TYPE ...".
  static bool RowBegins(const Tokens& t) {
    return t.size() >= 3 && IsCount(t[0]) && IsCount(t[1]) &&
           (ElementBytes(t[2]) > 0 ||
            (t.size() >= 9 && absl::ascii_isalpha(static_cast<unsigned char>(t[2][0]))));
  }

  void AddRow(const Tokens& tokens) {
    Row row;
    row.line = line_;
    const std::string fault = ReadRow(tokens, layout_, &row);
    if (fault.empty()) {
      run_.rows.push_back(std::move(row));
    } else {
      out_.Warn(line_, absl::StrCat("a row that is cut or mixed with other text (", fault, "): left out"));
    }
  }

  absl::Status Header(const Layout& layout) {
    RETURN_IF_ERROR(Begin());
    // The line above the header lists the halves, the line below has the unit.
    const bool out_of_place = layout_.only_out_of_place;
    layout_ = layout;
    layout_.only_out_of_place = out_of_place;
    return absl::OkStatus();
  }

  // Reads a line that is not a row; most of these carry no information.
  absl::Status Other(absl::string_view line, const Tokens& t) {
    if (absl::StartsWith(line, " ")) line = absl::StripLeadingAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, "Collective test starting:")) {
      RETURN_IF_ERROR(EndRun());
      return NameIs(absl::StripAsciiWhitespace(line));
    }
    if (absl::StartsWith(line, "Collective test concluded:")) return EndRun();
    if (t[0] == "nThread") return Config(t);
    if (line == "Using devices") return Begin();
    if (t[0] == "Rank") return Device(line, t);
    if (t[0] == "out-of-place" || t[0] == "in-place") {
      RETURN_IF_ERROR(Begin());
      layout_.only_out_of_place = !absl::StrContains(line, "in-place");
      return absl::OkStatus();
    }
    if (absl::StrContains(line, "(ms)") && absl::StrContains(line, "(GB/s)")) layout_.milliseconds = true;
    Version(line, t);
    Remark(line);
    return Mentioned(line, t);
  }

  // Called for a line that precedes a table: rows before this line belong to another run.
  absl::Status Begin() { return run_.rows.empty() ? absl::OkStatus() : EndRun(); }

  absl::Status NameIs(absl::string_view name) {
    const std::optional<Test> test = TestNamed(name);
    if (!test) {
      return out_.Error(line_, absl::StrCat("unknown collective \"", name.substr(0, 64),
                                            "\"; expected all_reduce_perf, all_gather_perf, ..."));
    }
    run_.test = test;
    started_ = true;
    return absl::OkStatus();
  }

  absl::Status Config(const Tokens& t) {
    RETURN_IF_ERROR(Begin());
    devices_ = Devices();
    int threads = 0;
    int gpus = 0;
    if (After(t, "nThread", &threads) && After(t, "nGpus", &gpus) && threads > 0 && gpus > 0 &&
        threads < (1 << 11) && gpus < (1 << 11)) {
      per_process_ = threads * gpus;
    }
    int n = 0;
    for (size_t i = 0; i + 2 < t.size(); ++i) {
      if (t[i] == "agg" && t[i + 1] == "iters:" && absl::SimpleAtoi(t[i + 2], &n) && n > 1) {
        out_.Warn(
            line_,
            absl::StrCat("-m ", n,
                         ": several operations were launched as one group; times are shares of its time"));
      }
    }
    if (After(t, "graph:", &n) && n > 0) {
      out_.Warn(line_, absl::StrCat("-G ", n, ": times of graph launches, without launch latency"));
    }
    return absl::OkStatus();
  }

  // Reads "Rank  0 Group  0 Pid  4711 on HOST device  0 [0000:04:00] NAME". Older versions have no Group, or
  // no Pid.
  absl::Status Device(absl::string_view line, const Tokens& t) {
    // Where rccl-tests cuts the lines of a process, the lines of the next process follow immediately.
    const size_t again = line.rfind("Rank ");
    if (again != absl::string_view::npos && line.find("Rank ") < again) {
      line.remove_prefix(again);
      return Device(line, Split(line));
    }
    Devices::Line d{0, 0, "", ""};
    if (t.size() < 2 || !absl::SimpleAtoi(t[1], &d.rank)) return absl::OkStatus();
    RETURN_IF_ERROR(Begin());
    After(t, "Group", &d.group);
    int64_t pid = 0;
    if (After(t, "Pid", &pid)) d.process = absl::StrCat(pid);
    const auto on = std::find(t.begin(), t.end(), "on");
    const auto device = std::find(t.begin(), t.end(), "device");
    if (on == t.end() || device == t.end() || on + 1 >= device) return absl::OkStatus();  // the line is cut
    d.host = std::string(on[1]);
    const size_t bracket = line.find("] ");
    if (devices_.lines.empty() && bracket != absl::string_view::npos) {
      devices_.name = std::string(absl::StripAsciiWhitespace(line.substr(bracket + 2)));
    }
    if (d.rank == 0 && std::any_of(devices_.lines.begin(), devices_.lines.end(),
                                   [](const Devices::Line& l) { return l.rank == 0; })) {
      out_.Warn(line_, "rank 0 for the second time: processes that run in parallel, not built with MPI");
    }
    devices_.lines.push_back(std::move(d));
    return absl::OkStatus();
  }

  void Version(absl::string_view line, const Tokens& t) {
    std::string& version = out_.result().library_version;
    if (!version.empty()) return;
    if (absl::StartsWith(line, "nccl-tests version")) {
      int64_t code = 0;
      for (absl::string_view s : t) {
        if (absl::ConsumePrefix(&s, "nccl-library=") && absl::SimpleAtoi(s, &code))
          version = VersionText(code);
      }
      return;
    }
    // Lines such as "NCCL version 2.18.3+cuda12.2", "RCCL version : 2.22.3-develop:..."
    for (size_t i = 0; i + 2 < t.size(); ++i) {
      if ((t[i] != "NCCL" && t[i] != "RCCL") || t[i + 1] != "version") continue;
      const absl::string_view s = t[i + 2] == ":" && i + 3 < t.size() ? t[i + 3] : t[i + 2];
      if (absl::ascii_isdigit(static_cast<unsigned char>(s[0])))
        version = std::string(s.substr(0, s.find_first_of("+-")));
    }
  }

  void Remark(absl::string_view line) {
    if (absl::StartsWith(line, "Blocking Enabled")) {
      out_.Warn(line_, "-z: times include waiting for each operation's end");
    } else if (absl::StartsWith(line, "Reducing maxBytes")) {
      out_.Warn(line_, "not enough memory: larger sizes are missing");
    }
  }

  // Looks for a row after other text, or for the command that is about to run.
  absl::Status Mentioned(absl::string_view line, const Tokens& t) {
    for (size_t i = 2; i < t.size(); ++i) {
      if (ElementBytes(t[i]) == 0 || !IsCount(t[i - 1]) || !IsCount(t[i - 2])) continue;
      out_.Warn(line_, "a row that is mixed with other text: left out");
      return absl::OkStatus();
    }
    if (absl::StrContains(line, "NCCL INFO")) return absl::OkStatus();
    for (absl::string_view s : t) {
      if (!absl::ConsumeSuffix(&s, "_perf")) continue;
      const std::optional<Test> test = TestNamed(s);
      if (!test) continue;
      RETURN_IF_ERROR(Begin());
      if (!started_) run_.test = test;
      break;
    }
    return absl::OkStatus();
  }

  absl::Status EndRun() {
    if (!run_.rows.empty()) {
      if (!devices_.lines.empty()) {
        run_.ranks = devices_.Ranks(per_process_);
        run_.nodes = devices_.Nodes();
        run_.device = devices_.name;
      }
      if (run_.ranks > 0 && out_.result().processes == 0) {
        out_.result().processes = devices_.Processes();
        const int processes = out_.result().processes;
        out_.result().gpus_per_process =
            per_process_ == 0 && processes > 0 ? run_.ranks / processes : per_process_;
        out_.result().device_name = devices_.name;
      }
      RETURN_IF_ERROR(out_.Add(run_));
    }
    run_ = Run();
    devices_ = Devices();
    layout_ = Layout();
    per_process_ = 0;
    started_ = false;
    return absl::OkStatus();
  }

  Output out_;
  int line_ = 0;
  Run run_;
  Devices devices_;
  Layout layout_;
  bool started_ = false;  // a start line named the test
  int per_process_ = 0;   // GPUs of a process; 0: not known
};

}  // namespace

absl::StatusOr<MeasuredRun> ReadText(absl::string_view text, const std::string& path) {
  return TextReader(path).Read(text);
}

}  // namespace chakra::nccl_tests
