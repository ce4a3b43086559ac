#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "trace/base/status_macros.h"
#include "trace/import/goal/program.h"

// Little-endian and unaligned. The file has the magic; from byte 8 on the number of ranks, the highest cpu
// and the highest nic; for each rank the begin and the end of its block, counted from byte 8; and the blocks.
// A block has the number of nodes and of roots, the roots, 39 bytes for each node, and the successors of all
// nodes.

namespace chakra::goal {
namespace {

constexpr uint64_t kMagic = 4223, kSpoilt = 2342;
constexpr size_t kMagicBytes = 8, kNodeBytes = 39, kHeadBytes = 6;

template <typename T>
T Load(absl::string_view bytes, size_t at) {
  T v;
  std::memcpy(&v, bytes.data() + at, sizeof(T));
  return v;
}

template <typename T>
void Store(T v, std::string* out) {
  out->append(reinterpret_cast<const char*>(&v), sizeof(T));
}

class BinaryReader {
 public:
  BinaryReader(absl::string_view bytes, absl::string_view file) : bytes_(bytes), file_(file) {}
  absl::StatusOr<Program> Run();

 private:
  absl::Status Fail(size_t byte, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(
        file_, ": byte ", byte, rank_ == kAny ? "" : absl::StrCat(", rank ", rank_), ": ", what));
  }
  absl::Status Block(size_t begin, size_t end, GoalRank* rank);
  absl::Status Node(size_t at, uint32_t ranks, GoalOp* op) const;
  absl::Status Successors(size_t at, size_t end, uint32_t nodes, size_t appendix, GoalRank* rank);

  absl::string_view bytes_, file_;
  uint32_t rank_ = kAny, ranks_ = 0;
  std::vector<uint32_t> waits_;  // by node: number of edges that lead to it
};

absl::Status BinaryReader::Node(size_t at, uint32_t ranks, GoalOp* op) const {
  const auto type = Load<uint8_t>(bytes_, at + 4);
  if (type < 1 || type > 3)
    return Fail(at + 4, absl::StrCat("type ", type, ", expected 1 (send), 2 (recv) or 3 (calc)"));
  op->type = static_cast<OpType>(type);
  op->peer = Load<uint32_t>(bytes_, at + 5);
  op->size = Load<uint64_t>(bytes_, at + 9);
  op->tag = Load<uint32_t>(bytes_, at + 17);
  op->cpu = Load<uint8_t>(bytes_, at + 21);
  op->nic = Load<uint8_t>(bytes_, at + 22);
  const bool any = op->type == OpType::kRecv && op->peer == kAny;
  if (op->type != OpType::kCalc && !any && op->peer >= ranks)
    return Fail(at + 5, absl::StrCat("peer ", op->peer, ", expected 0 to ", ranks - 1));
  return absl::OkStatus();
}

// Reads the successors of one node: those that its end releases, and those that its begin releases.
absl::Status BinaryReader::Successors(size_t at, size_t end, uint32_t nodes, size_t appendix,
                                      GoalRank* rank) {
  const auto node = static_cast<uint32_t>(rank->ops.size() - 1);
  const size_t entries = (end - appendix) / 4;
  for (const bool start : {false, true}) {
    const auto count = Load<uint32_t>(bytes_, at + (start ? 31 : 23));
    const auto first = Load<uint32_t>(bytes_, at + (start ? 35 : 27));
    if (count == 0) continue;
    if (first > entries || count > entries - first)
      return Fail(at + (start ? 31 : 23),
                  absl::StrCat(count, " successors from ", first, " on, but the appendix has ", entries));
    for (uint32_t i = 0; i < count; ++i) {
      const size_t place = appendix + (size_t{first} + i) * 4;
      const auto to = Load<uint32_t>(bytes_, place);
      if (to >= nodes || to == node)
        return Fail(
            place, absl::StrCat("successor ", to, " of node ", node, ", expected another one below ", nodes));
      rank->deps.push_back({to, node, start});
      ++waits_[to];
    }
  }
  return absl::OkStatus();
}

absl::Status BinaryReader::Block(size_t begin, size_t end, GoalRank* rank) {
  if (end - begin < 8) return Fail(begin, "a block of less than 8 bytes");
  const auto nodes = Load<uint32_t>(bytes_, begin), roots = Load<uint32_t>(bytes_, begin + 4);
  const size_t first = begin + 8 + size_t{roots} * 4, room = end - begin - 8;
  if (size_t{roots} * 4 > room || nodes > (room - size_t{roots} * 4) / kNodeBytes || roots > nodes)
    return Fail(begin, absl::StrCat(nodes, " nodes and ", roots, " roots do not fit in the block of ",
                                    end - begin, " bytes; is the file cut short?"));
  const size_t appendix = first + size_t{nodes} * kNodeBytes;
  if ((end - appendix) % 4 != 0) return Fail(appendix, "an appendix that is not a list of 4-byte numbers");
  waits_.assign(nodes, 0);
  rank->ops.reserve(nodes);
  for (uint32_t i = 0; i < nodes; ++i) {
    const size_t at = first + size_t{i} * kNodeBytes;
    RETURN_IF_ERROR(Node(at, ranks_, &rank->ops.emplace_back()));
    RETURN_IF_ERROR(Successors(at, end, nodes, appendix, rank));
    if (rank->deps.size() > (end - appendix) / 4)
      return Fail(appendix, "successors that several nodes share");
  }
  for (uint32_t i = 0; i < nodes; ++i) {
    const size_t at = first + size_t{i} * kNodeBytes;
    const auto waits = Load<uint32_t>(bytes_, at);
    if (waits != waits_[i])
      return Fail(at,
                  absl::StrCat("node ", i, " waits for ", waits, " others, but ", waits_[i], " lead to it"));
  }
  const auto without = static_cast<uint32_t>(std::count(waits_.begin(), waits_.end(), 0u));
  if (without != roots)
    return Fail(begin + 4, absl::StrCat(roots, " roots, but ", without, " nodes wait for none"));
  for (uint32_t i = 0; i < roots; ++i) {
    const auto root = Load<uint32_t>(bytes_, begin + 8 + size_t{i} * 4);
    if (root >= nodes || waits_[root] != 0)
      return Fail(begin + 8 + size_t{i} * 4,
                  absl::StrCat("root ", root, ", expected a node that waits for none"));
  }
  rank->SortDeps();
  return absl::OkStatus();
}

absl::StatusOr<Program> BinaryReader::Run() {
  if (bytes_.size() < kMagicBytes + kHeadBytes)
    return Fail(0, "shorter than a head of 14 bytes; expected a GOAL binary");
  const auto magic = Load<uint64_t>(bytes_, 0);
  if (magic == kSpoilt)
    return Fail(
        0, "a run of LogGOPSim with --save-mem consumed the program; expected the file from before the run");
  if (magic != kMagic) return Fail(0, absl::StrCat("magic ", magic, ", expected ", kMagic));
  ranks_ = Load<uint32_t>(bytes_, kMagicBytes);
  const size_t table = kMagicBytes + kHeadBytes;
  if (ranks_ == 0 || ranks_ > kMostGoalRanks || (bytes_.size() - table) / 16 < ranks_)
    return Fail(kMagicBytes,
                absl::StrCat(ranks_, " ranks, expected 1 to ", kMostGoalRanks, " and a table of them"));
  Program out;
  uint64_t before = kHeadBytes + uint64_t{ranks_} * 16;
  const uint64_t size = bytes_.size() - kMagicBytes;
  for (uint32_t r = 0; r < ranks_; ++r) {
    rank_ = r;
    const size_t at = table + size_t{r} * 16;
    const auto begin = Load<uint64_t>(bytes_, at), end = Load<uint64_t>(bytes_, at + 8);
    if (begin < before || end < begin || end > size)
      return Fail(at, absl::StrCat("a block from ", begin, " to ", end, ", expected a block after ", before,
                                   " and within the ", size, " bytes; is the file cut short?"));
    before = end;
    RETURN_IF_ERROR(Block(kMagicBytes + begin, kMagicBytes + end, &out.ranks.emplace_back()));
  }
  return out;
}

void WriteBlock(const GoalRank& rank, std::string* out) {
  const size_t n = rank.ops.size();
  std::vector<uint32_t> waits(n, 0);
  std::vector<std::vector<uint32_t>> ends(n), starts(n);
  for (const GoalDep& d : rank.deps) {
    ++waits[d.op];
    (d.start ? starts : ends)[d.of].push_back(d.op);
  }
  Store(static_cast<uint32_t>(n), out);
  Store(static_cast<uint32_t>(std::count(waits.begin(), waits.end(), 0u)), out);
  for (uint32_t i = 0; i < n; ++i) {
    if (waits[i] == 0) Store(i, out);
  }
  uint32_t entries = 0;
  for (size_t i = 0; i < n; ++i) {
    const GoalOp& op = rank.ops[i];
    Store(waits[i], out);
    Store(static_cast<uint8_t>(op.type), out);
    Store(op.peer, out);
    Store(op.size, out);
    Store(op.tag, out);
    Store(op.cpu, out);
    Store(op.nic, out);
    for (const auto* list : {&ends[i], &starts[i]}) {
      Store(static_cast<uint32_t>(list->size()), out);
      Store(entries, out);
      entries += static_cast<uint32_t>(list->size());
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (const auto* list : {&ends[i], &starts[i]}) {
      for (const uint32_t to : *list) Store(to, out);
    }
  }
}

}  // namespace

bool LooksLikeGoalBinary(absl::string_view head) {
  if (head.size() < kMagicBytes + kHeadBytes) return false;
  const auto magic = Load<uint64_t>(head, 0);
  return magic == kMagic || magic == kSpoilt;
}

absl::StatusOr<Program> ReadGoalBinary(absl::string_view bytes, absl::string_view file) {
  return BinaryReader(bytes, file).Run();
}

std::string GoalBinary(const Program& program) {
  std::string blocks, table, out;
  uint8_t cpu = 0, nic = 0;
  const uint64_t first = kHeadBytes + 16 * uint64_t{program.ranks.size()};
  for (const GoalRank& rank : program.ranks) {
    Store(first + blocks.size(), &table);
    WriteBlock(rank, &blocks);
    Store(first + blocks.size(), &table);
    for (const GoalOp& op : rank.ops) {
      cpu = std::max(cpu, op.cpu);
      nic = std::max(nic, op.nic);
    }
  }
  Store(kMagic, &out);
  Store(static_cast<uint32_t>(program.ranks.size()), &out);
  Store(cpu, &out);
  Store(nic, &out);
  return absl::StrCat(out, table, blocks);
}

}  // namespace chakra::goal
