#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/goal/program.h"

namespace chakra::goal {
namespace {

bool IsWordChar(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class TextReader {
 public:
  TextReader(absl::string_view text, absl::string_view file) : rest_(text), file_(file) {}
  absl::StatusOr<Program> Run();

 private:
  absl::Status Fail(absl::string_view expected) const;
  bool SkipComment();
  void SkipBlanks();  // within a line
  void SkipSpace();   // also over line ends and comments
  absl::string_view Word();
  bool Take(char c);
  bool TakeWord(absl::string_view word);
  absl::Status Number(uint64_t most, absl::string_view what, uint64_t* out);
  absl::Status NumberOrAny(absl::string_view what, uint64_t most, uint32_t* out);
  absl::Status EndOfStatement();
  absl::Status Header();
  absl::Status Rank(uint32_t r);
  absl::Status Statement(GoalRank* rank);
  absl::Status Operation(absl::string_view word, GoalRank* rank, absl::string_view label);
  absl::Status Dependency(absl::string_view label, GoalRank* rank);
  absl::Status Find(absl::string_view label, uint32_t* op) const;

  absl::string_view rest_, file_;
  uint32_t line_ = 1;
  uint32_t rank_ = 0, ranks_ = 0;
  bool in_rank_ = false;
  Program out_;
  absl::flat_hash_map<absl::string_view, uint32_t> labels_;  // of the current rank
};

absl::Status TextReader::Fail(absl::string_view expected) const {
  const absl::string_view found = rest_.substr(0, std::min<size_t>(rest_.find('\n'), 24));
  return absl::InvalidArgumentError(absl::StrCat(file_, ": line ", line_,
                                                 in_rank_ ? absl::StrCat(", rank ", rank_) : "",
                                                 ": expected ", expected, ", found ",
                                                 rest_.empty()   ? "the end of the file"
                                                 : found.empty() ? "the end of the line"
                                                                 : absl::StrCat("\"", found, "\"")));
}

// Skips a comment at the begin of the remaining text: // to the end of the line, or /* to */.
bool TextReader::SkipComment() {
  if (absl::StartsWith(rest_, "//")) {
    rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    return true;
  }
  if (!absl::StartsWith(rest_, "/*")) return false;
  const size_t end = std::min(rest_.find("*/", 2), rest_.size());
  line_ +=
      static_cast<uint32_t>(std::count(rest_.begin(), rest_.begin() + static_cast<ptrdiff_t>(end), '\n'));
  rest_.remove_prefix(std::min(end + 2, rest_.size()));
  return true;
}

void TextReader::SkipBlanks() {
  while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r')) rest_.remove_prefix(1);
}

void TextReader::SkipSpace() {
  for (;;) {
    SkipBlanks();
    if (SkipComment()) continue;
    if (rest_.empty() || rest_[0] != '\n') return;
    ++line_;
    rest_.remove_prefix(1);
  }
}

absl::string_view TextReader::Word() {
  SkipBlanks();
  size_t n = 0;
  if (!rest_.empty() && absl::ascii_isalpha(static_cast<unsigned char>(rest_[0]))) {
    while (n < rest_.size() && IsWordChar(rest_[n])) ++n;
  }
  const absl::string_view word = rest_.substr(0, n);
  rest_.remove_prefix(n);
  return word;
}

bool TextReader::Take(char c) {
  SkipBlanks();
  if (rest_.empty() || rest_[0] != c) return false;
  rest_.remove_prefix(1);
  return true;
}

bool TextReader::TakeWord(absl::string_view word) {
  SkipBlanks();
  if (!absl::StartsWith(rest_, word) || (rest_.size() > word.size() && IsWordChar(rest_[word.size()])))
    return false;
  rest_.remove_prefix(word.size());
  return true;
}

absl::Status TextReader::Number(uint64_t most, absl::string_view what, uint64_t* out) {
  SkipBlanks();
  size_t n = 0;
  while (n < rest_.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest_[n]))) ++n;
  if (n == 0 || !absl::SimpleAtoi(rest_.substr(0, n), out) || *out > most)
    return Fail(absl::StrCat(what, ", an integer of 0 to ", most));
  rest_.remove_prefix(n);
  return absl::OkStatus();
}

absl::Status TextReader::NumberOrAny(absl::string_view what, uint64_t most, uint32_t* out) {
  SkipBlanks();
  if (absl::StartsWith(rest_, "-1")) {
    rest_.remove_prefix(2);
    *out = kAny;
    return absl::OkStatus();
  }
  uint64_t n = 0;
  RETURN_IF_ERROR(Number(most, what, &n));
  *out = static_cast<uint32_t>(n);
  return absl::OkStatus();
}

absl::Status TextReader::EndOfStatement() {
  do {
    SkipBlanks();
  } while (SkipComment());
  if (rest_.empty() || rest_[0] == '\n' || rest_[0] == '}') return absl::OkStatus();
  return Fail("the end of the line; options come in the order tag, cpu, nic");
}

absl::Status TextReader::Find(absl::string_view label, uint32_t* op) const {
  const auto it = labels_.find(label);
  if (it == labels_.end())
    return absl::InvalidArgumentError(absl::StrCat(file_, ": line ", line_, ", rank ", rank_,
                                                   ": the label \"", label,
                                                   "\" is not defined; expected one of an operation above"));
  *op = it->second;
  return absl::OkStatus();
}

absl::Status TextReader::Dependency(absl::string_view label, GoalRank* rank) {
  GoalDep dep;
  if (TakeWord("irequires")) {
    dep.start = true;
  } else if (!TakeWord("requires")) {
    return Fail("\":\", \"requires\" or \"irequires\" after a label");
  }
  const absl::string_view of = Word();
  if (of.empty()) return Fail("the label to wait for");
  RETURN_IF_ERROR(Find(label, &dep.op));
  RETURN_IF_ERROR(Find(of, &dep.of));
  if (dep.op == dep.of) return Fail("another operation to wait for");
  rank->deps.push_back(dep);
  return EndOfStatement();
}

absl::Status TextReader::Operation(absl::string_view word, GoalRank* rank, absl::string_view label) {
  constexpr uint64_t kMost64 = std::numeric_limits<uint64_t>::max();
  GoalOp op;
  uint64_t n = 0;
  const bool send = word == "send";
  if (word == "calc") {
    RETURN_IF_ERROR(Number(kMost64, "nanoseconds", &op.size));
  } else {
    op.type = send ? OpType::kSend : OpType::kRecv;
    RETURN_IF_ERROR(Number(kMost64, "bytes", &op.size));
    if (!TakeWord("b")) return Fail("\"b\" after the bytes");
    if (!TakeWord(send ? "to" : "from")) return Fail(send ? "\"to\" and a rank" : "\"from\" and a rank");
    const uint64_t last = ranks_ - 1;
    if (send) {
      RETURN_IF_ERROR(Number(last, "a rank", &n));
      op.peer = static_cast<uint32_t>(n);
    } else {
      RETURN_IF_ERROR(NumberOrAny("a rank", last, &op.peer));
    }
    if (TakeWord("tag")) {
      RETURN_IF_ERROR(NumberOrAny("a tag", kAny, &op.tag));
    }
  }
  if (TakeWord("cpu")) {
    RETURN_IF_ERROR(Number(255, "a cpu", &n));
    op.cpu = static_cast<uint8_t>(n);
  }
  if (word != "calc" && TakeWord("nic")) {
    RETURN_IF_ERROR(Number(255, "a nic", &n));
    op.nic = static_cast<uint8_t>(n);
  }
  // LogGOPSim keeps the first definition of a label.
  if (!label.empty()) labels_.try_emplace(label, static_cast<uint32_t>(rank->ops.size()));
  rank->ops.push_back(op);
  return EndOfStatement();
}

absl::Status TextReader::Statement(GoalRank* rank) {
  const auto is_op = [](absl::string_view w) { return w == "send" || w == "recv" || w == "calc"; };
  const absl::string_view word = Word();
  if (word.empty()) return Fail("calc, send, recv, a label or \"}\"");
  if (is_op(word)) return Operation(word, rank, "");
  if (!Take(':')) return Dependency(word, rank);
  const absl::string_view op = Word();
  if (!is_op(op)) return Fail(absl::StrCat("calc, send or recv after the label \"", word, "\""));
  return Operation(op, rank, word);
}

absl::Status TextReader::Header() {
  SkipSpace();
  uint64_t n = 0;
  if (!TakeWord("num_ranks")) return Fail("num_ranks and the number of ranks");
  RETURN_IF_ERROR(Number(kMostGoalRanks, "the number of ranks", &n));
  if (n == 0) return Fail("at least 1 rank");
  ranks_ = static_cast<uint32_t>(n);
  return absl::OkStatus();
}

absl::Status TextReader::Rank(uint32_t r) {
  uint64_t n = 0;
  SkipSpace();
  if (!TakeWord("rank"))
    return Fail(absl::StrCat("rank ", r, " of ", ranks_, "; ranks come in order, none is left out"));
  RETURN_IF_ERROR(Number(ranks_ - 1, "the number of a rank", &n));
  if (n != r) return Fail(absl::StrCat("rank ", r, " before rank ", n, "; ranks come in order"));
  SkipSpace();
  if (!Take('{')) return Fail("\"{\" after the rank");
  rank_ = r;
  in_rank_ = true;
  labels_.clear();
  GoalRank& rank = out_.ranks.emplace_back();
  for (SkipSpace(); !Take('}'); SkipSpace()) {
    if (rank.ops.size() == std::numeric_limits<uint32_t>::max() - 1)
      return Fail("fewer than 2^32 - 1 operations");
    RETURN_IF_ERROR(Statement(&rank));
  }
  in_rank_ = false;
  rank.SortDeps();
  return absl::OkStatus();
}

absl::StatusOr<Program> TextReader::Run() {
  RETURN_IF_ERROR(Header());
  for (uint32_t r = 0; r < ranks_; ++r) {
    RETURN_IF_ERROR(Rank(r));
  }
  SkipSpace();
  if (!rest_.empty()) return Fail("the end of the file after the last rank");
  return std::move(out_);
}

std::string NumberText(uint32_t n) { return n == kAny ? "-1" : absl::StrCat(n); }

}  // namespace

void GoalRank::SortDeps() {
  if (!std::is_sorted(deps.begin(), deps.end())) std::sort(deps.begin(), deps.end());
  deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
}

bool LooksLikeGoalText(absl::string_view head) {
  for (;;) {
    head = absl::StripLeadingAsciiWhitespace(head);
    const bool line = absl::StartsWith(head, "//"), block = absl::StartsWith(head, "/*");
    if (!line && !block) break;
    const size_t end = head.find(line ? "\n" : "*/");
    if (end == head.npos) return false;
    head.remove_prefix(end + (line ? 1 : 2));
  }
  return absl::StartsWith(head, "num_ranks");
}

absl::StatusOr<Program> ReadGoalText(absl::string_view text, absl::string_view file) {
  return TextReader(text, file).Run();
}

std::string GoalText(const Program& program) {
  std::string out = absl::StrCat("num_ranks ", program.ranks.size(), "\n");
  for (size_t r = 0; r < program.ranks.size(); ++r) {
    const GoalRank& rank = program.ranks[r];
    absl::StrAppend(&out, "\nrank ", r, " {\n");
    for (size_t i = 0; i < rank.ops.size(); ++i) {
      const GoalOp& op = rank.ops[i];
      if (op.type == OpType::kCalc) {
        absl::StrAppend(&out, "l", i + 1, ": calc ", op.size);
      } else {
        absl::StrAppend(&out, "l", i + 1, op.type == OpType::kSend ? ": send " : ": recv ", op.size,
                        op.type == OpType::kSend ? "b to " : "b from ", NumberText(op.peer), " tag ",
                        NumberText(op.tag));
      }
      if (op.cpu != 0) absl::StrAppend(&out, " cpu ", static_cast<int>(op.cpu));
      if (op.nic != 0 && op.type != OpType::kCalc) absl::StrAppend(&out, " nic ", static_cast<int>(op.nic));
      out += '\n';
    }
    for (const GoalDep& d : rank.deps)
      absl::StrAppend(&out, "l", d.op + 1, d.start ? " irequires l" : " requires l", d.of + 1, "\n");
    out += "}\n";
  }
  return out;
}

}  // namespace chakra::goal
