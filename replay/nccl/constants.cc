#include "replay/nccl/constants.h"

#include <algorithm>

namespace chakra::nccl {
namespace {

// [algorithm][protocol]
constexpr double kBase[6][3] = {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {0, 0, 0},
                                {0, 0, 0},        {0, 0, 0},        {8.0, 8.0, 8.0}};
// [link][algorithm][protocol]
constexpr double kStep[3][6][3] = {
    {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, {0, 0, 3.7}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4.0}},
    {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4.0}},
    {{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}, {0, 0, 31}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14.0}}};

// [generation][1, 2, more nodes]
constexpr double kMaxLL[4][3] = {{39, 39, 20.4}, {87.7, 22.5, 19.0}, {141, 45, 35}, {282, 90, 70}};
constexpr double kMaxRingLL128[4] = {20, 20, 36.7, 40};
constexpr double kMaxTreeLL128[4][3] = {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
constexpr double kMaxTree[4][3] = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
constexpr double kMaxNvlsTree[4][3] = {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}};

// For sizes from 64 B to 128 MiB.
constexpr double kTreeCorrection[3][22] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .5, .5, .6, .6, .7, .8, .9}};

int ColumnOfNodes(int nodes) { return std::clamp(nodes, 1, 3) - 1; }

}  // namespace

double BaseLatency(Algorithm a, Protocol p) { return kBase[static_cast<int>(a)][static_cast<int>(p)]; }

double StepLatency(Algorithm a, Protocol p, LibraryLink link) {
  return kStep[static_cast<int>(link)][static_cast<int>(a)][static_cast<int>(p)];
}

double MaxLL(Generation g, int nodes) { return kMaxLL[static_cast<int>(g)][ColumnOfNodes(nodes)]; }
double MaxRingLL128(Generation g) { return kMaxRingLL128[static_cast<int>(g)]; }
double MaxTreeLL128(Generation g, int nodes) {
  return kMaxTreeLL128[static_cast<int>(g)][ColumnOfNodes(nodes)];
}
double MaxTree(Generation g, int nodes) { return kMaxTree[static_cast<int>(g)][ColumnOfNodes(nodes)]; }
double MaxNvlsTree(Generation g, int nodes) {
  return kMaxNvlsTree[static_cast<int>(g)][ColumnOfNodes(nodes)];
}

double TreeCorrection(Protocol p, uint64_t bytes) {
  int log = 0;
  while (log < 22 && (bytes >> 7 >> log) > 0) ++log;
  return log < 22 ? kTreeCorrection[static_cast<int>(p)][log] : 1;
}

// The chunk sizes are those of NCCL, src/enqueue.cc. A loop of 8 members' chunks takes 13.6, 21, 30 and 58
// us, with 16 channels of 8 H200 (fitted on nccl_one_node.csv up to 64 KiB) and also with 24 of 8 B200
// (stas00/ml-engineering, network). Above 4 GiB, B200 carries 11 % more with any version (2.26 to 2.30; A4 of
// Google Cloud; NVIDIA/nccl#1807); the cause is not known.
NvlsChannel NvlsChannelFor(uint64_t bytes, int channels, int members) {
  constexpr uint64_t kKiB = 1024, kMostOfOneRate = uint64_t{4} << 30;
  const uint64_t at_once = static_cast<uint64_t>(channels) * static_cast<uint64_t>(members);
  if (bytes > kMostOfOneRate) return {20.5, 9};
  if (bytes >= 64 * at_once * 128 * kKiB) return {18, 9};
  if (bytes >= 8 * at_once * 64 * kKiB) return {17.5, 6};
  if (bytes >= 2 * at_once * 32 * kKiB) return {12.5, 1.2};
  return {9.6, 0};
}

int ThreadThreshold(Algorithm a, Protocol p, int ranks) {
  if (p == Protocol::kSimple) return 64;
  return a == Algorithm::kRing && p == Protocol::kLL ? 8 * ranks : 8;
}

}  // namespace chakra::nccl
