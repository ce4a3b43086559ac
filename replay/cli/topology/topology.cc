#include <google/protobuf/util/json_util.h>

#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/topology/draw.h"
#include "backends/topology/measure.h"
#include "backends/transports/transports.h"
#include "proto/topology_report.pb.h"
#include "replay/cli/command.h"
#include "replay/cli/terminal.h"
#include "replay/cli/topology/topology_input.h"
#include "replay/cli/topology/topology_print.h"
#include "replay/cli/topology/topology_report.h"
#include "replay/cluster/presets.h"
#include "trace/base/did_you_mean.h"
#include "trace/base/status_macros.h"
#include "trace/base/utf8.h"
#include "trace/io/compressed_file.h"

namespace chakra::cli {
namespace {

proto::NetworkKindReport Describe(const NetworkKind& kind) {
  proto::NetworkKindReport out;
  out.set_name(kind.name);
  out.set_summary(kind.summary);
  out.set_source(kind.source);
  for (const Parameter& p : kind.parameters) {
    proto::NetworkParameterReport* parameter = out.add_parameter();
    parameter->set_key(p.key);
    parameter->set_fallback(p.fallback);
    parameter->set_doc(p.doc);
  }
  return out;
}

// The message as JSON with all fields, also those that are 0.
absl::StatusOr<std::string> Json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string out;
  const auto status = google::protobuf::util::MessageToJsonString(message, &out, options);
  if (!status.ok()) return absl::InternalError(absl::StrCat("cannot print the report: ", status.ToString()));
  return out;
}

class TopologyCommand : public Command {
 public:
  explicit TopologyCommand(CLI::App* app)
      : Command(app),
        list_(app->add_subcommand("list", "Print the networks, their parameters and sources")),
        show_(
            app->add_subcommand("show", "Print sizes, distances, bisection bandwidth and oversubscription")),
        check_(app->add_subcommand(
            "check", "Find devices that are not reachable, and other faults; exit status 1 on errors")),
        draw_(app->add_subcommand("draw", "Draw a network as SVG or DOT; large parts are folded")),
        preset_(app->add_subcommand("preset", "Print a cluster preset as a cluster file, with its sources")),
        transport_(app->add_subcommand("transport",
                                       "Print the costs of messages between nodes, with their sources")) {
    app->add_option("COMMAND", unknown_)->group("");  // words that are no subcommand
    list_->add_option("NAME", name_, "Network to print with its parameters; default: all networks.")
        ->type_name("");
    preset_->add_option("NAME", name_, "Preset; without it the names of all presets.")->type_name("");
    transport_->add_option("NAME", name_, "Transport; without it the names of all transports.")
        ->type_name("");
    for (CLI::App* sub : {show_, check_, draw_}) {
      sub->add_option("TOPOLOGY", spec_,
                      "Network (NAME:key=value,... or a file), or a cluster as for --cluster.")
          ->type_name("");
      sub->add_option("--devices", devices_, "Number of devices to connect; default: that of TOPOLOGY.")
          ->type_name("N")
          ->check(CLI::Range(1, 1 << 22).description(""));
      sub->add_option("--seed", measure_.seed, "Seed of samples and random halves; default: 1.")
          ->type_name("N")
          ->check(WholeFrom(0));
    }
    for (CLI::App* sub : {list_, show_, check_}) {
      sub->add_option("--format", format_, "Format of the output: text or json; default: text.")
          ->type_name("FORMAT")
          ->check(OneOf({"text", "json"}));
    }
    check_->add_option("--radix", checks_.radix, "Limit of links of a switch; default: no limit.")
        ->type_name("N")
        ->check(CLI::Range(1, 1 << 20).description(""));
    draw_
        ->add_option("--format", drawing_,
                     "Format: svg or dot; default: by the ending of FILE (.svg, .dot, .gv), or else svg.")
        ->type_name("FORMAT")
        ->check(OneOf({"svg", "dot"}));
    draw_->add_option("--layout", layout_, "Layout: auto, tiered, ring, grid or groups; default: auto.")
        ->type_name("NAME");
    for (CLI::App* sub : {list_, show_, check_, draw_, preset_, transport_}) {
      sub->add_option("-o,--output", output_, "Write to FILE; default: -, standard output.")
          ->type_name("FILE");
    }
    app->footer(
        "Examples:\n"
        "  chakra-replay topology list\n"
        "  chakra-replay topology show fat_tree:k=8\n"
        "  chakra-replay topology draw dgx-h100 --devices 16 -o dgx.svg");
  }

  int Run() override {
    const std::vector<std::string> actions = {"list", "show", "check", "draw", "preset", "transport"};
    if (!unknown_.empty()) {  // a word that is no subcommand, and the words after it
      return Misuse(absl::StrCat("there is no command \"topology ", unknown_[0], "\"",
                                 SuggestName(unknown_[0], actions)));
    }
    const bool texts = preset_->parsed() || transport_->parsed();
    if (!texts && !list_->parsed() && !show_->parsed() && !check_->parsed() && !draw_->parsed()) {
      return Misuse("expected list, show, check, draw, preset or transport");
    }
    if (!texts && !list_->parsed() && spec_.empty()) {
      return Misuse("expected a TOPOLOGY: NAME:key=value,..., a file or a cluster");
    }
    if (absl::Status s = CheckOutputPath(output_); !s.ok()) return Fail(s);
    if (draw_->parsed() && drawing_.empty() && !OutputEnd().empty() && OutputEnd() != ".svg" && !EndIsDot()) {
      return Misuse(absl::StrCat("--output ", output_, ": there is no drawing of the kind \"", OutputEnd(),
                                 "\"; expected a name that ends in .svg, .dot or .gv, or --format svg or "
                                 "--format dot"));
    }
    bool wrong = false;
    absl::StatusOr<std::string> text = texts ? File() : list_->parsed() ? List() : Look(&wrong);
    if (!text.ok()) return Fail(text.status());
    if (absl::Status s = WriteOutput(output_, *text); !s.ok()) return Fail(s);
    return wrong ? kFailed : kDone;
  }

 private:
  // The ending of the output's name, as ".svg"; "": it has none.
  std::string OutputEnd() const {
    const std::string path(WithoutCompression(output_));
    const std::string name = std::filesystem::path(path).filename().string();
    const size_t dot = name.rfind('.');
    return dot == std::string::npos ? "" : absl::AsciiStrToLower(name.substr(dot));
  }
  bool EndIsDot() const { return OutputEnd() == ".dot" || OutputEnd() == ".gv"; }

  // The content of a built-in file, or the names of all.
  absl::StatusOr<std::string> File() const {
    const bool preset = preset_->parsed();
    const std::vector<std::string> names = preset ? PresetNames() : TransportNames();
    if (name_.empty()) return absl::StrCat(absl::StrJoin(names, "\n"), "\n");
    std::string text = preset ? PresetText(name_) : std::string(TransportText(name_));
    if (!text.empty()) return text;
    return absl::NotFoundError(absl::StrCat("there is no ", preset ? "preset" : "transport", " \"", name_,
                                            "\"", SuggestName(name_, names)));
  }

  absl::StatusOr<std::string> List() const {
    proto::NetworkList list;
    std::vector<std::string> names;
    for (const NetworkKind& kind : NetworkKinds()) {
      names.emplace_back(kind.name);
      if (name_.empty() || name_ == kind.name) *list.add_network() = Describe(kind);
    }
    if (list.network_size() == 0) {
      return absl::NotFoundError(
          absl::StrCat("there is no network \"", name_, "\"", SuggestName(name_, names)));
    }
    if (name_.empty()) {
      for (const std::string& preset : PresetNames()) list.add_cluster(preset);
    }
    if (format_ == "json") return Json(list);
    TextPage page = PageOf(output_);
    return page.Finish(name_.empty() ? PrintNetworkList(list, &page)
                                     : PrintNetworkKind(list.network(0), &page));
  }

  absl::StatusOr<std::string> Look(bool* wrong) {
    ASSIGN_OR_RETURN(DrawLayout layout, ParseDrawLayout(layout_));
    ASSIGN_OR_RETURN(TopologyInput input, LoadTopology(spec_, devices_));
    const NetworkGraph& graph = input.network.graph;
    const NetworkFigures figures = Measure(graph, measure_);
    proto::TopologyReport report = ReportTopology(input, figures);
    if (draw_->parsed()) return Draw(graph, layout, report);
    if (check_->parsed()) {
      for (const Finding& f : CheckNetwork(graph, figures, checks_)) {
        proto::TopologyFinding* finding = report.add_finding();
        finding->set_severity(f.error ? "error" : "note");
        finding->set_text(ToUtf8(f.text));
        *wrong = *wrong || f.error;
      }
    }
    if (format_ == "json") return Json(report);
    TextPage page = PageOf(output_);
    return page.Finish(check_->parsed() ? PrintFindings(report) : PrintTopology(report, &page));
  }

  absl::StatusOr<std::string> Draw(const NetworkGraph& graph, DrawLayout layout,
                                   const proto::TopologyReport& report) const {
    DrawOptions options;
    options.layout = layout;
    options.title = report.topology();
    options.figures = DrawingFigures(report);
    const bool dot = drawing_ == "dot" || (drawing_.empty() && EndIsDot());
    return dot ? DrawDot(graph, options) : DrawSvg(graph, options);
  }

  CLI::App *list_, *show_, *check_, *draw_, *preset_, *transport_;
  std::vector<std::string> unknown_;
  std::string name_, spec_;
  int devices_ = 0;
  MeasureOptions measure_;
  CheckOptions checks_;
  std::string format_ = "text";
  std::string drawing_;  // "": decided by the output's name
  std::string layout_ = "auto";
  std::string output_ = "-";
};

}  // namespace

std::unique_ptr<Command> MakeTopologyCommand(CLI::App* root) {
  return std::make_unique<TopologyCommand>(
      root->add_subcommand("topology", "List networks; show, check and draw one"));
}

}  // namespace chakra::cli
