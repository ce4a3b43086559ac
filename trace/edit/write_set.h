// Writes edited traces to a folder or a file, which appears only when it is complete.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trace/edit/plan.h"
#include "trace/et/read_options.h"
#include "trace/et/writer.h"

namespace chakra::edit {

// Edits ranks and writes each at once; keeps none in memory. Traces go to a new folder beside `output`;
// Commit() moves this folder to `output`. A lone trace may go to a file or to standard output ("-").
class EditedOutput : public RankRewriter {
 public:
  // `run` must outlive the output. Without `compression`, the ending of a file's name chooses it, and a trace
  // in a folder keeps the compression of its input.
  EditedOutput(std::string output, std::optional<Compression> compression, EditRun* run);
  // Removes what was written, unless Commit() succeeded.
  ~EditedOutput() override;

  // Call it before the first rank. `many`: write a folder. Errors: an existing folder that holds anything but
  // traces and their groups; a place that cannot be written.
  absl::Status Open(bool many);
  absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) override;
  // Removes what was written so far. Any thread may call it at any time; the process should end afterwards.
  void Discard();
  // Call it after the last rank. Also writes the groups beside the traces, if they came from a file or have
  // changed.
  absl::Status Commit(const TraceSet& set);

  const std::vector<std::string>& files() const { return files_; }

 private:
  // `prefix`: the name prefix of the traces to be written; "": not known yet, so any one prefix of existing
  // traces is accepted.
  absl::Status CheckFolder(const std::string& prefix) const;
  void RemoveStale() const;
  absl::Status Swap();

  const std::string output_;
  Compression Method(const std::string& file) const;

  const std::optional<Compression> compression_;
  EditRun& run_;
  bool many_ = false;
  std::mutex folder_mutex_;
  std::string folder_;  // traces go here until Commit(); "": no folder
  int lock_ = -1;       // lock on the folder while this process lives
  std::mutex mutex_;
  std::string prefix_;
  std::vector<std::string> files_;  // names, sorted in Commit()
  std::string lone_;                // the frames of a lone trace
  bool have_lone_ = false;
};

}  // namespace chakra::edit
