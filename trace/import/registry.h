// The formats that traces are read from. To add one: its own folder, and a line in registry.cc.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "trace/et/importer.h"

namespace chakra {

// In the order in which they are asked for a file.
absl::Span<const Importer* const> Importers();

// Whether a file's name, compressed or not, is one of the format; whether it is one that the format cannot read, but says
// what to do with.
bool NamedAs(const Importer& importer, absl::string_view name);
bool Explains(const Importer& importer, absl::string_view name);

// Of the formats whose files hold a rank each, the one that a file's content (unpacked; all of it, or its
// first Importer::kSniffed bytes) is of.
const Importer& ImporterOf(absl::string_view content);

// The format whose files make a run together, where `inputs` name such files, or a folder or a tar archive
// that has such files and no native traces; null: there is none. Files that `options.capture` names are
// always such a format's.
const Importer* ImporterOfRun(const std::vector<std::string>& inputs, const ReadOptions& options);

// The format of a rank's file by its name, before .gz or .zst, which is cut off with its ending; null: none.
const Importer* ConsumeEnding(absl::string_view* name);

// "PREFIX.N.et[.zst|.gz]": how native files are named.
std::string NamesOfTraces();
// "traces named PREFIX.N.et[.zst|.gz] (or .json, .txtpb), or a PyTorch capture (JSON of ...)".
std::string ExpectedInFolders();
// "PyTorch captures": the formats whose files make a run together and were recorded.
std::string KindsOfRuns();
// What commands say of the traces that they take.
std::string InputsHelp();

}  // namespace chakra
