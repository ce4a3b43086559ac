#include "trace/import/hlo/proto_instruction.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "trace/import/hlo/proto_fields.h"
#include "trace/import/hlo/text_values.h"

namespace chakra::hlo {
namespace {

using wire::Cursor;
using wire::Field;

// PrimitiveType of xla_data.proto, by number.
constexpr absl::string_view kElementTypes[] = {
    "",     "pred",   "s8",       "s16", "s32", "s64",           "u8",         "u16",        "u32",
    "u64",  "f16",    "f32",      "f64", "",    "opaque",        "c64",        "bf16",       "token",
    "c128", "f8e5m2", "f8e4m3fn", "s4",  "u4",  "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "s2",
    "u2",   "f8e4m3", "f8e3m4",   "s1",  "u1",  "f4e2m1fn",      "f8e8m0fnu",  "buffer"};
constexpr uint64_t kTupleType = 13;
constexpr int kDeepestShape = 64;

const char* ReadShape(const Field& f, int depth, Shape* out) {
  if (f.type != wire::kBytes) return "a shape that is not a message";
  if (depth > kDeepestShape) return "a shape of tuples nested too deeply";
  uint64_t type = 0;
  const char* wrong = ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number == 2 && g.type != wire::kVarint) return "an element type of another type";
    if (g.number == 2) type = g.bits;
    if (g.number == 3) return Numbers(g, &out->dims);
    if (g.number == 4) return ReadShape(g, depth + 1, &out->parts.emplace_back());
    if (g.number == 5) {  // LayoutProto.memory_space = 8; 5 is the host's
      return ForFields(MessageOf(g), [&](const Field& h) -> const char* {
        if (h.number == 8) out->host = h.type == wire::kVarint && h.bits == 5;
        return nullptr;
      });
    }
    return nullptr;
  });
  if (wrong != nullptr) return wrong;
  if (std::any_of(out->dims.begin(), out->dims.end(), [](int64_t d) { return d < 0; }))
    return "a dimension below 0";
  if (type == kTupleType) return nullptr;
  out->parts.clear();
  out->type = std::string(type < std::size(kElementTypes) && type > 0 ? kElementTypes[type] : "opaque");
  return nullptr;
}

const char* ReadDotDims(const Field& f, DotDims* out) {
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number == 1) return Numbers(g, &out->lhs_contracting);
    if (g.number == 2) return Numbers(g, &out->rhs_contracting);
    if (g.number == 3) return Numbers(g, &out->lhs_batch);
    if (g.number == 4) return Numbers(g, &out->rhs_batch);
    return nullptr;
  });
}

const char* ReadConvDims(const Field& f, ConvDims* out) {
  *out = ConvDims();
  out->input_feature = out->kernel_input = out->output_feature = 0;  // proto3 does not write zeros
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    const auto n = static_cast<int64_t>(g.bits);
    if (g.number == 3) out->kernel_input = n;
    if (g.number == 4) out->kernel_output = n;
    if (g.number == 6) return Numbers(g, &out->kernel_spatial);
    if (g.number == 7) out->input_batch = n;
    if (g.number == 8) out->input_feature = n;
    if (g.number == 9) out->output_batch = n;
    if (g.number == 10) out->output_feature = n;
    if (g.number == 11) return Numbers(g, &out->input_spatial);
    if (g.number == 12) return Numbers(g, &out->output_spatial);
    return nullptr;
  });
}

const char* ReadGroup(const Field& f, ReplicaGroups* out) {
  std::vector<int64_t>& ids = out->listed.emplace_back();
  return ForFields(MessageOf(f),
                   [&](const Field& g) -> const char* { return g.number == 1 ? Numbers(g, &ids) : nullptr; });
}

// Reads an IotaReplicaGroupListProto.
const char* ReadIota(const Field& f, ReplicaGroups* out) {
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number == 1) out->groups = static_cast<int64_t>(g.bits);
    if (g.number == 2) out->size = static_cast<int64_t>(g.bits);
    if (g.number == 3) return Numbers(g, &out->reshape);
    if (g.number == 4) return Numbers(g, &out->transpose);
    return nullptr;
  });
}

// Reads a CollectiveDeviceListProto.
const char* ReadDeviceList(const Field& f, ReplicaGroups* out) {
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number == 1) return ReadGroup(g, out);
    return g.number == 2 ? ReadIota(g, out) : nullptr;
  });
}

// Reads a MeshAxesReplicaGroupListProto: groups along axes of a mesh (MeshProto, AxisRefProto).
const char* ReadMeshAxes(const Field& f, ReplicaGroups* out) {
  std::vector<int64_t> sizes, devices;
  std::vector<AxisRef> refs;
  const char* wrong = ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number == 1) {
      return ForFields(MessageOf(g), [&](const Field& h) -> const char* {
        if (h.number == 2) return Numbers(h, &devices);
        if (h.number != 1) return nullptr;
        int64_t& size = sizes.emplace_back(0);
        return ForFields(MessageOf(h), [&](const Field& a) -> const char* {
          if (a.number == 2) size = static_cast<int64_t>(a.bits);
          return nullptr;
        });
      });
    }
    if (g.number != 2) return nullptr;
    AxisRef& ref = refs.emplace_back();
    return ForFields(MessageOf(g), [&](const Field& h) -> const char* {
      if (h.number == 1) ref.axis = static_cast<int64_t>(h.bits);
      if (h.number != 2) return nullptr;
      return ForFields(MessageOf(h), [&](const Field& part) -> const char* {
        if (part.number == 1) ref.pre_size = static_cast<int64_t>(part.bits);
        if (part.number == 2) ref.size = static_cast<int64_t>(part.bits);
        return nullptr;
      });
    });
  });
  if (wrong == nullptr && sizes.empty()) wrong = "groups along a mesh without axes";
  return wrong != nullptr ? wrong : GroupsAlongMesh(sizes, refs, devices, out);
}

// Reads a Window. Fields of a dimension: size = 1, stride = 2, padding_low = 3, window_dilation = 5,
// base_dilation = 6.
const char* ReadWindow(const Field& f, std::vector<WindowDim>* out) {
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number != 1) return nullptr;
    WindowDim& dim = out->emplace_back();
    return ForFields(MessageOf(g), [&](const Field& h) -> const char* {
      const auto n = static_cast<int64_t>(h.bits);
      if (h.number == 1) dim.size = n;
      if (h.number == 2) dim.stride = std::max<int64_t>(1, n);
      if (h.number == 3) dim.pad_low = n;
      if (h.number == 5) dim.dilation = std::max<int64_t>(1, n);
      if (h.number == 6) dim.base_dilation = std::max<int64_t>(1, n);
      return nullptr;
    });
  });
}

// Reads RaggedDotDimensionNumbers.
const char* ReadRaggedDims(const Field& f, DotDims* out) {
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    if (g.number == 1) return ReadDotDims(g, out);
    return g.number == 3 ? Numbers(g, &out->rhs_group) : nullptr;
  });
}

// Reads a literal that is an integer scalar; ignores others.
const char* ReadLiteral(const Field& f, Instruction* out) {
  return ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    // s32s = 4, s64s = 5, u32s = 6 (LiteralProto).
    if (g.number < 4 || g.number > 6) return nullptr;
    std::vector<int64_t> values;
    const char* wrong = Numbers(g, &values);
    if (values.size() == 1) out->constant = values[0];
    return wrong;
  });
}

}  // namespace

const char* ReadInstruction(const Field& f, RawInstruction* out) {
  Instruction& it = out->it;
  it.conv.input_feature = 1;
  ReplicaGroups old;
  const char* wrong = ForFields(MessageOf(f), [&](const Field& g) -> const char* {
    switch (g.number) {
      case 1:
        return TakeText(g, &it.name);
      case 2:
        return TakeText(g, &it.opcode);
      case 3:
        return ReadShape(g, 0, &it.shape);
      case 7:
        return ForFields(MessageOf(g), [&](const Field& h) -> const char* {
          if (h.number == 2 && h.type == wire::kBytes) it.op_name = std::string(TextOf(h));
          return nullptr;
        });
      case 8:
        if (it.opcode.empty() || it.opcode == "constant") return ReadLiteral(g, &it);
        break;
      case 9:
        return TakeNumber(g, &it.parameter);
      case 13:
        return TakeNumber(g, &it.tuple_index);
      case 15:
        return ReadWindow(g, &it.window);
      case 16:
        return ReadConvDims(g, &it.conv);
      case 26:
        return TakeNumber(g, &it.channel);
      case 28:
        return TakeText(g, &it.target);
      case 30:
        return ReadDotDims(g, &it.dot);
      case 35:
        return TakeNumber(g, &out->id);
      case 36:
        return Numbers(g, &out->operands);
      case 37:
        return Numbers(g, &out->control);
      case 38:
        return Numbers(g, &out->calls);
      case 43:
        return TakeText(g, &it.backend_config);
      case 47:
        it.host_transfer = g.bits != 0;
        break;
      case 49:
        return ReadGroup(g, &old);
      case 50:
        it.feature_groups = std::max<int64_t>(1, static_cast<int64_t>(g.bits));
        break;
      case 52:
        it.pairs.emplace_back(0, 0);
        return ForFields(MessageOf(g), [&](const Field& h) -> const char* {
          (h.number == 1 ? it.pairs.back().first : it.pairs.back().second) = static_cast<int64_t>(h.bits);
          return nullptr;
        });
      case 58:
        it.batch_groups = std::max<int64_t>(1, static_cast<int64_t>(g.bits));
        break;
      case 63:
        return TakeText(g, &it.direction);
      case 68:  // FrontendAttributes: map<string, string> map = 1
        return ForFields(MessageOf(g), [&](const Field& h) -> const char* {
          absl::string_view key, value;
          const char* bad = ForFields(MessageOf(h), [&](const Field& e) -> const char* {
            if (e.type == wire::kBytes) (e.number == 1 ? key : value) = TextOf(e);
            return nullptr;
          });
          if (key != "_xla_send_recv_source_target_pairs") return bad;
          if (auto pairs = ParsePairs(value); pairs.has_value()) it.pairs = *std::move(pairs);
          return bad;
        });
      case 71:
        it.global_ids = g.bits != 0;
        break;
      case 79:
        return TakeText(g, &it.async_thread);
      case 87:
        return ReadDeviceList(g, &it.replica_groups);
      case 90:
        return ReadRaggedDims(g, &it.dot);
      case 92:
        return ReadIota(g, &it.replica_groups);
      case 93:
        return ReadMeshAxes(g, &it.replica_groups);
      default:
        break;
    }
    return nullptr;
  });
  // Files have the older list in addition to the newer one, or only the older list.
  if (!it.replica_groups.iota() && it.replica_groups.listed.empty()) it.replica_groups = std::move(old);
  return wrong;
}

}  // namespace chakra::hlo
