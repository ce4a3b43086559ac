// What must hold between prices of collectives on machines that differ in one thing, for settings drawn at
// random. `network_relations_test` and `bench/network_relations` check it.
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
  double inside = 1;   // times the bandwidth inside nodes
  double latency = 1;  // times the latency of all links
  CollectiveType type = CollectiveType::kAllReduce;
  std::string algorithm;  // a rule; "": the library's choice
  uint64_t bytes = 0;

  std::string Text() const;
};

struct Priced {
  double us = 0;          // of the kernel
  std::string algorithm;  // a rule that runs the same again
  // On fabrics that tell it: bytes that all links carried, and those of the plan's messages over the links of
  // their ways.
  double on_links = 0, of_messages = 0;
  double flows = 0;  // over all links
};

// A setting of at most `most_ranks` ranks and `most_bytes`, which need not be possible.
Setting Draw(std::mt19937_64* random, int most_ranks, uint64_t most_bytes);
// The same with more bandwidth or less latency somewhere; `what` says of what.
Setting Better(const Setting& setting, std::mt19937_64* random, std::string* what);
// Errors: a machine or a call that does not exist.
absl::StatusOr<Priced> Price(const Setting& setting, const std::string& fabric);

// What of the relations does not hold; `checked` counts those that were looked at.
struct Broken {
  std::string text;
};
// Draws settings until `count` were possible on `fabric`. With the same algorithm, more bandwidth and less
// latency are never slower.
std::vector<Broken> CheckBetter(const std::string& fabric, uint64_t seed, int count, int most_ranks,
                                uint64_t most_bytes);
// `slow` is never faster than `fast`, less the share `headers`.
std::vector<Broken> CheckOrder(const std::string& fast, const std::string& slow, double headers,
                               uint64_t seed, int count, int most_ranks, uint64_t most_bytes);
// Links carry the bytes of the plan's messages, no more.
std::vector<Broken> CheckBytes(const std::string& fabric, uint64_t seed, int count, int most_ranks,
                               uint64_t most_bytes);

}  // namespace chakra::relations
