// The rates that a library's algorithms reach on a group. The tuner and the costs use them.
#pragma once

#include "replay/nccl/constants.h"
#include "replay/nccl/library.h"

namespace chakra {

// Why the tuner does not consider a candidate that only the registry has.
inline constexpr char kNotTuned[] = "not an algorithm of the library";
// Why the library does not choose a candidate that could run. A rule may choose it.
inline constexpr char kSmallToPeer[] = "the library uses ll up to 16 KiB for each peer";
inline constexpr char kFewInSwitch[] = "the library uses rings for few members";
inline constexpr char kLargeToPeer[] = "the library uses simple above 16 KiB for each peer";

// The time of `bytes` at a rate in GB/s, in us.
inline double Micros(double bytes, double gbytes_per_s) { return bytes / (gbytes_per_s * 1e3); }

// The family whose constants an algorithm uses; algorithms that only the registry has use those of the ring.
nccl::Algorithm FamilyOf(absl::string_view algorithm);

// Divides the rate of a device's links among messages to all other members, which begin together.
void ShareAmongPeers(const LibraryModel& library, const GroupShape& shape, CallCosts* costs);

class Rates {
 public:
  // `measured` names an algorithm whose terms replace the built-in constants.
  Rates(const LibraryModel& library, const GroupShape& shape, absl::string_view measured = "");

  const LibraryModel& library() const { return library_; }
  bool even() const { return even_; }
  int nodes() const { return nodes_; }
  int per_node() const { return per_node_; }
  int channels() const { return channels_; }
  int in_switch_channels() const { return in_switch_channels_; }
  int in_switch_ranks() const { return in_switch_ranks_; }
  bool in_switch_alone() const { return in_switch_alone_; }
  LibraryLink intra_link() const { return intra_link_; }
  // The bus bandwidth of a ring with protocol Simple: inside a node, between nodes (every member's NIC
  // carries its share), and of the whole ring.
  double intra() const { return intra_; }
  double inter() const { return inter_; }
  double bus() const { return nodes_ > 1 ? std::min(intra_, inter_) : intra_; }
  // The bus bandwidth that the tuner assumes for a tree. On two nodes, each NIC carries all data once in each
  // direction; the search of NCCL finds this from Hopper on.
  double tuner_tree_bus() const;

  // The rates that a call over several nodes reaches: of all NICs of a node, in data; of a ring; of a tree's
  // messages, inside the node and between nodes; of a device's NIC.
  double NetworkBus(Protocol p) const;
  double RingBus(Protocol p, bool network) const;
  double TreeBus(Protocol p, bool network) const;
  double CardRate(size_t level) const;
  // The level of the group that is a network; null: the group is on one node.
  const LibraryLevel* network() const { return network_; }

  double Base(nccl::Algorithm a, Protocol p) const;
  double Step(nccl::Algorithm a, Protocol p, bool network) const;
  // The step latency on a path of this level of the topology.
  double StepAt(nccl::Algorithm a, Protocol p, size_t level) const;
  // The bus bandwidth of an algorithm and protocol, if that of protocol Simple is `simple`.
  double Bus(nccl::Algorithm a, Protocol p, double simple) const;
  // The term of the algorithm given as `measured`; null: none.
  const LibraryTerm* Term(Protocol p) const;
  // The term for times inside a node: trees over nodes run the kernels of rings.
  const LibraryTerm* TermOfKernel(Protocol p) const;
  // The factor by which the term multiplies an algorithm's bandwidth; 1 without a term.
  double Share(Protocol p) const;
  // The rate of a device's own link with protocol Simple, one message at a time.
  double OwnRate(size_t level) const;
  double OwnRate(bool network) const;
  // The rate of one stream of a program from a file, on a path of this level: the measured rate of a channel
  // (the term of "program"), or the stream's part of the rate of all streams; at most the stream's part of
  // the link.
  double Channel(const Candidate& c, size_t level) const;
  // The rate into and out of a switch that reduces and multicasts; 0: there is no such switch.
  double InSwitch(bool network) const;

  // Whether one switch that reduces and multicasts connects the whole group: the switch of the node, or, with
  // `network`, for each place in a node the switch of the network.
  bool OneSwitch(bool network) const;

 private:
  void AddLevel(const GroupShape& shape, int index, int members);
  double BuiltInBus(nccl::Algorithm a, Protocol p, double simple) const;

  const LibraryModel& library_;
  std::string measured_;
  std::vector<int> levels_;
  bool even_ = true;  // whether the group is a product of blocks
  int nodes_ = 1;
  int per_node_ = 1;
  int channels_ = 1;
  int in_switch_channels_ = 0;
  int in_switch_ranks_ = 2;
  bool in_switch_alone_ = false;
  LibraryLink intra_link_ = LibraryLink::kNvlink;
  const LibraryLevel* network_ = nullptr;
  double intra_;
  double inter_;
};

}  // namespace chakra
