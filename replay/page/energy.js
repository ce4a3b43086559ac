// Energy: watts over time, joules by what draws them, and the constants behind them.

// Watts of the site, the mean of each bucket.
function wattsChart(host, energy) {
  const watts = list(energy.watts).map(Number);
  if (watts.length === 0) return;
  const bucket = number(energy.bucket_ps);
  const x = timeAxis(bucket * watts.length, "time");
  const kilo = Math.max(...watts) >= 1e4;
  chart(host, "Watts of the site over time", 220, () => ({
    type: "line",
    data: {
      datasets: [
        {
          data: watts.map((w, i) => ({ x: ((i + 0.5) * bucket) / x.scale, y: kilo ? w / 1e3 : w })),
          borderColor: colour("compute"),
          backgroundColor: colour("compute"),
          borderWidth: 1.5,
          pointRadius: 0,
          stepped: "middle",
        },
      ],
    },
    options: {
      parsing: false,
      scales: {
        x: { ...x, type: "linear" },
        y: { beginAtZero: true, title: { display: true, text: kilo ? "kW" : "W" } },
      },
      plugins: { legend: { display: false } },
    },
  }));
}

function energyTable(host, id, caption, rows, type) {
  if (list(rows).length === 0) return;
  host.append(make("h3", {}, caption));
  new Table(host, { id: `table-${id}`, caption, rows, limit: 12, columns: columnsOf(type, { rows }) });
}

function energy(report) {
  const e = report.energy;
  if (!e) return;
  extra("energy", "Energy", "ranks", [e], columnsOf("EnergyReport", { rows: [e] }));
  const section = at("energy");
  wattsChart(section, e);
  energyTable(section, "energy-cause", "Energy by what draws it", e.cause, "EnergyShare");
  energyTable(section, "energy-level", "Watts", e.level, "PowerLevel");
  energyTable(section, "energy-operator", "Energy by operator", e.operator, "EnergyShare");
  energyTable(section, "energy-collective", "Energy by collective", e.collective, "EnergyShare");
  energyTable(section, "energy-phase", "Energy by phase", e.phase, "EnergyShare");
  energyTable(section, "energy-constant", "Constants", e.constant, "EnergyConstant");
}

// Cost, carbon and the run of weeks: each a row of its fields, then its parts.
function economics(report) {
  const part = (id, heading, message, type, parts) => {
    if (!message) return;
    extra(id, heading, "ranks", [message], columnsOf(type, { rows: [message] }));
    for (const [name, caption, rows, of] of parts) energyTable(at(id), `${id}-${name}`, caption, rows, of);
  };
  const { cost, carbon, goodput } = report;
  part("cost", "Cost", cost, "CostReport", [["part", "Cost by part", cost?.part, "CostShare"]]);
  part("carbon", "Carbon", carbon, "CarbonReport", [["part", "Carbon by part", carbon?.part, "CarbonShare"]]);
  part("goodput", "A run of weeks", goodput, "GoodputReport", [
    ["time", "Where its time goes", goodput?.time, "GoodputShare"],
    ["cause", "Lost by failures of", goodput?.cause, "GoodputShare"],
  ]);
}
