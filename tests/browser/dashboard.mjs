// What tests/browser/run checks in the browser. The one argument is a JSON object: modules, peers, token, host, url, new,
// screenshots, short. Prints "ok NAME" or "FAIL NAME: why" for each check.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const about = JSON.parse(process.argv[2]);
const require = createRequire(path.join(about.modules, "x.js"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [first, second, third] = about.peers;
const home = (peer) => `http://${peer.address}/`;
const PATIENCE = 20_000;
let failed = 0;

async function check(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (cause) {
    ++failed;
    console.log(`FAIL ${name}: ${String(cause.message ?? cause).split("\n").slice(0, 6).join(" | ")}`);
  }
}
function equal(got, wanted, what) {
  if (JSON.stringify(got) !== JSON.stringify(wanted))
    throw new Error(`${what}: ${JSON.stringify(got)} is not ${JSON.stringify(wanted)}`);
}
async function until(what, met) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const answer = await met();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`still not: ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
// As a program asks, at a peer that the page is not open at.
async function ask(peer, route) {
  const answer = await fetch(`http://${peer.address}/api/v1/${route}`, { headers: { Authorization: `Bearer ${tokens.get(peer)}` } });
  return answer.json();
}
const tokens = new Map([[first, about.token]]);
const status = () => ask(first, "ring");
const orders = async () => new Map((await ask(first, "orders")).orders.map(({ name, value }) => [name, value]));

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const seen = [];
async function open(peer, { token = false, width = 1280, height = 900, colorScheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  page.on("request", (request) => seen.push(request.url()));
  page.on("pageerror", (fault) => seen.push(`error: ${fault.message}`));
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto(home(peer) + (token ? `#token=${about.token}` : ""));
  await page.waitForFunction(() => document.body.dataset.ready === "1", null, { timeout: PATIENCE });
  return page;
}
const shown = (page, id) => page.locator(`#${id}`).innerText();
const value = async (page, id) => Number(await page.locator(`#${id}`).getAttribute("data-value"));
const says = (page, words) => until(`the page says ${words}`, async () => (await shown(page, "news")).match(words));

const page = await open(first, { token: true });
const STATES = ["fetched", "failed", "excluded", "queued", "in_flight"];

await check("under load the ledger sums at each moment", async () => {
  for (let moment = 0; moment < 20; ++moment) {
    const [parts, all] = await page.evaluate((states) => {
      const number = (state) => Number(document.getElementById(`ledger-${state}`).dataset.value);
      return [states.reduce((sum, state) => sum + number(state), 0), number("discovered")];
    }, STATES);
    equal(parts, all, "fetched, failed, excluded, queued and in flight");
    await page.waitForTimeout(150);
  }
});

const [paint, size] = await page.evaluate(() => [
  performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
  performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
    .filter((entry) => !entry.name.includes("/api/")).reduce((sum, entry) => sum + entry.transferSize, 0),
]);
console.log(`first paint after ${Math.round(paint)} ms, ${Math.round(size / 1000)} kB in all`);

await check("the token leaves the address bar", async () => equal(new URL(page.url()).hash, "", "fragment"));

await check("every peer shows the same ring, without a token", async () => {
  for (const peer of [second, third]) {
    const other = await open(peer);
    equal(await other.locator("#ring-id").getAttribute("data-value"), await page.locator("#ring-id").getAttribute("data-value"), "ring");
    await until("three peers", async () => (await shown(other, "peers-answering")) === "3 of 3");
    await other.context().close();
  }
});

await check("without the token nothing is done, and the page asks for it", async () => {
  const stranger = await open(first);
  await stranger.click("#pause-ring");
  await says(stranger, /not done.*token/);
  equal((await orders()).size, 0, "orders");
  await stranger.fill("#token", about.token);
  await stranger.press("#token", "Enter");
  await says(stranger, /token is right/);
  await stranger.context().close();
});

await check("pause stops all requests, and the numbers are those of the ring's status", async () => {
  await page.click("#pause-ring");
  await says(page, /crawl is paused: 3 peers know it/);
  equal((await orders()).get("pause"), "yes", "order");
  const still = await until("nothing is in flight, and the page has seen it", async () => {
    const { totals } = await status();
    const same = totals.pages_in_flight === 0 && (await value(page, "ledger-fetched")) === totals.fetched;
    return same && (await value(page, "ledger-discovered")) === totals.discovered ? totals : null;
  });
  for (const state of ["fetched", "failed", "excluded", "queued"]) equal(await value(page, `ledger-${state}`), still[state], state);
  const peers = new Map((await status()).peers.map((peer) => [peer.id, peer]));
  const rows = await page.$$eval("#peer-table tbody tr", (all) => all.map((row) => [row.dataset.peer, row.children[5].dataset.value]));
  equal(rows.length, 3, "rows");
  for (const [id, queued] of rows) equal(Number(queued), peers.get(id).counts.queued, `queued of ${id}`);
  await until("it does not say when it ends", async () => (await shown(page, "end")).includes("peers may not fetch"));
});

await check("resume goes on", async () => {
  const before = (await status()).totals.fetched;
  await page.click("#resume-ring");
  await says(page, /goes on/);
  equal((await orders()).get("pause"), "", "order");
  await until("pages are fetched", async () => (await status()).totals.fetched > before);
  await until("it says when it ends, and names no host", async () =>
    /^in .*(one host needs that long|at the rate of now)/.test(await shown(page, "end")));
});

await check("orders about a host: pause, resume, delay, default, block, unblock", async () => {
  const give = async (name, words) => {
    await page.fill("#order-host", about.host);
    await page.click(`#host-form button[value=${name}]`);
    await says(page, words);
    return orders();
  };
  equal((await give("pause", /is paused/)).get(`pause ${about.host}`), "yes", "pause");
  equal((await give("resume", /goes on/)).get(`pause ${about.host}`), "", "resume");
  await page.fill("#order-delay", "2.5");
  equal((await give("delay", /left alone for 2.5 s/)).get(`delay ${about.host}`), "2500000", "delay");
  equal((await give("default", /delay of the settings/)).get(`delay ${about.host}`), "", "default");
  equal((await give("block", /is blocked/)).get(`block ${about.host}`), "yes", "block");
  await until("its URLs are excluded", async () => (await ask(first, `urls?states=excluded&host=${about.host}&reason=operator`))
    .peers.some((peer) => peer.urls.length > 0));
  equal((await give("unblock", /asked again/)).get(`block ${about.host}`), "", "unblock");
  await until("the list shows it", async () => (await shown(page, "order-list")).includes(`block ${about.host}: taken back`));
});

await check("a URL is explained, and what it holds stays text", async () => {
  await page.fill("#seeds", about.new);
  await page.click("#seeds-form button");
  await says(page, /1 added/);
  await page.fill("#explain-url", about.new);
  await page.press("#explain-url", "Enter");
  await until("it is explained", async () => (await shown(page, "explanation")).includes("onerror"));
  equal(await page.evaluate(() => window.hit ?? null), null, "a script of a URL");
  await page.fill("#explain-url", about.url);
  await page.press("#explain-url", "Enter");
  await until("it is explained", async () => (await shown(page, "explanation")).includes("fetched"));
});

await check("failed URLs are listed and asked for again", async () => {
  await until("some have failed", async () => (await status()).totals.failed > 0);
  await page.selectOption("#urls-state", "failed");
  await page.click("#urls-form button:not([type])");
  await until("they are listed", async () => (await page.locator("#url-table tbody tr").count()) > 0);
  await page.click("#retry");
  await says(page, /asked for again: 3 peers know it/);
  if (![...(await orders()).keys()].some((name) => name.startsWith("visit "))) throw new Error("no order to visit again");
});

await check("outcomes are those of the ring by reason, and a reason lists its URLs", async () => {
  const sums = new Map();
  for (const peer of (await status()).peers)
    for (const [state, reasons] of Object.entries(peer.outcomes))
      for (const [reason, urls] of Object.entries(reasons))
        if (state !== "fetched") sums.set(`${state} ${reason}`, (sums.get(`${state} ${reason}`) ?? 0) + urls);
  const rows = () => page.$$eval("#outcome-table tbody tr", (all) => all.map((row) =>
    [`${row.children[1].innerText} ${row.children[0].innerText}`, Number(row.children[2].dataset.value)]));
  await until("all reasons are there", async () => {
    const seen = new Map(await rows());
    return [...sums].every(([name, urls]) => seen.get(name) >= urls);
  });
  await page.locator("#outcome-table tbody tr", { hasText: "failed" }).first().locator("button").click();
  await until("they are listed", async () => (await shown(page, "urls-word")).includes("shown"));
  equal(await page.inputValue("#urls-state"), "failed", "state");
  const reason = await page.inputValue("#urls-reason");
  equal(sums.has(`failed ${reason}`), true, `reason ${reason}`);
  await page.fill("#urls-reason", "");
});

await check("hosts were left alone as promised, the fetchers say", async () => {
  await until("waits were measured", async () => /\d waits .*none too short; the shortest took/.test(await shown(page, "politeness")));
});

await check("charts begin before the page was opened, where it has the token", async () => {
  await until("an interval with pages is over", async () => (await ask(first, "history")).peers.some(
    ({ fine }) => fine?.pages.some((pages) => pages > 0)));
  const opened = Date.now() / 1000;
  const late = await open(first, { token: true });
  await until("peers have told", async () => (await shown(late, "history-word")).includes("3 peers"));
  const begin = await late.evaluate(() => past.at[0]);
  equal(begin < opened, true, `first point ${opened - begin} s before`);
  const pages = await late.evaluate(() => past.at.reduce((sum, at, i) => sum + past.pages[i] * 10, 0));
  equal(pages > 0, true, `${pages} pages`);
  await late.context().close();
});

await check("hosts are shown with their delay, and one is chosen for an order", async () => {
  await page.click("#show-hosts");
  await until("hosts", async () => (await page.locator("#host-table tbody tr").count()) > 3);
  const row = page.locator("#host-table tbody tr").first();
  equal(await row.locator("td").nth(2).innerText(), "0.1 s", "delay");
  await row.locator("button").click();
  equal(await page.inputValue("#order-host"), await row.locator("th").innerText(), "host");
});

await check("what has happened is listed", async () => {
  await page.click("#show-events");
  await until("a peer has joined, and an order came", async () => {
    const events = await shown(page, "event-list");
    return events.includes("joined") && events.includes("orders are news");
  });
});

await check("settings and traps are shown", async () => {
  await page.click("#show-settings");
  await until("settings", async () => (await shown(page, "settings-table")).includes("max_pages"));
  await page.click("#show-traps");
  await until("traps or none", async () => !(await shown(page, "settings-table")).includes("max_pages"));
});

await check("the table of peers is sorted by a column", async () => {
  await page.click("#peer-table th:nth-child(6) button");
  equal(await page.getAttribute("#peer-table th:nth-child(6)", "aria-sort"), "descending", "aria-sort");
  const queued = await page.$$eval("#peer-table tbody tr", (all) => all.map((row) => Number(row.children[5].dataset.value)));
  equal(queued, [...queued].sort((a, b) => b - a), "order");
});

await check("it works by keyboard: the skip link comes first, and a button is pressed by Enter", async () => {
  const typist = await open(first, { token: true });
  await typist.keyboard.press("Tab");
  equal(await typist.evaluate(() => document.activeElement.className), "skip", "first");
  await typist.keyboard.press("Enter");
  equal(await typist.evaluate(() => document.activeElement.id), "main", "after the skip link");
  await typist.focus("#show-settings");
  await typist.keyboard.press("Enter");
  await until("settings", async () => (await shown(typist, "settings-table")).includes("max_pages"));
  await typist.context().close();
});

for (const [name, width, height, colorScheme] of [["wide", 1400, 1000, "light"], ["tablet", 820, 1180, "dark"], ["phone", 390, 844, "light"]]) {
  await check(`axe finds nothing, and nothing is wider than the page: ${name}, ${colorScheme}`, async () => {
    const sized = await open(first, { token: true, width, height, colorScheme });
    await sized.fill("#explain-url", about.url);
    await sized.press("#explain-url", "Enter");
    await sized.waitForTimeout(2500);
    if (about.screenshots) {
      fs.mkdirSync(about.screenshots, { recursive: true });
      await sized.screenshot({ path: path.join(about.screenshots, `dashboard-${name}.png`), fullPage: true });
    }
    equal(await sized.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "fits");
    await sized.evaluate(axe);
    const found = await sized.evaluate(async () => (await window.axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`));
    equal(found, [], "violations");
    await sized.context().close();
  });
}

if (!about.short) {
  const cpu = (pid) => fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).reduce((a, b) => a + Number(b), 0) / 100;
  const used = async (seconds) => {
    const before = about.peers.map(({ pid }) => cpu(pid));
    await new Promise((done) => setTimeout(done, seconds * 1000));
    return about.peers.map(({ pid }, at) => (100 * (cpu(pid) - before[at])) / seconds);
  };
  await page.click("#pause-ring");
  await says(page, /crawl is paused/);
  const open_ = await used(20);
  await page.context().close();
  await new Promise((done) => setTimeout(done, 7000));
  const closed = await used(20);
  console.log(`one open page costs, in percent of a core: ${open_.map((share, at) => (share - closed[at]).toFixed(2)).join(", ")} ` +
    `(with it ${open_.map((share) => share.toFixed(2)).join(", ")}, without ${closed.map((share) => share.toFixed(2)).join(", ")})`);
}

await check("a peer leaves, and the page shows two", async () => {
  const last = await open(second, {});
  await last.evaluate((token) => sessionStorage.setItem("token", token), about.token);
  const owner = await open(first, { token: true });
  await owner.click(`tr[data-peer="${third.id}"] button`);
  await says(owner, /leaves/);
  await until("two members", async () => (await shown(last, "peers-answering")) === "2 of 2");
  await owner.click("#stop");
  await says(owner, /ring stops|does not answer/);
});

await check("nothing is loaded from elsewhere, and no script fails", async () => {
  const own = new Set(about.peers.map(({ address }) => address));
  equal(seen.filter((url) => url.startsWith("error:") || !(own.has(new URL(url).host) || url.startsWith("data:"))), [], "requests");
});

await browser.close();
process.exit(failed > 0 ? 1 : 0);
