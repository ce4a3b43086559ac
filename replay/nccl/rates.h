// What a library's algorithms reach on a group: the numbers behind the tuner
// and the costs.
#pragma once

#include "replay/nccl/constants.h"
#include "replay/nccl/library.h"

namespace chakra {

// Why a candidate that only the registry knows is not the tuner's.
inline constexpr char kNotTuned[] = "not one of the library's own";

// The constants that an algorithm takes; the registry's own take the ring's.
nccl::Algorithm FamilyOf(absl::string_view algorithm);

class Rates {
 public:
  // With `measured`, the terms of that algorithm take the place of the built-in constants.
  Rates(const LibraryModel& library, const GroupShape& shape, absl::string_view measured = "");

  bool even() const { return even_; }
  int nodes() const { return nodes_; }
  int per_node() const { return per_node_; }
  int channels() const { return channels_; }
  int in_switch_channels() const { return in_switch_channels_; }
  LibraryLink intra_link() const { return intra_link_; }
  // Bus bandwidth of a ring of protocol Simple inside a node, between nodes
  // (every member's network card carries its share), and of both together.
  double intra() const { return intra_; }
  double inter() const { return inter_; }
  double bus() const { return nodes_ > 1 ? std::min(intra_, inter_) : intra_; }
  // The one that the tuner believes in: up to two nodes that of the node.
  double tuner_bus() const { return nodes_ > 2 || per_node_ == 1 ? bus() : intra_; }

  double Base(nccl::Algorithm a, Protocol p) const;
  double Step(nccl::Algorithm a, Protocol p, bool network) const;
  // Over a path of this level of the topology.
  double StepAt(nccl::Algorithm a, Protocol p, size_t level) const;
  // Bus bandwidth of an algorithm and protocol where Simple's is `simple`.
  double Bus(nccl::Algorithm a, Protocol p, double simple) const;
  // Of a device's own link, Simple, one message at a time.
  double OwnRate(size_t level) const;
  double OwnRate(bool network) const;
  // Into and out of a switch that reduces and multicasts; 0: there is none.
  double InSwitch(bool network) const;

  // Whether the whole group hangs on one switch that reduces and multicasts, its
  // node's (`network` false) or, position by position, the network's.
  bool OneSwitch(bool network) const;

 private:
  void AddLevel(const GroupShape& shape, int index, int members);
  const LibraryTerm* Term(Protocol p) const;
  double Share(Protocol p) const;
  double BuiltInBus(nccl::Algorithm a, Protocol p, double simple) const;

  const LibraryModel& library_;
  std::string measured_;
  std::vector<int> levels_;
  bool even_ = true;  // a product of blocks
  int nodes_ = 1;
  int per_node_ = 1;
  int channels_ = 1;
  int in_switch_channels_ = 0;
  LibraryLink intra_link_ = LibraryLink::kNvlink;
  double intra_;
  double inter_;
};

}  // namespace chakra
