// Reads what the OSU micro-benchmarks and perftest print: messages between two devices, and collectives of
// MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// A message from one process to another: what it takes one way, or what many of them get in one direction.
// One of the two is above 0.
struct PointRow {
  std::string test;         // "OSU MPI Latency Test", "RDMA_Write BW Test"
  uint64_t bytes = 0;       // 0: an empty message
  double latency_us = 0;    // one way
  double gbytes_per_s = 0;  // 1e9 bytes, one direction
  bool halved = false;      // the file has there and back (ib_read_lat), or both directions together
  std::string file;
  int line = 0;  // from 1
};

struct MicroRun {
  std::vector<PointRow> points;
  std::vector<MeasuredRow> rows;      // of collectives
  std::vector<std::string> warnings;  // what was left out or assumed, each with file and line
};

// Whether text has a header that only these programs print: "# OSU ... Test", or perftest's "#bytes
// #iterations" with its columns.
bool LooksLikeMicroBenchmark(absl::string_view text);

// Reads a log, which may hold other text between tables, and several tables.
//   - OSU (3.0 to 7.5, of MPI and NCCL): osu_latency, osu_bw, osu_bibw; osu_allreduce, osu_allgather,
//     osu_alltoall, osu_reduce_scatter, osu_bcast, osu_reduce, osu_gather, osu_scatter. Sizes of
//     osu_allgather and osu_gather are what one rank sends, of osu_alltoall and osu_scatter what goes to one:
//     rows have them times `ranks`, as nccl-tests counts. MB/s are 1e6 bytes.
//   - perftest: ib_write_lat, ib_send_lat, ib_read_lat (there and back, so half of it counts), ib_write_bw,
//     ib_send_bw, ib_read_bw. MB/sec are 2^20 bytes, Gb/sec 1e9 bits. Of bidirectional tests half counts.
//     Latencies are the typical ones where the table has them, else the average.
// Other tests of OSU are left out with a warning. `ranks`: of all collectives in the file, which does not say
// it; 0: not known.
//
// Errors (InvalidArgument), with file, line and what was expected: no row; a row that is cut; a size, time or
// rate out of range, or a rate that is not the row's messages times their size; a collective without `ranks`;
// a latency table of perftest without its title, which tells one way from there and back.
absl::StatusOr<MicroRun> ReadMicroBenchmarks(absl::string_view text, const std::string& path, int ranks);

}  // namespace chakra
