// Max-min fair rates by their definition: the reference for the solvers of fabric `fluid`.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "backends/fluid/network.h"

namespace chakra {

struct PlainFlow {
  std::vector<FluidHop> links;
  double weight = 1;
  int priority = 0;
};

// Fills step by step: each step raises all growing flows by the least that any link allows, in long double.
inline std::map<uint32_t, double> SlowRates(const std::vector<double>& capacity,
                                            const std::map<uint32_t, PlainFlow>& flows) {
  std::vector<long double> left(capacity.begin(), capacity.end());
  std::map<uint32_t, double> rates;
  std::set<int, std::greater<int>> priorities;
  for (const auto& [id, f] : flows) priorities.insert(f.priority);
  for (const int priority : priorities) {
    std::map<uint32_t, long double> rate;
    for (const auto& [id, f] : flows) {
      if (f.priority == priority) rate[id] = 0;
    }
    std::set<uint32_t> growing;
    for (const auto& [id, r] : rate) growing.insert(id);
    while (!growing.empty()) {
      long double step = -1;
      std::vector<long double> weight(capacity.size(), 0);
      for (const uint32_t id : growing) {
        for (const FluidHop& h : flows.at(id).links) weight[h.link] += flows.at(id).weight * h.share;
      }
      for (size_t l = 0; l < capacity.size(); ++l) {
        if (weight[l] > 0 && (step < 0 || left[l] / weight[l] < step)) step = left[l] / weight[l];
      }
      std::set<uint32_t> full;
      for (size_t l = 0; l < capacity.size(); ++l) {
        if (weight[l] > 0 && left[l] / weight[l] <= step * (1 + 1e-15L))
          full.insert(static_cast<uint32_t>(l));
        left[l] -= step * weight[l];
        if (left[l] < 0) left[l] = 0;
      }
      for (auto it = growing.begin(); it != growing.end();) {
        rate[*it] += step * flows.at(*it).weight;
        bool stands = false;
        for (const FluidHop& h : flows.at(*it).links) stands = stands || full.count(h.link) > 0;
        it = stands ? growing.erase(it) : std::next(it);
      }
    }
    for (const auto& [id, r] : rate) rates[id] = static_cast<double>(r);
  }
  return rates;
}

}  // namespace chakra
