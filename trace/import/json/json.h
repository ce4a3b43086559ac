// Between .et frames and their JSON relatives.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/importer.h"
#include "trace/model/trace.h"

namespace chakra {

// A trace in one of the JSON forms, as plain .et bytes. The form is told by its
// keys:
//   - the jsonizer's: one object after another, the metadata and then the nodes;
//   - the feeder's: {"workload_graph": [...], ...}; what stands beside the graph
//     becomes metadata attributes;
//   - STAGE's: {"nodes": [...]} without a "schema"; likewise.
// A node's key that the form does not define is kept as a string attribute
// "json.KEY" with the value's JSON text. `file` is for messages.
// Errors (InvalidArgument) give file, line, column and byte, node id and key.
// PyTorch captures and communicator groups are refused as what they are.
absl::StatusOr<std::string> EtFromJson(absl::string_view json, absl::string_view file);

// The inverse for the jsonizer's form: the metadata, then the nodes, each as
// pretty-printed proto3 JSON and a newline (camelCase names, 64-bit integers as
// strings). Needs kept frames (FailedPrecondition). InvalidArgument, naming the
// node, for what JSON cannot carry: unknown fields, invalid UTF-8, the payload of
// a NaN, or a first node that would be read as the metadata. What is returned
// has been read back and compared.
absl::StatusOr<std::string> EtToJson(const RankTrace& trace);

extern const Importer kJsonImporter;

}  // namespace chakra
