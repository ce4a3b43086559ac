#include "replay/sweep/slurm.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "replay/sweep/words.h"
#include "trace/base/status_macros.h"
#include "trace/io/compressed_file.h"

namespace chakra::sweep {

absl::StatusOr<std::string> WriteSlurm(const SlurmJob& job) {
  std::error_code error;
  std::filesystem::create_directories(job.folder, error);
  if (error)
    return absl::UnavailableError(absl::StrCat("cannot make the folder ", job.folder, ": ", error.message()));
  const std::filesystem::path here = std::filesystem::current_path(error);
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) program = "chakra-replay";
  const std::string folder = (here / job.folder).lexically_normal().string();
  // Slurm ends a directive at a blank, so special characters of names are replaced.
  std::string name = "sweep-";
  for (const char c : job.name)
    name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  const std::string prefix = absl::StrCat("#!/bin/sh\n#SBATCH --job-name=", name, "\n");
  const std::string go = absl::StrCat("cd ", QuoteWord(here.string()), " || exit 1\nexec ",
                                      QuoteWord(program.string()), " sweep ");
  const auto more = [](const std::vector<std::string>& words) {
    return words.empty() ? "" : absl::StrCat(" ", QuoteWords(words));
  };
  // Divides the limit among the tasks.
  const std::string limit = job.limit == 0 ? ""
                                           : absl::StrCat(" --limit $(( (", job.limit, " + ", job.tasks,
                                                          " - SLURM_ARRAY_TASK_ID) / ", job.tasks, " ))");
  const std::string task =
      absl::StrCat(prefix, "#SBATCH --array=1-", job.tasks, "\n#SBATCH --cpus-per-task=", job.jobs,
                   "\n#SBATCH --requeue\n", go, QuoteWord(job.spec), " -o ", QuoteWord(folder),
                   " --shard \"$SLURM_ARRAY_TASK_ID/", job.tasks, "\" --jobs ", job.jobs, limit,
                   more(job.words), " --quiet\n");
  const std::string last =
      absl::StrCat(prefix, go, "export ", QuoteWord(folder), more(job.table_words), "\n");
  // Slurm reads % in file names as the start of a pattern.
  const auto output = [&](const char* pattern) {
    return absl::StrCat("--output=",
                        QuoteWord(absl::StrCat(absl::StrReplaceAll(folder, {{"%", "%%"}}), pattern)));
  };
  const std::string submit = absl::StrCat(
      "#!/bin/sh\n# Submits the array, and the job that writes the tables after it. Arguments go to "
      "sbatch.\nset -e\n",
      "array=$(sbatch --parsable ", output("/slurm-%A_%a.out"), " \"$@\" ",
      QuoteWord(absl::StrCat(folder, "/sweep.sbatch")), ")\n",
      "tables=$(sbatch --parsable --dependency=afterany:\"${array%%;*}\" ", output("/slurm-%j.out"),
      " \"$@\" ", QuoteWord(absl::StrCat(folder, "/export.sbatch")),
      ")\necho \"array ${array%%;*}, tables ${tables%%;*}\"\n");
  for (const auto& [file, content] : {std::pair<const char*, const std::string*>{"sweep.sbatch", &task},
                                      {"export.sbatch", &last},
                                      {"submit.sh", &submit}}) {
    RETURN_IF_ERROR(WriteFile(absl::StrCat(job.folder, "/", file), *content));
  }
  return absl::StrCat(job.folder, "/submit.sh");
}

}  // namespace chakra::sweep
