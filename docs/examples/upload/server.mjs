// A server of an application whose visitors upload slides from a browser. The token stays on this server:
// a browser gets an address that takes one file, and sends the bytes straight to the store.
//
//   . .local/demo.env
//   SESSION=... node docs/examples/upload/server.mjs      # then open http://127.0.0.1:8090
import fs from "node:fs";
import http from "node:http";

const { LECTERN_US_URL: url, LECTERN_US_TOKEN: token, LECTERN_US_EVENT: event, SESSION: session, PORT: port = "8090" } = process.env;
const files = `${url}/v1/event/${event}/sessions/${session}/files`;
const page = fs.readFileSync(new URL("index.html", import.meta.url));

// call sends a request to Lectern, and answers the visitor with the status and the body.
async function call(response, path, body) {
  const answer = await fetch(files + path, {
    method: "POST",
    headers: { "x-access-token": token, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  response.writeHead(answer.status, { "Content-Type": "application/json" }).end(await answer.text());
}

// read returns the JSON of a visitor.
async function read(request) {
  let text = "";
  for await (const part of request) {
    text += part;
    if (text.length > 10_000) throw new Error("The request is too long.");
  }
  return JSON.parse(text);
}

async function serve(request, response) {
  const completed = /^\/uploads\/([0-9a-f-]{36})\/complete$/.exec(request.url);
  if (request.method === "GET" && request.url === "/") {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page);
  } else if (request.method === "POST" && request.url === "/uploads") {
    const { filename, size_bytes, content_type } = await read(request);
    await call(response, "", { filename, size_bytes, content_type: content_type || undefined });
  } else if (request.method === "POST" && completed) {
    await call(response, `/${completed[1]}/complete`, {});
  } else {
    response.writeHead(404).end();
  }
}

const server = http.createServer((request, response) =>
  serve(request, response).catch((error) => response.writeHead(400).end(error.message)),
);
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
