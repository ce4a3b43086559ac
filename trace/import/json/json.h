// Converts between .et frames and JSON forms of traces.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trace/et/importer.h"
#include "trace/model/trace.h"

namespace chakra {

// Converts a trace in one of the JSON forms to plain .et bytes. Its keys show the form:
// - the jsonizer's: one object after another, the metadata and then the nodes;
// - the feeder's: {"workload_graph": [...], ...}; the other keys become metadata attributes;
// - STAGE's: {"nodes": [...]} without a "schema"; the other keys become metadata attributes too.
// A key of a node that the form does not define is kept as a string attribute "json.KEY" with the JSON text
// of the value. `file` is for messages. Errors (InvalidArgument) give file, line, column and byte, node id
// and key. For PyTorch captures and process groups, the error names what they are.
absl::StatusOr<std::string> EtFromJson(absl::string_view json, absl::string_view file);

// Converts a trace to the jsonizer's form: the metadata, then the nodes, each as pretty-printed proto3 JSON
// and a newline (camelCase names, 64-bit integers as strings). Needs kept frames (FailedPrecondition).
// InvalidArgument, with the node, if JSON cannot represent it: unknown fields, invalid UTF-8, the payload of
// a NaN, or a first node that would be read as the metadata. The result has been read back and compared.
absl::StatusOr<std::string> EtToJson(const RankTrace& trace);

extern const Importer kJsonImporter;

}  // namespace chakra
