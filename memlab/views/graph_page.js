// Looks and manners of a memory graph over a vis-network canvas: labels of constant size that never overlap,
// focus on one memory, search, a card, light and dark. Text is only ever put in as text.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("memlab-data").textContent);
  const find = (id) => document.getElementById(id);
  const root = find("memlab"), stage = find("mynetwork"), card = find("card"), status = find("status"), search = find("search");
  const dots = data.dots, lines = data.lines;
  const FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif";
  const LABEL_SIZE = 12, LABEL_WIDTH = 176, MOST_LABELS = 40, FAINT = 0.12, RANKED = 10;
  const DASHES = { superseded: [4, 3], archived: [1.5, 2.5] };
  const near = dots.map(() => new Set()), ends = dots.map(() => []);
  lines.forEach((line, i) => {
    near[line.source].add(line.target); near[line.target].add(line.source);
    ends[line.source].push(i); ends[line.target].push(i);
  });
  // What is searched, in one case and one Unicode form.
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const searched = dots.map((dot) => fold([dot.text, dot.id, dot.type, ...dot.details.filter((d) => d[0] === "tags" || d[0] === "role").map((d) => d[1])].join("\n")));
  const state = { chosen: null, over: null, hits: null, moved: false, ready: false };
  let paint = {};

  // Colours -------------------------------------------------------------------------------------------------
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const hex = (parts) => "#" + parts.map((v) => Math.round(v).toString(16).padStart(2, "0")).join("");
  const blend = (a, b, share) => hex(rgb(a).map((v, i) => v + (rgb(b)[i] - v) * share));
  const light = (colour) => {
    const [r, g, b] = rgb(colour).map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  // A colour moved towards the ink until it stands off the ground: yellow on white, black on black.
  const legible = (colour, least) => {
    let share = 0, found = colour;
    while (contrast(found, paint.ground) < least && share < 1) found = blend(colour, paint.ink, (share += 0.1));
    return found;
  };
  function readTheme() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ground", "ink", "soft", "rule", "mark"]) paint[name] = style.getPropertyValue("--" + name).trim();
  }
  function dotColours(colour, kind) {
    const clear = legible(colour, 1.35), border = legible(blend(colour, paint.ink, 0.25), 2);
    if (kind === "outside") return { background: paint.ground, border: paint.soft };
    if (kind === "archived") return { background: blend(clear, paint.ground, 0.75), border: paint.soft };
    if (kind === "superseded") return { background: blend(clear, paint.ground, 0.75), border };
    return { background: clear, border };
  }

  // State to looks --------------------------------------------------------------------------------------------
  function lit() {
    if (state.chosen !== null) return new Set([state.chosen, ...near[state.chosen]]);
    return state.hits && new Set(state.hits);
  }
  function lineLit(line, shown) {
    if (shown === null) return true;
    if (state.chosen !== null) return line.source === state.chosen || line.target === state.chosen;
    return shown.has(line.source) && shown.has(line.target);
  }
  function restyle() {
    const shown = lit();
    nodes.update(dots.map((dot, id) => ({
      id, color: dotColours(dot.colour, dot.state), opacity: shown === null || shown.has(id) ? 1 : FAINT,
      borderWidth: dot.state === "superseded" ? 2 : 1.25, shapeProperties: { borderDashes: DASHES[dot.state] || false },
    })));
    edges.update(lines.map((line, id) => {
      const on = lineLit(line, shown), strong = shown !== null && on;
      return { id, color: { color: legible(line.colour, 1.8), opacity: on ? (strong ? 1 : 0.75) : FAINT, inherit: false } };
    }));
    sized = null;
    network.redraw();
  }
  function paintLegend() {
    for (const mark of root.querySelectorAll("[data-colour]")) {
      const colour = mark.dataset.colour;
      if (mark.tagName === "line") { mark.setAttribute("stroke", legible(colour, 1.8)); continue; }
      const made = dotColours(colour, ["outside", "archived", "superseded"].find((name) => mark.classList.contains(name)) || "current");
      mark.style.background = made.background; mark.style.borderColor = made.border;
    }
  }

  // Sizes on the screen stay readable at every zoom. vis-network scales all it draws, so its numbers are set
  // against the zoom, in its own objects: an update of its data sets would cost too much a frame.
  let sized = null;
  function resize() {
    const scale = network.getScale();
    if (scale === sized) return;
    sized = scale;
    dots.forEach((dot, i) => {
      const node = network.body.nodes[i];
      const base = dot.rank === null ? dot.radius : Math.max(dot.radius, RANKED);
      node.options.size = Math.max(4, base * scale ** (scale < 1 ? 0.5 : 0.4)) / scale;
      node.shape.refreshNeeded = true;
      if (DASHES[dot.state]) node.options.shapeProperties.borderDashes = DASHES[dot.state].map((length) => length / scale);
    });
    lines.forEach((line, i) => {
      const edge = network.body.edges[i], grown = scale ** (scale < 1 ? 0.5 : 0.3);
      edge.options.width = line.width * grown / scale;
      edge.options.arrows.to.scaleFactor = 0.45 * grown / scale;
      if (line.dash.length) edge.options.dashes = line.dash.map((length) => length * 0.8 * grown / scale);
    });
  }

  // Labels ------------------------------------------------------------------------------------------------------
  const cut = new Map();
  const signs = typeof Intl !== "undefined" && Intl.Segmenter ? new Intl.Segmenter() : null;
  const split = (text) => (signs ? Array.from(signs.segment(text), (part) => part.segment) : Array.from(text));
  function shorten(ctx, i) {
    if (cut.has(i)) return cut.get(i);
    // Direction marks inside a label would turn it round; the card shows them as they are.
    const line = dots[i].text.slice(0, 400).replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "").replace(/\s+/g, " ").trim();
    const parts = split(line);
    let text = line;
    if (dots[i].text.length > 400 || ctx.measureText(text).width > LABEL_WIDTH) {
      let count = Math.min(parts.length, 60);
      do text = parts.slice(0, --count).join("").trimEnd() + "…"; while (count > 1 && ctx.measureText(text).width > LABEL_WIDTH);
    }
    const made = { text, width: ctx.measureText(text).width };
    cut.set(i, made);
    return made;
  }
  function labelOrder() {
    const shown = lit();
    const rest = shown === null ? dots.keys() : [...shown].sort((a, b) => a - b);
    return [...new Set([state.over, state.chosen, ...rest])].filter((i) => i !== null);
  }
  function placed() {
    const at = network.getPositions(), found = new Map();
    for (let i = 0; i < dots.length; i++) {
      const spot = network.canvasToDOM(at[i]), r = network.body.nodes[i].options.size * sized;
      if (spot.x > -r && spot.y > -r && spot.x < stage.clientWidth + r && spot.y < stage.clientHeight + r) found.set(i, { x: spot.x, y: spot.y, r });
    }
    return found;
  }
  // Rectangles and dots by the 48-pixel squares that they touch, so that a label only looks at what is near.
  function squares() {
    const held = new Map();
    const keys = (box) => {
      const found = [];
      for (let x = Math.floor(box[0] / 48); x <= Math.floor(box[2] / 48); x++)
        for (let y = Math.floor(box[1] / 48); y <= Math.floor(box[3] / 48); y++) found.push(x + ":" + y);
      return found;
    };
    return {
      add(thing) { for (const key of keys(thing.box)) (held.get(key) || held.set(key, []).get(key)).push(thing); },
      hits(box, passable) {
        const meets = ({ box: b }) => b[0] < box[2] && b[2] > box[0] && b[1] < box[3] && b[3] > box[1];
        return keys(box).some((key) => (held.get(key) || []).some((thing) => !passable(thing) && meets(thing)));
      },
    };
  }
  function drawLabels(ctx) {
    const spots = placed(), busy = squares(), shown = lit();
    for (const [i, s] of spots)
      if (shown === null || shown.has(i)) busy.add({ dot: i, box: [s.x - s.r, s.y - s.r, s.x + s.r, s.y + s.r] });
    ctx.save();
    const ratio = ctx.canvas.width / stage.clientWidth;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.textAlign = "left"; ctx.textBaseline = "middle"; ctx.lineJoin = "round"; ctx.lineWidth = 3.5; ctx.strokeStyle = paint.ground;
    strip(ctx, busy);
    ring(ctx, spots);
    ranks(ctx, spots, shown);
    let count = 0;
    for (const i of labelOrder()) {
      const s = spots.get(i), strong = i === state.chosen || i === state.over;
      if (!s || count >= MOST_LABELS) continue;
      ctx.font = `${LABEL_SIZE}px ${FONT}`;
      const { text, width } = shorten(ctx, i);
      ctx.font = `${strong ? "600 " : ""}${LABEL_SIZE}px ${FONT}`;
      const w = strong ? ctx.measureText(text).width : width, half = LABEL_SIZE * 0.68;
      const middle = Math.max(6, Math.min(s.x - w / 2, stage.clientWidth - w - 6));
      const tries = [[middle, s.y + s.r + half + 2], [middle, s.y - s.r - half - 2], [s.x + s.r + 5, s.y], [s.x - s.r - 5 - w, s.y]];
      const free = (passable) => tries.find(([x, y]) => {
        const box = [x - 3, y - half, x + w + 3, y + half];
        const inside = box[0] > 2 && box[2] < stage.clientWidth - 2 && box[1] > 2 && box[3] < stage.clientHeight - 2;
        return inside && !busy.hits(box, (other) => other.dot === i || other.dot >= passable);
      });
      // In a crowd the foremost labels may lie over dots of much less weight, never over another label.
      const spot = free(Infinity) || (count < 8 && near[i].size ? free(Math.max(i + 1, dots.length / 3)) : null) || (strong ? tries[0] : null);
      if (!spot) continue;
      busy.add({ box: [spot[0] - 3, spot[1] - half, spot[0] + w + 3, spot[1] + half] });
      ctx.strokeText(text, spot[0], spot[1]);
      ctx.fillStyle = paint.ink;
      ctx.fillText(text, spot[0], spot[1]);
      count++;
    }
    ctx.restore();
    root.dataset.labels = String(count);
  }
  function strip(ctx, busy) {
    if (data.strip === null) return;
    const alone = dots.map((_, i) => i).filter((i) => near[i].size === 0);
    const at = network.getPositions(alone), left = Math.min(...alone.map((i) => at[i].x));
    const spot = network.canvasToDOM({ x: left, y: data.strip });
    const x = Math.max(12, spot.x - 8), y = spot.y - 3, words = `without an association: ${alone.length.toLocaleString("en")}`;
    ctx.font = `11px ${FONT}`; ctx.fillStyle = paint.soft;
    ctx.fillText(words, x, y);
    busy.add({ box: [x - 4, y - 8, x + ctx.measureText(words).width + 4, y + 8] });
  }
  function ring(ctx, spots) {
    const s = spots.get(state.chosen);
    if (!s) return;
    ctx.beginPath(); ctx.arc(s.x, s.y, s.r + 4, 0, 2 * Math.PI);
    ctx.save(); ctx.lineWidth = 2.5; ctx.strokeStyle = paint.mark; ctx.stroke(); ctx.restore();
  }

  function ranks(ctx, spots, shown) {
    ctx.save();
    ctx.font = `600 11px ${FONT}`; ctx.textAlign = "center";
    for (const [i, s] of spots) {
      if (dots[i].rank === null) continue;
      const ground = dotColours(dots[i].colour, dots[i].state).background;
      ctx.fillStyle = contrast(ground, "#ffffff") > contrast(ground, "#000000") ? "#ffffff" : "#000000";
      ctx.globalAlpha = shown === null || shown.has(i) ? 1 : FAINT;
      ctx.fillText(String(dots[i].rank), s.x, s.y + 0.5);
    }
    ctx.restore();
  }

  // Card and search ---------------------------------------------------------------------------------------------
  function make(name, text, into, className) {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    into.appendChild(made);
    return made;
  }
  function fillCard() {
    card.replaceChildren();
    card.hidden = state.chosen === null;
    if (card.hidden) return;
    const dot = dots[state.chosen];
    const kind = make("p", "", card, "kind");
    const mark = make("i", "", kind, "swatch " + dot.state);
    mark.dataset.colour = dot.colour;
    make("bdi", dot.type + (dot.state === "current" ? "" : ", " + dot.state) + (dot.rank === null ? "" : `, rank ${dot.rank}`), kind);
    make("p", dot.text, card, "text").dir = "auto";
    const list = make("dl", "", card);
    for (const [name, value] of dot.details) { make("dt", name, list); make("dd", value, list).dir = "auto"; }
    paintLegend();
    if (!ends[state.chosen].length) return;
    const links = make("ul", "", card);
    for (const i of ends[state.chosen]) {
      const line = lines[i], out = line.source === state.chosen, other = out ? line.target : line.source;
      const item = make("li", "", links);
      make("small", (out ? "this " + line.label : line.label + " this") + (line.details ? " · " + line.details : ""), item);
      const go = make("button", dots[other].text.slice(0, 160), item);
      go.type = "button"; go.dir = "auto";
      go.addEventListener("click", () => { choose(other); bringIn(other); });
    }
  }
  function say() {
    const parts = [data.summary];
    if (state.hits) parts.push(`${state.hits.length.toLocaleString("en")} ${state.hits.length === 1 ? "match" : "matches"}`);
    if (state.chosen !== null) parts.push(`${near[state.chosen].size} ${near[state.chosen].size === 1 ? "neighbour" : "neighbours"}`);
    status.textContent = parts.join(" · ");
  }
  function choose(i) {
    state.chosen = i;
    root.dataset.chosen = i === null ? "" : dots[i].id;
    fillCard(); say(); restyle();
  }
  function look() {
    const wanted = fold(search.value.trim());
    state.hits = wanted ? [...dots.keys()].filter((i) => searched[i].includes(wanted)) : null;
    choose(null);
  }
  function bringIn(i) {
    const spot = network.canvasToDOM(network.getPositions([i])[i]);
    if (spot.x < 20 || spot.y < 20 || spot.x > stage.clientWidth - 20 || spot.y > stage.clientHeight - 20)
      network.moveTo({ position: network.getPositions([i])[i], animation: { duration: 250, easingFunction: "easeInOutQuad" } });
  }
  function whole() {
    if (!dots.length) return;
    state.moved = false;
    network.fit({ maxZoomLevel: 1.8, animation: false });
  }
  const zoom = (factor) => { state.moved = true; network.moveTo({ scale: Math.min(8, Math.max(0.05, network.getScale() * factor)) }); };

  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !state.hits || !state.hits.length) return;
    const next = state.hits[(state.hits.indexOf(state.chosen) + 1) % state.hits.length];
    choose(next); bringIn(next);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    search.value = ""; state.hits = null; choose(null);
  });
  find("closer").addEventListener("click", () => zoom(1.4));
  find("farther").addEventListener("click", () => zoom(1 / 1.4));
  find("whole").addEventListener("click", whole);
  network.on("click", (event) => choose(event.nodes.length ? event.nodes[0] : null));
  network.on("hoverNode", (event) => { state.over = event.node; network.redraw(); });
  network.on("blurNode", () => { state.over = null; network.redraw(); });
  network.on("zoom", () => { state.moved = true; });
  network.on("dragEnd", () => { state.moved = true; });
  network.on("beforeDrawing", resize);
  network.on("afterDrawing", drawLabels);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", theme);
  function theme() { readTheme(); paintLegend(); restyle(); }

  // A page in a hidden cell has no size yet; the whole can only be fitted once it has one.
  new ResizeObserver(() => {
    if (!stage.clientWidth || !stage.clientHeight) return;
    if (!state.moved) whole();
    if (state.ready) return;
    state.ready = true;
    requestAnimationFrame(() => requestAnimationFrame(() => { root.dataset.ready = "1"; }));
  }).observe(stage);
  theme();
})();
