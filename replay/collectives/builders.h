// The builders that registry.cc lists. Each fills programs, chunks and flags of
// a plan whose type, algorithm and members are set.
#pragma once

#include "replay/collectives/plan.h"

namespace chakra {

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

// Barrier in ceil(log2 n) rounds; in round k member m tells m + 2^k. Hensgen,
// Finkel and Manber, "Two algorithms for barrier synchronization", IJPP 1988.
void BuildDissemination(Plan* plan, int root);

}  // namespace chakra
