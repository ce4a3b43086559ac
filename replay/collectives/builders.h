// The builders that registry.cc lists. Each gets a plan with type, algorithm and members, and fills programs,
// chunks and flags. Errors say why the builder cannot make the plan. In the comments, n is the number of
// members and B the bytes of the call.
#pragma once

#include "absl/status/status.h"
#include "replay/collectives/plan.h"
#include "replay/collectives/request.h"

namespace chakra {

// Makes the plan rotational and synchronizing: every member runs `program` as one stream, relative to itself,
// and no member can end before all have begun.
void SetRotational(Program program, int chunks, Plan* plan);

// Ring all-reduce, all-gather and reduce-scatter: 2(n-1) or n-1 steps of B/n to
// the right neighbour. Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms", JPDC 2009.
absl::Status BuildRing(const PlanRequest& request, Plan* plan);

// Two rings, each with half of the data, in opposite directions: 2(n-1) or n-1 steps of B/2n to both
// neighbours at the same time.
absl::Status BuildBidirectionalRing(const PlanRequest& request, Plan* plan);

// Rings level by level: reduce-scatter over level 0, 1, ..., then all-gather in the opposite order. 2 sum
// (k_l - 1) steps; a member moves B (k_l - 1)/(k_0 ... k_l) over level l in each direction. Cho, Finkler,
// Kung and Hunter, "BlueConnect: decomposing all-reduce for deep learning on heterogeneous network
// hierarchy", MLSys 2019. Needs two levels of blocks.
absl::Status BuildHierarchical(const PlanRequest& request, Plan* plan);

// The hierarchical all-reduce in `pieces` parts. Each part has its own order of levels, chosen to balance
// (bytes / bandwidth) over the levels. A member has one message at a time on each level. Rashidi et al.,
// "Themis: a network bandwidth-aware collective scheduling policy for distributed training of DL models",
// ISCA 2022. Needs two levels of blocks.
absl::Status BuildThemis(const PlanRequest& request, Plan* plan);

// An algorithm for each level ("ring+direct"): each of `parts` parts visits the levels in the order of
// PhasesOf(), and a level serves `at_once` parts at a time, in the order of their arrival. ASTRA-sim runs a
// collective over the dimensions of its network in this way (its paper: Rashidi et al., "ASTRA-SIM: enabling
// SW/HW co-design exploration for distributed DL training platforms", ISPASS 2020).
absl::Status BuildByLevel(const PlanRequest& request, Plan* plan);

// Rings over the axes of a torus, as XLA's collectives on TPUs: two parts of the data for each axis, in both
// directions, and in rotated order of the axes. With d axes of links of W bytes/s in each direction, an
// all-gather of B bytes takes B (n - 1)/n / (2 d W) if the axes are equal, and an all-reduce twice that.
// Austin et al., "How to Scale Your Model", 2025, sharding. An all-to-all passes data on, half of it in each
// direction, at twice the time of shortest paths. Levels after request.axes run last. Without blocks: one
// axis.
absl::Status BuildTorus(const PlanRequest& request, Plan* plan);

// All-to-all in which data passes from neighbour to neighbour around a ring: n (n-1)/2 steps of B/n.
absl::Status BuildRingAllToAll(const PlanRequest& request, Plan* plan);

// All-to-all in n-1 rounds; in round i, member m sends to m + i. A member sends one message at a time.
absl::Status BuildPairwise(const PlanRequest& request, Plan* plan);

// Broadcast and reduce over a binomial tree: ceil(log2 n) rounds. Thakur,
// Rabenseifner and Gropp, "Optimization of collective communication operations
// in MPICH", IJHPCA 2005.
absl::Status BuildBinomial(const PlanRequest& request, Plan* plan);

// Broadcast and reduce from neighbour to neighbour, in `pieces` consecutive pieces: n-1 steps, and B bytes
// for each member. NCCL uses this as its ring for broadcast and reduce.
absl::Status BuildChain(const PlanRequest& request, Plan* plan);

// Gather and scatter: the root exchanges a message with each member, one after the other.
absl::Status BuildLinear(const PlanRequest& request, Plan* plan);

// Every member sends to every other member at the same time. All-reduce is a reduce-scatter and an all-gather
// of chunks of B/n. A member adds received data while other messages are under way, so it waits only for the
// last addition.
absl::Status BuildDirect(const PlanRequest& request, Plan* plan);

// All-reduce in one round: every member sends all of B to every other member.
absl::Status BuildOneShot(const PlanRequest& request, Plan* plan);

// All-reduce in log2 n rounds. In each round, a member exchanges B with the member whose number differs in
// one bit. If n is not a power of two, the members beyond the largest power of two add their data to partners
// before the rounds and get the result afterwards. Thakur, Rabenseifner and Gropp 2005. In "paired_doubling"
// (and in "rabenseifner", its counterpart for halving and doubling), these additional members are every
// second of the first members, and their partners are their neighbours.
absl::Status BuildRecursiveDoubling(const PlanRequest& request, Plan* plan);

// All-reduce by recursive halving (reduce-scatter) and doubling (all-gather): 2 log2 n rounds, 2 B (n-1)/n
// bytes for each member. A member exchanges half of the data with its neighbour, a quarter with the member at
// distance 2, and so on, so most data takes short paths. In each addition, a member waits only for the part
// that it sends on. For all-reduce, other n are handled as in recursive doubling; all-gather and
// reduce-scatter need a power of two. Thakur, Rabenseifner and Gropp 2005.
absl::Status BuildHalvingDoubling(const PlanRequest& request, Plan* plan);

// All-gather by recursive doubling. The first exchange is with the neighbour, of one block; the last is with
// the member at distance n/2, of n/2 blocks. Reduce-scatter by recursive halving does the rounds in reverse.
// Needs a power of two. Thakur, Rabenseifner and Gropp 2005.
absl::Status BuildNearDoubling(const PlanRequest& request, Plan* plan);

// All-gather in n/2 rounds between neighbours. In the first round, a member exchanges one block with one of
// its two neighbours. In later rounds it alternates between both neighbours, and sends the two blocks that it
// received last. Needs an even number of members. Chen, Zhang, Zhang and Yuan, "Performance evaluation of
// allgather algorithms on terascale Linux cluster with fast Ethernet", HPC Asia 2005.
absl::Status BuildNeighbor(const PlanRequest& request, Plan* plan);

// Broadcast and reduce over a tree of MPI libraries, in one piece. In the libraries, a member sends to all
// its children at the same time, and all get the data when the last one would; here the children are served
// in turn, the largest subtree last. "knomial" has radix 4, "binomial_even" radix 2. In "binary" each member
// has two children, in "linear" the root has all other members as children. Source of the trees:
// Pjesivac-Grbovic et al., "Performance analysis of MPI collective operations", Cluster Computing 2007.
absl::Status BuildHostTree(const PlanRequest& request, Plan* plan);

// All-reduce as a reduction over a binomial tree to member 0, and a broadcast over a tree of radix 4.
// "linear": member 0 exchanges messages with each other member in both phases.
absl::Status BuildReduceBroadcast(const PlanRequest& request, Plan* plan);

// Broadcast as a scatter over a binomial tree and an all-gather. The all-gather uses recursive doubling, or a
// ring if the number of members is not a power of two. Thakur, Rabenseifner and Gropp 2005.
absl::Status BuildScatterAllGather(const PlanRequest& request, Plan* plan);

// All-gather in ceil(log2 n) rounds; each round moves twice as many blocks as the previous one. Bruck, Ho,
// Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in multiport
// message-passing systems", TPDS 1997.
absl::Status BuildBruck(const PlanRequest& request, Plan* plan);

// All-reduce up and down two binary trees; each tree carries half of the data, in `pieces` consecutive
// pieces. Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// 2009. With blocks, the trees connect the heads of blocks of blocks[0] members; the other members of a block
// form a chain behind its head, as in NCCL.
absl::Status BuildDoubleBinaryTree(const PlanRequest& request, Plan* plan);

// All-to-all in which a member starts its n-1 messages at the same time.
absl::Status BuildDirectAllToAll(const PlanRequest& request, Plan* plan);

// All-to-all in ceil(log2 n) rounds: in round d (1, 2, 4, ...), all data whose distance has bit d moves on by
// d members, packed into one message. Bruck et al. 1997.
absl::Status BuildBruckAllToAll(const PlanRequest& request, Plan* plan);

// All-to-all in two phases, for n/k blocks of k members. Phase 1, inside a block: k-1 messages of n/k pieces
// of B/n, each to the member with the destination's place. Phase 2, between members with the same place: n/k
// - 1 messages of k pieces. Needs two levels of blocks; all levels above the first count as one.
absl::Status BuildHierarchicalAllToAll(const PlanRequest& request, Plan* plan);

// All-to-all on the same paths as BuildHierarchicalAllToAll(), but one destination block after another and
// without packing, so that the phases overlap. This is NCCL's PXN: data for another node goes to the local
// member whose NIC is on the destination's rail.
absl::Status BuildPxn(const PlanRequest& request, Plan* plan);

// All-gather in ceil(log2 n) rounds, from large distances to small ones, so that the many blocks of the last
// rounds stay near. Reduce-scatter does the rounds in reverse. A member moves n-1 blocks. Jeaugey, "PAT: a
// new algorithm for all-gather and reduce-scatter operations at scale", 2025.
absl::Status BuildPat(const PlanRequest& request, Plan* plan);

// In pieces, through the one switch between all members, which adds and multicasts. All-reduce: the switch
// sends each member its share of the sum; the member sends the share back, and the switch multicasts it: B (1
// + 1/n) in each direction on a member's link. All-gather: B up, n B down; reduce-scatter: B up, B/n down. As
// in NCCL's NVLS.
absl::Status BuildNvls(const PlanRequest& request, Plan* plan);

// NVLS all-reduce in the switch of each block of k >= 2 members. Between blocks, two trees reduce the shares
// and take pieces alternately. A member moves at most 3 B/k to and from other blocks. As in NCCL's NVLS-Tree.
// Needs two levels of blocks; all levels above the first count as one.
absl::Status BuildNvlsTree(const PlanRequest& request, Plan* plan);

// All-reduce in which the network's switch adds between blocks of k members. In pieces: direct reduce-scatter
// inside the block, B/k up to the switch and down again, direct all-gather. As in NCCL's CollNet with SHARP
// (Graham et al., "Scalable hierarchical aggregation protocol", COMHPC 2016). Needs two levels of blocks, and
// two blocks; all levels above the first count as one.
absl::Status BuildCollnet(const PlanRequest& request, Plan* plan);

// Barrier in ceil(log2 n) rounds; in round k, member m notifies m + 2^k. Hensgen, Finkel and Manber, "Two
// algorithms for barrier synchronization", IJPP 1988.
absl::Status BuildDissemination(const PlanRequest& request, Plan* plan);

}  // namespace chakra
