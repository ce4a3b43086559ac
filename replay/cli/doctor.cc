// `doctor`: what the user's files are, what a replay of them lacks, and the command to type next.
#include "replay/doctor/doctor.h"

#include <limits>
#include <string>
#include <vector>

#include "replay/cli/command.h"
#include "replay/cli/terminal.h"
#include "trace/base/threads.h"
#include "trace/io/proto_io.h"

namespace chakra::cli {
namespace {

class DoctorCommand : public Command {
 public:
  explicit DoctorCommand(CLI::App* app) : Command(app) {
    app->add_option("PATH", paths_, "Files and folders of any kind.")->required()->type_name("");
    app->add_flag("--all", all_, "Read runs of any size; default: runs of more than 2 GiB are only listed.");
    app->add_option("--threads", options_.threads, "Number of threads; default: the machine's cores.")
        ->type_name("N")
        ->check(CLI::Range(1, 4096).description(""));
    app->add_option("--format", format_, "Format of the output: text or json; default: text.")
        ->type_name("FORMAT")
        ->check(OneOf({"text", "json"}));
    app->footer("Example:\n  chakra-replay doctor examples");
    options_.threads = DefaultThreads();
  }

  int Run() override {
    if (all_) options_.most_bytes = std::numeric_limits<uint64_t>::max();
    const auto diagnosis = doctor::Diagnose(paths_, options_);
    if (!diagnosis.ok()) return Fail(diagnosis.status());
    std::string out;
    if (format_ == "json") {
      auto json = FormatMessage(*diagnosis, MessageFormat::kJson);
      if (!json.ok()) return Fail(json.status());
      out = *std::move(json);
    } else {
      TextPage page = PageOf("-");
      out = page.Finish(doctor::PrintDiagnosis(*diagnosis, &page));
    }
    const absl::Status written = WriteOutput("-", out);
    return written.ok() ? kDone : Fail(written);
  }

 private:
  std::vector<std::string> paths_;
  bool all_ = false;
  doctor::DoctorOptions options_;
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Command> MakeDoctorCommand(CLI::App* root) {
  return std::make_unique<DoctorCommand>(root->add_subcommand(
      "doctor", "Identify files, and print the next command. It also names what a replay of them lacks"));
}

}  // namespace chakra::cli
