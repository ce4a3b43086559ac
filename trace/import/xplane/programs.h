// The compiled programs inside of a profile, and what they tell of the operations on its timelines.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/import/capture/capture.h"
#include "trace/import/hlo/collectives.h"
#include "trace/import/hlo/facts.h"
#include "trace/import/hlo/module.h"
#include "trace/import/xplane/xspace.h"

namespace chakra::xplane {

// An instruction that timelines show, worked out once.
struct KnownOp {
  const hlo::Instruction* instruction = nullptr;  // null: its program is not in the profile
  hlo::Facts facts;                               // of what computes
  hlo::Collective collective;                     // kind kNone: it computes
  std::vector<std::string>
      producers;  // names of the instructions whose results it takes, through tuples and ends
  hlo::Mesh mesh;
  std::vector<std::vector<int64_t>> groups;        // of device ids
  std::vector<std::pair<int64_t, int64_t>> pairs;  // likewise
};

class Program {
 public:
  explicit Program(hlo::Module module) : module_(std::move(module)) {}
  // Null: the program has no such instruction.
  const KnownOp* Find(absl::string_view instruction);

 private:
  void Producers(const hlo::Computation& computation, uint32_t row, int depth,
                 std::vector<std::string>* out) const;
  hlo::Module module_;
  absl::flat_hash_map<std::string, std::unique_ptr<KnownOp>> known_;  // null: not there
};

// All programs of a file, by number and by name.
class Programs {
 public:
  // Takes those of the plane "/host:metadata". A program that cannot be read is counted in `unread`, with
  // why.
  void Add(const Plane& plane, absl::string_view file);
  // `id`: the profile's program_id; 0 or one that is not there: by name alone. Null: there is none.
  Program* Find(int64_t id, absl::string_view module);
  // A collective of a program that is not in the profile, by its name alone; null: it is none.
  const KnownOp* ByName(absl::string_view instruction);
  uint64_t unread() const { return unread_; }
  const std::string& why() const { return why_; }
  size_t size() const { return by_id_.size(); }

 private:
  std::map<int64_t, std::unique_ptr<Program>> by_id_;
  std::map<std::string, int64_t, std::less<>> by_name_;                          // without "(7)"
  std::map<std::string, std::unique_ptr<KnownOp>, std::less<>> by_instruction_;  // ByName()
  uint64_t unread_ = 0;
  std::string why_;
};

// The calls that device `id` makes with a collective; a permute is a send and a receive. Empty: it has no
// part in it. Of a collective without a program one call, whose size and group nothing tells.
std::vector<pytorch::CommCall> CallsOf(const KnownOp& op, int64_t id);

}  // namespace chakra::xplane
