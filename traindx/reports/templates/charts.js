/* Draws the charts described in #chart-data with uPlot. Nothing is fetched. */
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("chart-data").textContent);
  const figures = Array.from(document.querySelectorAll("figure.chart"));
  const drawn = new Map();
  const EAGER = 24;
  const PALETTE = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7"];
  const ROLE = { raw: "--raw", smooth: "--c0", validation: "--c1", rate: "--c2" };
  const DASHES = [[], [8, 4], [2, 3]];

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function short(v) {
    if (v == null) return "–";
    const size = Math.abs(v);
    if (v === 0) return "0";
    if (size >= 1e6 || size < 1e-3) return v.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
    if (size >= 1e3) return Number(v.toPrecision(6)).toLocaleString("en");
    return String(Number(v.toPrecision(4)));
  }

  function last(values) {
    for (let i = values.length - 1; i >= 0; i--) if (values[i] != null) return values[i];
    return null;
  }

  function ticks(u, values) {
    return values.map((v) => (v == null ? "" : short(v)));
  }

  function axisSize(u, values) {
    const longest = (values || []).reduce((a, v) => Math.max(a, v ? v.length : 0), 3);
    return 14 + longest * 7;
  }

  function shadeGap(u, gap) {
    const x = gap[0], low = gap[1], high = gap[2], ctx = u.ctx;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    ctx.beginPath();
    let started = false;
    const place = (i, v) => {
      if (v == null) return;
      const px = u.valToPos(x[i], "x", true), py = u.valToPos(v, "y", true);
      if (started) ctx.lineTo(px, py); else { ctx.moveTo(px, py); started = true; }
    };
    for (let i = 0; i < x.length; i++) place(i, low[i]);
    for (let i = x.length - 1; i >= 0; i--) place(i, high[i]);
    ctx.closePath();
    ctx.fillStyle = color("--shade");
    ctx.fill();
    ctx.restore();
  }

  function drawMarks(u, chart) {
    const ctx = u.ctx, box = u.bbox, ratio = devicePixelRatio || 1;
    const inside = (px) => px >= box.left - 1 && px <= box.left + box.width + 1;
    ctx.save();
    ctx.font = "bold " + 11 * ratio + "px system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.lineWidth = ratio;
    const places = chart.marks
      .map((mark) => ({ mark: mark, px: Math.round(u.valToPos(mark[0], "x", true)) }))
      .filter((p) => inside(p.px)).sort((a, b) => a.px - b.px || a.mark[1] - b.mark[1]);
    const ends = [];  // of each row of numbers: where its last one is
    for (const { mark, px } of places) {
      const middle = Math.min(Math.max(px, box.left + 8 * ratio), box.left + box.width - 8 * ratio);
      let row = ends.findIndex((end) => middle - end >= 18 * ratio);
      if (row < 0) row = ends.length;
      ends[row] = middle;
      const tone = color(mark[3] === "critical" || mark[3] === "high" ? "--failed" : "--watch");
      ctx.strokeStyle = tone;
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(px, box.top);
      ctx.lineTo(px, box.top + box.height);
      ctx.stroke();
      ctx.setLineDash([]);
      const cx = middle, cy = box.top + (9 + 17 * row) * ratio;
      ctx.fillStyle = tone;
      ctx.beginPath();
      ctx.arc(cx, cy, 8 * ratio, 0, 2 * Math.PI);
      ctx.fill();
      ctx.fillStyle = color("--ground");
      ctx.fillText(String(mark[1]), cx, cy);
    }
    ctx.fillStyle = color("--failed");
    ctx.textBaseline = "bottom";
    let seen = -1e9;
    for (const step of chart.bad) {
      const px = u.valToPos(step, "x", true);
      if (!inside(px) || px - seen < 5 * ratio) continue;
      seen = px;
      ctx.fillText("×", px, box.top + box.height);
    }
    ctx.restore();
  }

  function series(chart) {
    return chart.lines.map(function (line) {
      const order = line.order;
      const name = line.role === "plain" ? PALETTE[order % PALETTE.length] : ROLE[line.role];
      const few = line.x.length <= 60;
      return {
        label: line.label,
        scale: line.right ? "right" : "y",
        stroke: () => color(name),
        width: line.role === "raw" ? 1 : 2,
        dash: DASHES[line.role === "rate" ? 1 : Math.floor(order / PALETTE.length) % DASHES.length],
        points: { show: few, size: 5 },
        value: (u, v, i, index) => short(index == null ? last(u.data[i]) : v),
      };
    });
  }

  function options(chart, width, height, log, key) {
    const ink = () => color("--quiet"), grid = { stroke: () => color("--grid"), width: 1 };
    const axis = { stroke: ink, grid: grid, ticks: grid, values: ticks, font: "12px system-ui, sans-serif" };
    const axes = [Object.assign({}, axis, { size: 30, space: 70 }), Object.assign({}, axis, { size: axisSize })];
    const scales = { x: { time: false }, y: log ? { distr: 3, log: 10 } : { distr: 1 } };
    if (chart.right) {
      axes.push(Object.assign({}, axis, { scale: "right", side: 1, size: axisSize, grid: { show: false } }));
      scales.right = { distr: 1 };
    }
    const left = { label: chart.x, value: (u, v, i, index) => short(index == null ? last(u.data[0]) : v) };
    return {
      width: width, height: height, scales: scales, axes: axes,
      series: [left].concat(series(chart)),
      cursor: { sync: { key: key, setSeries: false }, y: false },
      legend: { live: true },
      hooks: {
        drawAxes: chart.gap ? [(u) => shadeGap(u, chart.gap)] : [],
        draw: [(u) => drawMarks(u, chart)],
      },
    };
  }

  function draw(figure) {
    const key = figure.dataset.key, chart = data[key][Number(figure.dataset.index)];
    const holder = figure.querySelector(".plot");
    const before = drawn.get(figure);
    const log = before ? before.log : chart.log && chart.positive;
    if (before) before.plot.destroy();
    const height = figure.matches(":first-child") ? 280 : 210;
    const table = uPlot.join(chart.lines.map((line) => [line.x, line.y]));
    const plot = new uPlot(options(chart, holder.clientWidth, height, log, key), table, holder);
    plot.setLegend({ idx: null }, false);  // the last values, until one points at others
    drawn.set(figure, { plot: plot, log: log, chart: chart });
  }

  function span(key) {
    let low = Infinity, high = -Infinity;
    for (const chart of data[key]) for (const line of chart.lines) {
      low = Math.min(low, line.x[0]);
      high = Math.max(high, line.x[line.x.length - 1]);
    }
    return [low, high];
  }

  function zoom(key, range) {
    const [low, high] = span(key), width = high - low;
    let from = low, to = high;
    if (range === "half") from = high - width / 2;
    if (range === "tenth") from = high - width / 10;
    const marks = data[key].length ? data[key][0].marks : [];
    if (range === "onset" && marks.length) {
      from = Math.max(low, marks[0][0] - width / 20);
      to = Math.min(high, marks[0][0] + width / 20);
    }
    for (const [figure, entry] of drawn) {
      if (figure.dataset.key === key) entry.plot.setScale("x", { min: from, max: to });
    }
  }

  for (const panel of document.querySelectorAll("section.charts")) {
    const buttons = Array.from(panel.querySelectorAll("[data-range]"));
    for (const button of buttons) {
      button.addEventListener("click", function () {
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
        zoom(panel.dataset.key, button.dataset.range);
      });
    }
  }
  for (const figure of figures) {
    const button = figure.querySelector("button.log");
    if (!button) continue;
    button.addEventListener("click", function () {
      const entry = drawn.get(figure);
      if (!entry) return;
      entry.log = !entry.log;
      button.setAttribute("aria-pressed", String(entry.log));
      draw(figure);
    });
  }

  const resized = new ResizeObserver(function (entries) {
    for (const entry of entries) {
      const found = drawn.get(entry.target.closest("figure"));
      const width = Math.floor(entry.contentRect.width);
      if (found && width > 0 && width !== found.plot.width) found.plot.setSize({ width: width, height: found.plot.height });
    }
  });

  function show(figure) {
    draw(figure);
    resized.observe(figure.querySelector(".plot"));
  }

  if (figures.length <= EAGER) {
    figures.forEach(show);
  } else {
    const near = new IntersectionObserver(function (entries) {
      for (const entry of entries) if (entry.isIntersecting) { near.unobserve(entry.target); show(entry.target); }
    }, { rootMargin: "600px" });
    figures.forEach((figure) => near.observe(figure));
  }
  function again() {
    for (const entry of drawn.values()) entry.plot.redraw();
  }

  function onPaper(on) {
    document.documentElement.classList.toggle("paper", on);  // dark colours are not for white paper
    again();
    dispatchEvent(new Event("repaint"));
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("beforeprint", () => onPaper(true));
  addEventListener("afterprint", () => onPaper(false));
  matchMedia("print").addEventListener("change", (change) => onPaper(change.matches));
})();
