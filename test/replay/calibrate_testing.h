// Measurements of a known cluster, whose constants a fit must find.
#pragma once

#include <gmock/gmock.h>

#include <vector>

#include "replay/calibrate/fit.h"
#include "replay/cluster/load.h"
#include "replay/run/collective_table.h"

namespace chakra::calibrating {

// A preset with the library's own constants. One thread launches on eight devices, as with nccl-tests -g 8.
inline proto::Cluster Preset(const char* name) {
  absl::StatusOr<proto::Cluster> cluster = LoadCluster(name);
  EXPECT_TRUE(cluster.ok()) << cluster.status();
  cluster->mutable_collectives()->mutable_library()->set_devices_per_host(8);
  cluster->mutable_collectives()->mutable_library()->clear_term();
  return *cluster;
}

// The term of an algorithm and protocol, the preset's or a new one.
inline proto::LibraryTerm* AddTerm(proto::Cluster* cluster, const char* algorithm, const char* protocol) {
  for (proto::LibraryTerm& t : *cluster->mutable_collectives()->mutable_library()->mutable_term()) {
    if (t.algorithm() == algorithm && t.protocol() == protocol) return &t;
  }
  proto::LibraryTerm* term = cluster->mutable_collectives()->mutable_library()->add_term();
  term->set_algorithm(algorithm);
  term->set_protocol(protocol);
  return term;
}

inline const proto::LibraryTerm* Find(const proto::Cluster& cluster, const char* algorithm,
                                      const char* protocol) {
  for (const proto::LibraryTerm& t : cluster.collectives().library().term()) {
    if (t.algorithm() == algorithm && t.protocol() == protocol) return &t;
  }
  return nullptr;
}

// Adds rows with the times that `cluster` takes, as nccl-tests would measure them.
inline void Measure(const proto::Cluster& cluster, CollectiveType type, int ranks, uint64_t first,
                    uint64_t last, std::vector<MeasuredRow>* rows, const char* algorithm = "",
                    const char* protocol = "") {
  TableOptions options;
  options.type = type;
  options.ranks = ranks;
  options.algorithm = algorithm;
  options.protocol = protocol;
  absl::StatusOr<CollectiveTable> table = CollectiveTable::Make(cluster, options);
  ASSERT_TRUE(table.ok()) << table.status();
  for (uint64_t bytes = first; bytes <= last; bytes *= 2) {
    const absl::StatusOr<TableRow> row = table->Price(bytes);
    ASSERT_TRUE(row.ok()) << row.status();
    MeasuredRow m;
    m.type = type;
    m.ranks = ranks;
    m.bytes = row->bytes;
    m.time_us = row->time_us;
    m.algorithm = algorithm;
    m.protocol = protocol;
    m.file = "made.log";
    m.line = static_cast<int>(rows->size()) + 1;
    rows->push_back(m);
  }
}

}  // namespace chakra::calibrating
