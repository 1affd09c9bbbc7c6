"""Verifies the signatures of requests in a file: valid as sent, and not after a change."""
import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

with open(sys.argv[1], encoding="utf-8") as file:
    requests = json.load(file)
for request in requests:
    headers, body = request["headers"], request["body"]
    for secret in request["secrets"]:
        assert Webhook(secret).verify(body, headers) == json.loads(body)
        for wrong_body, wrong_headers in ((body + " ", headers), (body, headers | {"webhook-id": "other"})):
            try:
                Webhook(secret).verify(wrong_body, wrong_headers)
            except WebhookVerificationError:
                continue
            sys.exit("a changed request has a valid signature")
    for secret in request["others"]:
        try:
            Webhook(secret).verify(body, headers)
        except WebhookVerificationError:
            continue
        sys.exit("a request has a valid signature by another secret")
assert len(requests) > 1
print(f"Python verified {len(requests)} requests")
