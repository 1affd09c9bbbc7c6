// Libraries of strangers in Node, unchanged, with the browser of a member: openid-client and oauth4webapi connect, renew and end a
// connection; the SDK of the Model Context Protocol finds the sign-in, registers itself, and calls tools. Then axe-core looks at the pages.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { approve, launch, signIn } from "./approve.mjs";

const region = process.env.LECTERN_US_URL;
const event = Number(process.env.LECTERN_US_EVENT);
const back = "http://127.0.0.1:9/done"; // Nothing listens there: the browser's request says enough.
const scope = "read:events read:sessions";

async function status(token) {
  return (await fetch(`${region}/v1/event/${event}/sessions?page_size=1`, { headers: { Authorization: `Bearer ${token}` } })).status;
}

async function withOpenIDClient() {
  const options = { execute: [openid.allowInsecureRequests], algorithm: "oauth2" };
  const config = await openid.dynamicClientRegistration(
    new URL(region), { client_name: "openid-client", redirect_uris: [back], token_endpoint_auth_method: "none" }, openid.None(), options,
  );
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const asked = openid.buildAuthorizationUrl(config, {
    redirect_uri: back, scope, state, code_challenge_method: "S256",
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
  });
  const tokens = await openid.authorizationCodeGrant(config, new URL(await approve(asked)), { pkceCodeVerifier, expectedState: state });
  assert.equal(tokens.scope, scope);
  const next = await openid.refreshTokenGrant(config, tokens.refresh_token);
  assert.equal(await status(next.access_token), 200);
  await openid.tokenRevocation(config, next.refresh_token);
  assert.equal(await status(next.access_token), 401);
}

async function withOauth4webapi() {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(region);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure }));
  const registration = await oauth.dynamicClientRegistrationRequest(
    as, { client_name: "oauth4webapi", redirect_uris: [back], token_endpoint_auth_method: "none" }, insecure,
  );
  const client = await oauth.processDynamicClientRegistrationResponse(registration);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const asked = new URL(as.authorization_endpoint);
  const challenge = await oauth.calculatePKCECodeChallenge(verifier);
  Object.entries({
    client_id: client.client_id, redirect_uri: back, response_type: "code", scope, state,
    code_challenge: challenge, code_challenge_method: "S256",
  }).forEach(([name, value]) => asked.searchParams.set(name, value));
  const sent = oauth.validateAuthResponse(as, client, new URL(await approve(asked)), state);
  const answer = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), sent, back, verifier, insecure);
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer);
  const renewed = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token, insecure);
  const next = await oauth.processRefreshTokenResponse(as, client, renewed);
  assert.equal(await status(next.access_token), 200);
  await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, oauth.None(), next.access_token, insecure));
  assert.equal(await status(next.access_token), 401);
}

// person keeps what the SDK of the protocol gives an application to keep, and shows the browser.
class Person {
  redirectUrl = back;
  clientMetadata = { client_name: "An assistant", redirect_uris: [back], token_endpoint_auth_method: "none" };
  clientInformation() { return this.client; }
  saveClientInformation(client) { this.client = client; }
  tokens() { return this.kept; }
  saveTokens(tokens) { this.kept = tokens; }
  codeVerifier() { return this.verifier; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  async redirectToAuthorization(address) { this.code = new URL(await approve(address)).searchParams.get("code"); }
}

async function withProtocolSDK() {
  const authProvider = new Person();
  const transport = () => new StreamableHTTPClientTransport(new URL(`${region}/mcp`), { authProvider });
  const first = transport();
  await assert.rejects(new Client({ name: "ci", version: "1" }).connect(first), /Unauthorized/);
  await first.finishAuth(authProvider.code);
  const client = new Client({ name: "ci", version: "1" });
  await client.connect(transport());
  const { tools } = await client.listTools();
  assert(tools.length >= 35, `${tools.length} tools`);
  const call = async (name, args = {}) => {
    const result = await client.callTool({ name, arguments: args }); // The SDK holds the answer to the schema of the tool.
    assert(!result.isError, `${name}: ${result.content[0].text}`);
    return result.structuredContent;
  };
  const in_event = { event_id: event };
  assert((await call("list_events")).results.some((e) => e.id === event));
  const [session] = (await call("find_sessions", { ...in_event, search: "keynote" })).results;
  assert.equal((await call("get_session", { ...in_event, session_id: session.id })).id, session.id);
  const [speaker] = (await call("find_speakers", in_event)).results;
  assert.equal((await call("get_speaker", { ...in_event, contact_id: speaker.id })).id, speaker.id);
  for (const name of ["list_rooms", "list_tracks", "list_fields", "list_agenda_conflicts", "find_sponsors"]) await call(name, in_event);
  const { results } = await call("run_query", { ...in_event, query: "SELECT COUNT(session.id) AS n FROM sessions" });
  assert(results[0].n > 100);
  const schedule = await client.readResource({ uri: `lectern://events/${event}/schedule` });
  assert.match(schedule.contents[0].text, /times in America\/Chicago/);
  await client.close();
}

// look runs axe-core on the pages, at the sizes of a phone and a desktop, in light and dark.
async function look() {
  const axe = await readFile(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
  const client_id = (await (await fetch(`${region}/oauth/register`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ client_name: "Agenda", redirect_uris: [back] }),
  })).json()).client_id;
  const ask = new URLSearchParams({
    client_id, redirect_uri: back, response_type: "code", code_challenge_method: "S256",
    code_challenge: await oauth.calculatePKCECodeChallenge(oauth.generateRandomCodeVerifier()),
  });
  const browser = await launch();
  try {
    for (const colorScheme of ["light", "dark"]) {
      for (const viewport of [{ width: 360, height: 740 }, { width: 1280, height: 800 }]) {
        const context = await browser.newContext({ colorScheme, viewport, bypassCSP: true });
        const page = await context.newPage();
        const check = async (name) => {
          await page.evaluate(axe);
          const { violations } = await page.evaluate(() => globalThis.axe.run());
          assert.deepEqual(violations.map((v) => [v.id, v.nodes.map((n) => n.html)]), [], `${name}, ${colorScheme}, ${viewport.width}`);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          assert(wide <= viewport.width, `${name} is ${wide} wide at ${viewport.width}`);
          if (process.env.SCREENSHOTS) {
            await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}-${colorScheme}-${viewport.width}.png`, fullPage: true });
          }
        };
        await page.goto(`${region}/oauth/authorize?${ask}`);
        await check("sign-in");
        await page.getByLabel("E-mail address").fill("nobody@elsewhere.example");
        await page.getByRole("button", { name: "Continue" }).click();
        await check("sign-in-refused");
        await signIn(page);
        await page.getByRole("button", { name: "Connect" }).waitFor();
        await check("consent");
        await page.goto(`${region}/oauth/connections`);
        await check("connections");
        await page.goto(`${region}/oauth/authorize?client_id=${client_id}`, { waitUntil: "load" });
        await check("refused");
        await context.close();
      }
    }
  } finally {
    await browser.close();
  }
}

for (const part of [withOpenIDClient, withOauth4webapi, withProtocolSDK, look]) {
  await part();
  console.log(`${part.name}: passed`);
}
