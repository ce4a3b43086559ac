// The compiled programs in a profile, and the data that they add to the operations on its timelines.
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

// An instruction that appears on timelines, analyzed once.
struct KnownOp {
  const hlo::Instruction* instruction = nullptr;  // null: its program is not in the profile
  hlo::Facts facts;                               // only of instructions that compute
  hlo::Collective collective;                     // kind kNone: the instruction computes
  // Names of the instructions whose results this one uses, also through tuples and ends of collectives.
  std::vector<std::string> producers;
  hlo::Mesh mesh;
  std::vector<std::vector<int64_t>> groups;        // of device ids
  std::vector<std::pair<int64_t, int64_t>> pairs;  // source and target, as device ids
};

class Program {
 public:
  explicit Program(hlo::Module module) : module_(std::move(module)) {}
  // Returns null if the program has no such instruction.
  const KnownOp* Find(absl::string_view instruction);

 private:
  void Producers(const hlo::Computation& computation, uint32_t row, int depth,
                 std::vector<std::string>* out) const;
  hlo::Module module_;
  absl::flat_hash_map<std::string, std::unique_ptr<KnownOp>> known_;  // null: not in the program
};

// All programs of a file, by number and by name.
class Programs {
 public:
  // Adds the programs of the plane "/host:metadata". Counts programs that cannot be read in unread(); why()
  // has the first reason.
  void Add(const Plane& plane, absl::string_view file);
  // Finds a program by `id`, the profile's program_id; if `id` is not there, by the number in the name
  // `module`, then by the name alone. Null: there is none.
  Program* Find(int64_t id, absl::string_view module);
  // Finds a collective of a program that is not in the profile, by the instruction's name alone; null: the
  // name is not that of a collective.
  const KnownOp* ByName(absl::string_view instruction);
  uint64_t unread() const { return unread_; }
  const std::string& why() const { return why_; }
  size_t size() const { return by_id_.size(); }

 private:
  std::map<int64_t, std::unique_ptr<Program>> by_id_;
  std::map<std::string, int64_t, std::less<>> by_name_;                          // without "(7)"
  std::map<std::string, std::unique_ptr<KnownOp>, std::less<>> by_instruction_;  // cache of ByName()
  uint64_t unread_ = 0;
  std::string why_;
};

// Returns the calls that device `id` makes for a collective; a permute is a send and a receive. Empty: the
// device takes no part. For a collective without a program: one call of unknown size and group.
std::vector<pytorch::CommCall> CallsOf(const KnownOp& op, int64_t id);

}  // namespace chakra::xplane
