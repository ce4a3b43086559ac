#include "trace/import/hlo/proto_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/base/wire.h"
#include "trace/import/hlo/proto_fields.h"
#include "trace/import/hlo/proto_instruction.h"

namespace chakra::hlo {
namespace {

using wire::Cursor;
using wire::Field;

constexpr absl::string_view kDamaged = "a damaged message";

class ModuleReader {
 public:
  ModuleReader(absl::string_view file, Module* out) : file_(file), m_(*out) {}

  absl::Status Read(Cursor c);

 private:
  const char* ReadComputation(const Field& f);
  const char* ReadSchedule(const Field& f);
  const char* ReadAssignment(const Field& f);
  absl::Status Link();
  absl::Status LinkComputation(uint32_t c);
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ": HLO module \"", Short(m_.name), "\": ", what));
  }

  struct RawComputation {
    std::string name;
    int64_t id = 0, root = 0;
    std::vector<RawInstruction> instructions;
  };

  absl::string_view file_;
  Module& m_;
  std::string entry_name_;
  int64_t entry_id_ = 0;
  std::vector<RawComputation> raw_;
  absl::flat_hash_map<int64_t, uint32_t> computation_;           // by id
  absl::flat_hash_map<int64_t, std::vector<int64_t>> schedule_;  // by the computation's id
};

const char* ModuleReader::ReadComputation(const Field& f) {
  if (f.type != wire::kBytes) return "a computation that is not a message";
  RawComputation& raw = raw_.emplace_back();
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number == 1) return TakeText(g, &raw.name);
    if (g.number == 5) return TakeNumber(g, &raw.id);
    if (g.number == 6) return TakeNumber(g, &raw.root);
    if (g.number == 2)
      return g.type == wire::kBytes ? ReadInstruction(g, &raw.instructions.emplace_back()) : "no instruction";
    return nullptr;
  });
}

const char* ModuleReader::ReadSchedule(const Field& f) {
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number != 1) return nullptr;
    int64_t id = 0;
    std::vector<int64_t> order;
    const char* wrong = ForFields(MessageOf(g), [&](const Field& h) -> const char* {
      if (h.number == 1) id = static_cast<int64_t>(h.bits);
      if (h.number != 2) return nullptr;
      return ForFields(MessageOf(h), [&](const Field& i) -> const char* {
        return i.number == 1 ? Numbers(i, &order) : nullptr;
      });
    });
    schedule_[id] = std::move(order);
    return wrong;
  });
}

const char* ModuleReader::ReadAssignment(const Field& f) {
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number == 1) m_.replicas = static_cast<int64_t>(g.bits);
    if (g.number == 2) m_.partitions = static_cast<int64_t>(g.bits);
    if (g.number != 3) return nullptr;
    std::vector<int64_t>& ids = m_.assignment.emplace_back();
    return ForFields(MessageOf(g), [&](const Field& h) -> const char* {
      return h.number == 1 ? Numbers(h, &ids) : nullptr;
    });
  });
}

absl::Status ModuleReader::LinkComputation(uint32_t c) {
  RawComputation& raw = raw_[c];
  Computation& out = m_.computations[c];
  out.name = raw.name;
  // Use the order of the schedule, if it has all instructions.
  if (const auto order = schedule_.find(raw.id); order != schedule_.end()) {
    absl::flat_hash_map<int64_t, size_t> place;
    for (size_t i = 0; i < order->second.size(); ++i) place.try_emplace(order->second[i], i);
    const bool whole = std::all_of(raw.instructions.begin(), raw.instructions.end(),
                                   [&](const RawInstruction& i) { return place.contains(i.id); });
    if (whole) {
      std::stable_sort(
          raw.instructions.begin(), raw.instructions.end(),
          [&](const RawInstruction& a, const RawInstruction& b) { return place[a.id] < place[b.id]; });
    }
  }
  absl::flat_hash_map<int64_t, uint32_t> rows;
  for (uint32_t i = 0; i < raw.instructions.size(); ++i) {
    // Newer files have the computation in the upper half of an instruction's id. Ids of operands have this
    // half or lack it.
    if (!rows.try_emplace(raw.instructions[i].id, i).second) {
      return Error(absl::StrCat("computation \"", Short(out.name), "\" has two instructions of id ",
                                raw.instructions[i].id));
    }
  }
  for (uint32_t i = 0; i < raw.instructions.size(); ++i) {
    rows.try_emplace(raw.instructions[i].id & 0xffffffff, i);
  }
  const auto row_of = [&](int64_t id) {
    auto it = rows.find(id);
    if (it == rows.end()) it = rows.find(id & 0xffffffff);
    return it == rows.end() ? kNoRow : it->second;
  };
  for (uint32_t i = 0; i < raw.instructions.size(); ++i) {
    RawInstruction& from = raw.instructions[i];
    Instruction it = std::move(from.it);
    if (it.opcode.empty()) return Error(absl::StrCat("instruction \"", Short(it.name), "\" has no opcode"));
    for (const int64_t id : from.operands) {
      const uint32_t row = row_of(id);
      if (row == kNoRow || row >= i)
        return Error(absl::StrCat("instruction \"", Short(it.name), "\" has operand ", id,
                                  ", which computation \"", out.name, "\" does not have before it"));
      it.operands.push_back(row);
    }
    for (const int64_t id : from.control) {
      if (const uint32_t row = row_of(id); row != kNoRow && row != i) it.control.push_back(row);
    }
    for (const int64_t id : from.calls) {
      const auto called = computation_.find(id);
      if (called == computation_.end())
        return Error(absl::StrCat("instruction \"", Short(it.name), "\" calls computation ", id,
                                  ", which the module does not have"));
      it.calls.push_back(called->second);
    }
    ReadBackendConfig(&it);
    out.rows.try_emplace(it.name, i);
    out.instructions.push_back(std::move(it));
  }
  out.root = row_of(raw.root);
  if (out.root == kNoRow && raw.root != 0) {
    return Error(absl::StrCat("computation \"", Short(out.name), "\" has root ", raw.root,
                              ", which is not one of its instructions"));
  }
  if (out.root == kNoRow && !out.instructions.empty())
    out.root = static_cast<uint32_t>(out.instructions.size() - 1);
  return absl::OkStatus();
}

absl::Status ModuleReader::Link() {
  for (uint32_t c = 0; c < raw_.size(); ++c) {
    if (!computation_.try_emplace(raw_[c].id, c).second)
      return Error(absl::StrCat("two computations of id ", raw_[c].id));
    if (raw_[c].id == entry_id_ || raw_[c].name == entry_name_) m_.entry = c;
  }
  if (m_.entry == kNoRow) return Error("no entry computation; expected an HloProto of XLA's dump or profile");
  m_.computations.resize(raw_.size());
  for (uint32_t c = 0; c < raw_.size(); ++c) {
    RETURN_IF_ERROR(LinkComputation(c));
  }
  m_.scheduled = !schedule_.empty();
  return CheckCalls(m_, file_);
}

absl::Status ModuleReader::Read(Cursor c) {
  const char* wrong = ForFields(c, [&](const Field& f) -> const char* {
    const bool message = f.type == wire::kBytes;
    if (f.number == 1 && message) m_.name = std::string(TextOf(f));
    if (f.number == 2 && message) entry_name_ = std::string(TextOf(f));
    if ((f.number == 1 || f.number == 2) && !message) return "a text of another type";
    if (f.number == 6 && message) return "a number of another type";
    if (f.number == 3 && !message) return "a computation that is not a message";
    if (f.number == 6 && !message) entry_id_ = static_cast<int64_t>(f.bits);
    if (!message) return nullptr;
    if (f.number == 3) return ReadComputation(f);
    if (f.number == 7) return ReadSchedule(f);
    if (f.number == 15) return ReadAssignment(f);
    return nullptr;
  });
  if (wrong != nullptr)
    return Error(absl::StrCat(wrong, "; expected an HloProto, or the file was cut short"));
  return Link();
}

// Reads the first field of a message. Returns false if it is not field `number`, or not a text or message.
bool BeginsWithText(Cursor c, uint32_t number, Field* f) {
  return !c.done() && wire::ReadField(&c, f) == nullptr && f->number == number && f->type == wire::kBytes;
}

bool IsName(absl::string_view text) {
  return !text.empty() && text.size() < 4096 && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '/' && c != '{';
  });
}

// Removes the tag and the size of the first field from `head`. The value of the field may end after `head`.
// Returns false if the tag is another one.
bool ConsumeTag(absl::string_view* head, char tag, uint64_t* size) {
  if (head->empty() || (*head)[0] != tag) return false;
  Cursor c = wire::CursorOf(head->substr(1));
  if (!wire::ReadVarint(&c, size)) return false;
  *head = head->substr(head->size() - c.left());
  return true;
}

}  // namespace

absl::Status CheckCalls(const Module& module, absl::string_view file) {
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(module.computations.size(), kNew);
  std::vector<int> depth(module.computations.size());  // of nested calls, valid once kDone
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> stack;
  const auto callees = [&](uint32_t c) {
    std::vector<uint32_t> out;
    for (const Instruction& i : module.computations[c].instructions) {
      out.insert(out.end(), i.calls.begin(), i.calls.end());
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  };
  for (uint32_t start = 0; start < state.size(); ++start) {
    if (state[start] != kNew) continue;
    state[start] = kOpen;
    stack.push_back({start, callees(start)});
    while (!stack.empty()) {
      auto& [c, open] = stack.back();
      if (open.empty()) {
        state[c] = kDone;
        stack.pop_back();
        continue;
      }
      const uint32_t next = open.back();
      if (state[next] == kDone && depth[next] < kDeepest) {
        depth[c] = std::max(depth[c], depth[next] + 1);
        open.pop_back();
        continue;
      }
      if (state[next] != kNew || static_cast<int>(stack.size()) >= kDeepest) {
        return absl::InvalidArgumentError(absl::StrCat(
            file, ": HLO module \"", Short(module.name), "\": computation \"", module.computations[next].name,
            state[next] == kOpen ? "\" calls itself; expected computations that call others only"
                                 : "\" is called too deeply"));
      }
      state[next] = kOpen;
      stack.push_back({next, callees(next)});
    }
  }
  return absl::OkStatus();
}

void ReadBackendConfig(Instruction* i) {
  const absl::string_view config = i->backend_config;
  if (const size_t at = config.find("\"known_trip_count\""); i->opcode == "while" && at != config.npos) {
    absl::string_view rest = config.substr(at);
    const size_t n = rest.find("\"n\"");
    if (n != rest.npos) {
      rest.remove_prefix(n + 3);
      while (!rest.empty() && absl::StrContains(": \"", rest[0])) rest.remove_prefix(1);
      size_t digits = 0;
      while (digits < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[digits]))) ++digits;
      int64_t trips = 0;
      if (absl::SimpleAtoi(rest.substr(0, digits), &trips)) {
        i->trip_count = trips;
      } else if (digits > 0) {
        i->trip_count = INT64_MAX;  // more than a step may have
      }
    }
  }
  i->synchronous =
      absl::StrContains(config, "\"is_sync\":true") || absl::StrContains(config, "\"is_sync\": true");
}

absl::StatusOr<Module> ReadHloProto(absl::string_view bytes, absl::string_view file) {
  // Field 1 of HloProto is the module, and field 1 of HloModuleProto is the name: a name has no control
  // characters.
  Cursor whole = wire::CursorOf(bytes);
  Field first;
  if (!BeginsWithText(whole, 1, &first))
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(file), ": ", std::string(kDamaged), "; expected an HloProto"));
  if (!IsName(TextOf(first))) whole = MessageOf(first);
  // A snapshot (HloSnapshot.hlo, field 1) holds an HloProto.
  Field inner, name;
  if (BeginsWithText(whole, 1, &inner) && !IsName(TextOf(inner)) &&
      BeginsWithText(MessageOf(inner), 1, &name) && IsName(TextOf(name)))
    whole = MessageOf(inner);
  Module module;
  RETURN_IF_ERROR(ModuleReader(file, &module).Read(whole));
  return module;
}

bool LooksLikeHloProto(absl::string_view head) {
  uint64_t size = 0;
  absl::string_view rest = head;
  if (!ConsumeTag(&rest, '\x0a', &size)) return false;
  // HloSnapshot: {1: HloProto}; HloProto: {1: HloModuleProto}; HloModuleProto: {1: name, 2: name of the
  // entry, ...}.
  absl::string_view inner = rest;
  uint64_t name = 0, entry = 0;
  for (int depth = 0; depth < 2 && ConsumeTag(&inner, '\x0a', &name); ++depth) {
    if (name >= inner.size() || !IsName(inner.substr(0, name))) continue;
    inner.remove_prefix(name);
    return ConsumeTag(&inner, '\x12', &entry) && entry < inner.size() && IsName(inner.substr(0, entry));
  }
  if (size >= rest.size() || !IsName(rest.substr(0, size))) return false;
  rest.remove_prefix(size);
  return ConsumeTag(&rest, '\x12', &entry) && entry < rest.size() && IsName(rest.substr(0, entry));
}

}  // namespace chakra::hlo
