// The builders that registry.cc lists. Each fills programs, chunks and flags of
// a plan whose type, algorithm and members are set, or says why it cannot.
#pragma once

#include "absl/status/status.h"
#include "replay/collectives/plan.h"
#include "replay/collectives/request.h"

namespace chakra {

// Makes `program`, as one stream, what every member runs relative to itself,
// and none can end before all have begun.
void SetRotational(Program program, int chunks, Plan* plan);

// Ring all-reduce, all-gather and reduce-scatter: 2(n-1) or n-1 steps of B/n to
// the right neighbour. Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms", JPDC 2009.
absl::Status BuildRing(const PlanRequest& request, Plan* plan);

// The same with half of the data each way round: 2(n-1) or n-1 steps of B/2n to
// both neighbours at once.
absl::Status BuildBidirectionalRing(const PlanRequest& request, Plan* plan);

// Rings level by level: reduce-scatter over level 0, 1, ..., all-gather back.
// 2 sum (k_l - 1) steps; a member moves B (k_l - 1)/(k_0 ... k_l) over level l,
// and as much back. Cho, Finkler, Kung and Hunter, "BlueConnect:
// decomposing all-reduce for deep learning on heterogeneous network hierarchy",
// MLSys 2019. Needs two levels of blocks, as all further ones that say so.
absl::Status BuildHierarchical(const PlanRequest& request, Plan* plan);

// The same all-reduce in `pieces` parts, each with an order of levels of its own,
// chosen so that each level's bytes over its bandwidth stay balanced; a level of
// a member carries one message at a time. Rashidi et al., "Themis: a network
// bandwidth-aware collective scheduling policy for distributed training of DL
// models", ISCA 2022. Needs two levels of blocks.
absl::Status BuildThemis(const PlanRequest& request, Plan* plan);

// All-to-all in n-1 rounds, member m sending to m + i in round i; one message
// leaves a member at a time.
absl::Status BuildPairwise(const PlanRequest& request, Plan* plan);

// Broadcast and reduce over a binomial tree: ceil(log2 n) rounds. Thakur,
// Rabenseifner and Gropp, "Optimization of collective communication operations
// in MPICH", IJHPCA 2005.
absl::Status BuildBinomial(const PlanRequest& request, Plan* plan);

// Broadcast and reduce from neighbour to neighbour, in `pieces` pieces that follow
// each other: n-1 steps and B bytes a member. NCCL's ring for these two.
absl::Status BuildChain(const PlanRequest& request, Plan* plan);

// Gather to and scatter from the root, member by member.
absl::Status BuildLinear(const PlanRequest& request, Plan* plan);

// Every member to every other at once: all-reduce as reduce-scatter and
// all-gather of chunks of B/n, or one of the two alone.
absl::Status BuildDirect(const PlanRequest& request, Plan* plan);

// All-reduce in one round: every member sends all of B to every other.
absl::Status BuildOneShot(const PlanRequest& request, Plan* plan);

// All-reduce in log2 n rounds of B with the member whose number differs in one
// bit. Groups that are no power of two fold the rest in before and out after.
// Thakur, Rabenseifner and Gropp 2005, as the next.
absl::Status BuildRecursiveDoubling(const PlanRequest& request, Plan* plan);

// All-reduce by recursive halving (reduce-scatter) and doubling (all-gather):
// 2 log2 n rounds, 2 B (n-1)/n bytes a member. Folds like recursive doubling.
absl::Status BuildHalvingDoubling(const PlanRequest& request, Plan* plan);

// All-gather in ceil(log2 n) rounds, with twice the blocks in each. Bruck, Ho,
// Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems", TPDS 1997.
absl::Status BuildBruck(const PlanRequest& request, Plan* plan);

// All-reduce up and down two binary trees, each with half of the data in
// `pieces` pieces that follow each other. Sanders, Speck and Traeff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan", 2009. With
// blocks the trees are over blocks of blocks[0] members, each of which hangs as
// a chain behind the head of its block, as in NCCL.
absl::Status BuildDoubleBinaryTree(const PlanRequest& request, Plan* plan);

// All-to-all with all n-1 messages of a member started at once.
absl::Status BuildDirectAllToAll(const PlanRequest& request, Plan* plan);

// All-to-all in ceil(log2 n) rounds: in round d (1, 2, 4, ...) what has bit d in
// its distance moves d on, packed into one message. Bruck et al. 1997, as above.
absl::Status BuildBruckAllToAll(const PlanRequest& request, Plan* plan);

// All-to-all in two phases of blocks of k members, n/k of them: k-1 messages of
// n/k blocks of B/n inside the block, to the member that has the place of the
// destination; then n/k - 1 of k between members of the same place. Needs two
// levels of blocks; all above the first count as one.
absl::Status BuildHierarchicalAllToAll(const PlanRequest& request, Plan* plan);

// The same ways, but one destination block after another and unpacked, so that
// the phases overlap: as NCCL's PXN hands what goes to another node to the local
// member whose network card is on the destination's rail.
absl::Status BuildPxn(const PlanRequest& request, Plan* plan);

// All-gather in ceil(log2 n) rounds from far distances to near ones, so that
// the many blocks of the last rounds stay near; reduce-scatter is the same
// backwards. n-1 messages of a block. Jeaugey, "PAT: a new algorithm for
// all-gather and reduce-scatter operations at scale", 2025.
absl::Status BuildPat(const PlanRequest& request, Plan* plan);

// Through the one switch between all members, which adds and multicasts, in
// pieces. All-reduce: the switch hands each member its share of the sum, which
// comes back and is multicast: B (1 + 1/n) each way on a member's link.
// All-gather: B up, n B down; reduce-scatter: B up, B/n down. As NCCL's NVLS.
absl::Status BuildNvls(const PlanRequest& request, Plan* plan);

// The same in the switch of each block of k >= 2 members, while the shares are
// reduced between the blocks by two trees that take pieces in turn: a member
// moves at most 3 B/k to and from other blocks. As NCCL's NVLS-Tree. Needs two
// levels of blocks; all above the first count as one.
absl::Status BuildNvlsTree(const PlanRequest& request, Plan* plan);

// All-reduce with the network's switch adding between blocks of k members: in
// pieces, direct reduce-scatter inside the block, B/k up to the switch and down
// again, direct all-gather. As NCCL's CollNet with SHARP (Graham et al.,
// "Scalable hierarchical aggregation protocol", COMHPC 2016). Needs two levels
// of blocks, and two blocks; all levels above the first count as one.
absl::Status BuildCollnet(const PlanRequest& request, Plan* plan);

// Barrier in ceil(log2 n) rounds; in round k member m tells m + 2^k. Hensgen,
// Finkel and Manber, "Two algorithms for barrier synchronization", IJPP 1988.
absl::Status BuildDissemination(const PlanRequest& request, Plan* plan);

}  // namespace chakra
