// The bytes of a stage's nodes, as a rank's file has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/et/writer.h"
#include "trace/generate/layout.h"
#include "trace/generate/step.h"

namespace chakra::generate {

// The sender and the receiver of a message of `rank`.
Peer EndsOf(const Layout& layout, int rank, const StepNode& node);

// Encodes the nodes of a stage for its ranks: the bytes that protobuf's serialization of
// ChakraProtoMsg::Node gives, without a message for each node. What nodes of one operator have in common is
// encoded once for the stage. Refers to the stage, which must outlive it. Several threads may use one object.
class StageEncoder {
 public:
  explicit StageEncoder(const StageGraph& stage);

  // Adds all nodes of the stage, as `rank` has them, to the writer. Errors: those of the writer.
  absl::Status Write(const Layout& layout, int rank, EtWriter* out) const;

 private:
  // The parts of a computation, or of a node of the host: name and type; inputs; attributes after `module`.
  struct Parts {
    std::string name, inputs, rest;
  };
  class Rank;

  const StageGraph& stage_;
  std::vector<Parts> operators_;      // by index of StageGraph::operators
  std::vector<std::string> streams_;  // attributes before `module`, by Stream
};

}  // namespace chakra::generate
