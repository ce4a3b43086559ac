// Relations between prices of collectives on machines that differ in one property, for random settings.
// `network_relations_test` and `bench/network_relations` check them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/model/trace.h"

namespace chakra::relations {

// One call on one machine.
struct Setting {
  std::string preset;
  int nodes = 1;
  int ranks = 2;
  std::string network;  // a kind of network; "": the switch of the preset
  std::string routing;  // a policy; "": the default
  double card_gbps = 400, uplink_gbps = 400;
  double inside = 1;   // factor on the bandwidth inside nodes
  double latency = 1;  // factor on the latency of all links
  CollectiveType type = CollectiveType::kAllReduce;
  std::string algorithm;  // a rule; "": the library's choice
  uint64_t bytes = 0;

  std::string Text() const;
};

struct Priced {
  double us = 0;          // of the kernel
  std::string algorithm;  // a rule that runs the same again
  // On fabrics that report them: the bytes that all links carried, and the bytes of the plan's messages times
  // the links of their paths.
  double on_links = 0, of_messages = 0;
  double flows = 0;  // over all links
};

// A random setting of at most `most_ranks` ranks and `most_bytes`; it may be impossible.
Setting Draw(std::mt19937_64* random, int most_ranks, uint64_t most_bytes);
// The same setting with more bandwidth or less latency in one place; `what` gets its name.
Setting Better(const Setting& setting, std::mt19937_64* random, std::string* what);
// Errors: a machine or a call that does not exist.
absl::StatusOr<Priced> Price(const Setting& setting, const std::string& fabric);

// A relation that does not hold.
struct Broken {
  std::string text;
};
// Draws settings until `count` were possible on `fabric`. Checks that more bandwidth or less latency is never
// slower with the same algorithm.
std::vector<Broken> CheckBetter(const std::string& fabric, uint64_t seed, int count, int most_ranks,
                                uint64_t most_bytes);
// Checks that `slow` is never faster than `fast` minus the share `headers`.
std::vector<Broken> CheckOrder(const std::string& fast, const std::string& slow, double headers,
                               uint64_t seed, int count, int most_ranks, uint64_t most_bytes);
// Checks that links carry exactly the bytes of the plan's messages.
std::vector<Broken> CheckBytes(const std::string& fabric, uint64_t seed, int count, int most_ranks,
                               uint64_t most_bytes);

}  // namespace chakra::relations
