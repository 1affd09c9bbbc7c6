"""Libraries of strangers in Python, unchanged, with the browser of a member (approve.mjs): oauthlib and Authlib connect, renew and end a
connection; the SDK of the Model Context Protocol finds the sign-in, registers itself, and calls tools."""
import asyncio
import os
import subprocess
import urllib.parse

import httpx2
import requests
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from requests_oauthlib import OAuth2Session

REGION, EVENT = os.environ["LECTERN_US_URL"], int(os.environ["LECTERN_US_EVENT"])
BACK = "http://127.0.0.1:9/done"  # Nothing listens there: the browser's request says enough.
SCOPES = ["read:events", "read:sessions"]
DESCRIBED = requests.get(f"{REGION}/.well-known/oauth-authorization-server", timeout=30).json()


def approve(address):
    """Lets the application of an address connect, and returns the address at which the browser comes back."""
    done = subprocess.run(["node", ".ci/approve.mjs", str(address)], check=True, capture_output=True, text=True, timeout=120)
    return done.stdout.strip()


def register(name):
    """Registers an application and returns its id."""
    body = {"client_name": name, "redirect_uris": [BACK], "token_endpoint_auth_method": "none"}
    answer = requests.post(DESCRIBED["registration_endpoint"], json=body, timeout=30)
    assert answer.status_code == 201, answer.text
    return answer.json()["client_id"]


def sessions(token):
    """The status of a list of sessions with an access token."""
    address = f"{REGION}/v1/event/{EVENT}/sessions?page_size=1"
    return requests.get(address, headers={"Authorization": f"Bearer {token}"}, timeout=30).status_code


def with_oauthlib():
    client = register("oauthlib")
    app = OAuth2Session(client, redirect_uri=BACK, scope=SCOPES, pkce="S256")
    address, _ = app.authorization_url(DESCRIBED["authorization_endpoint"])
    app.fetch_token(DESCRIBED["token_endpoint"], authorization_response=approve(address), include_client_id=True)
    app.refresh_token(DESCRIBED["token_endpoint"], client_id=client)
    assert app.get(f"{REGION}/v1/events").status_code == 200
    gone = requests.post(DESCRIBED["revocation_endpoint"], data={"token": app.token["refresh_token"], "client_id": client}, timeout=30)
    assert (gone.status_code, sessions(app.token["access_token"])) == (200, 401)


def with_authlib():
    app = AuthlibSession(register("Authlib"), redirect_uri=BACK, scope=" ".join(SCOPES), code_challenge_method="S256", token_endpoint_auth_method="none")
    verifier = "v" * 48
    address, _ = app.create_authorization_url(DESCRIBED["authorization_endpoint"], code_verifier=verifier)
    app.fetch_token(DESCRIBED["token_endpoint"], authorization_response=approve(address), code_verifier=verifier)
    app.refresh_token(DESCRIBED["token_endpoint"])
    assert app.get(f"{REGION}/v1/events").status_code == 200
    app.revoke_token(DESCRIBED["revocation_endpoint"], token=app.token["access_token"])
    assert sessions(app.token["access_token"]) == 401


class Kept:
    """What the SDK gives an application to keep."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def with_protocol_sdk():
    came = {}

    async def show(address):
        came.update(urllib.parse.parse_qsl(urllib.parse.urlsplit(approve(address)).query))

    async def back():
        return AuthorizationCodeResult(code=came["code"], state=came.get("state"), iss=came.get("iss"))

    metadata = OAuthClientMetadata(client_name="An assistant", redirect_uris=[BACK], token_endpoint_auth_method="none")
    person = OAuthClientProvider(f"{REGION}/mcp", metadata, Kept(), redirect_handler=show, callback_handler=back)
    async with httpx2.AsyncClient(auth=person, timeout=120) as http:
        async with Client(streamable_http_client(f"{REGION}/mcp", http_client=http)) as client:
            tools = (await client.list_tools()).tools
            assert len(tools) >= 35, len(tools)
            for name in ["list_events", "find_sessions", "find_speakers", "find_contacts", "find_sponsors", "find_exhibitors", "list_rooms",
                         "list_tracks", "list_agenda_conflicts", "get_query_schema"]:
                arguments = {} if name == "list_events" else {"event_id": EVENT}
                result = await client.call_tool(name, arguments)  # The SDK holds the answer to the schema of the tool.
                assert not result.is_error, (name, result.content)


with_oauthlib()
with_authlib()
asyncio.run(with_protocol_sdk())
print("oauthlib, Authlib, mcp: passed")
