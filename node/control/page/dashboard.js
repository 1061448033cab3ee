// The dashboard: what /api/v1/view/stream says of the ring, drawn; and the control API behind buttons. All that sites and
// members say goes into the page as text, never as HTML.
"use strict";

const byId = (id) => document.getElementById(id);
const STATES = ["fetched", "failed", "excluded", "queued", "in_flight"];
const WORDS = { in_flight: "in flight" };
const KEPT = 3600; // samples that the charts keep of what this page sees itself

// ---- small things ----

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
function say(text) { byId("news").textContent = text; }
function show(id, text, value) {
  const place = byId(id);
  place.textContent = text;
  if (value !== undefined) place.dataset.value = value;
}
const whole = (number) => Number(number).toLocaleString("en");
function rate(number) {
  if (number === null || number === undefined) return "–";
  return number >= 10 ? whole(Math.round(number)) : number.toFixed(1);
}
function bytes(number) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (number >= 1000 && unit + 1 < units.length) { number /= 1000; ++unit; }
  return (unit > 0 && number < 100 ? number.toFixed(1) : Math.round(number)) + " " + units[unit];
}
function clock(seconds) {
  const days = Math.floor(seconds / 86400), hours = Math.floor(seconds / 3600) % 24, minutes = Math.floor(seconds / 60) % 60;
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min` : `${seconds} s`;
}

// ---- the control API ----

// The token comes in the fragment of the address, which is not sent to any server. It is kept for this tab.
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  byId("token-part").hidden = Boolean(sessionStorage.getItem("token"));
}

async function call(method, route, fields = {}) {
  const request = { method, headers: { Authorization: `Bearer ${sessionStorage.getItem("token") ?? ""}` } };
  let address = `/api/v1/${route}`;
  if (method === "GET") {
    const query = new URLSearchParams(fields).toString();
    if (query) address += `?${query}`;
  } else {
    request.body = JSON.stringify(fields);
    request.headers["Content-Type"] = "application/json";
  }
  const answer = await fetch(address, request);
  const content = await answer.json();
  if (answer.status === 401) byId("token-part").hidden = false;
  if (!answer.ok) throw new Error(content.error ?? `HTTP ${answer.status}`);
  return content;
}

// Runs what a button or a form does; says how it ended.
function act(done) {
  return async (event) => {
    event.preventDefault();
    const button = event.submitter ?? event.currentTarget;
    button.disabled = true;
    try {
      say(await done(event));
    } catch (cause) {
      say(`It was not done: ${cause.message}`);
    } finally {
      button.disabled = false;
    }
  };
}
const onSubmit = (id, done) => byId(id).addEventListener("submit", act(done));
const onClick = (id, done) => byId(id).addEventListener("click", act(done));

function known(answer) {
  const silent = (answer.unreachable ?? []).length;
  const peers = (answer.peers ?? []).length;
  return `${peers} ${peers === 1 ? "peer knows" : "peers know"} it` + (silent > 0 ? `; ${silent} did not answer` : "");
}

// ---- the view ----

function drawLedger(ledger) {
  const numbers = byId("ledger"), bar = byId("ledger-bar");
  if (numbers.childElementCount === 0) {
    for (const state of [...STATES, "discovered"]) {
      const pair = element("div"), name = element("dt", WORDS[state] ?? state);
      if (state !== "discovered") {
        name.prepend(element("i", "", { class: state }));
        bar.append(element("span", "", { class: state }));
      }
      pair.append(name, element("dd", "", { id: `ledger-${state}` }));
      numbers.append(pair);
    }
  }
  STATES.forEach((state, at) => { bar.children[at].style.flexGrow = ledger[state]; });
  for (const state of [...STATES, "discovered"]) show(`ledger-${state}`, whole(ledger[state]), ledger[state]);
  const word = byId("ledger-word");
  word.className = ledger.balances ? "" : "bad";
  const transit = `${whole(ledger.links_on_the_way)} links and ${whole(ledger.copies_on_the_way)} copies are on their way ` +
    `between peers; ${whole(ledger.partitions_held)} of ${whole(ledger.partitions)} partitions are held.`;
  word.textContent = ledger.balances
    ? `${ledger.settled ? "The ledger balances." : "No difference among those that answer."} ${transit}`
    : `The ledger does not balance: ${ledger.differences.join("; ")}`;
}

function drawProblems(view) {
  const list = byId("problems");
  list.replaceChildren(...view.problems.slice(0, 20).map(({ level, what }) => element("li", what, { class: level })));
  if (view.left_out > 0)
    list.append(element("li", `${whole(view.left_out)} peers are not shown: their answers do not fit`, { class: "settling" }));
}

// An arc of a ring, from one part of the whole to another.
function arc(from, to, inner, outer) {
  const point = (part, radius) => {
    const angle = 2 * Math.PI * Math.min(part, from + 0.99999) - Math.PI / 2;
    return `${(150 + radius * Math.cos(angle)).toFixed(2)} ${(150 + radius * Math.sin(angle)).toFixed(2)}`;
  };
  const large = to - from > 0.5 ? 1 : 0;
  return `M${point(from, outer)}A${outer} ${outer} 0 ${large} 1 ${point(to, outer)}` +
    `L${point(to, inner)}A${inner} ${inner} 0 ${large} 0 ${point(from, inner)}Z`;
}

const svg = (name, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

// The peers around the ring, each with the share of the partitions that it holds. What moves is dashed.
function drawWheel(view) {
  const held = view.peers.map((peer) => peer.status.counts?.partitions_held ?? 0);
  const all = Math.max(held.reduce((sum, count) => sum + count, 0), view.ledger.partitions, 1);
  const words = view.peers.map((peer, at) => `peer ${peer.id.slice(0, 8)} holds ${whole(held[at])}`).slice(0, 12).join(", ");
  const wheel = svg("svg", { viewBox: "-30 0 360 300", role: "img", "aria-label": `Partitions: ${words || "none"}` });
  let from = 0;
  view.peers.forEach((peer, at) => {
    const to = from + held[at] / all, hue = Math.round((360 * at) / view.peers.length + 205) % 360;
    if (to > from) {
      const part = svg("path", {
        d: arc(from, to, 85, 130), fill: `hsl(${hue} 45% 55% / ${peer.moving > 0 ? 0.55 : 0.9})`,
        stroke: "var(--ink)", "stroke-width": peer.moving > 0 ? 2 : 0.7, class: peer.moving > 0 ? "moving" : "",
      });
      part.append(svg("title", {}, `peer ${peer.id.slice(0, 8)} at ${peer.address}: ${peer.state}, ${whole(held[at])} ` +
        `partitions${peer.moving > 0 ? `, ${whole(peer.moving)} move or lack a copy` : ""}`));
      wheel.append(part);
      if (to - from > 0.04) {
        const angle = Math.PI * (from + to) - Math.PI / 2;
        wheel.append(svg("text", { x: 150 + 141 * Math.cos(angle), y: 150 + 141 * Math.sin(angle) + 4,
          "text-anchor": Math.cos(angle) < -0.2 ? "end" : Math.cos(angle) > 0.2 ? "start" : "middle" }, peer.id.slice(0, 4)));
      }
    }
    from = to;
  });
  if (from < 0.9999)
    wheel.append(svg("path", { d: arc(from, 1, 85, 130), fill: "none", stroke: "var(--bad)", class: "moving" }));
  const moving = view.peers.reduce((sum, peer) => sum + peer.moving, 0);
  wheel.append(svg("text", { x: 150, y: 148, "text-anchor": "middle" }, `${view.peers.length} peers`));
  wheel.append(svg("text", { x: 150, y: 165, "text-anchor": "middle" }, moving > 0 ? `${whole(moving)} moving` : "at rest"));
  byId("wheel").replaceChildren(wheel);
}

const COLUMNS = [
  ["Peer", (peer) => peer.id.slice(0, 8)],
  ["Address", (peer) => peer.address],
  ["State", (peer) => peer.state],
  ["Pages/s", (peer) => peer.pages_per_second, rate],
  ["MB/s", (peer) => (peer.bytes_per_second === null ? null : peer.bytes_per_second / 1e6), rate],
  ["Queued", (peer) => peer.queued, whole],
  ["In flight", (peer) => peer.in_flight, whole],
  ["Outbox", (peer) => peer.outbox, whole],
  ["Moving", (peer) => peer.moving, whole],
  ["CPU", (peer) => peer.processors, (share) => (share === null ? "–" : `${Math.round(100 * share)} %`)],
  ["Memory", (peer) => peer.memory_bytes, bytes],
  ["Disk free", (peer) => peer.disk_free_bytes, bytes],
  ["Limit", (peer) => peer.limit.by],
];
let sorted = 0;
let last = null;

function drawPeers(view) {
  const head = document.querySelector("#peer-table thead tr");
  if (head.childElementCount === 0) {
    COLUMNS.forEach(([name, , format], at) => {
      const cell = element("th", null, { scope: "col", class: format ? "number" : "" });
      const button = element("button", name, { type: "button" });
      button.addEventListener("click", () => { sorted = at; if (last) drawPeers(last); });
      cell.append(button);
      head.append(cell);
    });
    head.append(element("th", "Order", { scope: "col" }));
  }
  [...head.children].forEach((cell, at) => {
    if (at === sorted) cell.setAttribute("aria-sort", COLUMNS[at][2] ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
  const [, key, format] = COLUMNS[sorted];
  const order = (a, b) => (format ? (key(b) ?? 0) - (key(a) ?? 0) : String(key(a)).localeCompare(String(key(b))));
  const body = document.querySelector("#peer-table tbody");
  const rows = [...view.peers].sort(order).map((peer) => {
    // A row is kept, so that its button keeps the focus.
    let row = body.querySelector(`tr[data-peer="${CSS.escape(peer.id)}"]`);
    if (!row) {
      row = element("tr", null, { "data-peer": peer.id });
      COLUMNS.forEach(([, , number]) => row.append(element("td", "", { class: number ? "number" : "" })));
      const cell = element("td"), leave = element("button", "Leave", { type: "button" });
      leave.setAttribute("aria-label", `Let peer ${peer.id.slice(0, 8)} leave`);
      leave.addEventListener("click", act(async () => {
        if (!confirm(`Peer ${peer.id.slice(0, 8)} hands its partitions to the others and ends.`)) return "Nothing was done.";
        await call("POST", "leave", { peer: peer.id });
        return `Peer ${peer.id.slice(0, 8)} leaves.`;
      }));
      cell.append(leave);
      row.append(cell);
    }
    COLUMNS.forEach(([, value, text], at) => {
      row.children[at].textContent = text ? text(value(peer)) : value(peer);
      row.children[at].dataset.value = value(peer) ?? "";
    });
    return row;
  });
  for (const silent of view.unreachable) {
    const row = element("tr");
    row.append(element("td", String(silent.id).slice(0, 8)), element("td", silent.address),
      element("td", "does not answer", { colspan: COLUMNS.length - 1 }));
    rows.push(row);
  }
  if (rows.length !== body.childElementCount || rows.some((row, at) => row !== body.children[at])) body.replaceChildren(...rows);
}

// ---- charts ----

// What the peers remember: [end of the interval, its pages, bytes, queued, failed], summed over all peers.
function sumHistory(peers) {
  const rows = new Map();
  for (const peer of peers) {
    const fineFrom = peer.fine.from;
    for (const series of [peer.coarse, peer.fine]) {
      series.pages.forEach((pages, at) => {
        const end = series.from + (at + 1) * series.seconds;
        if (pages === null || (series === peer.coarse && end > fineFrom)) return;
        const row = rows.get(end) ?? { pages: 0, bytes: 0, queued: 0, failed: 0 };
        row.pages += pages / series.seconds;
        row.bytes += series.bytes[at] / series.seconds / 1e6;
        row.queued += series.queued[at];
        row.failed += series.failed[at];
        rows.set(end, row);
      });
    }
  }
  return [...rows].sort(([a], [b]) => a - b);
}

// Before what this page has seen itself.
async function takeHistory() {
  const peers = (await call("GET", "history")).peers.filter((peer) => peer.fine);  // an older release has none
  const first = samples.at[0] ?? Date.now() / 1000;
  const rows = sumHistory(peers).filter(([end]) => end < first);
  past.at = rows.map(([end]) => end);
  for (const name of CHARTS) past[name] = rows.map(([, row]) => row[name]);
  byId("history-word").textContent = `The last two days, as far as the ${peers.length} peers that answer remember.`;
}

const CHARTS = ["pages", "bytes", "queued", "failed"];
const past = { at: [], pages: [], bytes: [], queued: [], failed: [] };     // as the peers remember it
const samples = { at: [], pages: [], bytes: [], queued: [], failed: [] };  // as this page has seen it
const line = (name) => [[...past.at, ...samples.at], [...past[name], ...samples[name]]];
const charts = {};

function chart(name) {
  const place = byId(`${name}-chart`), style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--faint"), accent = style.getPropertyValue("--accent"), grid = style.getPropertyValue("--line");
  const axis = { stroke: ink, grid: { stroke: grid }, ticks: { stroke: grid } };
  return new uPlot({
    width: Math.max(place.clientWidth, 120), height: 130, cursor: { show: false }, legend: { show: false },
    scales: { y: { range: (_, low, high) => [Math.min(low ?? 0, 0), Math.max(high ?? 0, 1)] } },
    axes: [axis, { ...axis, size: 56, values: (_, marks) => marks.map((mark) => whole(mark)) }],
    series: [{}, { stroke: accent, width: 2, spanGaps: false }],
  }, line(name), place);
}

function drawCharts(view) {
  const now = Date.now() / 1000;
  const megabytes = view.bytes_per_second === null ? null : view.bytes_per_second / 1e6;
  for (const [name, value] of [["at", now], ["pages", view.pages_per_second], ["bytes", megabytes],
    ["queued", view.queued], ["failed", view.failed]]) {
    samples[name].push(value);
    if (samples[name].length > KEPT) samples[name].shift();
  }
  for (const name of CHARTS) {
    charts[name] ??= chart(name);
    charts[name].setData(line(name));
  }
  show("pages-rate", rate(view.pages_per_second));
  show("bytes-rate", rate(megabytes));
  show("queued-now", whole(view.queued), view.queued);
  show("failed-now", whole(view.failed), view.failed);
}

function redrawCharts() {
  for (const name of Object.keys(charts)) {
    charts[name].destroy();
    charts[name] = chart(name);
  }
}

function draw(view) {
  if (view.error) return say(view.error);
  last = view;
  const health = byId("health");
  health.textContent = view.health;
  health.className = `badge ${view.health}`;
  show("ring-id", view.ring.slice(0, 8), view.ring);
  show("peers-answering", `${view.peers.length} of ${view.peers.length + view.unreachable.length + view.left_out}`);
  show("up", clock(view.seconds_up));
  show("limit", view.limit.text, view.limit.by);
  show("end", view.end.text, view.end.seconds ?? "");
  drawProblems(view);
  drawLedger(view.ledger);
  drawWheel(view);
  drawPeers(view);
  drawOutcomes(view);
  drawCharts(view);
  document.body.dataset.ready = "1";
}

function drawOutcomes(view) {
  const rows = view.outcomes.filter(({ state }) => state !== "fetched").map(({ state, reason, urls }) => {
    const row = element("tr"), cell = element("th", null, { scope: "row" }), choose = element("button", reason, { type: "button" });
    choose.setAttribute("aria-label", `List what is ${state} because of ${reason}`);
    choose.addEventListener("click", () => {
      byId("urls-state").value = state;
      byId("urls-reason").value = reason;
      byId("urls-form").requestSubmit();
      byId("urls").focus();
    });
    cell.append(choose);
    row.append(cell, element("td", state), element("td", whole(urls), { class: "number", "data-value": urls }));
    row.dataset.key = `${state} ${reason}`;
    return row;
  });
  const body = document.querySelector("#outcome-table tbody");
  const unchanged = rows.length === body.childElementCount &&
    rows.every((row, at) => row.dataset.key === body.children[at].dataset.key);
  if (unchanged) {
    // Rows are kept, so that a button keeps the focus.
    rows.forEach((row, at) => body.children[at].lastElementChild.replaceWith(row.lastElementChild));
  } else {
    body.replaceChildren(...rows);
  }
  byId("outcome-table").hidden = rows.length === 0;
  byId("outcomes-word").textContent = rows.length === 0 ? "There is none." : "";
  const politeness = byId("politeness");
  politeness.textContent = view.politeness.text;
  politeness.className = view.politeness.too_short > 0 ? "bad" : "";
}

// A hidden page asks for nothing: it may be one of many.
let stream = null;
function listen() {
  stream?.close();
  stream = null;
  if (document.hidden) return;
  stream = new EventSource("/api/v1/view/stream");
  stream.onmessage = (event) => draw(JSON.parse(event.data));
  stream.onerror = () => say("This peer does not answer; the page shows what it said last.");
  stream.onopen = () => say("");
}

// ---- forms ----

const EXPLAINED = ["url", "state", "reason", "why", "fix", "status", "attempts", "depth", "host", "partition", "holder",
  "owner", "in_scope", "robots", "when", "not_before", "referrer"];

onSubmit("explain-form", async () => {
  const answer = await call("GET", "explain", { url: byId("explain-url").value });
  const names = [...EXPLAINED.filter((name) => name in answer), ...Object.keys(answer).filter((name) => !EXPLAINED.includes(name))];
  byId("explanation").replaceChildren(...names.flatMap((name) => [element("dt", name.replaceAll("_", " ")),
    element("dd", typeof answer[name] === "object" ? JSON.stringify(answer[name]) : String(answer[name]))]));
  return "";
});

onSubmit("urls-form", async () => {
  const fields = { states: byId("urls-state").value };
  for (const name of ["host", "reason"]) if (byId(`urls-${name}`).value) fields[name] = byId(`urls-${name}`).value;
  const answer = await call("GET", "urls", fields);
  const urls = answer.peers.flatMap((peer) => peer.urls ?? []);
  const more = answer.peers.some((peer) => peer.last);
  const rows = urls.slice(0, 500).map((url) => {
    const row = element("tr");
    for (const text of [url.url, url.why ?? url.reason ?? "", url.status ?? "", url.attempts ?? "", url.when ?? ""])
      row.append(element("td", text));
    return row;
  });
  document.querySelector("#url-table tbody").replaceChildren(...rows);
  byId("url-table").hidden = rows.length === 0;
  byId("urls-word").textContent = urls.length === 0 && !more ? "There is none." :
    `${whole(Math.min(urls.length, 500))} are shown${more || urls.length > 500 ? "; orbweaver report lists all" : ""}.`;
  return "";
});

onClick("retry", async () => {
  const fields = { states: [byId("urls-state").value] };
  for (const name of ["host", "reason"]) if (byId(`urls-${name}`).value) fields[name] = byId(`urls-${name}`).value;
  return `They are asked for again: ${known(await call("POST", "retry", fields))}.`;
});

const seconds = (micros) => `${(micros / 1e6).toFixed(micros < 1e7 ? 1 : 0)} s`;

onClick("show-hosts", async () => {
  const answer = await call("GET", "hosts", { limit: 100 });
  const hosts = answer.peers.flatMap((peer) => peer.hosts.map((host) => ({ ...host, peer: peer.id.slice(0, 8) })));
  const need = (host) => host.queued * host.delay_us;
  const rows = hosts.sort((a, b) => need(b) - need(a)).slice(0, 200).map((host) => {
    const row = element("tr");
    row.append(element("th", host.host, { scope: "row" }), element("td", host.peer));
    for (const text of [whole(host.queued) + (host.more ? "+" : ""), seconds(host.delay_us)])
      row.append(element("td", text, { class: "number" }));
    row.append(element("td", host.delay_why), element("td", host.why));
    for (const text of [seconds(host.next_us), whole(host.failures)]) row.append(element("td", text, { class: "number" }));
    const cell = element("td"), choose = element("button", "Choose", { type: "button" });
    choose.setAttribute("aria-label", `Give an order about ${host.host}`);
    choose.addEventListener("click", () => { byId("order-host").value = host.host; byId("order-host").focus(); });
    cell.append(choose);
    row.append(cell);
    return row;
  });
  document.querySelector("#host-table tbody").replaceChildren(...rows);
  byId("host-table").hidden = rows.length === 0;
  const all = answer.peers.reduce((sum, peer) => sum + peer.hosts_in_memory, 0);
  return `${whole(rows.length)} of ${whole(all)} hosts in memory are shown. A + means that more of its URLs are on disk.`;
});

onClick("show-events", async () => {
  const { peers } = await call("GET", "events");
  const events = peers.flatMap((peer) => peer.events.map((event) => ({ ...event, peer: peer.id.slice(0, 8) })));
  events.sort((a, b) => b.at.localeCompare(a.at) || b.number - a.number);
  byId("event-list").replaceChildren(...events.slice(0, 300).map(({ at, peer, event, fields }) => element("li",
    `${at}  peer ${peer}: ${event}  ${Object.entries(fields).map(([name, value]) => `${name}=${value}`).join("  ")}`)));
  return `${whole(Math.min(events.length, 300))} of ${whole(events.length)} events are shown.`;
});

const order = (kind, host, value) => call("POST", "orders", { kind, host, value });

async function listOrders() {
  const { orders } = await call("GET", "orders");
  const words = ({ name, value }) => {
    if (value === "") return `${name}: taken back`;
    if (name.startsWith("delay ")) return `${name}: ${Number(value) / 1e6} s`;
    if (!name.startsWith("visit ")) return name;
    const { before_us, ...wanted } = JSON.parse(value);
    return `visit again: ${Object.values(wanted).flat().join(", ") || "all"}`;
  };
  const rows = [...orders].sort((a, b) => b.number - a.number);
  byId("order-list").replaceChildren(...rows.map((row) => element("li", `${row.given}  ${words(row)}`)));
}

async function given(answer, words) {
  await listOrders();
  return `${words}: ${known(answer)}.`;
}

onClick("pause-ring", async () => given(await order("pause", "", "yes"), "The crawl is paused"));
onClick("resume-ring", async () => given(await order("pause", "", ""), "The crawl goes on"));
onSubmit("host-form", async (event) => {
  const host = byId("order-host").value.trim();
  switch (event.submitter.value) {
    case "pause": return given(await order("pause", host, "yes"), `${host} is paused`);
    case "resume": return given(await order("pause", host, ""), `${host} goes on`);
    case "block": return given(await order("block", host, "yes"), `${host} is blocked`);
    case "unblock": {
      await order("block", host, "");
      return given(await call("POST", "retry", { states: ["excluded"], reason: "operator" }), `${host} is asked again`);
    }
    case "delay": {
      const seconds = byId("order-delay").valueAsNumber;
      if (!(seconds >= 0)) throw new Error("the delay is a number of seconds");
      return given(await order("delay", host, String(Math.round(seconds * 1e6))), `${host} is left alone for ${seconds} s`);
    }
    default: return given(await order("delay", host, ""), `${host} has the delay of the settings`);
  }
});

onSubmit("seeds-form", async () => {
  const urls = byId("seeds").value.split("\n").map((line) => line.trim()).filter(Boolean);
  const { accepted, refused } = await call("POST", "seeds", { urls });
  return `${accepted.length} added` + (refused.length > 0 ? `; not read: ${refused.map(({ url }) => url).join(" ")}` : "") + ".";
});

onClick("stop", async () => {
  if (!confirm("All peers stop. The crawl continues where it was when they are started again.")) return "Nothing was done.";
  await call("POST", "stop");
  return "The ring stops.";
});

function fillTable(rows) {
  document.querySelector("#settings-table tbody").replaceChildren(...rows.map(([name, value]) => {
    const row = element("tr");
    row.append(element("th", name, { scope: "row" }), element("td", value));
    return row;
  }));
  byId("settings-table").hidden = false;
}

onClick("show-settings", async () => {
  const { peers } = await call("GET", "settings");
  const names = Object.keys(peers[0]?.settings ?? {});
  fillTable(names.map((name) => {
    const values = [...new Set(peers.map((peer) => peer.settings[name] ?? "(set)"))];
    return [name, values.join(" | ")];
  }));
  return peers.length > 1 ? "Where peers differ, all their values are shown." : "";
});

onClick("show-traps", async () => {
  const { peers } = await call("GET", "traps");
  fillTable(peers.flatMap((peer) => (peer.traps ?? []).map((trap) => [`${trap.host}: ${trap.rule}`,
    `${whole(trap.urls ?? trap.count ?? 0)} URLs, such as ${(trap.examples ?? []).join(" ")}`])));
  return "";
});

onSubmit("token-form", async () => {
  sessionStorage.setItem("token", byId("token").value.trim());
  byId("token").value = "";
  await listOrders();
  byId("token-part").hidden = true;
  await takeHistory();
  return "The token is right.";
});

takeToken();
listen();
document.addEventListener("visibilitychange", listen);
addEventListener("hashchange", takeToken);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCharts);
let resized = null;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(redrawCharts, 200); });
if (sessionStorage.getItem("token"))
  for (const begin of [listOrders, takeHistory]) begin().catch((cause) => say(cause.message));
