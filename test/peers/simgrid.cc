#include "test/peers/simgrid.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <simgrid/s4u.hpp>

#include "bench/measure.h"

namespace chakra::peers {
namespace {

namespace sg = simgrid::s4u;

void Configure(bool exact) {
  for (const char* option :
       {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1", "network/weight-S:0",
        "network/TCP-gamma:0", "network/crosstraffic:no", "network/loopback-lat:0", "contexts/factory:raw"}) {
    sg::Engine::set_config(option);
  }
  if (!exact) return;
  sg::Engine::set_config("maxmin/precision:1e-12");
  sg::Engine::set_config("surf/precision:1e-12");
}

std::vector<sg::Host*> Build(const PeerCase& what) {
  sg::NetZone* zone = sg::create_full_zone("zone");
  int last = 0;
  for (const PeerRoute& r : what.routes) last = std::max({last, r.src, r.dst});
  std::vector<sg::Host*> hosts;
  for (int h = 0; h <= last; ++h) {
    hosts.push_back(zone->create_host("h" + std::to_string(h), 1.0));
    hosts.back()->seal();
  }
  std::vector<sg::Link*> links;
  for (const PeerLink& l : what.links) {
    links.push_back(zone->create_link("l" + std::to_string(links.size()), l.bandwidth));
    links.back()->set_latency(l.latency)->seal();
  }
  for (const PeerRoute& r : what.routes) {
    std::vector<sg::LinkInRoute> way;
    for (const uint32_t l : r.links) way.emplace_back(links[l]);
    zone->add_route(hosts[static_cast<size_t>(r.src)]->get_netpoint(),
                    hosts[static_cast<size_t>(r.dst)]->get_netpoint(), nullptr, nullptr, way, false);
  }
  zone->seal();
  return hosts;
}

// Starts comms without actors, and starts them again when they end.
void RunComms(const PeerCase& what, const std::vector<sg::Host*>& hosts, const sg::Engine& engine,
              PeerResult* result) {
  std::vector<int> left;
  for (const PeerFlow& f : what.flows) left.push_back(f.times);
  std::vector<sg::CommPtr> comms(what.flows.size());
  const auto start = [&](size_t i) {
    const PeerRoute& r = what.routes[what.flows[i].route];
    comms[i] = sg::Comm::sendto_init(hosts[static_cast<size_t>(r.src)], hosts[static_cast<size_t>(r.dst)]);
    comms[i]->set_data(reinterpret_cast<void*>(i));
    comms[i]->set_payload_size(what.flows[i].bytes)->start();
  };
  sg::Activity::on_completion_cb([&](const sg::Activity& done) {
    const auto i = reinterpret_cast<size_t>(done.get_data<void>());
    result->ended[i] = sg::Engine::get_clock();
    if (--left[i] > 0) start(i);
  });
  result->seconds = SecondsOf([&] {
    for (size_t i = 0; i < what.flows.size(); ++i) {
      // run_until() may stop at an event up to 1e-5 s early.
      while (sg::Engine::get_clock() < what.flows[i].start) engine.run_until(what.flows[i].start);
      start(i);
    }
    engine.run();
  });
}

// Runs an actor on each host.
void RunActors(const PeerCase& what, const std::vector<sg::Host*>& hosts, const sg::Engine& engine,
               PeerResult* result) {
  std::vector<sg::Mailbox*> boxes;
  std::vector<std::vector<size_t>> out(hosts.size()), in(hosts.size());
  for (size_t i = 0; i < what.flows.size(); ++i) {
    boxes.push_back(sg::Mailbox::by_name(std::to_string(i)));
    out[static_cast<size_t>(what.routes[what.flows[i].route].src)].push_back(i);
    in[static_cast<size_t>(what.routes[what.flows[i].route].dst)].push_back(i);
  }
  int message = 0;
  for (size_t h = 0; h < hosts.size(); ++h) {
    sg::Actor::create("actor", hosts[h], [&, h] {
      std::vector<sg::CommPtr> comms;
      std::vector<int*> got(in[h].size());
      for (int time = 0; time < what.flows[0].times; ++time) {
        comms.clear();
        for (const size_t i : out[h]) comms.push_back(boxes[i]->put_async(&message, what.flows[i].bytes));
        for (size_t k = 0; k < in[h].size(); ++k) comms.push_back(boxes[in[h][k]]->get_async<int>(&got[k]));
        sg::Comm::wait_all(comms);
      }
      for (const size_t i : in[h]) result->ended[i] = sg::Engine::get_clock();
    });
  }
  result->seconds = SecondsOf([&] { engine.run(); });
}

PeerResult Simulate(const PeerCase& what, bool exact, bool actors) {
  int argc = 2;
  char name[] = "peer", quiet[] = "--log=root.thres:error";
  char* args[] = {name, quiet, nullptr};
  char** argv = args;
  const sg::Engine engine(&argc, argv);
  Configure(exact);
  const std::vector<sg::Host*> hosts = Build(what);
  PeerResult result;
  result.ended.assign(what.flows.size(), -1);
  (actors ? RunActors : RunComms)(what, hosts, engine, &result);
  return result;
}

}  // namespace

PeerResult RunSimGrid(const PeerCase& what, bool exact, bool actors) {
  PeerResult result;
  int ends[2];
  if (pipe(ends) != 0) return {"no pipe", {}, 0};
  fflush(nullptr);  // otherwise the child prints waiting output a second time
  const pid_t child = fork();
  if (child < 0) return {"no process", {}, 0};
  if (child == 0) {
    close(ends[0]);
    const PeerResult r = Simulate(what, exact, actors);
    const std::vector<double>& e = r.ended;
    bool ok = write(ends[1], &r.seconds, sizeof(double)) == sizeof(double);
    for (size_t i = 0; ok && i < e.size(); ++i) ok = write(ends[1], &e[i], sizeof(double)) == sizeof(double);
    _exit(ok ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> values(what.flows.size() + 1);
  const size_t size = values.size() * sizeof(double);
  auto* bytes = reinterpret_cast<char*>(values.data());
  size_t got = 0;
  while (got < size) {
    const ssize_t n = read(ends[0], bytes + got, size - got);
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (got != size || status != 0) {
    result.error = "SimGrid's process ended with status " + std::to_string(status);
    return result;
  }
  result.seconds = values[0];
  result.ended.assign(values.begin() + 1, values.end());
  return result;
}

}  // namespace chakra::peers
