// What tests/replay/run does in the browser. The one argument is a JSON object: phase, modules, work (a directory), and
//   phase "live":   rules (of names), sites (lists of URLs), count: pages are opened where they come from, and written
//                   down in WORK/live.json, with pictures of the window;
//   phase "replay": base (the site with ReplayWeb.page), kept: the same pages are opened there and compared.
// Prints "ok NAME" or "FAIL NAME: why" for each page.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const about = JSON.parse(process.argv[2]);
const require = createRequire(path.join(about.modules, "x.js"));
const { chromium } = require("playwright-core");

const WINDOW = { width: 1280, height: 900 };
const PATIENCE = 30_000;
const MOST_DIFFERENT = 0.005;
const notes = path.join(about.work, "live.json");
const picture = (number) => path.join(about.work, `live-${number}.png`);

async function until(what, met) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const answer = await met();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`still not: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

// In the page: its text, and each picture's address, size and a sum over its pixels.
const look = async () => {
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
  const sums = [...document.images].map((image) => {
    const { naturalWidth: width, naturalHeight: height } = image;
    let sum = 0;
    if (width && height) {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width, height];
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      for (const value of context.getImageData(0, 0, width, height).data) sum = (sum * 31 + value) % 0x7fffffff;
    }
    return `${new URL(image.getAttribute("src") ?? "", document.baseURI).pathname.split("/").pop()} ${width}x${height} ${sum}`;
  });
  return { title: document.title, text: document.body.innerText, images: sums, scripts: document.scripts.length,
           styles: [...document.styleSheets].length };
};
// In the page: which of its pictures only a script asks for. They are in no archive of a crawler without scripts.
const unnamed = async () => {
  const source = await (await fetch(document.URL)).text();
  return [...document.images].map((image) => !source.includes(`"${image.getAttribute("src")}"`));
};
// In the page: where its links lead, without their fragments.
const linked = () => [...document.links].filter((link) => link.getClientRects().length > 0).map((link) => link.href.split("#")[0]);

// The part of its pixels in which two pictures (PNG, base64) differ; 1 when their sizes do.
const difference = async ([one, other]) => {
  const pixels = async (bytes) => {
    const image = new Image();
    image.src = `data:image/png;base64,${bytes}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return [image.naturalWidth, image.naturalHeight, new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)];
  };
  const [[width, height, a], [otherWidth, otherHeight, b]] = await Promise.all([pixels(one), pixels(other)]);
  if (width !== otherWidth || height !== otherHeight) return 1;
  let different = 0;
  for (let i = 0; i < a.length; ++i) different += a[i] !== b[i];
  return different / a.length;
};

async function browse(body, args = []) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", ...args] });
  try {
    await body(browser);
  } finally {
    await browser.close();
  }
}

// ---- where they come from ----

// What ReplayWeb.page leaves of that window for a page, beside the list and below its bar.
const FRAME = { width: 889, height: 811 };

async function live() {
  await browse(async (browser) => {
    const page = await browser.newPage({ viewport: FRAME });
    const told = [];
    for (const [site, urls] of about.sites.entries()) {
      const known = new Set(urls);
      const wanted = Math.ceil((about.count * (site + 1)) / about.sites.length) - told.length;
      const step = Math.max(Math.floor(urls.length / wanted), 1);
      const done = new Set();
      const open = async (url, from) => {
        await page.goto(url, { waitUntil: "networkidle" });
        const links = (await page.evaluate(linked)).filter((link) => known.has(link) && !done.has(link) && link !== url);
        const { images, ...rest } = await page.evaluate(look);
        const lost = await page.evaluate(unnamed);
        told.push({ site, url, from, ...rest, unnamed: lost.filter(Boolean).length, images: images.filter((_, at) => !lost[at]) });
        await page.screenshot({ path: picture(told.length - 1) });
        done.add(url);
        return links[Math.floor(links.length / 2)];
      };
      const end = told.length + wanted;
      for (let at = 0; told.length < end && at < urls.length; at += step) {
        if (done.has(urls[at])) continue;
        const next = await open(urls[at], null);
        if (next && told.length < end) await open(next, urls[at]);
      }
    }
    fs.writeFileSync(notes, JSON.stringify(told));
    const sum = (name) => told.reduce((all, one) => all + (Array.isArray(one[name]) ? one[name].length : one[name]), 0);
    console.log(`live: ${told.length} pages, ${sum("images")} pictures (and ${sum("unnamed")} that only scripts ask for), ${sum("styles")} style sheets, ${sum("scripts")} scripts`);
  }, [`--host-resolver-rules=${about.rules}`]);
}

// ---- in the archive ----

async function replay() {
  const told = JSON.parse(fs.readFileSync(notes, "utf8"));
  await browse(async (browser) => {
    const context = await browser.newContext({ viewport: WINDOW });
    const elsewhere = [];
    context.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(about.base) && !/^(data|blob|about|chrome-error):/.test(url)) elsewhere.push(url);
    });
    const compare = await context.newPage();
    const page = await context.newPage();
    await page.goto(about.base);
    // Playwright looks into shadow roots.
    const search = page.locator("wr-page-view input.input");
    await search.waitFor({ timeout: PATIENCE });

    const shown = (wanted) => until(`${wanted} is shown`, async () => {
      for (const frame of page.frames()) {
        const [, url] = frame.url().split(/\/\d+mp_\//);
        const good = url?.split("#")[0] === wanted && await frame.evaluate(() => document.readyState === "complete").catch(() => false);
        if (good) return frame;
      }
      return null;
    });
    const fromList = async (url) => {
      if (!(await search.isVisible())) await page.evaluate(() => { location.hash = "view=pages"; });
      await search.waitFor({ timeout: PATIENCE });
      // The list shows the seeds, or what a search finds among all pages.
      await search.fill(new URL(url).pathname === "/" ? "" : url);
      const entries = page.locator("wr-page-entry a");
      const number = await until(`${url} is in the list`, async () => {
        const hrefs = await entries.evaluateAll((all) => all.map((entry) => entry.getAttribute("href")));
        return 1 + hrefs.findIndex((href) => new URLSearchParams(href.slice(1)).get("url") === url);
      });
      await entries.nth(number - 1).click();
      return shown(url);
    };
    const byLink = async (frame, url) => {
      const links = frame.locator("a[href]");
      const number = await frame.evaluate((wanted) => [...document.querySelectorAll("a[href]")].findIndex(
        (link) => link.href.split("#")[0] === wanted && link.getClientRects().length > 0), url);
      if (number < 0) throw new Error(`no link leads to ${url}`);
      await links.nth(number).click();
      return shown(url);
    };

    // The first page that is opened takes the list's place; from the second on they are side by side.
    await fromList(told.at(-1).url);
    await page.evaluate(() => { location.hash = "view=pages"; });
    let frame = null;
    let worst = 0;
    for (const [number, one] of told.entries()) {
      const name = `${one.from ? "by a link" : "from the list"}: ${one.url}`;
      try {
        frame = one.from ? await byLink(frame, one.url) : await fromList(one.url);
        await page.waitForTimeout(300);  // for scripts that draw
        const clip = await until("the page has its place beside the list", async () => {
          const box = await (await frame.frameElement()).boundingBox();
          return box?.width === FRAME.width && box.height === FRAME.height ? box : null;
        });
        const there = await frame.evaluate(look);
        if (there.text !== one.text) throw new Error(`its text differs (${there.text.length} characters, not ${one.text.length})`);
        if (there.title !== one.title) throw new Error(`its title is '${there.title}', not '${one.title}'`);
        const missing = one.images.filter((image) => !there.images.includes(image));
        if (missing.length > 0 || there.images.length !== one.images.length + one.unnamed)
          throw new Error(`its pictures differ: ${missing.slice(0, 3)}, not ${there.images.slice(0, 3)}`);
        if (one.unnamed > 0) {
          console.log(`ok ${name} (but for its window: ${one.unnamed} pictures that only a script asks for are not there)`);
          continue;
        }
        await frame.evaluate(() => window.scrollTo(0, 0));  // the link may have led to a place in the page
        const now = await page.screenshot({ clip });
        const part = await compare.evaluate(difference, [fs.readFileSync(picture(number)).toString("base64"), now.toString("base64")]);
        worst = Math.max(worst, part);
        if (part > MOST_DIFFERENT) {
          if (about.kept) {
            fs.mkdirSync(about.kept, { recursive: true });
            fs.copyFileSync(picture(number), path.join(about.kept, `${number}-live.png`));
            fs.writeFileSync(path.join(about.kept, `${number}-archive.png`), now);
          }
          throw new Error(`${(100 * part).toFixed(2)} % of the window's pixels differ`);
        }
        console.log(`ok ${name}`);
      } catch (cause) {
        console.log(`FAIL ${name}: ${String(cause.message ?? cause).split("\n").slice(0, 4).join(" | ")}`);
      }
    }
    console.log(elsewhere.length === 0 ? `ok no request went elsewhere; at most ${(100 * worst).toFixed(3)} % of a window's pixels differ`
      : `FAIL no request goes elsewhere: ${elsewhere.length} did: ${elsewhere.slice(0, 5).join(" ")}`);
  });
}

await (about.phase === "live" ? live() : replay());
