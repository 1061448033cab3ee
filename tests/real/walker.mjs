// An independent walker: what a crawler should find, by parse5 (the HTML standard's parser) and Node's own URL class
// (the URL standard). Follows <a>, <area>, <frame>, <iframe>, <meta http-equiv=refresh>, <link rel=canonical|alternate|
// next|prev> and redirects; honours <base>; no robots, no nofollow unless asked, no limits. It shares nothing with the
// crawler but the rules it was written from.
//
//   node walker.mjs --modules DIR [--nofollow] [--resolve HOST:PORT:ADDR]… URL…
//
// The scope is the hosts of the URLs. Prints {"urls":{URL:status},"seconds":…,"html":N,"nofollow":N}. DIR holds
// node_modules/parse5.
import {createRequire} from 'node:module';
import http from 'node:http';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const connections = 8;
const urlBytesMax = 4096;

function options(words) {
  const out = {seeds: [], resolve: new Map(), modules: '.', nofollow: false};
  for (let i = 0; i < words.length; ++i) {
    if (words[i] === '--modules') out.modules = words[++i];
    else if (words[i] === '--nofollow') out.nofollow = true;
    else if (words[i] === '--resolve') {
      const [host, port, address] = words[++i].split(':');
      out.resolve.set(`${host}:${port}`, address);
    } else out.seeds.push(words[i]);
  }
  return out;
}

// The crawler's documented canonical form on top of the URL standard's: no fragment, no credentials, no dot at the
// host's end, no empty query, escapes of unreserved characters decoded, others in upper case.
function canonical(url) {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  const escapes = text => text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex) => {
    const character = String.fromCharCode(parseInt(hex, 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : '%' + hex.toUpperCase();
  });
  const host = url.hostname.replace(/([^.])\.$/, '$1') + (url.port ? ':' + url.port : '');
  const query = url.search.length > 1 ? url.search : '';
  const text = `${url.protocol}//${host}${escapes(url.pathname)}${escapes(query)}`;
  return Buffer.byteLength(text) > urlBytesMax ? null : text;
}

function resolved(href, base) {
  try {
    return canonical(new URL(href, base));
  } catch {
    return null;
  }
}

function decoded(body, contentType) {
  let label = /charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  if (body.length > 2 && body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) label = 'utf-8';
  label ??= /<meta[^>]*charset\s*=\s*["']?\s*([^\s"'/>;]+)/i.exec(body.subarray(0, 1024).toString('latin1'))?.[1];
  try {
    return new TextDecoder(label ?? 'utf-8', {fatal: !label}).decode(body);
  } catch {
    return new TextDecoder('windows-1252').decode(body);
  }
}

// The HTML standard's declarative refresh: "5; url='x'".
function refreshTarget(content) {
  const match = /^[\t\n\f\r ]*(?:\d[\d.]*|\.[\d.]*)(?:[\t\n\f\r ;,])[\t\n\f\r ]*[;,]?[\t\n\f\r ]*(.*)$/s.exec(content);
  if (!match || !match[1]) return null;
  let url = match[1].replace(/^url[\t\n\f\r ]*=[\t\n\f\r ]*/i, '');
  if (url[0] === '"' || url[0] === "'") url = url.slice(1).split(url[0])[0];
  return url || null;
}

const relKinds = new Set(['canonical', 'alternate', 'next', 'prev']);

function tokensOf(text) {
  return (text ?? '').toLowerCase().split(/[\t\n\f\r ]+/).filter(Boolean);
}

// Every href of the page that is followed, unresolved, and the first base.
function linksOf(document) {
  const found = {base: null, links: [], nofollow: 0, page: false};
  const visit = node => {
    const attributes = Object.fromEntries((node.attrs ?? []).map(({name, value}) => [name, value]));
    const rel = tokensOf(attributes.rel);
    const add = href => {
      if (href === undefined || href === null) return;
      const marked = rel.includes('nofollow');
      if (marked) ++found.nofollow;
      found.links.push({href, nofollow: marked});
    };
    switch (node.tagName) {
      case 'base':
        if (attributes.href !== undefined) found.base ??= attributes.href;
        break;
      case 'a':
      case 'area':
        add(attributes.href);
        break;
      case 'frame':
      case 'iframe':
        add(attributes.src);
        break;
      case 'link':
        if (rel.some(token => relKinds.has(token)) && !rel.includes('stylesheet')) add(attributes.href);
        break;
      case 'meta':
        if (attributes['http-equiv']?.toLowerCase() === 'refresh') add(refreshTarget(attributes.content ?? ''));
        break;
    }
    for (const child of node.childNodes ?? []) visit(child);
  };
  visit(document);
  return found;
}

const settings = options(process.argv.slice(2));
if (settings.seeds.length === 0) {
  console.error('usage: node walker.mjs --modules DIR [--nofollow] [--resolve HOST:PORT:ADDR]… URL…');
  process.exit(2);
}
const require = createRequire(pathToFileURL(path.resolve(settings.modules, 'package.json')));
const parse5 = await import(pathToFileURL(require.resolve('parse5')));
const agent = new http.Agent({keepAlive: true, maxSockets: connections});

function get(url) {
  const {hostname, port, pathname, search, host} = new URL(url);
  const address = settings.resolve.get(`${hostname}:${port || 80}`) ?? hostname;
  return new Promise((resolve, reject) => {
    const where = {agent, host: address, port: port || 80, path: pathname + search, headers: {Host: host}};
    const request = http.get(where, answer => {
      const pieces = [];
      answer.on('data', piece => pieces.push(piece));
      answer.on('end', () => {
        resolve({status: answer.statusCode, headers: answer.headers, body: Buffer.concat(pieces)});
      });
      answer.on('error', reject);
    });
    request.on('error', reject);
  });
}

const scope = new Set(settings.seeds.map(seed => new URL(seed).hostname));
const urls = {};
const queue = [];
let html = 0;
let nofollow = 0;

function admit(url) {
  if (url === null || url in urls || !scope.has(new URL(url).hostname)) return;
  urls[url] = 0;
  queue.push(url);
}

async function visitPage(url) {
  const {status, headers, body} = await get(url);
  urls[url] = status;
  if (status >= 300 && status < 400 && headers.location) admit(resolved(headers.location, url));
  if (!/^(text\/html|application\/xhtml\+xml)/i.test(headers['content-type'] ?? '')) return;
  if (status < 200 || status > 299) return;
  ++html;
  // Without scripts <noscript> holds elements, as a crawler sees it.
  const found = linksOf(parse5.parse(decoded(body, headers['content-type']), {scriptingEnabled: false}));
  nofollow += found.nofollow;
  let base = url;
  try {
    const named = new URL(found.base ?? url, url);
    if (named.protocol !== 'data:' && named.protocol !== 'javascript:') base = named.href;
  } catch {
    // A base that is no URL counts as none.
  }
  for (const link of found.links) {
    if (!(settings.nofollow && link.nofollow)) admit(resolved(link.href, base));
  }
}

const begun = Date.now();
for (const seed of settings.seeds) admit(resolved(seed, undefined));
let under_way = 0;
await new Promise((resolve, reject) => {
  const fill = () => {
    if (under_way === 0 && queue.length === 0) resolve();
    while (under_way < connections && queue.length > 0) {
      ++under_way;
      visitPage(queue.shift()).then(() => {
        --under_way;
        fill();
      }, reject);
    }
  };
  fill();
});
agent.destroy();
process.stdout.write(JSON.stringify({urls, seconds: (Date.now() - begun) / 1000, html, nofollow}) + '\n');
