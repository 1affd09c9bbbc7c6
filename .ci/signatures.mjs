// Verifies the signatures of requests in a file: valid as sent, and not after a change.
import assert from "node:assert/strict";
import fs from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const requests = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
for (const { headers, body, secrets, others } of requests) {
  for (const secret of secrets) {
    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
    assert.throws(() => new Webhook(secret).verify(body + " ", headers), WebhookVerificationError);
    assert.throws(() => new Webhook(secret).verify(body, { ...headers, "webhook-id": "other" }), WebhookVerificationError);
  }
  for (const secret of others) assert.throws(() => new Webhook(secret).verify(body, headers), WebhookVerificationError);
}
assert(requests.length > 1);
console.log(`Node verified ${requests.length} requests`);
