#include "trace/import/nsys/nccl_payload.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "trace/base/status_macros.h"

namespace chakra::nsys {
namespace {

constexpr uint64_t kFirstSchema = 1 << 24;  // NVTX_PAYLOAD_ENTRY_TYPE_SCHEMA_ID_STATIC_START
constexpr size_t kHeader = 32;
constexpr absl::string_view kComm = "NCCL communicator ID", kParent = "Parent NCCL communicator ID",
                            kBytes = "Message size [bytes]", kPeer = "Peer rank", kRoot = "Root",
                            kRanks = "No. of ranks", kRank = "Rank", kDevice = "CUDA device";

// The number of a call's schema, counted from kFirstSchema (src/include/nvtx.h).
struct CallRow {
  absl::string_view call;
  int schema;
};
constexpr CallRow kCalls[] = {
    {"ncclCommInitRank", 0},
    {"ncclCommDestroy", 2},
    {"ncclCommAbort", 3},
    {"ncclAllGather", 4},
    {"ncclAllReduce", 5},
    {"ncclBroadcast", 6},
    {"ncclBcast", 6},
    {"ncclReduceScatter", 7},
    {"ncclReduce", 8},
    {"ncclSend", 9},
    {"ncclRecv", 10},
    {"ncclCommInitRankConfig", 11},
    {"ncclCommInitRankScalable", 12},
    {"ncclCommSplit", 13},
    {"ncclCommFinalize", 14},
    {"ncclAlltoAll", 16},
    {"ncclAllToAll", 16},
    {"ncclGather", 17},
    {"ncclScatter", 18},
};

uint64_t LittleEndian(absl::string_view bytes, size_t at, int size) {
  uint64_t v = 0;
  for (int i = 0; i < size; ++i)
    v |= uint64_t{static_cast<unsigned char>(bytes[at + static_cast<size_t>(i)])} << (8 * i);
  return v;
}

// Bytes of the types in NCCL's structs (nvToolsExtPayload.h); an enumeration is an int.
int SizeOfType(int64_t type) { return type == 18 || type == 22 || type == 17 || type == 21 ? 8 : 4; }

bool AsNumber(uint64_t v, int64_t most, int64_t* out) {
  if (v > static_cast<uint64_t>(most)) return false;
  *out = static_cast<int64_t>(v);
  return true;
}

void Set(absl::string_view name, uint64_t v, NcclPayload* out) {
  constexpr int64_t kMostRanks = 1 << 22, kMostBytes = int64_t{1} << 40;  // bytes times ranks stay below 2^63
  if (name == kComm) out->comm = v;
  if (name == kParent) out->member_of = v;  // a split reports the caller's place in the parent
  if (name == kBytes) AsNumber(v, kMostBytes, &out->bytes);
  if (name == kPeer) AsNumber(v, kMostRanks, &out->peer);
  if (absl::StartsWith(name, kRoot)) AsNumber(v, kMostRanks, &out->root);
  if (name == kRanks) AsNumber(v, kMostRanks, &out->ranks);
  if (name == kRank) AsNumber(v, kMostRanks, &out->rank);
  if (name == kDevice) AsNumber(v, 1 << 16, &out->device);
}

// Decodes hexadecimal text: some exports write binary values into text columns.
std::string Unpacked(absl::string_view data) {
  const bool hex = data.size() % 2 == 0 && std::all_of(data.begin(), data.end(), [](char c) {
                     return absl::ascii_isxdigit(static_cast<unsigned char>(c));
                   });
  return hex ? absl::HexStringToBytes(data) : std::string(data);
}

}  // namespace

absl::StatusOr<NcclSchemas> NcclSchemas::Read(const SqliteReader& db) {
  NcclSchemas out;
  // The layout of NCCL 2.19 to 2.29, for schemas that the tables lack.
  const Member comm = {std::string(kComm), 0, 8}, bytes = {std::string(kBytes), 8, 8};
  const std::vector<Member> init = {
      comm, {std::string(kRanks), 8, 4}, {std::string(kRank), 12, 4}, {std::string(kDevice), 16, 4}};
  for (const int k : {0, 2, 3, 11, 12, 15}) out.members_[kFirstSchema + static_cast<uint64_t>(k)] = init;
  for (const int k : {4, 5, 7, 16}) out.members_[kFirstSchema + static_cast<uint64_t>(k)] = {comm, bytes};
  for (const int k : {6, 8, 17, 18})
    out.members_[kFirstSchema + static_cast<uint64_t>(k)] = {comm, bytes, {std::string(kRoot), 16, 4}};
  for (const int k : {9, 10})
    out.members_[kFirstSchema + static_cast<uint64_t>(k)] = {comm, bytes, {std::string(kPeer), 16, 4}};
  out.members_[kFirstSchema + 13] = {comm,
                                     {std::string(kParent), 8, 8},
                                     {std::string(kRanks), 16, 4},
                                     {std::string(kRank), 20, 4},
                                     {std::string(kDevice), 24, 4}};
  out.members_[kFirstSchema + 14] = {comm};
  constexpr absl::string_view kTable = "NVTX_PAYLOAD_SCHEMA_ENTRIES";
  if (!db.Has(kTable)) {
    RETURN_IF_ERROR(db.CheckPlain(kTable));
    return out;
  }
  ASSIGN_OR_RETURN(SqliteScan rows, db.Read(kTable, {"!schemaId", "!type", "!name", "offset"}));
  std::map<uint64_t, std::vector<Member>> told;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) break;
    const int64_t schema = rows.IntOr(0, -1), offset = rows.IntOr(3, 0);  // the first member has no offset
    if (schema < 0 || offset < 0 || offset > 4096) continue;
    std::vector<Member>& members = told[static_cast<uint64_t>(schema)];
    if (members.size() < 64)  // each process records all schemas again
      members.push_back(
          {std::string(rows.Text(2)), static_cast<size_t>(offset), SizeOfType(rows.IntOr(1, 0))});
  }
  for (auto& [schema, members] : told) {
    const bool ours =
        std::any_of(members.begin(), members.end(), [](const Member& m) { return m.name == kComm; });
    if (ours) out.members_[schema] = std::move(members);
  }
  return out;
}

bool NcclSchemas::Decode(absl::string_view data, absl::string_view call, NcclPayload* out) const {
  *out = NcclPayload();
  const std::string unpacked = Unpacked(data);
  absl::string_view payload = unpacked;
  auto schema = members_.end();
  if (payload.size() >= kHeader) {
    schema = members_.find(LittleEndian(payload, 8, 8));
    const uint64_t size = LittleEndian(payload, 16, 8);
    if (schema != members_.end() && size <= payload.size() - kHeader) {
      payload = payload.substr(kHeader, size);
    } else {
      schema = members_.end();
    }
  }
  if (schema == members_.end()) {  // without a header: the struct alone
    const auto* row =
        std::find_if(std::begin(kCalls), std::end(kCalls), [&](const CallRow& r) { return r.call == call; });
    if (row == std::end(kCalls) || payload.size() > kHeader + 8 || payload.size() % 8 != 0) return false;
    schema = members_.find(kFirstSchema + static_cast<uint64_t>(row->schema));
    if (schema == members_.end()) return false;
  }
  for (const Member& m : schema->second) {
    if (m.offset + static_cast<size_t>(m.size) > payload.size()) {
      *out = NcclPayload();
      return false;
    }
    Set(m.name, LittleEndian(payload, m.offset, m.size), out);
  }
  if (out->member_of == 0) out->member_of = out->comm;
  return out->comm != 0;
}

}  // namespace chakra::nsys
