// A folder whose files appear together, or not at all.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

// Files go to a new folder beside the output. Commit() puts it in the place of the output in one step;
// MoveInto() puts its files into a folder that has others. Without one of them nothing is left behind, and
// what was there stays. Errors name the path and the system's reason.
class WholeFolder {
 public:
  WholeFolder() = default;
  // Removes what was written, unless it was put in its place.
  ~WholeFolder();
  WholeFolder(const WholeFolder&) = delete;
  WholeFolder& operator=(const WholeFolder&) = delete;

  // Makes the new folder beside `output`. Removes what killed runs left there.
  absl::Status Open(const std::string& output);
  bool opened() const { return !folder_.empty(); }
  // Where a file of this name is to be written.
  std::string PathOf(absl::string_view name) const;
  // Gives a file that was written another name.
  absl::Status Rename(absl::string_view name, absl::string_view to) const;
  // Moves a file that was written to a path outside.
  absl::Status MoveOut(absl::string_view name, const std::string& path) const;

  // Puts the folder in the place of the output: what was in that one is lost.
  absl::Status Commit();
  // Moves all files to a folder that stays, and removes files `stale` from there: these first, from the first
  // on, and then the new ones, the last first. A set of ranks in that order, if the process dies between,
  // lacks its rank 0.
  absl::Status MoveInto(const std::string& folder, const std::vector<std::string>& stale,
                        std::vector<std::string> files);

  // Removes what was written so far. Any thread may call it at any time; the process should end afterwards.
  void Discard();

 private:
  void RemoveStale() const;

  std::string output_;
  std::mutex mutex_;
  std::string folder_;  // "": there is none
  int lock_ = -1;       // lock on the folder while this process lives
};

}  // namespace chakra
