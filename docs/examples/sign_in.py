import base64, hashlib, http.server, json, os, secrets, urllib.parse as parse, urllib.request as request, webbrowser
class Back(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.sent = dict(parse.parse_qsl(parse.urlsplit(self.path).query))
        self.send_response(200), self.end_headers(), self.wfile.write(b"You can close this page.")
region, event, proof = os.environ["LECTERN_US_URL"], os.environ["LECTERN_US_EVENT"], secrets.token_urlsafe(32)
ask = lambda path, body=None, **header: json.load(request.urlopen(request.Request(region + path, body and json.dumps(body).encode(), header | {"Content-Type": "application/json"})))
here = http.server.HTTPServer(("127.0.0.1", 0), Back)
back = f"http://127.0.0.1:{here.server_port}/"
app = {"client_id": ask("/oauth/register", {"client_name": "The tour", "redirect_uris": [back]})["client_id"], "redirect_uri": back}
challenge = base64.urlsafe_b64encode(hashlib.sha256(proof.encode()).digest()).rstrip(b"=").decode()
webbrowser.open(region + "/oauth/authorize?" + parse.urlencode(app | {"response_type": "code", "scope": "read:sessions", "code_challenge": challenge, "code_challenge_method": "S256"}))
here.handle_request()  # the browser comes back with a code
tokens = ask("/oauth/token", app | {"grant_type": "authorization_code", "code": here.sent["code"], "code_verifier": proof})
print(*(s["title"] for s in ask(f"/v1/event/{event}/sessions", Authorization="Bearer " + tokens["access_token"])["results"]), sep="\n")
