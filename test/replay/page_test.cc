#include "replay/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/message_differencer.h"
#include "replay/page/assets.h"
#include "test/replay/page_testing.h"
#include "trace/base/checksum.h"

namespace chakra::CHAKRA_FILE {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string Page(const proto::Report& report) {
  const absl::StatusOr<std::string> page = MakePage(report);
  EXPECT_TRUE(page.ok()) << page.status();
  return page.value_or("");
}

size_t Count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

// The contents of all elements with that name and no attributes, in order.
std::vector<std::string> Elements(const std::string& page, const std::string& name) {
  std::vector<std::string> out;
  const std::string open = absl::StrCat("<", name, ">"), close = absl::StrCat("</", name, ">");
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at + 1)) {
    out.push_back(Between(page.substr(at), open, close));
  }
  return out;
}

TEST(Page, HoldsTheWholeReport) {
  const proto::Report report = FullReport();
  EXPECT_TRUE(MessageDifferencer::Equals(ReportOfPage(Page(report)), report));
}

TEST(Page, HasAllSectionsInOrder) {
  for (const proto::Report& report : {FullReport(), proto::Report()}) {
    const std::string page = Page(report);
    size_t at = 0;
    for (const char* id : {"bound", "path", "ranks", "timeline", "kernels", "collectives", "stragglers",
                           "operators", "links", "compute", "warnings", "inputs", "definitions"}) {
      const size_t next = page.find(absl::StrCat("<section id=\"", id, "\"><h2>"));
      ASSERT_NE(next, std::string::npos) << id;
      EXPECT_GT(next, at) << id;
      at = next;
    }
    EXPECT_THAT(page, Not(HasSubstr("{{")));
  }
}

TEST(Page, ScriptDeclaresEachNameOnce) {
  std::set<std::string> all;
  EXPECT_THAT(DeclaredTwice(Page(FullReport()), &all), ElementsAre());
  EXPECT_THAT(all, IsSupersetOf({"kShown", "columnsOf", "Table", "report"}));
}

TEST(Page, EscapesTextOfTheReport) {
  proto::Report report = FullReport();
  report.mutable_operator_(0)->set_name(kHostile);
  report.mutable_time_source(0)->set_time_source(kHostile);
  report.set_cluster(kHostile);
  report.set_version(kHostile);
  report.set_bound(kHostile);
  report.add_warning(kHostile);
  report.clear_job();
  report.clear_input();
  report.add_input()->set_path(kHostile);
  report.mutable_input(0)->set_role("trace");
  const std::string page = Page(report), plain = Page(FullReport());
  EXPECT_EQ(Count(page, "<script"), Count(plain, "<script"));
  EXPECT_EQ(Count(page, "</script"), Count(plain, "</script"));
  EXPECT_EQ(Count(page, "<!--"), 0u);
  const std::string data = Between(page, "id=\"report\">", "</script>");
  EXPECT_THAT(data, Not(HasSubstr("<")));
  EXPECT_THAT(data, Not(HasSubstr("\xe2\x80\xa8")));
  EXPECT_TRUE(MessageDifferencer::Equals(ReportOfPage(page), report));
  EXPECT_THAT(Elements(page, "title").at(0), HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)//"));
  EXPECT_EQ(Elements(page, "script"), Elements(plain, "script"));
}

TEST(Page, AcceptsTextThatIsNotUtf8) {
  proto::Report report;
  report.set_bound(
      "a\xff"
      "b\xe2\x80");
  const std::string page = Page(report);
  EXPECT_EQ(ReportOfPage(page).bound().substr(0, 1), "a");
  EXPECT_THAT(page, Not(HasSubstr("\xff")));
}

TEST(Page, PolicyAllowsOnlyTheOwnContent) {
  const std::string page = Page(FullReport());
  const std::string policy = Between(page, "Content-Security-Policy\" content=\"", "\">");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'; "));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  const std::vector<std::string> scripts = Elements(page, "script"), styles = Elements(page, "style");
  ASSERT_EQ(scripts.size(), 2u);
  ASSERT_EQ(styles.size(), 1u);
  for (const std::string& content : {scripts[0], scripts[1], styles[0]}) {
    const std::string hash = absl::Base64Escape(absl::HexStringToBytes(Sha256Hex(content)));
    EXPECT_THAT(policy, HasSubstr(absl::StrCat("'sha256-", hash, "'")));
    EXPECT_THAT(content, Not(HasSubstr("\r")));  // a browser would hash a line feed
  }
  for (const char* loads : {" src=", "@import", "url(", "sourceMappingURL", "fetch(", "onclick", " style="}) {
    std::string own = page;
    own.erase(own.find(scripts[0]), scripts[0].size());
    EXPECT_THAT(own, Not(HasSubstr(loads)));
  }
  EXPECT_THAT(page, HasSubstr("Permission is hereby granted, free of charge"));
}

TEST(Page, IsDeterministic) { EXPECT_EQ(Page(FullReport()), Page(FullReport())); }

TEST(Page, AcceptsAnEmptyReport) {
  const std::string page = Page(proto::Report());
  EXPECT_TRUE(MessageDifferencer::Equals(ReportOfPage(page), proto::Report()));
  EXPECT_EQ(Elements(page, "title").at(0), "0 s: no traces, chakra-replay ");
}

TEST(Page, NamesTheTraces) {
  proto::Report report;
  const auto title = [&report] { return Elements(Page(report), "title").at(0); };
  report.add_input()->set_path("runs/a/workload.0.et");
  report.mutable_input(0)->set_role("trace");
  report.add_input()->set_path("kernels.csv");
  EXPECT_THAT(title(), HasSubstr(": runs/a/workload.0.et,"));
  *report.add_input() = report.input(0);
  report.mutable_input(2)->set_path("runs/a/workload.1.et");
  EXPECT_THAT(title(), HasSubstr(": runs/a,"));
  *report.add_input() = report.input(0);
  report.mutable_input(3)->set_path("other");
  EXPECT_THAT(title(), HasSubstr(": 3 traces,"));
  report.add_job();
  report.add_job();
  EXPECT_THAT(title(), HasSubstr(": 2 jobs,"));
}

TEST(Page, NamesTheModelOfAGeneratedStep) {
  proto::Report report;
  report.set_makespan_ps(1'000'000'000);
  report.mutable_training()->set_model("llama3-8b");
  report.mutable_training()->set_split("tp 8, dp 4");
  EXPECT_THAT(Elements(Page(report), "title").at(0), HasSubstr("1 ms: llama3-8b, tp 8, dp 4,"));
}

TEST(Page, NamesTheFilesOfACapture) {
  proto::Report report;
  for (const char* role : {"host trace", "device trace"}) {
    report.add_input()->set_path(absl::StrCat("runs/b/", role, ".0.json"));
    report.mutable_input(report.input_size() - 1)->set_role(role);
  }
  EXPECT_THAT(Elements(Page(report), "title").at(0), HasSubstr(": runs/b,"));
}

TEST(Page, PageOf1024RanksIsBelow3MB) {
  const std::string page = Page(LargeReport(1024));
  EXPECT_EQ(ReportOfPage(page).rank_size(), 1024);
  EXPECT_LT(page.size(), 3'000'000u);
}

TEST(Assets, AreFoundByName) {
  EXPECT_EQ(page::Asset("frame.html").substr(0, 15), "<!DOCTYPE html>");
  EXPECT_EQ(page::Asset("nothing.js"), "");
  EXPECT_EQ(Sha256Hex(page::Asset("vendor/chart.umd.min.js")),
            "87364cc2b2a76a6684929e7d6b80b18a897794db38400caff1fcf1791c6925d2");
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
