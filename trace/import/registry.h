// The formats that traces are read from. To add a format: its own folder, and a line in registry.cc.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "trace/et/importer.h"

namespace chakra {

// All formats, in the order in which a file is offered to them.
absl::Span<const Importer* const> Importers();

// NamedAs(): whether the name of a file, compressed or not, is one of the format. Explains(): whether the
// format cannot read a file of this name but says what to do with it.
bool NamedAs(const Importer& importer, absl::string_view name);
bool Explains(const Importer& importer, absl::string_view name);

// The format of a file that holds one rank, by its content (unpacked; all of it, or its first
// Importer::kSniffed bytes). Only formats whose files hold one rank each are considered.
const Importer& ImporterOf(absl::string_view content);

// The format whose files make a run together, if `inputs` name such files, or a folder or a tar archive that
// has such files and no native traces. Null: none. Files that `options.capture` names always have such a
// format.
const Importer* ImporterOfRun(const std::vector<std::string>& inputs, const ReadOptions& options);

// The format of a file that holds one rank, by its name. Cuts off the format's ending, and .gz or .zst after
// it. Null, with `name` unchanged: no format.
const Importer* ConsumeEnding(absl::string_view* name);

// "PREFIX.N.et[.zst|.gz]": the form of the names of native files.
std::string NamesOfTraces();
// "traces named PREFIX.N.et[.zst|.gz] (or .json, .txtpb), or a PyTorch capture (JSON of ...)".
std::string ExpectedInFolders();
// "PyTorch captures": the recorded formats that read the files of a run together.
std::string KindsOfRuns();
// The help text of commands for the traces that they read.
std::string InputsHelp();

}  // namespace chakra
