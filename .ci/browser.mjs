// Uploads files with the page of docs/examples/upload in Chromium: the browser sees the progress, and
// what the link gives back has the bytes that were sent.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chromium } from "playwright-core";

const { CHROMIUM, LECTERN_US_URL, LECTERN_US_TOKEN, LECTERN_US_EVENT } = process.env;

async function api(method, path, body) {
  const answer = await fetch(`${LECTERN_US_URL}/v1/event/${LECTERN_US_EVENT}${path}`, {
    method,
    headers: { "x-access-token": LECTERN_US_TOKEN, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  assert(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

const { id: session } = await api("POST", "/sessions/create", { title: "A session with slides" });
const example = spawn("node", ["docs/examples/upload/server.mjs"], {
  env: { ...process.env, SESSION: session, PORT: "0" },
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
try {
  const [line] = await once(example.stdout, "data");
  const page = await browser.newPage();
  const puts = [];
  page.on("request", (r) => r.method() === "PUT" && puts.push(new URL(r.url()).origin));
  await page.goto(String(line).trim());
  // The page tells each change of the progress bar. At 8 MB a second, the file takes more than two seconds.
  const shown = [];
  await page.exposeFunction("shows", (value, max) => shown.push([value, max]));
  await page.locator("#progress").evaluate((p) => new MutationObserver(() => window.shows(p.value, p.max)).observe(p, { attributes: true }));
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 8_000_000 });

  const slides = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(20_000_000, "slides\n"), Buffer.from("\n%%EOF\n")]);
  await page.setInputFiles("#file", { name: "Ünïcode slides.pdf", mimeType: "application/pdf", buffer: slides });
  const link = page.locator("#state a");
  await link.waitFor();
  assert.equal(await link.textContent(), "Ünïcode slides.pdf");
  const sent = await page.locator("#progress").evaluate((p) => [p.value, p.max]);
  assert.deepEqual(sent, [slides.length, slides.length]);
  const between = shown.filter(([value, max]) => max === slides.length && value > 0 && value < max);
  assert(between.length > 0, `the bar showed ${JSON.stringify(shown)}`);
  assert.equal(puts.length, 1);
  assert.notEqual(puts[0], new URL(page.url()).origin);
  assert.notEqual(puts[0], new URL(LECTERN_US_URL).origin);

  const got = await fetch(await link.getAttribute("href"));
  assert.equal(got.status, 200);
  assert.match(got.headers.get("Content-Disposition"), /attachment/);
  assert(Buffer.from(await got.arrayBuffer()).equals(slides));
  const { data } = await api("GET", `/sessions/${session}/files`);
  assert.deepEqual(data.map((f) => f.filename), ["Ünïcode slides.pdf"]);

  await page.setInputFiles("#file", { name: "slides.pdf", mimeType: "application/pdf", buffer: Buffer.from("<html>no slides</html>") });
  await page.waitForFunction(() => !/^(Sending|Uploaded)/.test(document.querySelector("#state").textContent));
  console.log(`a wrong file: ${await page.locator("#state").textContent()}`);
  assert.equal((await api("GET", `/sessions/${session}/files`)).data.length, 1);
  console.log(`Chromium ${browser.version()} uploaded ${slides.length} bytes, and the bar showed ${between.length} values between`);
} finally {
  await browser.close();
  example.kill();
}
