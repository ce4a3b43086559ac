// The builders that registry.cc lists. Each fills programs, chunks and flags of
// a plan whose type, algorithm and members are set.
#pragma once

#include "replay/collectives/plan.h"

namespace chakra {

// Makes `program`, as one stream, what every member runs relative to itself,
// and none can end before all have begun.
void SetRotational(Program program, int chunks, Plan* plan);

// Ring all-reduce, all-gather and reduce-scatter: 2(n-1) or n-1 steps of B/n to
// the right neighbour. Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms", JPDC 2009.
void BuildRing(Plan* plan, int root);

// All-to-all in n-1 rounds, member m sending to m + i in round i; one message
// leaves a member at a time.
void BuildPairwise(Plan* plan, int root);

// Broadcast and reduce over a binomial tree: ceil(log2 n) rounds. Thakur,
// Rabenseifner and Gropp, "Optimization of collective communication operations
// in MPICH", IJHPCA 2005.
void BuildBinomial(Plan* plan, int root);

// Gather to and scatter from the root, member by member.
void BuildLinear(Plan* plan, int root);

// Every member to every other at once: all-reduce as reduce-scatter and
// all-gather of chunks of B/n, or one of the two alone.
void BuildDirect(Plan* plan, int root);

// All-reduce in one round: every member sends all of B to every other.
void BuildOneShot(Plan* plan, int root);

// All-reduce in log2 n rounds of B with the member whose number differs in one
// bit. Groups that are no power of two fold the rest in before and out after.
// Thakur, Rabenseifner and Gropp 2005, as the next.
void BuildRecursiveDoubling(Plan* plan, int root);

// All-reduce by recursive halving (reduce-scatter) and doubling (all-gather):
// 2 log2 n rounds, 2 B (n-1)/n bytes a member. Folds like recursive doubling.
void BuildHalvingDoubling(Plan* plan, int root);

// All-gather in ceil(log2 n) rounds, with twice the blocks in each. Bruck, Ho,
// Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all
// communications in multiport message-passing systems", TPDS 1997.
void BuildBruck(Plan* plan, int root);

// All-reduce up and down two binary trees, each with half of the data in
// pieces that follow each other. Sanders, Speck and Traeff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan", 2009.
void BuildDoubleBinaryTree(Plan* plan, int root);

// Barrier in ceil(log2 n) rounds; in round k member m tells m + 2^k. Hensgen,
// Finkel and Manber, "Two algorithms for barrier synchronization", IJPP 1988.
void BuildDissemination(Plan* plan, int root);

}  // namespace chakra
