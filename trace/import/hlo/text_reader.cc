#include "trace/import/hlo/text_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trace/base/status_macros.h"
#include "trace/import/hlo/asynchronous.h"
#include "trace/import/hlo/proto_reader.h"
#include "trace/import/hlo/text_cursor.h"
#include "trace/import/hlo/text_values.h"

namespace chakra::hlo {
namespace {

constexpr absl::string_view kPairsAttribute = "_xla_send_recv_source_target_pairs";

// The names that an instruction refers to.
struct Names {
  std::vector<std::string> operands, calls, control;
  int64_t line = 0;
};

class TextReader {
 public:
  TextReader(absl::string_view text, absl::string_view file) : c_(text), file_(file) {}

  absl::StatusOr<Module> Read();

 private:
  using Attributes = std::vector<std::pair<absl::string_view, absl::string_view>>;

  absl::Status Error(absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": line ", c_.line(), ": ", c_.Rest(), "; expected ", expected));
  }
  absl::Status ErrorAt(int64_t line, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": line ", line, ": ", what));
  }
  absl::Status ReadHeader();
  void SkipTables();
  void AddPartsOfTuples(Computation* to, Names* names, std::vector<Names>* all);
  absl::Status ReadComputation();
  absl::Status ReadInstruction(Computation* to, std::vector<Names>* names);
  absl::Status TakeOperands(absl::string_view inside, Instruction* i, Names* names);
  absl::Status TakeAttribute(absl::string_view key, absl::string_view value, Instruction* i, Names* names);
  absl::Status Link();

  TextCursor c_;
  absl::string_view file_;
  Module m_;
  std::vector<std::vector<Names>> names_;                   // by computation, then by instruction
  absl::flat_hash_map<std::string, uint32_t> computation_;  // by name
};

absl::Status TextReader::ReadHeader() {
  if (!c_.Consume("HloModule")) return Error("\"HloModule NAME\", as --xla_dump_hlo_as_text writes it");
  m_.name = std::string(c_.Name());
  Attributes attributes;
  if (!c_.ReadAttributes(&attributes)) return Error("attributes whose brackets and quotes are closed");
  for (const auto& [key, value] : attributes) {
    if (key == "is_scheduled") m_.scheduled = value == "true";
    if (key != "replica_count" && key != "num_partitions") continue;
    int64_t n = 0;
    if (!absl::SimpleAtoi(value, &n) || n < 1 || n > kMostDevices)
      return Error(absl::StrCat(key, " of 1 to ", kMostDevices));
    (key == "replica_count" ? m_.replicas : m_.partitions) = n;
  }
  c_.SkipLine();
  return absl::OkStatus();
}

// Skips tables that metadata refer to: a title alone on its line, then lines that begin with a number.
void TextReader::SkipTables() {
  static constexpr absl::string_view kTitles[] = {"FileNames", "FunctionNames", "FileLocations",
                                                  "StackFrames"};
  for (bool found = true; found;) {
    found = false;
    for (const absl::string_view title : kTitles) {
      if (!c_.ConsumeLine(title)) continue;
      found = true;
      for (c_.Skip(); absl::ascii_isdigit(static_cast<unsigned char>(c_.peek())); c_.Skip()) c_.SkipLine();
    }
  }
}

// Adds instructions for operands such as "%p#0#1", part 1 of part 0 of %p: one for each part, with such a
// name.
void TextReader::AddPartsOfTuples(Computation* to, Names* names, std::vector<Names>* all) {
  for (const std::string& operand : names->operands) {
    for (size_t mark = operand.find('#'); mark != operand.npos; mark = operand.find('#', mark + 1)) {
      Instruction part;
      part.name = operand.substr(0, operand.find('#', mark + 1));
      part.opcode = "get-tuple-element";
      Names of;
      of.line = names->line;
      of.operands = {operand.substr(0, mark)};
      const auto whole = to->rows.find(of.operands[0]);
      if (!absl::SimpleAtoi(part.name.substr(mark + 1), &part.tuple_index) || whole == to->rows.end()) break;
      const std::vector<Shape>& shapes = to->instructions[whole->second].shape.parts;
      if (part.tuple_index < 0 || static_cast<size_t>(part.tuple_index) >= shapes.size()) break;
      part.shape = shapes[static_cast<size_t>(part.tuple_index)];
      const auto row = static_cast<uint32_t>(to->instructions.size());
      if (!to->rows.try_emplace(part.name, row).second) continue;
      to->instructions.push_back(std::move(part));
      all->push_back(std::move(of));
    }
  }
}

absl::Status TextReader::TakeOperands(absl::string_view inside, Instruction* i, Names* names) {
  if (i->opcode == "parameter") {
    if (absl::SimpleAtoi(inside, &i->parameter) && i->parameter >= 0) return absl::OkStatus();
    return ErrorAt(names->line, absl::StrCat("instruction \"", Short(i->name), "\": parameter(",
                                             inside.substr(0, 20), "); expected its number"));
  }
  if (i->opcode == "constant") {
    int64_t n = 0;
    if (absl::SimpleAtoi(inside, &n)) i->constant = n;
    return absl::OkStatus();
  }
  for (absl::string_view part : SplitList(inside)) {
    // "bf16[8]{0} %name", "/*index=5*/%name", "name"
    while (absl::ConsumePrefix(&part, "/*")) {
      const size_t end = part.find("*/");
      part = end == part.npos ? "" : absl::StripAsciiWhitespace(part.substr(end + 2));
    }
    if (part.empty()) continue;
    const size_t blank = part.find_last_of(" \t\n");
    if (blank != part.npos) part.remove_prefix(blank + 1);
    names->operands.emplace_back(absl::StripPrefix(part, "%"));
  }
  return absl::OkStatus();
}

absl::Status TextReader::TakeAttribute(absl::string_view key, absl::string_view value, Instruction* i,
                                       Names* names) {
  const auto list = [&](std::vector<std::string>* out) {
    absl::string_view rest = value;
    if (absl::ConsumePrefix(&rest, "{")) rest = absl::StripSuffix(rest, "}");
    for (const absl::string_view part : SplitList(rest)) out->emplace_back(absl::StripPrefix(part, "%"));
  };
  const auto bad = [&](absl::string_view expected) {
    return ErrorAt(names->line, absl::StrCat("instruction \"", Short(i->name), "\": ", key, "=",
                                             value.substr(0, 60), "; expected ", expected));
  };
  const std::pair<absl::string_view, std::vector<int64_t>*> dims[] = {
      {"lhs_contracting_dims", &i->dot.lhs_contracting},
      {"rhs_contracting_dims", &i->dot.rhs_contracting},
      {"lhs_batch_dims", &i->dot.lhs_batch},
      {"rhs_batch_dims", &i->dot.rhs_batch},
      {"rhs_group_dims", &i->dot.rhs_group}};
  for (const auto& [name, out] : dims) {
    if (key == name && !ParseNumbers(value, out)) return bad("numbers of dimensions, as {0,1}");
  }
  if (key == "calls" || key == "called_computations" || key == "branch_computations" ||
      (key == "to_apply" && (i->opcode == "call" || i->opcode == "call-start"))) {
    list(&names->calls);
  } else if (key == "true_computation" || key == "false_computation" || key == "condition") {
    list(&names->calls);
  } else if (key == "body") {
    std::vector<std::string> body;
    list(&body);
    names->calls.insert(names->calls.begin(), body.begin(), body.end());
  } else if (key == "control-predecessors") {
    list(&names->control);
  } else if (key == "replica_groups") {
    auto groups = ParseReplicaGroups(value);
    if (!groups.has_value())
      return bad("lists {{0,1},{2,3}}, an array [2,4]<=[8]T(0), axes mesh['a'=2,'b'=4] {'b'}, or {}");
    i->replica_groups = *std::move(groups);
  } else if (key == "source_target_pairs") {
    auto pairs = ParsePairs(value);
    if (!pairs.has_value()) return bad("pairs {{0,1},{1,2}}");
    i->pairs = *std::move(pairs);
  } else if (key == "frontend_attributes") {
    if (const absl::string_view text = FieldOf(value, kPairsAttribute); !text.empty()) {
      auto pairs = ParsePairs(Unquoted(text));
      if (!pairs.has_value()) return bad("pairs {{0,1},{1,2}}");
      i->pairs = *std::move(pairs);
    }
  } else if (key == "channel_id") {
    if (!absl::SimpleAtoi(value, &i->channel)) return bad("a number");
  } else if (key == "index") {
    if (!absl::SimpleAtoi(value, &i->tuple_index) || i->tuple_index < 0)
      return bad("the number of a tuple's part");
  } else if (key == "feature_group_count") {
    if (!absl::SimpleAtoi(value, &i->feature_groups) || i->feature_groups < 1)
      return bad("a number of groups");
  } else if (key == "batch_group_count") {
    if (!absl::SimpleAtoi(value, &i->batch_groups) || i->batch_groups < 1) return bad("a number of groups");
  } else if (key == "window") {
    if (!ParseWindow(value, &i->window)) return bad("a window such as {size=3x3 pad=1_1x1_1}");
  } else if (key == "slice_sizes") {
    i->slice_elements = ParseSliceElements(value);
  } else if (key == "use_global_device_ids") {
    i->global_ids = value == "true";
  } else if (key == "is_host_transfer") {
    i->host_transfer = value == "true";
  } else if (key == "dim_labels") {
    if (!ParseDimLabels(value, &i->conv)) return bad("labels such as b01f_01io->b01f");
  } else if (key == "metadata") {
    i->op_name = Unquoted(FieldOf(value, "op_name"));
  } else if (key == "custom_call_target") {
    i->target = Unquoted(value);
  } else if (key == "direction") {
    i->direction = std::string(value);
  } else if (key == "async_execution_thread") {
    i->async_thread = Unquoted(value);
  } else if (key == "backend_config") {
    i->backend_config = Unquoted(value);
    ReadBackendConfig(i);
  }
  return absl::OkStatus();
}

absl::Status TextReader::ReadInstruction(Computation* to, std::vector<Names>* all) {
  Names names;
  names.line = c_.line();
  bool root = false;
  Instruction i;
  i.name = std::string(c_.Name());
  if (i.name == "ROOT") {
    root = true;
    i.name = std::string(c_.Name());
  }
  if (i.name.empty() || !c_.Consume("="))
    return Error("an instruction, as \"%name = f32[8]{0} add(%a, %b)\"");
  if (!c_.ReadShape(&i.shape)) return Error("a shape, as f32[8,128]{1,0}");
  i.opcode = std::string(c_.Name());
  absl::string_view inside;
  if (i.opcode.empty() || c_.peek() != '(' || !c_.Bracketed(&inside))
    return Error("an operation and its operands in parentheses that are closed");
  RETURN_IF_ERROR(TakeOperands(absl::StripAsciiWhitespace(inside), &i, &names));
  Attributes attributes;
  if (!c_.ReadAttributes(&attributes)) return Error("attributes whose brackets and quotes are closed");
  for (const auto& [key, value] : attributes) {
    RETURN_IF_ERROR(TakeAttribute(key, value, &i, &names));
  }
  AddPartsOfTuples(to, &names, all);
  const auto row = static_cast<uint32_t>(to->instructions.size());
  if (!to->rows.try_emplace(i.name, row).second)
    return ErrorAt(names.line, absl::StrCat("a second instruction \"", Short(i.name), "\" in computation \"",
                                            Short(to->name), "\""));
  if (root) to->root = row;
  to->instructions.push_back(std::move(i));
  all->push_back(std::move(names));
  return absl::OkStatus();
}

absl::Status TextReader::ReadComputation() {
  Computation computation;
  const int64_t line = c_.line();
  computation.name = std::string(c_.Name());
  const bool entry = computation.name == "ENTRY";
  if (entry) computation.name = std::string(c_.Name());
  if (computation.name == "HloModule")
    return ErrorAt(
        line,
        "a second HLO module; expected one module for each file: split the file where the modules begin");
  if (computation.name.empty()) return Error("a computation, as \"%name (p: f32[8]) -> f32[8] {\"");
  absl::string_view inside;
  Shape result;
  c_.Skip();
  if (c_.peek() == '(' && !c_.Bracketed(&inside)) return Error("parameters in parentheses that are closed");
  if (c_.Consume("->") && !c_.ReadShape(&result)) return Error("the shape of the result");
  if (!c_.Consume("{")) return Error("\"{\" and the computation's instructions");
  std::vector<Names> names;
  while (!c_.Consume("}")) {
    if (c_.done())
      return Error(absl::StrCat("\"}\" at the end of computation \"", Short(computation.name), "\""));
    RETURN_IF_ERROR(ReadInstruction(&computation, &names));
  }
  c_.SkipLine();
  const auto row = static_cast<uint32_t>(m_.computations.size());
  if (!computation_.try_emplace(computation.name, row).second)
    return ErrorAt(line, absl::StrCat("a second computation \"", Short(computation.name), "\""));
  if (computation.root == kNoRow && !computation.instructions.empty())
    computation.root = static_cast<uint32_t>(computation.instructions.size() - 1);
  if (entry) m_.entry = row;
  m_.computations.push_back(std::move(computation));
  names_.push_back(std::move(names));
  return absl::OkStatus();
}

absl::Status TextReader::Link() {
  for (uint32_t c = 0; c < m_.computations.size(); ++c) {
    Computation& computation = m_.computations[c];
    for (uint32_t row = 0; row < computation.instructions.size(); ++row) {
      Instruction& i = computation.instructions[row];
      const Names& names = names_[c][row];
      for (const std::string& name : names.operands) {
        const auto it = computation.rows.find(name);
        if (it == computation.rows.end() || it->second >= row)
          return ErrorAt(names.line, absl::StrCat("instruction \"", Short(i.name), "\" has the operand \"",
                                                  Short(name), "\", which computation \"",
                                                  Short(computation.name), "\" does not have before it"));
        i.operands.push_back(it->second);
      }
      for (const std::string& name : names.control) {
        const auto it = computation.rows.find(name);
        if (it != computation.rows.end() && it->second < row) i.control.push_back(it->second);
      }
      for (const std::string& name : names.calls) {
        const auto it = computation_.find(name);
        if (it == computation_.end())
          return ErrorAt(names.line, absl::StrCat("instruction \"", Short(i.name), "\" calls computation \"",
                                                  Short(name), "\", which the module does not have"));
        i.calls.push_back(it->second);
      }
    }
  }
  WrapAsynchronous(&m_);
  return CheckCalls(m_, file_);
}

absl::StatusOr<Module> TextReader::Read() {
  RETURN_IF_ERROR(ReadHeader());
  SkipTables();
  for (;;) {
    c_.Skip();
    if (c_.done()) break;
    RETURN_IF_ERROR(ReadComputation());
  }
  if (m_.entry == kNoRow)
    return absl::InvalidArgumentError(
        absl::StrCat(file_, ": HLO module \"", Short(m_.name),
                     "\" has no ENTRY computation; expected one, or the file was cut short"));
  RETURN_IF_ERROR(Link());
  return std::move(m_);
}

}  // namespace

absl::StatusOr<Module> ReadHloText(absl::string_view text, absl::string_view file) {
  return TextReader(text, file).Read();
}

bool LooksLikeHloText(absl::string_view head) {
  TextCursor c(head);
  return c.Consume("HloModule ") && !c.Name().empty();
}

}  // namespace chakra::hlo
