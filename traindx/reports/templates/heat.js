/* Paints the per-module pictures described in #heat-data: one cell for a module and a stretch of steps. */
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("heat-data").textContent);
  const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const ROW = 16;

  function tone(share) {
    const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1), i = Math.min(Math.floor(at), STOPS.length - 2);
    const mixed = STOPS[i].map((c, k) => Math.round(c + (STOPS[i + 1][k] - c) * (at - i)));
    return "rgb(" + mixed.join(",") + ")";
  }

  function size(level) {
    const value = Math.pow(10, level / 100);
    return value >= 1e4 || value < 1e-2 ? value.toExponential(1).replace("e+", "e") : String(Number(value.toPrecision(2)));
  }

  function paint(figure) {
    const drawn = data[figure.dataset.key][Number(figure.dataset.index)];
    const holder = figure.querySelector(".painted"), ratio = devicePixelRatio || 1;
    const style = getComputedStyle(document.documentElement);
    const width = holder.clientWidth, longest = Math.max(...drawn.modules.map((m) => m.length));
    const margin = Math.min(180, Math.round(width * 0.3), Math.max(60, 16 + 7 * longest));
    const rows = drawn.modules.length, columns = drawn.starts.length, height = rows * ROW + 40;
    const canvas = document.createElement("canvas"), ctx = canvas.getContext("2d");
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    ctx.scale(ratio, ratio);
    const cell = (width - margin - 4) / columns, span = drawn.high - drawn.low;
    const quiet = style.getPropertyValue("--quiet"), failed = style.getPropertyValue("--failed");
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "middle";
    drawn.levels.forEach(function (row, r) {
      ctx.fillStyle = quiet;
      ctx.textAlign = "right";
      let name = drawn.modules[r];
      while (name.length > 3 && ctx.measureText(name).width > margin - 8) name = "…" + name.slice(2);
      ctx.fillText(name, margin - 4, r * ROW + ROW / 2);
      row.forEach(function (level, c) {
        if (level == null) return;
        ctx.fillStyle = level === "0" ? failed : tone((level - drawn.low) / span);
        ctx.fillRect(margin + c * cell, r * ROW, Math.ceil(cell * ratio) / ratio, ROW - 1);
      });
    });
    ctx.fillStyle = quiet;
    const below = rows * ROW + 8, scale = below + 18, long = Math.min(160, width - margin - 90);
    ctx.textAlign = "left";
    ctx.fillText(drawn.starts[0].toLocaleString("en"), margin, below);
    ctx.textAlign = "right";
    ctx.fillText(drawn.starts[columns - 1].toLocaleString("en"), width - 4, below);
    for (let k = 0; k < long; k++) {
      ctx.fillStyle = tone(k / long);
      ctx.fillRect(margin + 50 + k, scale - 5, 1.5, 10);
    }
    ctx.fillStyle = quiet;
    ctx.fillText(size(drawn.low), margin + 44, scale);
    ctx.textAlign = "left";
    ctx.fillText(size(drawn.high), margin + 56 + long, scale);
    holder.replaceChildren(canvas);
    const shown = figure.querySelector(".read"), before = shown.textContent;
    canvas.onmousemove = function (event) {
      const c = Math.floor((event.offsetX - margin) / cell), r = Math.floor(event.offsetY / ROW);
      const level = drawn.levels[r] && drawn.levels[r][c];
      if (level == null) { shown.textContent = before; return; }
      const value = level === "0" ? "exactly 0" : size(level);
      shown.textContent = drawn.modules[r] + " from " + drawn.starts[c].toLocaleString("en") + ": " + value;
    };
    canvas.onmouseleave = function () { shown.textContent = before; };
  }

  const figures = Array.from(document.querySelectorAll("figure.heat"));
  const widths = new Map();
  const resized = new ResizeObserver(function (entries) {
    for (const entry of entries) {
      const figure = entry.target.closest("figure"), width = Math.floor(entry.contentRect.width);
      if (width > 0 && widths.get(figure) !== width) { widths.set(figure, width); paint(figure); }
    }
  });
  for (const figure of figures) resized.observe(figure.querySelector(".painted"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => figures.forEach(paint));
  addEventListener("repaint", () => figures.forEach(paint));
})();
