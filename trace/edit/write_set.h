// A folder, or a file, of edited traces that is there when it is complete and not before.
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

// Edits ranks and writes each at once: nothing of it is kept. Traces go to a folder beside `output`, which
// takes its place in Commit(); a lone trace may go to a file, or to standard output ("-").
class EditedOutput : public RankRewriter {
 public:
  // `run` must outlive it. Without `compression`, by the end of a file's name, and in a folder as the trace
  // was.
  EditedOutput(std::string output, std::optional<Compression> compression, EditRun* run);
  // Without a Commit(), takes away what was written.
  ~EditedOutput() override;

  // Before the first rank. `many`: a folder is to be written. Errors: a folder that is there and holds
  // anything but traces and their groups, a place that cannot be written.
  absl::Status Open(bool many);
  absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) override;
  // Takes away what was written so far. Any thread may call it at any time; the process should end then.
  void Discard();
  // After the last. Writes the groups beside the traces, where they come from a file or have changed.
  absl::Status Commit(const TraceSet& set);

  const std::vector<std::string>& files() const { return files_; }

 private:
  // `prefix`: of the traces to be written; "": not known yet, then of those that are there.
  absl::Status CheckFolder(const std::string& prefix) const;
  void RemoveStale() const;
  absl::Status Swap();

  const std::string output_;
  Compression Method(const std::string& file) const;

  const std::optional<Compression> compression_;
  EditRun& run_;
  bool many_ = false;
  std::mutex folder_mutex_;
  std::string folder_;  // where traces go until Commit(); "": no folder
  int lock_ = -1;       // on it, while this process lives
  std::mutex mutex_;
  std::string prefix_;
  std::vector<std::string> files_;  // names, sorted in Commit()
  std::string lone_;                // the frames of a lone trace
  bool have_lone_ = false;
};

}  // namespace chakra::edit
