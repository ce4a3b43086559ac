#include "trace/import/host/record_param_comms.h"

#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace chakra::pytorch {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

// The sums over the tensors of a call.
struct Tensors {
  bool any = false;
  int64_t elems = 0;
  int64_t bytes = 0;
  int64_t item = 0;   // of the first tensor
  std::string dtype;  // of the first tensor
};

bool Int(element e, int64_t* out) { return !e.is_bool() && e.get(*out) == simdjson::SUCCESS; }

bool Ints(element e, std::vector<int64_t>* out) {
  array list;
  if (e.get(list) != simdjson::SUCCESS) return false;
  out->clear();
  for (const element i : list) {
    int64_t n = 0;
    if (!Int(i, &n) || n < 0) return false;
    out->push_back(n);
  }
  return true;
}

// Whether `a` is a tensor: [id, storage, offset, numel, itemsize, "device"].
bool IsTensor(array a) {
  if (a.size() != 6) return false;
  int64_t n = 0;
  for (size_t i = 0; i < 5; ++i) {
    if (!Int(a.at(i), &n)) return false;
  }
  return a.at(5).is_string();
}

// Adds the tensors of `e`, which is a tensor or a list of tensors or lists, nested to any depth.
void AddTensors(element e, Tensors* sum) {
  array a;
  if (e.get(a) != simdjson::SUCCESS) return;
  if (!IsTensor(a)) {
    for (const element inner : a) AddTensors(inner, sum);
    return;
  }
  const int64_t numel = a.at(3).get_int64().value_unsafe();
  const int64_t item = a.at(4).get_int64().value_unsafe();
  int64_t bytes = 0, elems = 0;
  if (numel < 0 || item < 0 || __builtin_mul_overflow(numel, item, &bytes) ||
      __builtin_add_overflow(bytes, sum->bytes, &bytes) ||
      __builtin_add_overflow(numel, sum->elems, &elems)) {
    return;
  }
  if (!sum->any) sum->item = item;
  sum->any = true;
  sum->bytes = bytes;
  sum->elems = elems;
}

bool HoldsTensor(element e) {
  array a;
  if (e.get(a) != simdjson::SUCCESS) return false;
  if (IsTensor(a)) return true;
  for (const element inner : a) {
    if (HoldsTensor(inner)) return true;
  }
  return false;
}

// The element type of the first tensor: "float" for "GenericList[Tensor(float),Tensor(float)]".
std::string InnerType(absl::string_view type) {
  constexpr absl::string_view kTensor = "Tensor(";
  const size_t at = type.find(kTensor);
  if (at == absl::string_view::npos) return "";
  type.remove_prefix(at + kTensor.size());
  return std::string(type.substr(0, type.find(')')));
}

absl::string_view TypeAt(array types, size_t i) {
  std::string_view text;
  return types.at(i).get(text) == simdjson::SUCCESS ? View(text) : absl::string_view();
}

// The index of the collective's name: the first text that names a known collective, else the first text.
// values.size() if there is no text.
size_t FindName(const std::vector<element>& values, size_t from) {
  size_t first = values.size();
  for (size_t i = from; i < values.size(); ++i) {
    std::string_view text;
    if (values[i].get(text) != simdjson::SUCCESS) continue;
    if (ParseCommOp(View(text)) != CommOp::kUnknown) return i;
    if (first == values.size()) first = i;
  }
  return first;
}

// Reads [name, description].
bool ReadGroup(array a, CommCall* call) {
  std::string_view name, desc;
  if (a.size() < 1 || a.at(0).get(name) != simdjson::SUCCESS) return false;
  if (a.size() > 1 && a.at(1).get(desc) != simdjson::SUCCESS) return false;
  call->group = std::string(name);
  call->group_desc = std::string(desc);
  return true;
}

// Reads [seq, is_p2p].
void ReadSeq(array a, CommCall* call) {
  int64_t n = 0;
  bool flag = false;
  if (a.size() < 1 || !Int(a.at(0), &n)) return;
  call->seq = n;
  if (a.size() < 2) return;
  if (a.at(1).get(flag) == simdjson::SUCCESS) {
    call->p2p = flag;
  } else if (Int(a.at(1), &n)) {
    call->p2p = n != 0;
  }
}

// Reads the arguments before the name: seq, group, rank. Each may be absent.
void ReadBeforeName(const std::vector<element>& values, size_t from, size_t to, int64_t* rank,
                    CommCall* call) {
  std::vector<element> ints;
  bool seq_done = false, group_done = false;
  for (size_t i = from; i < to; ++i) {
    array a;
    std::string_view text;
    if (values[i].get(a) == simdjson::SUCCESS) {
      if (!group_done && ReadGroup(a, call)) {
        group_done = true;
      } else if (!seq_done) {
        ReadSeq(a, call);
        seq_done = call->seq != kNone;
      }
    } else if (values[i].get(text) == simdjson::SUCCESS) {
      call->group = std::string(View(text));
      group_done = true;
    } else if (values[i].is_int64() || values[i].is_uint64()) {
      ints.push_back(values[i]);
    }
  }
  if (ints.empty()) return;
  int64_t n = 0;
  if (Int(ints.back(), &n)) *rank = n;
  ints.pop_back();
  if (!group_done && !ints.empty() && (ints.size() > 1 || seq_done)) {  // a pointer; 0: none
    uint64_t pointer = 0;
    if (ints.back().get(pointer) == simdjson::SUCCESS && pointer != 0) call->group = absl::StrCat(pointer);
    ints.pop_back();
  }
  if (!seq_done && !ints.empty() && Int(ints.front(), &n)) call->seq = n;
}

// Reads the arguments after the name: splits, then [[start stride] world].
void ReadAfterName(const std::vector<element>& values, size_t from, CommCall* call) {
  int lists = 0;
  std::vector<int64_t> ints;
  for (size_t i = from; i < values.size(); ++i) {
    int64_t n = 0;
    if (values[i].is_array()) {
      std::vector<int64_t> split;
      if (lists < 2 && Ints(values[i], &split)) (lists == 0 ? call->in_split : call->out_split) = split;
      ++lists;
    } else if (Int(values[i], &n)) {
      ints.push_back(n);
    }
  }
  if (ints.size() >= 2) {
    call->start = ints[0];
    call->stride = ints[1];
  }
  if (ints.size() == 1 || ints.size() >= 3) call->group_size = ints.size() == 1 ? ints[0] : ints[2];
}

// Reads a list of integers as text: "[96, 224]". False if the list is not whole.
bool ParseSplit(absl::string_view text, std::vector<int64_t>* out) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
  text = absl::StripAsciiWhitespace(text.substr(1, text.size() - 2));
  std::vector<int64_t> split;
  if (!text.empty()) {
    for (const absl::string_view part : absl::StrSplit(text, ',')) {
      int64_t n = 0;
      if (!absl::SimpleAtoi(part, &n) || n < 0) return false;
      split.push_back(n);
    }
  }
  *out = std::move(split);
  return true;
}

// Reads an integer, given as a number or as decimal text.
bool AttrInt(element e, int64_t* out) {
  std::string_view text;
  if (Int(e, out)) return true;
  return e.get(text) == simdjson::SUCCESS && absl::SimpleAtoi(View(text), out);
}

void ReadAttr(absl::string_view name, element value, CommCall* call) {
  std::string_view text;
  int64_t n = 0;
  const struct {
    absl::string_view name;
    int64_t* to;
  } kInts[] = {{"in_msg_nelems", &call->in_elems},
               {"out_msg_nelems", &call->out_elems},
               {"pg_size", &call->group_size},
               {"global_rank_start", &call->start},
               {"global_rank_stride", &call->stride}};
  const struct {
    absl::string_view name;
    std::string* to;
  } kTexts[] = {{"collective_name", &call->name},
                {"dtype", &call->dtype},
                {"pg_name", &call->group},
                {"pg_desc", &call->group_desc}};
  for (const auto& i : kInts) {
    if (i.name == name && AttrInt(value, &n)) *i.to = n;
  }
  if (value.get(text) != simdjson::SUCCESS) return;
  for (const auto& t : kTexts) {
    if (t.name == name && !text.empty()) *t.to = std::string(text);
  }
  if (name == "in_split_size") ParseSplit(View(text), &call->in_split);
  if (name == "out_split_size") ParseSplit(View(text), &call->out_split);
}

// Output elements of a call on each rank, computed from its input elements; kNone if not known. The
// collective gives the ratio: an all-gather of n elements has n * world output elements.
int64_t OutElems(const CommCall& call) {
  int64_t out = 0;
  const bool split = !call.out_split.empty();
  switch (call.op) {
    case CommOp::kAllGather:
      if (call.group_size < 1 || __builtin_mul_overflow(call.in_elems, call.group_size, &out)) return kNone;
      return out;
    case CommOp::kReduceScatter:
      return call.group_size < 1 ? kNone : call.in_elems / call.group_size;
    case CommOp::kGather:
    case CommOp::kScatter:
      return kNone;  // differs between the root and the others
    case CommOp::kAllToAll:
      return split ? std::accumulate(call.out_split.begin(), call.out_split.end(), int64_t{0})
                   : call.in_elems;
    default:
      return call.in_elems;
  }
}

// Converts splits from rows of dimension 0 to elements. `elems`: elements of the whole buffer; kNone: not
// known. False if the splits do not add up to the buffer.
bool ScaleSplit(int64_t elems, int64_t row, std::vector<int64_t>* split) {
  int64_t total = 0;
  for (int64_t& s : *split) {
    if (__builtin_mul_overflow(s, row, &s) || __builtin_add_overflow(total, s, &total)) return false;
  }
  return elems == kNone || total == elems;
}

int64_t RowElems(int64_t elems, const std::vector<int64_t>& split) {
  int64_t total = 0;
  for (const int64_t s : split) {
    if (__builtin_add_overflow(total, s, &total)) return 0;
  }
  return elems > 0 && total > 0 && elems % total == 0 ? elems / total : 0;
}

// Converts both splits to element counts. Drops both, and returns false, if they contradict the sizes.
bool FinishSplits(CommCall* call) {
  if (call->in_split.empty() && call->out_split.empty()) return true;
  int64_t row = RowElems(call->in_elems, call->in_split);
  if (row == 0) row = RowElems(call->out_elems, call->out_split);
  if (row == 0) row = 1;
  if (ScaleSplit(call->in_split.empty() ? kNone : call->in_elems, row, &call->in_split) &&
      ScaleSplit(call->out_split.empty() ? kNone : call->out_elems, row, &call->out_split)) {
    return true;
  }
  call->in_split.clear();
  call->out_split.clear();
  return false;
}

void FinishSizes(const Tensors& tensors, bool sizes_in_attrs, CommCall* call) {
  if (call->dtype.empty()) call->dtype = tensors.dtype;
  if (call->in_elems == kNone && tensors.any) call->in_elems = tensors.elems;
  int64_t item = ItemSize(call->dtype);
  if (item == 0) item = tensors.item;
  const auto bytes = [&](int64_t elems) {
    int64_t product = 0;
    if (elems < 0 || item == 0 || __builtin_mul_overflow(elems, item, &product)) return kNone;
    return product;
  };
  call->in_bytes = sizes_in_attrs || !tensors.any ? bytes(call->in_elems) : tensors.bytes;
  call->out_bytes = bytes(call->out_elems);
}

bool RankIsPeer(CommOp op) {
  switch (op) {
    case CommOp::kBroadcast:
    case CommOp::kReduce:
    case CommOp::kGather:
    case CommOp::kScatter:
    case CommOp::kSend:
    case CommOp::kRecv:
      return true;
    default:
      return false;
  }
}

}  // namespace

CommCall ReadCommCall(array values, array types, array attrs, CommOddities* odd) {
  CommCall call;
  const std::vector<element> args(values.begin(), values.end());
  Tensors tensors;
  size_t at = 0;
  for (; at < args.size() && (absl::StrContains(TypeAt(types, at), "Tensor") || HoldsTensor(args[at]));
       ++at) {
    AddTensors(args[at], &tensors);
    if (tensors.dtype.empty()) tensors.dtype = InnerType(TypeAt(types, at));
  }
  // An empty list of tensors, "GenericList[]": here it cannot be a list of splits.
  if (at == 0 && !args.empty() && args[0].is_array() && TypeAt(types, 0) == "GenericList[]") ++at;

  int64_t rank = kNone;
  const size_t name = FindName(args, at);
  std::string_view text;
  if (name < args.size() && args[name].get(text) == simdjson::SUCCESS) {
    call.name = std::string(text);
    ReadBeforeName(args, at, name, &rank, &call);
    ReadAfterName(args, name + 1, &call);
  }

  for (const element a : attrs) {
    element value;
    if (a["name"].get(text) == simdjson::SUCCESS && a["value"].get(value) == simdjson::SUCCESS) {
      ReadAttr(View(text), value, &call);
    }
  }
  call.op = ParseCommOp(call.name);
  odd->no_name = call.op == CommOp::kUnknown;
  if (call.op == CommOp::kSend || call.op == CommOp::kRecv) call.p2p = true;
  (RankIsPeer(call.op) ? call.root : call.rank) = rank;

  const bool sizes_in_attrs = call.in_elems != kNone;
  const bool out_in_attrs = call.out_elems != kNone;
  if (call.in_elems == kNone && tensors.any) call.in_elems = tensors.elems;
  odd->splits_differ = !FinishSplits(&call);
  if (!out_in_attrs && call.in_elems != kNone) call.out_elems = OutElems(call);
  FinishSizes(tensors, sizes_in_attrs, &call);
  return call;
}

}  // namespace chakra::pytorch
