// Reads the output of the OSU micro-benchmarks and of perftest: messages between two devices, and collectives
// of MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "replay/calibrate/nccl_tests.h"

namespace chakra {

// A message from one process to another: its latency one way, or the rate of many messages in one direction.
// Exactly one of the two is above 0.
struct PointRow {
  std::string test;         // "OSU MPI Latency Test", "RDMA_Write BW Test"
  uint64_t bytes = 0;       // 0: an empty message
  double latency_us = 0;    // one way
  double gbytes_per_s = 0;  // 1e9 bytes, one direction
  bool halved = false;      // the file has the value of there and back (ib_read_lat), or of both directions
                            // together
  std::string file;
  int line = 0;  // from 1
};

struct MicroRun {
  std::vector<PointRow> points;
  std::vector<MeasuredRow> rows;      // measurements of collectives
  std::vector<std::string> warnings;  // what was left out or assumed, each with file and line
};

// Whether the text has a header that only these programs print: "# OSU ... Test", or perftest's "#bytes
// #iterations" with its columns.
bool LooksLikeMicroBenchmark(absl::string_view text);

// Reads a log, which may contain several tables and other text between them.
//   - OSU (3.0 to 7.5, of MPI and NCCL): osu_latency, osu_bw, osu_bibw; osu_allreduce, osu_allgather,
//     osu_alltoall, osu_reduce_scatter, osu_bcast, osu_reduce, osu_gather, osu_scatter. Sizes of
//     osu_allgather and osu_gather are the bytes that one rank sends, those of osu_alltoall and osu_scatter
//     the bytes to one rank; rows multiply them by `ranks`, as nccl-tests counts. MB/s are 1e6 bytes.
//   - perftest: ib_write_lat, ib_send_lat, ib_read_lat (there and back, so its times are halved);
//     ib_write_bw, ib_send_bw, ib_read_bw. MB/sec are 2^20 bytes, Gb/sec 1e9 bits. Rates of bidirectional
//     tests are halved. Latencies are the typical ones if the table has them, else the averages.
// Other tests of OSU are left out with a warning. `ranks`: the number of ranks of all collectives in the
// file, which the file does not contain; 0: not known.
//
// Errors (InvalidArgument), with file, line and what was expected: no row; a row that is cut; a size, time or
// rate out of range, or a rate that is not the row's messages times their size; a collective without `ranks`;
// a latency table of perftest without its title, which distinguishes one way from there and back.
absl::StatusOr<MicroRun> ReadMicroBenchmarks(absl::string_view text, const std::string& path, int ranks);

}  // namespace chakra
