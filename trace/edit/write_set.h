// Writes edited traces to a folder or a file, which appears only when it is complete.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/edit/plan.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"
#include "trace/io/whole_folder.h"

namespace chakra::edit {

// Edits ranks and writes each at once; keeps none in memory. Traces go to a new folder beside `output`;
// Commit() moves this folder to `output`. A lone trace may go to a file or to standard output ("-").
class EditedOutput : public RankRewriter {
 public:
  // `run` must outlive the output. Without `compression`, the ending of a file's name chooses it, and a trace
  // in a folder keeps the compression of its input.
  EditedOutput(std::string output, std::optional<Compression> compression, EditRun* run);
  // Call it before the first rank. `many`: write a folder. Errors: an existing folder that holds anything but
  // traces and their groups; a place that cannot be written.
  absl::Status Open(bool many);
  absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) override;
  // Removes what was written so far. Any thread may call it at any time; the process should end afterwards.
  void Discard() { folder_.Discard(); }
  // Call it after the last rank. Also writes the groups beside the traces, if they came from a file or have
  // changed.
  absl::Status Commit(const TraceSet& set);

  const std::vector<std::string>& files() const { return files_; }

 private:
  absl::Status NameAlike();

  const std::string output_;
  Compression Method(const std::string& file) const;

  const std::optional<Compression> compression_;
  EditRun& run_;
  bool many_ = false;
  WholeFolder folder_;  // of several traces
  std::mutex mutex_;
  std::set<std::string> prefixes_;  // of the files' names
  std::vector<std::string> files_;  // names, sorted in Commit()
  std::string lone_;                // the frames of a lone trace
  bool have_lone_ = false;
};

}  // namespace chakra::edit
