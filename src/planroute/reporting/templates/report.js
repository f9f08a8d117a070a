"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector, root = document) => root.querySelector(selector);
  document.documentElement.classList.add("js");

  const number = (value, digits) =>
    value === null || value === undefined ? "n/a" : value.toFixed(digits).replace("-", "−");
  const digits = { import: 3, voltage: 4 };
  const slider = one("[data-hour]");
  const modes = one("[data-select=condition]");
  const state = {
    case: 0,
    referee: "linear",
    step: data.steps.indexOf(Number(one("[data-hour-shown]").textContent)),
    home: 0,
    mapStep: Number(slider.value),
    condition: Number(modes.value),
  };
  state.home = state.step;

  const charts = all("[data-chart]").map((svg) => {
    const [x0, x1, h0, h1, y0, y1, low, high] = svg.dataset.frame.split(" ").map(Number);
    return {
      svg,
      name: svg.dataset.chart,
      cross: one("[data-cross]", svg),
      limit: one("[data-limit]", svg),
      limitAt: data.limits[0][svg.dataset.chart],
      lines: all("[data-series]", svg).sort((a, b) => a.dataset.series - b.dataset.series),
      x: (hour) => x0 + ((hour - h0) / (h1 - h0)) * (x1 - x0),
      y: (value) => y0 + ((value - low) / (high - low)) * (y1 - y0),
      hour: (x) => h0 + ((x - x0) / (x1 - x0)) * (h1 - h0),
    };
  });

  const lineOf = (name, place) => data.lines[name][state.referee][state.case][place];

  function drawLines() {
    for (const chart of charts) {
      chart.lines.forEach((line, place) => {
        let down = false;
        let path = "";
        (lineOf(chart.name, place) || []).forEach((value, i) => {
          if (value === null) {
            down = false;
            return;
          }
          path += (down ? "L" : "M") + chart.x(data.steps[i]).toFixed(1) + " " + chart.y(value).toFixed(1);
          down = true;
        });
        line.setAttribute("d", path);
      });
      const limit = data.limits[state.case][chart.name];
      const label = one("text", chart.limit);
      chart.limit.setAttribute("transform", `translate(0 ${(chart.y(limit) - chart.y(chart.limitAt)).toFixed(1)})`);
      label.textContent = label.textContent.replace(/[\d.]+/, String(limit));
    }
    tellSame();
    drawHour();
  }

  function tellSame() {
    const seen = new Map();
    all("[data-same]").forEach((note) => {
      const lines = charts.map((chart) => lineOf(chart.name, Number(note.dataset.same)));
      const key = JSON.stringify(lines);
      const first = lines.some(Boolean) ? seen.get(key) : undefined;
      note.hidden = first === undefined;
      note.textContent = `same as ${first}`;
      if (!seen.has(key)) {
        seen.set(key, note.dataset.name.toLowerCase());
      }
    });
  }

  function drawHour() {
    const hour = data.steps[state.step];
    one("[data-hour-shown]").textContent = String(hour);
    one("[data-case-shown]").textContent = data.cases[state.case];
    one("[data-referee-shown]").textContent = state.referee === "ac" ? "AC power flow" : "linearised power flow";
    for (const chart of charts) {
      chart.cross.setAttribute("x1", chart.x(hour));
      chart.cross.setAttribute("x2", chart.x(hour));
    }
    for (const cell of all("[data-value]")) {
      const [name, place] = cell.dataset.value.split(" ");
      const line = lineOf(name, Number(place));
      cell.textContent = number(line && line[state.step], digits[name]);
    }
  }

  function nearest(hour) {
    const distances = data.steps.map((step) => Math.abs(step - hour));
    return distances.indexOf(Math.min(...distances));
  }

  for (const chart of charts) {
    chart.svg.addEventListener("pointermove", (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.svg.getScreenCTM().inverse());
      state.step = nearest(chart.hour(point.x));
      drawHour();
    });
    chart.svg.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") {
        state.step = state.home;
        drawHour();
      }
    });
    chart.svg.addEventListener("click", () => {
      state.home = state.step;
    });
    chart.svg.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (move) {
        event.preventDefault();
        state.step = Math.min(Math.max(state.step + move, 0), data.steps.length - 1);
        state.home = state.step;
        drawHour();
      }
    });
  }

  for (const box of all("[data-toggle]")) {
    box.addEventListener("change", () => {
      for (const chart of charts) {
        chart.lines[Number(box.dataset.toggle)].classList.toggle("off", !box.checked);
      }
    });
  }

  const nodes = all("[data-node]");
  const feeder = one("[data-feeder]");

  function drawMap() {
    const map = data.map;
    const hour = data.steps[state.mapStep];
    const days = map.days[state.referee][state.case][state.condition];
    const row = days && days[state.mapStep] !== null ? map.rows[days[state.mapStep]] : null;
    const given = map.answers[state.case][state.condition];
    const answers = new Map(((given && given[hour]) || []).map((answer) => [answer[0], answer]));
    const floor = data.limits[0].voltage;
    let lowest = null;
    nodes.forEach((node, i) => {
      const voltage = row && row[i] !== null ? row[i] / 10000 : null;
      const answer = answers.get(i);
      const shade = voltage === null ? "v-none" : "v" + map.edges.filter((edge) => voltage >= floor + edge - 1e-9).length;
      const mark = answer ? (answer[1] ? " yes" : " no") : "";
      node.setAttribute("class", `node ${shade}${mark}`);
      const asked = answer
        ? `asked for ${number(answer[2], 1)} kW, ` + (answer[1] ? `gave ${number(answer[3], 1)} kW` : "declined")
        : "not asked";
      one("title", node).textContent = `${map.names[i]}: ${number(voltage, 4)} pu, ${asked}`;
      if (voltage !== null && (lowest === null || voltage < lowest[0])) {
        lowest = [voltage, map.names[i]];
      }
    });
    const list = [...answers.values()];
    const sum = (place) => list.reduce((total, answer) => total + answer[place], 0);
    const nobody = given ? "nobody asked. " : "";
    const who = list.length
      ? `${list.length} asked, ${sum(1)} complied, ${number(sum(3), 0)} of ${number(sum(2), 0)} kW. `
      : nobody;
    const where = `Hour ${hour}, ${modes.selectedOptions[0].textContent.toLowerCase()}, ${data.cases[state.case]}: `;
    const volts = lowest
      ? `Lowest voltage ${number(lowest[0], 4)} pu at ${lowest[1]}.`
      : "Its voltages are not in this report.";
    one("[data-said]").textContent = where + who + volts;
    one("desc", feeder).textContent = where + who + volts;
    one("[data-map-hour]").textContent = String(hour);
  }

  function choose(selector, event, apply) {
    for (const element of all(selector)) {
      element.addEventListener(event, () => {
        apply(element);
        drawLines();
        drawMap();
      });
    }
  }

  choose("[data-select=case]", "change", (select) => {
    state.case = Number(select.value);
    all("[data-select=case]").forEach((other) => (other.value = select.value));
  });
  choose("[data-referee]", "change", (box) => {
    state.referee = box.checked ? "ac" : "linear";
    all("[data-referee]").forEach((other) => (other.checked = box.checked));
  });
  choose("[data-select=condition]", "change", (select) => (state.condition = Number(select.value)));
  choose("[data-hour]", "input", (range) => (state.mapStep = Number(range.value)));

  drawLines();
  drawMap();
})();
