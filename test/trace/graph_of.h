// A graph from the columns that a test gives.
#pragma once

#include <memory>
#include <utility>

#include "trace/model/trace.h"

namespace chakra {

inline std::shared_ptr<const Graph> GraphOf(GraphDraft draft) {
  auto g = std::make_shared<Graph>();
  g->id = std::move(draft.id);
  g->name = std::move(draft.name);
  g->type = std::move(draft.type);
  g->flags = std::move(draft.flags);
  g->start = std::move(draft.start);
  g->duration = std::move(draft.duration);
  g->lane = std::move(draft.lane);
  g->payload = std::move(draft.payload);
  g->shapes = std::move(draft.shapes);
  g->types = std::move(draft.types);
  g->comm = std::move(draft.comm);
  g->transfer = std::move(draft.transfer);
  g->work = std::move(draft.work);
  g->dep_begin = std::move(draft.dep_begin);
  g->dep = std::move(draft.dep);
  g->dep_delay = std::move(draft.dep_delay);
  g->dep_cause = std::move(draft.dep_cause);
  g->dep_unexplained = std::move(draft.dep_unexplained);
  g->dep_release = std::move(draft.dep_release);
  g->child_begin = std::move(draft.child_begin);
  g->child = std::move(draft.child);
  g->child_delay = std::move(draft.child_delay);
  g->child_release = std::move(draft.child_release);
  g->order = std::move(draft.order);
  g->strings = std::move(draft.strings);
  return g;
}

}  // namespace chakra
