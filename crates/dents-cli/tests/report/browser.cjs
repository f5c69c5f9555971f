"use strict";
// Opens the page of dents report in Chromium: what is drawn, what a click and a key do, and that nothing is requested.
// node browser.cjs CHROMIUM PAGE SERIES
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [executablePath, file, other] = process.argv.slice(2);
const [address, series] = [file, other].map(path => pathToFileURL(path).href);

async function open(browser, options, where = address) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on("request", request => { if (request.url().split("#")[0] !== where.split("#")[0] && !request.url().startsWith("data:")) page.faults.push("request: " + request.url()); });
  page.on("console", message => page.faults.push("console: " + message.text()));
  page.on("pageerror", error => page.faults.push("error: " + error.stack));
  await page.goto(where);
  await page.waitForSelector("html[data-ready=yes]");
  return page;
}

const texts = locator => locator.allInnerTexts();
const rows = (page, heading, column) => texts(section(page, heading).locator(`tbody tr:not(.others) td:nth-child(${column})`));
const section = (page, heading) => page.locator("section", { has: page.locator(`h3:text-is("${heading}")`) }).last();
const bytes = text => {
  const [number, unit] = text.split(" ");
  return parseFloat(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit);
};
const falls = numbers => numbers.every((number, at) => at === 0 || numbers[at - 1] >= number);

async function accessible(page, state) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(one => ["serious", "critical"].includes(one.impact));
  assert.deepEqual(serious.map(one => [state, one.id, one.nodes.slice(0, 3).map(node => node.html)]), []);
}

async function drawn(page) {
  const data = JSON.parse(await page.locator("#data").evaluate(script => script.textContent));
  assert.equal(await page.locator("h1").innerText(), "t");
  assert.ok((await page.locator("#totals").innerText()).includes(data.total[0].toLocaleString("en")));
  const cells = await texts(page.locator("#map .cell > span"));
  for (const name of ["big", "inner", "<img src=x onerror=hacked()>", "caf\\xe9"]) assert.ok(cells.includes(name), name + " in " + cells);
  // The areas are in proportion to the allocated space.
  const box = name => page.locator("#map .cell", { hasText: name }).first().boundingBox();
  const [inner, other] = [await box("inner"), await box("other")];
  const ratio = inner.width * inner.height / (other.width * other.height);
  assert.ok(ratio > 3 && ratio < 7, "areas " + ratio);
  const tables = await texts(page.locator("h3"));
  for (const heading of ["Users", "Groups", "Extensions", "Ages of files", "Sizes of files", "Largest files", "Oldest files", "Growth by directory",
    "New entries", "In this directory"]) assert.ok(tables.includes(heading), heading);
  assert.ok((await rows(page, "Largest files", 1)).includes("t/caf\\xe9/\\u{202e}gpj.exe"));
}

async function treemap(page) {
  const path = () => texts(page.locator("#path button"));
  const cell = name => page.locator("#map .cell", { has: page.locator(`span:text-is("${name}")`) });
  await cell("inner").click();
  assert.deepEqual(await path(), ["t", "big", "inner"]);
  const info = async () => (await page.locator("#info").innerText()).split(":")[0];
  // The largest file has the area where the pointer is.
  assert.equal(await info(), "t/big/inner/data.bin");
  assert.ok((await texts(page.locator("#map .cell > span"))).includes("(smaller files here)"));
  await page.mouse.move(1, 1);
  assert.equal(await info(), "t/big/inner");
  await page.locator("#path button").first().click();
  assert.deepEqual(await path(), ["t"]);
  await cell("big").focus();
  await page.keyboard.press("Enter");
  assert.deepEqual(await path(), ["t", "big"]);
  assert.ok((await rows(page, "In this directory", 1)).includes("inner"));
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  const before = await focused();
  await page.keyboard.press("ArrowRight");
  const after = await focused();
  assert.ok(before && after && before !== after, before + " and " + after);
  await page.keyboard.press("Escape");
  assert.deepEqual(await path(), ["t"]);
  assert.ok((await focused()).startsWith("big. "));
  assert.equal(await page.locator("#map .cell[tabindex='0']").count(), 1);
  // By the number of entries another directory is the largest; users have other colours than ages.
  const width = async () => (await cell("inner").boundingBox()).width;
  const wide = await width();
  await page.getByLabel("Number of entries").check();
  assert.notEqual(await width(), wide);
  await page.getByLabel("User", { exact: true }).check();
  assert.ok(await page.locator("#map .u0").count() > 0 && await page.locator("#map .c1").count() === 0);
  assert.ok((await page.locator("#legend").innerText()).includes("others"));
  await page.getByLabel("Age", { exact: true }).check();
  await page.getByLabel("Allocated space").check();
}

/** Each directory has an address: Back and Forward go through them, Escape goes up wherever the focus is. */
async function addresses(browser, page) {
  const path = () => texts(page.locator("#path button"));
  const until = async expected => {
    for (let turn = 0; turn < 100 && (await path()).join("/") !== expected; turn++) await page.waitForTimeout(20);
    assert.equal((await path()).join("/"), expected);
  };
  const cell = name => page.locator("#map .cell", { has: page.locator(`span:text-is("${name}")`) });
  await page.locator("#path button").first().click();
  await cell("big").click({ position: { x: 5, y: 5 } });
  assert.equal(new URL(page.url()).hash, "#/t/big");
  await cell("inner").click({ position: { x: 5, y: 5 } });
  assert.equal(new URL(page.url()).hash, "#/t/big/inner");
  await page.goBack();
  await until("t/big");
  await page.goForward();
  await until("t/big/inner");
  // A click leaves the focus on no area.
  await page.keyboard.press("Escape");
  await until("t/big");
  await page.keyboard.press("Escape");
  await until("t");
  await page.keyboard.press("Escape");
  await until("t");
  for (const [name, shown] of [["<img src=x onerror=hacked()>", "<img src=x onerror=hacked()>"], ["~bcaf\\xe9", "caf\\xe9"]]) {
    const led = await open(browser, {}, address + "#/t/" + encodeURIComponent(name));
    assert.deepEqual(await texts(led.locator("#path button")), ["t", shown]);
    assert.deepEqual(led.faults, []);
    await led.close();
  }
  const lost = await open(browser, {}, address + "#/t/big/%3Cb%3Enowhere");
  assert.deepEqual(await texts(lost.locator("#path button")), ["t", "big"]);
  assert.ok((await lost.locator("#info").innerText()).startsWith("<b>nowhere is not shown"));
  await lost.close();
}

/** Legend and caption are beside the map, so both can be seen with the areas they explain. */
async function beside(page) {
  const [map, legend, info] = await Promise.all(["#map", "#legend", "#info"].map(id => page.locator(id).boundingBox()));
  for (const one of [legend, info]) {
    assert.ok(one.x >= map.x + map.width && one.y >= map.y && one.y + one.height <= map.y + map.height, JSON.stringify([map, one]));
  }
  assert.ok((await page.locator("#about").innerText()).startsWith("What this tree holds, read from the file system on 2"));
}

async function overTime(browser) {
  const page = await open(browser, {}, series);
  const users = section(page, "Users over time"), directories = section(page, "Directories over time");
  await directories.locator("polyline").first().waitFor({ state: "attached" });
  assert.ok(await users.locator("polyline").count() >= 1 && await directories.locator("circle").count() >= 6);
  assert.ok((await page.locator("#about").innerText()).includes("the newest of 3 scans"));
  const text = () => directories.locator(".chart p").innerText();
  assert.ok((await text()).includes("scan 3 of 3: 3.parquet"), await text());
  await directories.getByRole("slider").focus();
  await page.keyboard.press("ArrowLeft");
  assert.ok((await text()).includes("scan 2 of 3: 2.parquet"), await text());
  const box = await directories.locator("svg").boundingBox();
  await page.mouse.move(box.x + 70, box.y + 50);
  assert.ok((await text()).includes("scan 1 of 3: 1.parquet"), await text());
  // The directory that grew most is the first row.
  const grown = await rows(page, "Directories over time", 4);
  assert.ok((await rows(page, "Directories over time", 1))[0] === "t/<b>grown" && grown[0].startsWith("+"), grown);
  // The lines rise: the last point of the directory that grew is the highest.
  const points = (await directories.locator("polyline").first().getAttribute("points")).split(" ").map(point => Number(point.split(",")[1]));
  assert.ok(points[0] > points[1] && points[1] > points[2], points);
  const before = await directories.locator("polyline").first().getAttribute("points");
  await page.getByRole("group", { name: "Lines" }).getByLabel("Number of entries").check();
  assert.notEqual(await directories.locator("polyline").first().getAttribute("points"), before);
  await accessible(page, "series");
  await page.setViewportSize({ width: 400, height: 800 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 400);
  assert.deepEqual(page.faults, []);
  await page.close();
}

async function tables(page) {
  const directories = section(page, "Largest directories");
  const head = title => directories.getByRole("button", { name: title, exact: true });
  assert.ok(falls((await rows(page, "Largest directories", 2)).map(bytes)));
  await head("Entries").click();
  const entries = async () => (await rows(page, "Largest directories", 4)).map(text => Number(text.replaceAll(",", "")));
  const down = await entries();
  assert.ok(down.length > 8 && falls(down), down);
  assert.equal(await directories.locator("th[aria-sort=descending]").innerText(), "Entries");
  await head("Entries").click();
  assert.ok(falls((await entries()).reverse()));
  assert.equal(await directories.locator("th[aria-sort=ascending]").count(), 1);
  const extensions = section(page, "Extensions");
  assert.equal((await rows(page, "Extensions", 1)).length, 20);
  await extensions.getByRole("button", { name: /^Show 3\d rows$/ }).click();
  assert.ok((await rows(page, "Extensions", 1)).length > 30);
  await extensions.getByRole("searchbox").fill("EXT1");
  const found = await rows(page, "Extensions", 1);
  assert.ok(found.length === 11 && found.every(name => name.toLowerCase().includes("ext1")), found);
  await section(page, "Largest files").getByRole("searchbox").fill("nothing has this name");
  assert.deepEqual(await rows(page, "Largest files", 1), []);
  await section(page, "Ages of files").getByRole("searchbox").fill("day");
  assert.ok((await rows(page, "Ages of files", 1)).length > 0);
  // The name of a directory leads to its treemap.
  await directories.getByRole("button", { name: "t/big/inner" }).click();
  assert.equal(await page.locator("#path [aria-current]").innerText(), "inner");
  assert.ok((await rows(page, "New entries", 1)).includes("big/inner/data.bin"));
}

async function looks(browser, page) {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await background();
  assert.notEqual(light, dark);
  await accessible(page, "dark");
  await page.locator("#theme").click();
  assert.equal(await background(), light);
  await page.emulateMedia({ colorScheme: "light" });
  await page.locator("#theme").click();
  assert.equal(await background(), dark);
  await page.emulateMedia({ media: "print" });
  assert.equal(await background(), "rgb(255, 255, 255)");
  assert.ok(!await page.locator("#theme").isVisible() && await page.locator("#map .cell").first().isVisible());
  assert.ok((await page.pdf()).length > 10_000);
  const narrow = await open(browser, { viewport: { width: 400, height: 800 } });
  assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth) <= 400);
  assert.ok(await narrow.locator("#map .cell").count() > 3);
  await accessible(narrow, "400 px");
  return narrow;
}

(async () => {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const page = await open(browser);
    await drawn(page);
    await beside(page);
    await accessible(page, "light");
    await treemap(page);
    await addresses(browser, page);
    await tables(page);
    await overTime(browser);
    const narrow = await looks(browser, page);
    assert.deepEqual([...page.faults, ...narrow.faults], []);
    assert.equal(await page.evaluate(() => typeof globalThis.hacked), "undefined");
    // The policy lets no other script run, and nothing be requested.
    const refused = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      document.head.append(script);
      const image = document.createElement("img");
      image.setAttribute("onerror", "globalThis.ran = true");
      image.src = "nowhere.png";
      document.body.append(image);
      const fetched = await fetch("https://localhost/").then(() => true, () => false);
      await new Promise(resolve => setTimeout(resolve, 100));
      return [globalThis.ran === undefined, fetched];
    });
    assert.deepEqual(refused, [true, false]);
    console.log("all is well");
  } finally {
    await browser.close();
  }
})().catch(error => {
  console.error(error);
  process.exit(1);
});
