// A folder whose files appear all together or not at all.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace chakra {

// Files are written to a new folder next to the output. Commit() replaces the output by this folder in one
// step; MoveInto() moves the files to a folder that has other files. If neither is called, nothing is left
// behind, and the output stays as it was. Errors give the path and the system's reason.
class WholeFolder {
 public:
  WholeFolder() = default;
  // Removes the files that were written, unless they were committed or moved.
  ~WholeFolder();
  WholeFolder(const WholeFolder&) = delete;
  WholeFolder& operator=(const WholeFolder&) = delete;

  // Creates the new folder next to `output`. Removes the folders that killed runs left there.
  absl::Status Open(const std::string& output);
  bool opened() const { return !folder_.empty(); }
  // The path under which to write the file `name`.
  std::string PathOf(absl::string_view name) const;
  // Renames a file that was written.
  absl::Status Rename(absl::string_view name, absl::string_view to) const;
  // Moves a file that was written to a path outside of the folder.
  absl::Status MoveOut(absl::string_view name, const std::string& path) const;

  // Replaces the output by the folder. The old content of the output is lost.
  absl::Status Commit();
  // Moves all files to `folder`, which stays, and removes the files `stale`. Removes `stale` first, in order,
  // and then moves the new files, the last one first. If ranks are given in order and the process dies in
  // between, the folder lacks rank 0.
  absl::Status MoveInto(const std::string& folder, const std::vector<std::string>& stale,
                        std::vector<std::string> files);

  // Removes the files written so far. Any thread may call it at any time; the process should end afterwards.
  void Discard();

 private:
  void RemoveStale() const;

  std::string output_;
  std::mutex mutex_;
  std::string folder_;  // "": there is no folder
  int lock_ = -1;       // lock on the folder, held while this process lives
};

}  // namespace chakra
