// One launch of a CUDA kernel, step by step: a module in anywidget's format, without dependencies.
// model.get("trace") is the data of record.py.  A step is an event; at step k the first k events have happened.

const STYLE = `
.pgr { --ink:#1b2733; --dim:#4d5966; --line:#c9d1da; --page:#ffffff; --soft:#f2f5f8; --run:#0072b2; --begun:#9ccae6;
  --wait:#e69f00; --done:#98a3b0; --idle:#e3e8ed; --read:#2a8fd0; --write:#c04e00; --atomic:#9a3f7b; --bad:#b3261e; --mark:#111;
  box-sizing: border-box; border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; max-width: 1100px; container-type: inline-size;
  font: 14px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--page); text-align: left }
.pgr[data-theme=dark] { --ink:#e8edf2; --dim:#aeb9c4; --line:#3f4c59; --page:#12181f; --soft:#1c2630; --run:#4fb3f0; --begun:#1f5a80;
  --wait:#e69f00; --done:#5d6a78; --idle:#2a3540; --read:#56b4e9; --write:#f0813a; --atomic:#d98bbb; --bad:#ff8a80; --mark:#fff }
.pgr *, .pgr *::before { box-sizing: border-box } .pgr [hidden] { display: none !important }
.pgr p { margin: 0 } .pgr canvas { display: block; border-radius: 3px } .pgr-stack { position: relative; width: max-content } .pgr-stack canvas + canvas { position: absolute; inset: 0; pointer-events: none } .pgr [role=slider] { cursor: pointer }
.pgr-head { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline } .pgr-head b { font: 600 15px ui-monospace, monospace }
.pgr-dim { color: var(--dim); font-size: 12.5px; font-weight: 400 } .pgr-title button { font-weight: 400 }
.pgr-time { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; margin: 10px 0 6px }
.pgr-time input[type=range] { flex: 1 1 220px; min-width: 140px; accent-color: var(--run) }
.pgr button { font: inherit; font-size: 13px; padding: 3px 10px; min-height: 26px; border: 1px solid var(--line); border-radius: 6px;
  background: var(--soft); color: var(--ink); cursor: pointer }
.pgr button:disabled { color: var(--dim); cursor: default }
.pgr :focus-visible { outline: 3px solid var(--run); outline-offset: 2px }
.pgr-says { min-height: 2.1em; padding: 4px 10px; border-left: 4px solid var(--run); background: var(--soft); border-radius: 0 6px 6px 0 }
.pgr-body { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: 16px; margin: 12px 0 }
.pgr-code { background: var(--soft); border-radius: 6px; padding: 6px 0; overflow: auto; max-height: 380px; font: 12.5px/1.6 ui-monospace, monospace }
.pgr-code div { white-space: pre; padding: 0 8px; border-left: 4px solid transparent; width: max-content; min-width: 100% }
.pgr-code .here { border-color: var(--run); background: color-mix(in srgb, var(--run) 18%, transparent); font-weight: 600 }
.pgr-code .fault { border-left: 4px double var(--bad) } .pgr-code span { color: var(--dim); display: inline-block; text-align: right; font-weight: 400 }
.pgr-code .pgr-no { width: 2em } .pgr-code .pgr-who { width: 3.2em; padding-right: .5em }
.pgr-title { font-weight: 600; margin: 10px 0 3px !important; display: flex; flex-wrap: wrap; gap: 2px 8px; align-items: baseline }
.pgr-box { max-height: 340px; overflow: auto } .pgr-body > div > .pgr-title:first-child { margin-top: 0 !important }
.pgr-key { display: flex; flex-wrap: wrap; gap: 2px 12px; margin: 4px 0; font-size: 12.5px; color: var(--dim) }
.pgr-key span { display: inline-flex; gap: 5px; align-items: center }
.pgr-found { border-left: 4px solid var(--bad); background: var(--soft); padding: 8px 12px; margin-top: 8px; border-radius: 0 6px 6px 0 }
.pgr-two { display: grid; grid-template-columns: 1fr 1fr; gap: 10px; margin: 6px 0 } .pgr-two > div { border: 1px solid var(--line); border-radius: 6px; padding: 6px 10px; background: var(--page) }
.pgr-two code { display: block; overflow-x: auto; font: 12.5px ui-monospace, monospace; color: inherit; background: none; padding: 2px 0 }
.pgr table { border-collapse: collapse; font-size: 12.5px; margin: 6px 0; color: inherit } .pgr td, .pgr th { padding: 1px 10px 1px 0; text-align: left; border: 0; background: none; color: inherit }
.pgr tr.here td { font-weight: 700 } .pgr summary { cursor: pointer; margin-top: 8px }
@container (max-width: 660px) { .pgr-body { grid-template-columns: minmax(0, 1fr) } .pgr-two { grid-template-columns: 1fr } }
`;
const [NOT_BEGUN, BEGUN, RUNS, WAITS, DONE] = [0, 1, 2, 3, 4];
const IN_WORDS = ["has not begun", "is between two steps", "runs now", "waits", "has returned"];
const READS = new Set([0, 3, 9]), WRITES = new Set([1, 4]), ATOMIC = 2, FENCE = 5, BARRIER = 6, GRID_BARRIER = 8;
const VERBS = ["reads", "writes", "changes", "reads", "writes", "passes a fence", "arrives at the barrier", "arrives at syncwarp()",
  "arrives at the grid's barrier", "reads", "exchanges values with its warp"];
const READ = 1, WRITTEN = 2, WRITTEN_LAST = 4, ATOMIC_LAST = 8, UNWRITTEN = 16; // what a cell shows
const WARP = 32, SECTOR = 32, BANK_ROW = 128, MOST_CELLS = 4096, BOX = 340; // pixels of height before an array scrolls

/** An element: tag, attributes (on… are listeners), children.  A notebook leaves the keys to what may have the focus. */
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
  }
  if (["button", "input", "summary"].includes(tag) || "tabindex" in attributes) node.setAttribute("data-lm-suppress-shortcuts", "true");
  node.append(...children);
  return node;
}

const clamp = (low, value, high) => Math.max(low, Math.min(high, value));
const number = value => value.toLocaleString("en");
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;
const sizeInWords = sizes => {
  const last = sizes[2] > 1 ? 3 : sizes[1] > 1 ? 2 : 1;
  return last === 1 ? `${sizes[0]}` : `(${sizes.slice(0, last).join(", ")})`;
};
const indexIn = (place, size) => {
  const all = [place % size[0], Math.floor(place / size[0]) % size[1], Math.floor(place / (size[0] * size[1]))];
  return size[1] === 1 && size[2] === 1 ? `${all[0]}` : `(${all.join(", ")})`;
};

// ---- the launch at one step --------------------------------------------------------------------------------

/** What can be known of a launch once: threads that are shown, arrays with their cells, members of requests. */
function readLaunch(trace) {
  const e = trace.events, steps = e.kind.length, perBlock = trace.block[0] * trace.block[1] * trace.block[2];
  const blocks = [...new Set([...e.thread, ...trace.starts.map(([thread]) => thread)].map(t => Math.floor(t / perBlock)))].sort((a, b) => a - b);
  const rowOf = new Map(blocks.map((block, row) => [block, row]));
  const place = thread => rowOf.get(Math.floor(thread / perBlock)) * perBlock + thread % perBlock;
  const threadAt = at => blocks[Math.floor(at / perBlock)] * perBlock + at % perBlock;
  const threads = blocks.length * perBlock;
  const starts = new Int32Array(threads).fill(steps + 1), ends = new Int32Array(threads).fill(steps + 1);
  for (const [thread, step] of trace.starts) starts[place(thread)] = step;
  for (const [thread, step] of trace.ends) ends[place(thread)] = step;
  const at = Int32Array.from(e.thread, place);
  const members = trace.requests.map(() => []);
  e.request.forEach((request, step) => { if (request >= 0) members[request].push(step); });
  const arrays = trace.arrays.map((array, k) => readArray(array, k, e));
  const opens = [...new Set(e.until.filter((until, step) => until && until <= steps && (e.kind[step] === BARRIER || e.kind[step] === GRID_BARRIER)))].sort((a, b) => a - b);
  return { trace, e, steps, perBlock, blocks, threads, place, threadAt, starts, ends, at, members, arrays, opens };
}

/** Which elements of an array have a cell: all, or the touched sectors of a large one. */
function readArray(array, k, e) {
  const size = array.shape.reduce((a, b) => a * b, 1), perSector = Math.max(1, Math.floor(SECTOR / array.itemsize));
  if (size <= MOST_CELLS) return { ...array, size, perSector, cells: size, elementAt: cell => cell, cellOf: element => element };
  const first = Math.floor(array.base % SECTOR / array.itemsize), sectors = new Set();
  e.array.forEach((of, step) => { if (of === k && e.element[step] >= 0) sectors.add(Math.floor((e.element[step] + first) / perSector)); });
  const shown = [...sectors].sort((a, b) => a - b).slice(0, MOST_CELLS / perSector), slot = new Map(shown.map((sector, row) => [sector, row]));
  return {
    ...array, size, perSector, cells: shown.length * perSector, left: sectors.size - shown.length, sparse: true,
    elementAt: cell => shown[Math.floor(cell / perSector)] * perSector + cell % perSector - first,
    cellOf: element => slot.has(Math.floor((element + first) / perSector)) ? slot.get(Math.floor((element + first) / perSector)) * perSector + (element + first) % perSector : -1,
  };
}

/** States of threads and last accesses of cells after so many steps. */
function stateAt(launch, step) {
  const { e, threads, at, starts, ends, arrays } = launch;
  const last = new Int32Array(threads).fill(-1), state = new Uint8Array(threads);
  const reads = arrays.map(array => new Int32Array(array.cells).fill(-1)), writes = arrays.map(array => new Int32Array(array.cells).fill(-1));
  for (let k = 0; k < step; k++) {
    last[at[k]] = k;
    const of = e.array[k], cell = of < 0 || e.element[k] < 0 || arrays[of].space === "local" ? -1 : arrays[of].cellOf(e.element[k]);
    if (cell < 0) continue;
    if (!WRITES.has(e.kind[k])) reads[of][cell] = k;
    if (!READS.has(e.kind[k])) writes[of][cell] = k;
  }
  for (let t = 0; t < threads; t++) {
    if (step && at[step - 1] === t) state[t] = e.until[step - 1] > step ? WAITS : RUNS;
    else if (ends[t] <= step) state[t] = step || ends[t] < 0 ? DONE : NOT_BEGUN;
    else if (last[t] >= 0) state[t] = e.until[last[t]] > step ? WAITS : BEGUN;
    else state[t] = starts[t] < step ? BEGUN : NOT_BEGUN;
  }
  return { step, last, state, reads, writes };
}

// ---- words -------------------------------------------------------------------------------------------------

function wordsOf(launch) {
  const { trace, e, perBlock } = launch;
  const thread = t => `thread ${indexIn(t % perBlock, trace.block)} of block ${indexIn(Math.floor(t / perBlock), trace.grid)}`;
  const element = (of, place) => {
    const array = trace.arrays[of];
    if (place < 0) return `several elements of ${array.name}`;
    const index = [];
    for (let axis = array.shape.length - 1, rest = place; axis >= 0; axis--) { index.unshift(rest % array.shape[axis]); rest = Math.floor(rest / array.shape[axis]); }
    return `${array.name}[${index.join(", ")}]`;
  };
  const line = step => trace.sites[e.site[step]][1];
  const event = step => {
    const what = e.array[step] < 0 ? VERBS[e.kind[step]] : `${VERBS[e.kind[step]]} ${element(e.array[step], e.element[step])}`;
    return `${thread(e.thread[step])} ${what} on line ${line(step)}`;
  };
  return { thread, element, line, event };
}

/** Did nobody write this element before that step? */
function isUnwritten(launch, step) {
  const { e, arrays } = launch, of = e.array[step];
  if (of < 0 || arrays[of].written || !READS.has(e.kind[step])) return false;
  for (let k = 0; k < step; k++) if (e.array[k] === of && e.element[k] === e.element[step] && !READS.has(e.kind[k])) return false;
  return true;
}

/** A warp's request: its lanes, its elements, its sectors or the words in every bank, and a sentence. */
function readRequest(launch, words, step) {
  const { trace, e, members, perBlock } = launch, request = step >= 0 ? e.request[step] : -1;
  if (request < 0) return null;
  const steps = members[request], array = trace.arrays[e.array[step]], [sectors, turns] = trace.requests[request];
  const local = e.thread[step] % perBlock, who = `Warp ${Math.floor(local / WARP)} of block ${indexIn(Math.floor(e.thread[step] / perBlock), trace.grid)}`;
  const lanes = `${plural(steps.length, "lane")} ${steps.length === 1 ? VERBS[e.kind[step]] : VERBS[e.kind[step]].replace(/s$/, "")} ${array.name} on line ${words.line(step)}`;
  const used = new Map(), banks = Array.from({ length: 32 }, () => new Map());
  for (const k of steps) {
    const byte = array.base + e.element[k] * array.itemsize;
    for (let at = byte; at < byte + array.itemsize; at += 4) {
      const sector = Math.floor(at / SECTOR), word = Math.floor(at / 4);
      used.set(sector, (used.get(sector) || new Set()).add(Math.floor(at % SECTOR / 4)));
      const bank = banks[((word % 32) + 32) % 32];
      bank.set(word, (bank.get(word) || 0) + 1);
    }
  }
  const wanted = [...used.values()].reduce((sum, set) => sum + set.size * 4, 0);
  const says = array.space === "shared"
    ? `${who}: ${lanes}. The 32 banks need ${plural(turns, "turn")}${turns > 1 ? ", because a bank holds several of the words" : ""}.`
    : sectors ? `${who}: ${lanes}. ${plural(sectors, "sector")} of 32 bytes ${sectors === 1 ? "moves" : "move"}; ${Math.min(100, Math.round(100 * wanted / (SECTOR * sectors)))} % of these bytes are asked for.`
      : `${who}: ${lanes}.`;
  return { request, steps: new Set(steps), of: e.array[step], shared: array.space === "shared", used, banks, turns, sectors, says };
}

// ---- drawing -----------------------------------------------------------------------------------------------

/** A canvas of that size in pixels of the page, sharp on every screen: its context, cleared. */
function prepare(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, wide = Math.ceil(width * ratio), high = Math.ceil(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide; canvas.height = high;
    canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

/** Paint those squares of a view whose code has changed, or all if its key has; the pen of the canvas above it. */
function repaint(view, key, [width, height], count, codeOf, paintOne, paintAll) {
  if (view.key !== key) {
    view.key = key; view.pen = prepare(view.canvas, width, height); view.codes = new Uint8Array(count).fill(255);
    paintAll(view.pen);
  }
  for (let k = 0; k < count; k++) {
    const code = codeOf(k);
    if (code !== view.codes[k]) { view.codes[k] = code; paintOne(view.pen, k, code); }
  }
  return prepare(view.over, width, height);
}

/** A thread's square: every state has a shape of its own beside its colour. */
function drawThread(pen, colours, x, y, s, state) {
  pen.clearRect(x, y, s, s);
  if (state === NOT_BEGUN) {
    pen.strokeStyle = colours.done; pen.lineWidth = 1;
    pen.strokeRect(x + 0.5, y + 0.5, s - 1, s - 1);
    return;
  }
  pen.fillStyle = [null, colours.begun, colours.run, colours.wait, colours.done][state];
  pen.fillRect(x, y, s, s);
  pen.fillStyle = state === WAITS ? "#000" : colours.page;
  if (state === RUNS) { pen.beginPath(); pen.arc(x + s / 2, y + s / 2, s / 4, 0, 7); pen.fill(); }
  if (state === WAITS) { pen.fillRect(x + s * 0.25, y + s * 0.25, s * 0.18, s * 0.5); pen.fillRect(x + s * 0.57, y + s * 0.25, s * 0.18, s * 0.5); }
  if (state === DONE) pen.fillRect(x + s * 0.25, y + s * 0.44, s * 0.5, Math.max(1, s * 0.12));
}

/** An element's square: its lower left half says that it was read, its upper right half that it was written. */
function drawCell(pen, colours, x, y, s, code) {
  pen.fillStyle = colours.idle; pen.fillRect(x, y, s, s);
  const half = (colour, strong, points) => {
    pen.globalAlpha = strong ? 1 : 0.45; pen.fillStyle = colour; pen.beginPath();
    points.forEach(([px, py], k) => k ? pen.lineTo(x + px * s, y + py * s) : pen.moveTo(x + px * s, y + py * s));
    pen.fill(); pen.globalAlpha = 1;
  };
  if (code & ATOMIC_LAST) return half(colours.atomic, true, [[0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5]]);
  if (code & READ) half(colours.read, !(code & WRITTEN_LAST), [[0, 0], [1, 1], [0, 1]]);
  if (code & WRITTEN) half(colours.write, code & WRITTEN_LAST, [[0, 0], [1, 0], [1, 1]]);
  if (code & UNWRITTEN) {
    pen.strokeStyle = colours.dim; pen.lineWidth = 1; pen.beginPath();
    pen.moveTo(x, y + s); pen.lineTo(x + s, y); pen.moveTo(x, y + s / 2); pen.lineTo(x + s / 2, y); pen.moveTo(x + s / 2, y + s); pen.lineTo(x + s, y + s / 2);
    pen.stroke();
  }
}

function outline(pen, colour, width, x, y, wide, high) {
  pen.strokeStyle = colour; pen.lineWidth = width;
  pen.strokeRect(x - width / 2, y - width / 2, wide + width, high + width);
}

/** Rows of warps, side by side where there are many: [square, pitch of a group, rows of a group, left, top]. */
function layThreads(launch, width) {
  const warps = launch.blocks.length * Math.ceil(launch.perBlock / WARP), lanes = Math.min(WARP, launch.perBlock), left = 46;
  for (let s = 15; s > 4; s--) {
    const pitch = left + lanes * s + 10, groups = Math.max(1, Math.floor((width + 10) / pitch));
    if (Math.ceil(warps / groups) * s <= 300 && pitch <= width + 10) return { s, pitch, rows: Math.ceil(warps / groups), left, warps };
  }
  const pitch = left + lanes * 4 + 10;
  return { s: 4, pitch, rows: Math.ceil(warps / Math.max(1, Math.floor((width + 10) / pitch))), left, warps };
}

function drawThreads(view, launch, state, chosen, colours, width) {
  const lay = layThreads(launch, width), { s, pitch, rows, left, warps } = lay, perBlock = launch.perBlock, perWarps = Math.ceil(perBlock / WARP);
  const top = 5, gap = s > 6 ? 2 : 1;
  const spot = t => {
    const w = Math.floor(t / perBlock) * perWarps + Math.floor(t % perBlock / WARP);
    return [Math.floor(w / rows) * pitch + left + t % perBlock % WARP * s, top + w % rows * s];
  };
  const above = repaint(view, `${width} ${colours.theme}`, [width, rows * s + top + 2], launch.threads, t => state.state[t],
    (pen, t, code) => drawThread(pen, colours, ...spot(t), s - gap, code), pen => {
      pen.font = "10px system-ui, sans-serif"; pen.textBaseline = "middle"; pen.fillStyle = colours.dim;
      for (let w = 0; w < warps; w += Math.ceil(11 / s)) pen.fillText(`b${launch.blocks[Math.floor(w / perWarps)]} w${w % perWarps}`, Math.floor(w / rows) * pitch, top + w % rows * s + s / 2, left - 4);
    });
  outline(above, colours.mark, 2, ...spot(chosen), s - gap, s - gap);
  return { ...lay, spot };
}

/** Columns of an array's cells, and how many places stay empty before the first. */
function layArray(array, width, byBanks) {
  const wide = array.shape.length ? array.shape[array.shape.length - 1] : 1, inner = width - 48;
  let columns = array.sparse ? 4 * array.perSector : array.shape.length > 1 && wide <= 128 ? wide : Math.min(array.cells, 32), skip = 0;
  if (byBanks) { columns = Math.max(1, BANK_ROW / array.itemsize); skip = Math.floor(array.base / array.itemsize); }
  const s = clamp(4, Math.floor(inner / columns), 17), rows = Math.ceil((array.cells + skip) / columns);
  return { columns, skip, s, rows, left: 44, top: byBanks ? 16 : 5 };
}

function drawArray(view, launch, k, state, look, colours, width, byBanks) {
  const array = launch.arrays[k], lay = layArray(array, width, byBanks), { columns, skip, s, rows, left, top } = lay, { e } = launch;
  const gap = s > 7 ? 2 : 1, reads = state.reads[k], writes = state.writes[k];
  const spot = cell => [left + (cell + skip) % columns * s, top + Math.floor((cell + skip) / columns) * s];
  const code = cell => {
    const read = reads[cell], write = writes[cell], last = Math.max(read, write);
    if (last < 0) return array.written ? 0 : UNWRITTEN;
    if (e.kind[last] === ATOMIC) return ATOMIC_LAST;
    return (read >= 0 ? READ : 0) | (write >= 0 ? WRITTEN : array.written ? 0 : UNWRITTEN) | (write > read ? WRITTEN_LAST : 0);
  };
  const pen = repaint(view, `${width} ${colours.theme} ${byBanks}`, [left + columns * s + 4, top + rows * s + 3], array.cells, code,
    (pen, cell, code) => drawCell(pen, colours, ...spot(cell), s - gap, code), pen => labelArray(pen, array, lay, colours, byBanks));
  if (look.request && look.request.of === k) drawRequestIn(pen, launch, look.request, array, spot, s, gap, colours);
  for (const step of look.guilty) if (e.array[step] === k) { const [x, y] = spot(array.cellOf(e.element[step])); pen.setLineDash([3, 2]); outline(pen, colours.bad, 2, x - 1, y - 1, s - gap + 2, s - gap + 2); pen.setLineDash([]); }
  if (look.array === k && array.cellOf(look.element) >= 0) outline(pen, colours.mark, 2, ...spot(array.cellOf(look.element)), s - gap, s - gap);
  return lay;
}

/** The rows' numbers, and those of the banks. */
function labelArray(pen, array, { columns, skip, s, rows, left, top }, colours, byBanks) {
  pen.font = "10px system-ui, sans-serif"; pen.textBaseline = "middle"; pen.fillStyle = colours.dim;
  if (byBanks) { pen.fillText("bank", 0, 6); for (let bank = 0; bank < 32; bank += s > 11 ? 4 : 8) pen.fillText(`${bank}`, left + bank * columns / 32 * s, 6); }
  for (let row = 0; row < rows; row += Math.ceil(11 / s)) {
    const element = array.elementAt(Math.max(0, row * columns - skip));
    pen.fillText(array.shape.length === 2 && columns === array.shape[1] ? `row ${row}` : `${element}`, 0, top + row * s + s / 2, left - 3);
  }
}

/** The sectors of a request as frames, its elements as rings. */
function drawRequestIn(pen, launch, request, array, spot, s, gap, colours) {
  const { e } = launch, first = Math.floor(array.base % SECTOR / array.itemsize), base = array.base - array.base % SECTOR;
  if (!request.shared && array.itemsize <= SECTOR) {
    for (const sector of request.used.keys()) {
      const start = (sector * SECTOR - base) / array.itemsize - first;
      for (let k = 0; k < array.perSector; k++) {
        const cell = start + k >= 0 && start + k < array.size ? array.cellOf(start + k) : -1;
        if (cell < 0) continue;
        const [x, y] = spot(cell);
        pen.fillStyle = colours.run; pen.fillRect(x - 1, y + s - gap, s + (k < array.perSector - 1 ? 1 : 0) - gap + 1, 2);
        if (k === 0) pen.fillRect(x - 1, y + s / 2, 2, s / 2);
        if (k === array.perSector - 1) pen.fillRect(x + s - gap - 1, y + s / 2, 2, s / 2);
      }
    }
  }
  for (const step of request.steps) {
    const cell = array.cellOf(e.element[step]);
    if (cell < 0) continue;
    const [x, y] = spot(cell);
    pen.fillStyle = colours.mark; pen.beginPath(); pen.arc(x + (s - gap) / 2, y + (s - gap) / 2, Math.max(1.2, s / 6), 0, 7); pen.fill();
  }
}

/** A request by itself: the bytes of every sector, or the words that every bank must serve. */
function drawRequest(canvas, request, colours, width) {
  if (request.shared) {
    const s = clamp(6, Math.floor((width - 4) / 32), 15), most = Math.max(...request.banks.map(bank => bank.size));
    const h = clamp(3, Math.floor(150 / most), 12), pen = prepare(canvas, 32 * s + 2, most * h + 16);
    request.banks.forEach((bank, k) => {
      for (let turn = 0; turn < bank.size; turn++) { pen.fillStyle = turn ? colours.wait : colours.run; pen.fillRect(k * s + 1, (most - 1 - turn) * h + 1, s - 2, h - 1); }
      if (!bank.size) { pen.strokeStyle = colours.line; pen.lineWidth = 1; pen.strokeRect(k * s + 1.5, (most - 1) * h + 1.5, s - 3, h - 2); }
    });
    pen.font = "10px system-ui, sans-serif"; pen.textBaseline = "middle"; pen.fillStyle = colours.dim;
    for (let bank = 0; bank < 32; bank += s > 11 ? 4 : 8) pen.fillText(`${bank}`, bank * s + 1, most * h + 9);
    return;
  }
  const slot = 5, wide = 8 * slot + 6, columns = Math.max(1, Math.floor(width / wide)), sectors = [...request.used].sort(([a], [b]) => a - b);
  const pen = prepare(canvas, Math.min(columns, sectors.length) * wide, Math.ceil(sectors.length / columns) * 15 + 2);
  sectors.forEach(([, used], k) => {
    const x = k % columns * wide + 1, y = Math.floor(k / columns) * 15 + 1;
    pen.strokeStyle = colours.dim; pen.lineWidth = 1; pen.strokeRect(x + 0.5, y + 0.5, 8 * slot + 1, 11);
    pen.fillStyle = colours.run;
    for (const word of used) pen.fillRect(x + 1 + word * slot, y + 1, slot - 1, 10);
  });
}

/** A square of the legend, drawn as in the views. */
function sample(draw, colours) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  draw(prepare(canvas, 12, 12), colours);
  return canvas;
}

// ---- the view ----------------------------------------------------------------------------------------------

/** Is the page around the element dark?  The nearest background that is not transparent decides. */
function themeAround(el) {
  for (let node = el.parentElement; node; node = node.parentElement) {
    const parts = getComputedStyle(node).backgroundColor.match(/[\d.]+/g);
    if (parts && (parts.length < 4 || +parts[3] > 0.5)) return 0.3 * parts[0] + 0.59 * parts[1] + 0.11 * parts[2] < 110 ? "dark" : "light";
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return dark && getComputedStyle(document.documentElement).colorScheme.includes("dark") ? "dark" : "light";
}

function render({ model, el }) {
  const trace = model.get("trace"), launch = readLaunch(trace), words = wordsOf(launch), { e, steps } = launch;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let step = clamp(0, trace.opens, steps), chosen = 0, follows = true, look = { array: -1, element: -1 }, colours = {}, widths = [400, 480], playing = 0, waiting = 0, now = null;
  const guilty = trace.findings.flatMap(found => found.accesses.map(access => access.step)).filter(at => at >= 0);
  const siteOf = access => access.site >= 0 ? trace.sites[access.site] : [0, access.line];
  const faultLines = new Set(trace.findings.flatMap(found => found.accesses.map(access => siteOf(access).join())));

  // time
  const says = make("p", { class: "pgr-says", "aria-live": "polite" }), output = make("output", { class: "pgr-dim" });
  const slider = make("input", { type: "range", min: 0, max: steps, value: step, "aria-label": "step", oninput: () => go(+slider.value) });
  const button = (text, title, act) => make("button", { type: "button", title, onclick: act }, text);
  const play = button("play", "play the steps", () => playing ? stop() : start());
  const toBarrier = button("next barrier", "go to the next step at which a barrier opens", () => go(launch.opens.find(at => at > step) ?? launch.opens[0]));
  toBarrier.disabled = !launch.opens.length;
  const toElement = button("next access", "go to the next access to the chosen element", () => go(nextAccess() + 1));
  const follow = make("input", { type: "checkbox", checked: true, onchange: () => { follows = follow.checked; go(step); } });
  const time = make("div", { class: "pgr-time" }, button("◀ back", "one step back", () => go(step - 1)), play, button("next ▶", "one step forward", () => go(step + 1)),
    toBarrier, toElement, slider, output, make("label", { class: "pgr-dim" }, follow, " follow the thread that runs"));

  // source and request
  const codeTitle = make("p", { class: "pgr-title" }), code = make("div", { class: "pgr-code", tabindex: 0, role: "group" });
  const requestTitle = make("p", { class: "pgr-title" }, "the warp's request"), requestSays = make("p", { class: "pgr-dim" });
  const requestCanvas = make("canvas", { role: "img" }), requestBox = make("div", { class: "pgr-box", tabindex: 0, role: "group", "aria-label": "the warp's request" }, requestCanvas);
  const requestKey = make("p", { class: "pgr-dim" });

  // threads
  const threads = pictured("thread", launch.threads, view => {
    const lay = drawThreads(view, launch, now, launch.place(chosen), colours, widths[1]);
    return { lay, at: launch.place(chosen) };
  }, at => `${words.thread(launch.threadAt(at))} ${threadDoes(at)}`, at => { chosen = launch.threadAt(at); follows = follow.checked = false; go(step); },
  (lay, x, y) => nearest(lay, x, y), WARP);
  const threadsTitle = make("p", { class: "pgr-title" }, "threads", make("span", { class: "pgr-dim" }, "a row is a warp, b its block; choose one by click or arrow keys"));
  const threadsKey = make("div", { class: "pgr-key" }), cellsKey = make("div", { class: "pgr-key" }), arraysBox = make("div"), left = make("div", {}, codeTitle, code, requestTitle, requestSays, requestBox, requestKey);
  const right = make("div", {}, threadsTitle, threads.box, threadsKey, arraysBox, cellsKey);

  // findings and the list of events
  const found = make("div", {}, ...trace.findings.map(showFinding));
  const list = make("details", { ontoggle: () => showList() }, make("summary", {}, "the events as a list"), make("div"));
  const size = `${plural(trace.grid[0] * trace.grid[1] * trace.grid[2], "block")} of ${plural(launch.perBlock, "thread")}, ${plural(trace.total, "event")}`;
  const cut = steps < trace.total ? ` The first ${number(steps)} are shown; launch fewer threads, or fewer steps, to see them all.` : "";
  const head = make("div", { class: "pgr-head" }, make("b", {}, `${trace.kernel}[${sizeInWords(trace.grid)}, ${sizeInWords(trace.block)}]`), make("span", { class: "pgr-dim" }, `${size}: ${trace.summary}.${trace.findings.length ? "" : " No findings."}${cut}`));
  const root = make("div", { class: "pgr", role: "group", "aria-label": `Replay of ${trace.kernel}` },
    make("style", {}, STYLE), head, time, says, make("div", { class: "pgr-body" }, left, right), found, list);
  const views = new Map(); // of arrays: place -> {title, view}
  el.replaceChildren(root);
  const size_watch = new ResizeObserver(measure), theme_watch = new MutationObserver(paint), system = matchMedia("(prefers-color-scheme: dark)");
  measure();
  size_watch.observe(root); system.addEventListener("change", paint);
  for (const node of [document.documentElement, document.body]) theme_watch.observe(node, { attributes: true });
  paint();
  go(step);
  return () => { stop(); size_watch.disconnect(); theme_watch.disconnect(); system.removeEventListener("change", paint); };

  /** A canvas to look at and to choose in: by click, and by arrow keys as a slider. */
  function pictured(label, count, draw, describe, choose, find, down) {
    const canvas = make("canvas", { role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": 0, "aria-valuemax": count - 1 });
    const over = make("canvas", { "aria-hidden": "true" }), box = make("div", { class: "pgr-box" }, make("div", { class: "pgr-stack" }, canvas, over));
    const view = { canvas, over, box, at: 0, lay: null, down, refresh };
    const place = event => { const r = canvas.getBoundingClientRect(); return find(view.lay, event.clientX - r.left, event.clientY - r.top); };
    canvas.addEventListener("click", event => { const at = place(event); if (at >= 0) choose(at); });
    canvas.addEventListener("pointermove", event => { const at = place(event); canvas.title = at >= 0 ? describe(at) : ""; });
    canvas.addEventListener("keydown", event => {
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: view.down, ArrowUp: -view.down, Home: -count, End: count }[event.key];
      if (by) { event.preventDefault(); view.at = clamp(0, view.at + by, count - 1); choose(view.at); } // keys may be faster than frames
    });
    function refresh() {
      Object.assign(view, draw(view));
      canvas.setAttribute("aria-valuenow", Math.max(0, view.at));
      canvas.setAttribute("aria-valuetext", view.at >= 0 ? describe(view.at) : "none chosen");
    }
    return view;
  }

  function nearest({ spot, s }, x, y) {
    for (let t = 0; t < launch.threads; t++) { const [left, top] = spot(t); if (x >= left && x < left + s && y >= top && y < top + s) return t; }
    return -1;
  }

  function threadDoes(at) {
    const last = now.last[at], state = now.state[at];
    if (last < 0) return IN_WORDS[state];
    return `${IN_WORDS[state]}${state === WAITS ? `: it ${VERBS[e.kind[last]].replace("arrives", "has arrived")}` : ", last"} on line ${words.line(last)}`;
  }

  /** The step of the next access to the chosen element, from the beginning again behind the last; -1 without one. */
  function nextAccess() {
    const is = k => e.array[k] === look.array && e.element[k] === look.element;
    for (let k = step; k < steps; k++) if (is(k)) return k;
    for (let k = 0; k < step; k++) if (is(k)) return k;
    return step - 1;
  }

  function go(to) {
    step = clamp(0, to ?? step, steps);
    if (step && follows) chosen = e.thread[step - 1];
    if (step && follows && e.element[step - 1] >= 0 && trace.arrays[e.array[step - 1]].space !== "local") look = { array: e.array[step - 1], element: e.element[step - 1] };
    drawSoon();
  }

  function measure() {
    if (right.clientWidth > 100) widths = [left.clientWidth, right.clientWidth]; // a hidden view has no width
    drawSoon();
  }

  function drawSoon() {
    if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; draw(); });
  }

  function draw() {
    if (!root.isConnected) return stop();
    now = stateAt(launch, step);
    const seen = follows ? step - 1 : now.last[launch.place(chosen)];
    const request = readRequest(launch, words, seen);
    Object.assign(look, { request, guilty });
    slider.value = step;
    const text = step ? words.event(step - 1) : "nothing has run yet";
    slider.setAttribute("aria-valuetext", `${step} of ${steps}: ${text}`);
    output.textContent = `step ${number(step)} of ${number(steps)}`;
    says.textContent = `${text[0].toUpperCase()}${text.slice(1)}${step && isUnwritten(launch, step - 1) ? ", which no thread has written yet" : ""}${step && e.until[step - 1] > step ? (e.until[step - 1] > steps ? ", and waits" : `, and waits until step ${number(e.until[step - 1])}`) : ""}.${follows ? "" : ` You look at ${words.thread(chosen)}: it ${threadDoes(launch.place(chosen))}.`}`;
    const known = look.array >= 0;
    toElement.disabled = !known;
    toElement.textContent = known ? `next access to ${words.element(look.array, look.element)}` : "next access";
    drawCode(seen);
    showRequest(request);
    threads.refresh();
    drawArrays();
    if (list.open) showList();
  }

  function drawCode(seen) {
    const [source, line] = seen >= 0 ? trace.sites[e.site[seen]] : [0, 0], text = trace.sources[source], counts = new Map();
    now.last.forEach((last, at) => { if (last >= 0 && now.state[at] !== DONE) counts.set(e.site[last], (counts.get(e.site[last]) || 0) + 1); });
    const live = new Map();
    for (const [site, count] of counts) if (trace.sites[site][0] === source) live.set(trace.sites[site][1], (live.get(trace.sites[site][1]) || 0) + count);
    if (code.dataset.source !== `${source}`) {
      code.dataset.source = source;
      const isFault = k => faultLines.has([source, text.first + k].join());
      const indent = Math.min(...text.lines.filter(l => l.trim()).map(l => l.length - l.trimStart().length));
      code.replaceChildren(...text.lines.map((l, k) => make("div", { class: isFault(k) ? "fault" : null },
        make("span", { class: "pgr-no" }, `${isFault(k) ? "! " : ""}${text.first + k}`), make("span", { class: "pgr-who" }), l.slice(indent) || " ")));
      if (!text.lines.length) code.replaceChildren("This kernel's source is not available.");
      code.setAttribute("aria-label", `source of ${source ? "a function of " : ""}${trace.kernel}`);
      codeTitle.replaceChildren(source ? `a function of ${trace.kernel}` : trace.kernel, make("span", { class: "pgr-dim" }, `line number, and how many threads were here last; ${faultLines.size ? "!: a line of a finding" : "marked: the chosen thread's line"}`));
    }
    [...code.children].forEach((row, k) => {
      const count = live.get(text.first + k) || 0, here = text.first + k === line;
      row.classList.toggle("here", here);
      if (row.children.length) row.children[1].textContent = count ? `×${count}` : "";
      if (here) { row.setAttribute("aria-current", "true"); if (row.offsetTop - code.offsetTop < code.scrollTop || row.offsetTop - code.offsetTop > code.scrollTop + code.clientHeight - 24) code.scrollTop = row.offsetTop - code.offsetTop - 60; } else row.removeAttribute("aria-current");
    });
  }

  function showRequest(request) {
    requestTitle.hidden = requestSays.hidden = requestBox.hidden = requestKey.hidden = !request;
    if (!request) return;
    requestSays.textContent = request.says;
    requestCanvas.setAttribute("aria-label", request.says);
    requestKey.textContent = request.shared ? "A column is a bank; a box is a word that it must serve. Boxes above the first wait." : "A frame is a sector; the bytes that a lane asks for are filled.";
    drawRequest(requestCanvas, request, colours, widths[0]);
  }

  /** The arrays that are shown: global ones, and the shared ones of the chosen thread's block. */
  function drawArrays() {
    const block = Math.floor(chosen / launch.perBlock), rank = k => launch.arrays[k].space === "shared" ? 0 : 1;
    const shown = launch.arrays.map((_, k) => k).filter(k => launch.arrays[k].space !== "local" && (launch.arrays[k].block < 0 || launch.arrays[k].block === block)).sort((a, b) => rank(a) - rank(b));
    const key = shown.join();
    for (const k of shown) if (!views.has(k)) views.set(k, makeArray(k));
    if (arraysBox.dataset.shown !== key) {
      arraysBox.dataset.shown = key;
      arraysBox.replaceChildren(...shown.flatMap(k => [views.get(k).title, views.get(k).view.box]));
    }
    for (const k of shown) views.get(k).view.refresh();
  }

  function makeArray(k) {
    const array = launch.arrays[k];
    let byBanks = false;
    const view = pictured(`element of ${array.name}`, Math.max(1, array.cells), view => {
      const lay = drawArray(view, launch, k, now, look, colours, widths[1], byBanks);
      const at = look.array === k ? array.cellOf(look.element) : -1;
      if (at >= 0 && lay.top + lay.rows * lay.s > BOX) {
        const y = lay.top + Math.floor((at + lay.skip) / lay.columns) * lay.s;
        if (y < view.box.scrollTop || y > view.box.scrollTop + BOX - lay.s) view.box.scrollTop = y - 100;
      }
      return { lay, at, down: lay.columns };
    }, at => {
      const who = (verb, last) => last < 0 ? `never ${verb}` : `${verb} last by ${words.thread(e.thread[last])} at step ${number(last + 1)}`;
      return `${words.element(k, array.elementAt(at))}: ${who("written", now.writes[k][at])}, ${who("read", now.reads[k][at])}`;
    }, at => { look = { array: k, element: array.elementAt(at) }; follows = follow.checked = false; drawSoon(); }, (lay, x, y) => {
      const column = Math.floor((x - lay.left) / lay.s), row = Math.floor((y - lay.top) / lay.s), at = row * lay.columns + column - lay.skip;
      return column >= 0 && column < lay.columns && at >= 0 && at < array.cells ? at : -1;
    }, 1);
    const where = array.space === "shared" ? `shared by block ${indexIn(array.block, trace.grid)}` : array.space;
    const left_out = array.sparse ? `; ${number(array.cells)} of ${number(array.size)} cells: ${array.left ? `${plural(array.left, "touched sector")} and all untouched ones` : "untouched sectors"} are left out` : "";
    const title = make("p", { class: "pgr-title" }, array.name, make("span", { class: "pgr-dim" }, `${where}, ${array.shape.join(" × ") || "1"} ${array.type}${left_out}`));
    if (array.space === "shared" && array.itemsize <= 16) {
      const toggle = make("button", { type: "button", "aria-pressed": "false", onclick: () => { byBanks = !byBanks; toggle.setAttribute("aria-pressed", `${byBanks}`); drawSoon(); } }, "a column for each bank");
      title.append(toggle);
    }
    return { title, view };
  }

  function showFinding(finding) {
    const cards = finding.accesses.map(access => {
      const [place, line] = siteOf(access), source = trace.sources[place].lines[line - trace.sources[place].first];
      const jump = access.step >= 0 ? button(`show step ${number(access.step + 1)}`, "go to this access", () => { follows = follow.checked = true; go(access.step + 1); }) : "";
      return make("div", {}, make("b", {}, access.verb || "here"), `: ${access.name}, line ${access.line}`, source ? make("code", { tabindex: 0 }, source.trim()) : "",
        access.step >= 0 ? make("span", { class: "pgr-dim" }, `${plural(access.barriers, "barrier")} before it `) : finding.accesses.length > 1 ? make("span", { class: "pgr-dim" }, "after the last step that is shown ") : "", jump);
    });
    const between = finding.accesses.length === 2 && finding.accesses.every(access => access.step >= 0)
      ? make("p", { class: "pgr-dim" }, finding.accesses[0].barriers === finding.accesses[1].barriers ? "Both threads have passed the same number of barriers, so none stands between the two accesses. On a GPU either may come first." : "The barriers that they have passed order only threads of one block. On a GPU either may come first.") : "";
    return make("div", { class: "pgr-found" }, make("p", {}, make("b", {}, finding.kind.replaceAll("_", " ")), `: ${finding.message}.`), make("div", { class: finding.accesses.length === 2 ? "pgr-two" : "" }, ...cards), between,
      finding.remedy ? make("p", {}, make("b", {}, "What to do: "), `${finding.remedy}.`) : "");
  }

  function showList() {
    if (!list.open) return;
    const from = clamp(0, step - 8, Math.max(0, steps - 15)), rows = [];
    for (let k = from; k < Math.min(steps, from + 15); k++) rows.push(make("tr", { class: k === step - 1 ? "here" : null, "aria-current": k === step - 1 ? "step" : null }, make("td", {}, number(k + 1)), make("td", {}, words.event(k)), make("td", {}, e.until[k] ? "waits" : "")));
    list.lastChild.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...["step", "event", "then"].map(text => make("th", { scope: "col" }, text)))), make("tbody", {}, ...rows)));
  }

  function start() {
    if (step >= steps) step = 0;
    play.textContent = "stop"; says.setAttribute("aria-live", "off");
    const began = performance.now(), from = step, speed = Math.max(8, steps / 20); // steps a second
    const tick = () => {
      const at = calm.matches ? step + Math.ceil(steps / 60) : from + Math.floor((performance.now() - began) / 1000 * speed);
      if (at > step) go(at);
      if (at >= steps) return stop();
      playing = calm.matches ? setTimeout(tick, 700) : requestAnimationFrame(tick);
    };
    playing = -1;
    tick();
  }

  function stop() {
    if (playing) { cancelAnimationFrame(playing); clearTimeout(playing); }
    playing = 0; play.textContent = "play"; says.setAttribute("aria-live", "polite");
  }

  /** Colours of the theme around, and the legends in them. */
  function paint() {
    root.dataset.theme = colours.theme = themeAround(root);
    const style = getComputedStyle(root);
    for (const name of ["ink", "dim", "line", "page", "soft", "run", "begun", "wait", "done", "idle", "read", "write", "atomic", "bad", "mark"]) colours[name] = style.getPropertyValue(`--${name}`).trim();
    threadsKey.replaceChildren(...[RUNS, BEGUN, WAITS, DONE, NOT_BEGUN].map(state => make("span", {}, sample(pen => drawThread(pen, colours, 0, 0, 12, state), colours), ["not begun", "between steps", "runs now", "waits", "returned"][state])));
    const cells = [["read", READ], ["written", WRITTEN | WRITTEN_LAST], ["written, then read", READ | WRITTEN], ["atomic", ATOMIC_LAST], ["never written", UNWRITTEN]];
    cellsKey.replaceChildren(...cells.map(([text, code]) => make("span", {}, sample(pen => drawCell(pen, colours, 0, 0, 12, code), colours), text)),
      make("span", {}, sample(pen => { drawCell(pen, colours, 0, 0, 12, 0); pen.fillStyle = colours.mark; pen.beginPath(); pen.arc(6, 6, 2, 0, 7); pen.fill(); }, colours), "in the warp's request, its sectors underlined"),
      ...(guilty.length ? [make("span", {}, sample(pen => { pen.setLineDash([3, 2]); outline(pen, colours.bad, 2, 2, 2, 8, 8); pen.setLineDash([]); }, colours), "in a finding")] : []));
    drawSoon();
  }
}

export default { render };
