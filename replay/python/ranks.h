// The nodes of one rank as columns over the memory of the traces, and the nodes of all ranks as one table.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "replay/python/table.h"
#include "trace/model/trace.h"

namespace chakra::python {

// One rank of a set of traces; keeps the traces alive.
struct RankView {
  std::shared_ptr<const TraceSet> set;
  const RankTrace* rank = nullptr;
};
RankView RankOf(std::shared_ptr<const TraceSet> set, size_t rank);

std::shared_ptr<Table> NodesOf(const TraceSet& set);

void BindRanks(pybind11::module_& module);

}  // namespace chakra::python
