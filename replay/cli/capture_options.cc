#include "replay/cli/capture_options.h"

#include "trace/et/read_options.h"

namespace chakra::cli {

void AddCaptureOptions(CLI::App* app, ReadOptions* options) {
  const std::string g = "Captures (PyTorch, Nsight Systems)";
  CaptureSelection& capture = options->capture;
  app->add_option("--host", capture.host, "Host trace (ExecutionTraceObserver) of one rank, instead of TRACE")
      ->type_name("FILE")
      ->group(g);
  app->add_option("--device", capture.device, "Device trace (Kineto) of one rank, instead of TRACE")
      ->type_name("FILE")
      ->group(g);
  app->add_option("--steps", capture.steps,
                  "Which ProfilerStep marks: all, first, last, skip-first (leaves the warm-up out), N or "
                  "N-M; default: "
                  "the whole capture")
      ->type_name("STEPS")
      ->group(g);
  AddStepRangeOption(app, options, g);
  app->add_option("--select-ranks", capture.ranks, "Only these ranks of the capture, comma-separated")
      ->type_name("LIST")
      ->delimiter(',')
      ->group(g);
  AddRankOfOption(app, options, g);
}

void AddRankOfOption(CLI::App* app, ReadOptions* options, const std::string& group) {
  app->add_option(
         "--rank-of", options->capture.rank_of,
         "Ranks of files, by hand: a regular expression that a file's path matches, with one group that "
         "finds the rank ('TP-(\\d+)'), or PATTERN=RANK; may be given several times, the first that matches "
         "counts; default: told by the files' content and names")
      ->type_name("PATTERN")
      ->allow_extra_args(false)
      ->group(group);
}

void AddStepRangeOption(CLI::App* app, ReadOptions* options, const std::string& group) {
  app->add_option(
         "--step-range", options->capture.step_range,
         "Which annotations of a profile, or NVTX ranges of an export of Nsight Systems, are steps: their "
         "text, * "
         "for any (\"iteration*\"); pattern, of exports: the kernels that repeat; default: ProfilerStep, "
         "else vLLM's "
         "execute_context, of exports ranges with step, iter or batch in their text that follow each other")
      ->type_name("TEXT")
      ->group(group);
}

void AddGroupsOption(CLI::App* app, ReadOptions* options, const std::string& group) {
  CLI::Option* option =
      app->add_option("--groups", options->groups_file,
                      "Process groups, {\"NAME\": [ranks], ...}; of captures a key may also be a rule for "
                      "calls without a name: \"?KIND:BYTES%LANE@TEXT\", each part may be left out; default: "
                      "found beside the traces, of captures told by them or inferred")
          ->type_name("FILE");
  if (!group.empty()) option->group(group);
}

}  // namespace chakra::cli
