// Signs a member of the demo in with Chromium, and lets an application connect: node .ci/approve.mjs ADDRESS. It ends when the browser
// has been sent back to the application.
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

// signIn signs a person in, from the page with the e-mail address.
export async function signIn(page, email = "admin@demo.example") {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: email }).click();
}

// approve returns the address at which the browser comes back to the application.
export async function approve(address) {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(String(address));
    await signIn(page);
    const back = new URL(address).searchParams.get("redirect_uri");
    const [request] = await Promise.all([
      page.waitForRequest((r) => r.isNavigationRequest() && r.url().startsWith(`${back}?`)),
      page.getByRole("button", { name: "Connect" }).click(),
    ]);
    await page.waitForLoadState().catch(() => {}); // Nothing may listen there.
    return request.url();
  } finally {
    await browser.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await approve(process.argv[2]));
