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

// Edits ranks and writes each rank at once, without keeping it in memory. Traces are written to a new folder
// next to `output`, and Commit() moves this folder to `output`. A single trace may be written to a file or to
// standard output ("-").
class EditedOutput : public RankRewriter {
 public:
  // `run` must outlive the output. Without `compression`, the extension of a file's name determines it, and a
  // trace in a folder keeps the compression of its input.
  EditedOutput(std::string output, std::optional<Compression> compression, EditRun* run);
  // Must be called before the first rank. `many`: write a folder. Errors: an existing folder that holds
  // anything except traces and their groups; a location that cannot be written.
  absl::Status Open(bool many);
  absl::Status Rewrite(RankTrace trace, std::vector<Rewritten>* out) override;
  // Removes the files written so far. Any thread may call it at any time; the process should end afterwards.
  void Discard() { folder_.Discard(); }
  // Must be called after the last rank. Also writes a file of groups next to the traces, if the groups came
  // from a file or have changed.
  absl::Status Commit(const TraceSet& set);

  const std::vector<std::string>& files() const { return files_; }

 private:
  absl::Status NameAlike();

  const std::string output_;
  Compression Method(const std::string& file) const;

  const std::optional<Compression> compression_;
  EditRun& run_;
  bool many_ = false;
  WholeFolder folder_;  // used for several traces
  std::mutex mutex_;
  std::set<std::string> prefixes_;  // prefixes of the files' names
  std::vector<std::string> files_;  // names, sorted in Commit()
  std::string isolated_;            // the frames of a single trace
  bool have_isolated_ = false;
};

}  // namespace chakra::edit
