// MPI on buffers of hosts as a collective library: its choices, and the costs of its calls. Each library is a
// file of this folder in the text format of proto::MpiLibrary. Times are in us, rates in 1e9 bytes a second.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/nccl/host_messages.h"
#include "replay/nccl/library.h"

namespace chakra::mpi {

// The algorithm for calls of at least `bytes`.
struct SizedChoice {
  uint64_t bytes = 0;
  std::string algorithm;
};

struct MpiModel {
  std::string name;  // "Open MPI 4.1"
  // By collective and minimum number of ranks.
  std::map<std::pair<CollectiveType, int>, std::vector<SizedChoice>> choices;
  std::vector<CollectiveType> of_share;
  double call_us = 0;
  HostMessages memory;
  double node_gbytes_per_s = 0;
  double reduce_gbytes_per_s = 0, large_reduce_gbytes_per_s = 0;
  double copy_gbytes_per_s = 0, fresh_gbytes_per_s = 0;
  double cache_bytes = 0;
  std::string of_few;  // a plan: see proto::MpiLibrary
};

// The names of the files, and "mpi", an alias.
std::vector<std::string> LibraryNames();

// The file of that name, with its comments; "" if there is none. "mpi" is Open MPI.
absl::string_view LibraryText(absl::string_view name);

// The library of one of LibraryNames(). Errors: another name (the error lists the known names); a file that
// does not conform to proto::MpiLibrary, with the field.
absl::StatusOr<std::shared_ptr<const MpiModel>> LoadMpi(absl::string_view name);
// The library from the text of a file.
absl::StatusOr<std::shared_ptr<const MpiModel>> ParseMpi(absl::string_view text, const std::string& where);

// An algorithm of the libraries, and the registry's plan that it runs as.
struct MpiAlgorithm {
  const char* name;
  const char* plan;
};
// The algorithms of a collective; empty: no algorithm of the libraries is known.
std::vector<MpiAlgorithm> AlgorithmsOf(CollectiveType type);

// The error for a collective without any known algorithm.
absl::Status NotPriced(const MpiModel& mpi, CollectiveType type);

// A number of equal messages that follow each other in a call, as the call's slowest rank sees them.
struct Round {
  bool far = false;    // the messages go to another node
  double bytes = 0;    // of one message
  double reduced = 0;  // bytes added after each message
  double times = 1;
  double behind = 0;  // number of messages of this size that leave before it on the same link
};
// The rounds of a call that runs as `plan`. `per_node`: members of a node, which have consecutive numbers.
std::vector<Round> RoundsOf(absl::string_view plan, CollectiveType type, double bytes, int ranks,
                            int per_node);

// The numbers for messages on a level of the machine, and the maximum rate of one of them, in GB/s.
const HostMessages& MessagesOn(const LibraryLevel& level, const MpiModel& mpi);
double RateOn(const LibraryLevel& level, const MpiModel& mpi);

// Candidates() and CostsOf() of library.h for a library with `mpi`. `bytes`: the larger of a rank's buffers.
std::vector<Candidate> CandidatesOf(const LibraryModel& library, CollectiveType type, uint64_t bytes,
                                    const GroupShape& shape);
CallCosts CostsOf(const LibraryModel& library, CollectiveType type, uint64_t bytes, const GroupShape& shape,
                  const Candidate& candidate);

}  // namespace chakra::mpi
