// Sweeps on several machines, with the installed Open MPI and Slurm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "test/folders.h"

namespace chakra::CHAKRA_FILE {
namespace {

namespace fs = std::filesystem;

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool Installed(const std::string& program) {
  return std::system(absl::StrCat("command -v ", program, " >/dev/null 2>&1").c_str()) == 0;
}

class SweepCluster : public testing::Test {
 protected:
  SweepCluster() {
    std::string pattern = (fs::temp_directory_path() / "sweep_cluster.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream(At("small.txtpb")) << absl::StrReplaceAll(
        Content(absl::StrCat(CHAKRA_SOURCE_DIR, "/examples/sweeps/small.txtpb")),
        {{"examples/transformer_step", absl::StrCat(CHAKRA_SOURCE_DIR, "/examples/transformer_step")}});
  }
  ~SweepCluster() override { fs::remove_all(folder_); }

  std::string At(const std::string& name) const { return folder_ + "/" + name; }
  // Runs a command in a shell; its output goes to the file `out`. Returns its exit status.
  int Shell(const std::string& command) {
    const int raw = std::system(absl::StrCat(command, " >", At("out"), " 2>&1").c_str());
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  }
  std::string Sweep(const std::string& folder) const {
    return absl::StrCat(CHAKRA_BINARY, " sweep ", At("small.txtpb"), " -o ", At(folder));
  }
  std::string Whole() {
    EXPECT_EQ(Shell(Sweep("whole") + " -q"), 0) << Content(At("out"));
    return Content(At("whole/results.csv"));
  }

  std::string folder_;
};

TEST_F(SweepCluster, MpirunMatchesASingleProcess) {
  const fs::path module = fs::path(CHAKRA_BINARY).parent_path() / "chakra-replay-mpi.so";
  if (!Installed("mpirun") || !fs::exists(module)) GTEST_SKIP() << "Open MPI is not installed";
  // MPI itself leaks memory, which sanitizers would report.
  const std::string mpirun =
      "env ASAN_OPTIONS=detect_leaks=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun "
      "--oversubscribe -n 3 ";
  if (Shell(mpirun + "true") != 0) GTEST_SKIP() << "Open MPI runs nothing here: " << Content(At("out"));
  ASSERT_EQ(Shell(mpirun + Sweep("d")), 0) << Content(At("out"));
  EXPECT_THAT(Content(At("out")), testing::HasSubstr("12 points, 12 run in "));
  EXPECT_EQ(Content(At("d/results.csv")), Whole());
  // An error in the spec ends all processes.
  EXPECT_EQ(Shell(mpirun + CHAKRA_BINARY + " sweep absent.txtpb -o " + At("e")), 1);
  EXPECT_THAT(Content(At("out")), testing::HasSubstr("cannot open 'absent.txtpb'"));
}

// A Slurm cluster of one node, with a daemon of each kind; it ends with this object.
class OwnSlurm {
 public:
  explicit OwnSlurm(const std::string& folder) : folder_(folder) {
    const int port = 20000 + getpid() % 20000 * 2;
    std::string host(256, '\0'), user = std::to_string(getuid());
    gethostname(host.data(), host.size());
    host = host.substr(0, host.find_first_of(std::string(".\0", 2)));
    fs::create_directories(folder + "/state");
    fs::create_directories(folder + "/spool");
    std::ofstream(folder + "/slurm.conf")
        << "ClusterName=test\nSlurmctldHost=" << host << "(127.0.0.1)\nSlurmUser=" << user
        << "\nSlurmdUser=" << user << "\nAuthType=auth/none\nCredType=cred/none\nSlurmctldPort=" << port
        << "\nSlurmdPort=" << port + 1 << "\nStateSaveLocation=" << folder
        << "/state\nSlurmdSpoolDir=" << folder << "/spool\nSlurmctldPidFile=" << folder
        << "/slurmctld.pid\nSlurmdPidFile=" << folder << "/slurmd.pid\nSlurmctldLogFile=" << folder
        << "/slurmctld.log\nSlurmdLogFile=" << folder
        << "/slurmd.log\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/"
           "none\nJobAcctGatherType=jobacct_gather/none\n"
           "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\nMpiDefault=none\n"
           "SchedulerParameters=sched_interval=1,batch_sched_delay=0\nNodeName="
        << host << " NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\nPartitionName=all Nodes=" << host
        << " Default=YES State=UP\n";
    setenv("SLURM_CONF", (folder + "/slurm.conf").c_str(), 1);
    started_ = std::system("slurmctld >/dev/null 2>&1 && slurmd >/dev/null 2>&1") == 0;
  }
  ~OwnSlurm() {
    for (const char* daemon : {"slurmd", "slurmctld"}) {
      int pid = 0;
      std::ifstream(absl::StrCat(folder_, "/", daemon, ".pid")) >> pid;
      if (pid <= 0 || kill(pid, SIGTERM) != 0) continue;
      for (int i = 0; i < 100 && kill(pid, 0) == 0; ++i) usleep(50000);
      if (kill(pid, 0) == 0) kill(pid, SIGKILL);
    }
  }
  bool started() const { return started_; }
  // Waits until the node runs jobs; false if it does not.
  static bool Ready() {
    for (int i = 0; i < 100; ++i) {
      if (std::system("sinfo -h -t idle -o %t 2>/dev/null | grep -q idle") == 0) {
        return std::system("timeout 20 srun true >/dev/null 2>&1") == 0;
      }
      usleep(100000);
    }
    return false;
  }

 private:
  std::string folder_;
  bool started_ = false;
};

TEST_F(SweepCluster, SlurmArrayMatchesASingleProcess) {
  if (!Installed("sbatch") || !Installed("slurmctld") || !Installed("slurmd"))
    GTEST_SKIP() << "Slurm is not installed";
  const OwnSlurm slurm(At("slurm"));
  if (!slurm.started() || !OwnSlurm::Ready())
    GTEST_SKIP() << "Slurm does not start here: " << Content(At("slurm/slurmctld.log"));
  // A folder whose name contains patterns of Slurm.
  const std::string folder = "50%A of %j";
  const std::string sweep =
      absl::StrCat(CHAKRA_BINARY, " sweep ", At("small.txtpb"), " -o '", At(folder), "'");
  ASSERT_EQ(Shell(sweep + " --slurm 3 --jobs 1"), 0) << Content(At("out"));
  ASSERT_EQ(Shell("sh '" + At(folder) + "/submit.sh'"), 0) << Content(At("out"));
  for (int i = 0; i < 600 && !fs::exists(At(folder + "/results.csv")); ++i) usleep(100000);
  EXPECT_EQ(Content(At(folder + "/results.csv")), Whole());
  EXPECT_TRUE(fs::exists(At(folder + "/points.3-of-3.journal")));
  int logs = 0;
  for (const auto& entry : fs::directory_iterator(At(folder)))
    logs += entry.path().filename().string().rfind("slurm-", 0) == 0 ? 1 : 0;
  EXPECT_EQ(logs, 4);
}

}  // namespace
}  // namespace chakra::CHAKRA_FILE
