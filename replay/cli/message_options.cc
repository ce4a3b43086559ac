#include "replay/cli/message_options.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/option.pb.h"
#include "proto/run.pb.h"
#include "replay/cli/command.h"
#include "replay/cli/help/help.h"
#include "replay/run/arguments.h"
#include "trace/io/options.h"

namespace chakra::cli {
namespace {

using Values = std::vector<std::string>;

CLI::Option* Declare(CLI::App* app, const MessageOption& option, std::function<void(const Values&)> set) {
  const std::string help = option.help(), name = option.shown();
  if (!option.bare().empty()) {
    // The value of a flag is optional. A validator sets it.
    const auto text = std::make_shared<std::string>();
    const auto check = [text, set = std::move(set)](const std::string& value) {
      set({value});
      return std::string();
    };
    return app->add_flag(absl::StrCat(name, "{", option.bare(), "}"), *text, help)
        ->check(CLI::Validator(check, ""));
  }
  if (option.flag())
    return app->add_flag_function(
        name, [set = std::move(set)](int64_t count) { set({count > 0 ? "true" : "false"}); }, help);
  if (!option.many())
    return app->add_option_function<std::string>(
        name, [set = std::move(set)](const std::string& value) { set({value}); }, help);
  CLI::Option* added = app->add_option_function<Values>(name, std::move(set), help);
  if (option.in_order()) return added->expected(1)->take_all()->trigger_on_parse();
  return option.several() ? added : added->allow_extra_args(false);
}

// Adds the options of a message that this function owns. After parsing, `take` copies its fields to what the
// command uses.
template <typename M>
void AddPart(CLI::App* app, const std::string& group, const Values& only,
             std::function<void(const M&)> take) {
  const auto message = std::make_shared<M>();
  AddOptions(app, message.get(), group, only, [message, take = std::move(take)] { take(*message); });
}

}  // namespace

void AddOptions(CLI::App* app, google::protobuf::Message* message, const std::string& group,
                const std::vector<std::string>& only, const std::function<void()>& filled) {
  for (const MessageOption& option : MessageOption::Of(*message->GetDescriptor())) {
    if (!only.empty() && std::find(only.begin(), only.end(), option.name()) == only.end()) continue;
    CLI::Option* added = Declare(app, option, [option, message, filled](const Values& values) {
      if (const absl::Status s = option.SetAll(values, message); !s.ok())
        throw CLI::ValidationError(option.shown(), std::string(s.message()));
      if (filled) filled();
    });
    if (!option.words().empty()) added->check(OneOf(option.words()));
    if (!option.flag() || !option.bare().empty()) added->type_name(option.value());
    if (!option.often()) MarkRare(added);
    const std::string& heading = group.empty() ? option.group() : group;
    if (!heading.empty()) added->group(heading);
  }
}

void FillHelp(CLI::App* app) {
  for (CLI::Option* option : app->get_options()) option->description(FillIn(option->get_description()));
  for (CLI::App* sub : app->get_subcommands(nullptr)) FillHelp(sub);
}

void AddTopologyOptions(CLI::App* app, const std::string& group, TopologyOptions* options) {
  AddPart<proto::TopologyTexts>(app, group, {}, [options](const auto& m) { *options = TopologyOf(m); });
}

void AddFlowOptions(CLI::App* app, const std::string& group, FabricOptions* options) {
  AddPart<proto::FlowTexts>(app, group, {}, [options](const auto& m) { TakeFlows(m, options); });
}

void AddCaptureOptions(CLI::App* app, ReadOptions* options, const std::string& group, const Values& only) {
  const std::string& own =
      proto::Run::descriptor()->FindFieldByName("capture")->options().GetExtension(proto::option).group();
  AddPart<proto::Capture>(app, group.empty() ? own : group, only,
                          [options, all = only.empty()](const auto& m) {
                            CaptureSelection told = SelectionOf(m);
                            if (all) {
                              options->capture = std::move(told);
                              return;
                            }
                            if (!told.step_range.empty()) options->capture.step_range = told.step_range;
                            if (!told.rank_of.empty()) options->capture.rank_of = told.rank_of;
                          });
}

void AddGroupsOption(CLI::App* app, ReadOptions* options, const std::string& group) {
  AddPart<proto::Run::Groups>(app, group, {},
                              [options](const auto& m) { options->groups_file = m.groups(); });
}

void AddWorkloadOptions(CLI::App* app, const std::string& group, generate::WorkloadOptions* options) {
  AddPart<proto::Run::Step::Model>(app, group, {}, [options](const auto& m) { TakeModel(m, options); });
}

void AddGoodputOptions(CLI::App* app, std::string* reliability, std::string* checkpoint) {
  AddPart<proto::FailureTexts>(app, "Failures", {}, [=](const auto& m) {
    if (!m.reliability().empty()) *reliability = m.reliability();
    *checkpoint = m.checkpoint();
  });
}

}  // namespace chakra::cli
