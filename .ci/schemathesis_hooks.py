"""Feeds Schemathesis with records that exist and counts the answers.

Before a call with valid data, ids in the path and in the body are those of real
records of the demo event; a record to be deleted or restored is made for it. After
each call the answer is counted, for schemathesis_counts.py to judge.
"""
import atexit
import collections
import itertools
import json
import os
import random
import subprocess
import time

import requests
import schemathesis

URL, EVENT, ORG = os.environ["LECTERN_US_URL"], int(os.environ["LECTERN_US_EVENT"]), int(os.environ["LECTERN_US_ORG"])
HEADERS = {"x-access-token": os.environ["LECTERN_US_TOKEN"]}
# Only log export tokens may read the logs, 60 times a minute each.
LOG_TOKENS = itertools.cycle(os.environ["LECTERN_LOG_TOKENS"].split())
BASE = f"{URL}/v1/event/{EVENT}"
WEBHOOKS = f"{URL}/v1/webhooks"
KINDS = ("rooms", "tracks", "tags", "formats", "levels", "languages", "statuses", "rules", "personas")
DRAFTS = "agenda-drafts"
REPORTS = ("queries", "dashboards", "widgets")
COUNT = "SELECT COUNT(session.id) AS n FROM sessions"
AWARDS = f"{URL}/v1/organization/{ORG}/awards/programs"
# The ids in paths of awards, each with the collection that makes the record and with the body.
AWARD_IDS = {
    "programId": ("", {"status": "open"}), "categoryId": ("/categories", {}), "subcategoryId": ("/subcategories", {}),
    "roundId": ("/rounds", {"type": "review_only"}), "promoCodeId": ("/promo-codes", {"discount_type": "flat", "amount": 1}),
}
REFERENCES = {
    "room_id": "rooms", "track_id": "tracks", "level_id": "levels", "format_id": "formats",
    "language_id": "languages", "custom_status_id": "statuses",
}
LISTS = {"tag_ids": "tags", "sponsor_ids": "sponsors", "exhibitor_ids": "exhibitors"}
ROLES = ("sponsors", "exhibitors")
# Standard fields of people and companies that take no free text, with a value they take,
# and second names of fields.
STANDARD = {
    "photo_url": "https://example.org/a.png", "logo_image_url": "https://example.org/a.png",
    "banner_image_url": "https://example.org/a.png", "address_country": 276,
}
ALIASES = {"company": "company_name", "phone": "phone_mobile", "address_coutnry": "address_country"}
# Some ids stay as generated, so that 404 is met too.
SHARE_OF_REAL_IDS = 0.9
rng = random.Random(20261121)
serial = iter(range(10**9))
counts = collections.defaultdict(collections.Counter)


def post(path, body=None, base=BASE):
    answer = requests.post(base + path, json=body, headers=HEADERS, timeout=30)
    answer.raise_for_status()
    return answer.json()


def address():
    return f"person-{next(serial)}@example.org"


def make(kind):
    """Makes a record and gives its id."""
    if kind == "sessions":
        return post("/sessions/create", {"title": f"Session {next(serial)}"})["id"]
    if kind == "contacts":
        return post("/contacts/create", {"email": address()})["id"]
    if kind == "speakers":
        return make_speaker()["id"]
    if kind == "webhooks":
        return make_webhook("https://hooks.invalid/lectern", "session.deleted")
    body = {"name": f"Name {next(serial)}"}
    if kind == "fields":
        body |= {"type": "text", "module_id": "session"}
    if kind == "rules":
        body["type"] = "of our own"
    try:
        return post(f"/{kind}/create", body)["id"]
    except requests.HTTPError as refused:
        if refused.response.json().get("code") != "LIMIT_REACHED":
            raise
    make_room(kind)
    return post(f"/{kind}/create", body)["id"]


def make_room(kind):
    """Deletes up to 50 records of an event that has as many as it may have: those of make, or else
    the generated ones. Built-in ones cannot be deleted."""
    listed = requests.get(f"{BASE}/{kind}", headers=HEADERS, timeout=30).json()
    if isinstance(listed, dict):
        listed = listed["results"]
    others = [r for r in listed if r["id"] not in pool[kind]]
    ours = [r for r in others if any(str(value).startswith("Name ") for value in r.values())]
    for record in (ours or others)[:50]:
        forced = "?force=true" if kind == DRAFTS else ""
        requests.delete(f"{BASE}/{kind}/{record['id']}{forced}", headers=HEADERS, timeout=30)


def make_webhook(url, kind):
    """Makes an endpoint, after it has deleted others where the organization has nearly as many as it may have."""
    listed = requests.get(f"{WEBHOOKS}?page_size=100", headers=HEADERS, timeout=30).json()["results"]
    if len(listed) >= 18:
        for other in [r["id"] for r in listed if r["id"] not in (*pool["webhooks"], hook)]:
            requests.delete(f"{WEBHOOKS}/{other}", headers=HEADERS, timeout=30)
    return post("/create", {"url": url, "events": [kind]}, WEBHOOKS)["id"]


def make_delivery():
    """Makes a pending delivery: a change for the endpoint whose receiver does not answer."""
    made = make("sessions")
    for _ in range(200):
        listed = requests.get(f"{WEBHOOKS}/{hook}/deliveries?status=pending&page_size=100", headers=HEADERS, timeout=30).json()
        for delivery in listed["results"]:
            if delivery["record_id"] == made:
                return delivery["id"]
        time.sleep(0.05)
    raise TimeoutError(f"no delivery of session {made}")


def make_archive():
    """Makes a data request and waits until it is completed."""
    asked = {"requestType": "access", "identityType": "email", "identityValue": speaker["email"]}
    made = post("/requests", asked, f"{URL}/v1/gdpr")["id"]
    for _ in range(200):
        listed = requests.get(f"{URL}/v1/gdpr/requests?page_size=100", headers=HEADERS, timeout=30).json()["results"]
        if any(r["id"] == made and r["status"] == "completed" for r in listed):
            return made
        time.sleep(0.05)
    raise TimeoutError(f"the data request {made} is not completed")


def make_speaker():
    """Makes a contact that speaks on a session."""
    person = post("/contacts/create", {"email": address()})
    post("/sessions/create", {"title": "Talk", "participants": [{"contact_id": person["id"], "core_role": "speaker"}]})
    return person


def make_transcription(kind="fragment"):
    """Makes a transcription of a session, and gives the ids of both."""
    session = make("sessions")
    made = post(f"/sessions/{session}/transcriptions", {"type": kind, "transcription": f"Text {next(serial)}", "start_time": 1})
    return session, made["data"]["id"]


def make_file(complete):
    """Begins the upload of a file of a session, sends the bytes, and completes the file. Gives the ids of both."""
    session = make("sessions")
    made = post(f"/sessions/{session}/files", {"filename": "slides.pdf", "size_bytes": 9})["data"]
    upload = made["upload"]
    requests.put(upload["url"], data=b"%PDF-1.7\n", headers=upload["headers"], timeout=30).raise_for_status()
    if complete:
        post(f"/sessions/{session}/files/{made['id']}/complete", None)
    return session, made["id"]


def make_link():
    """Uploads a file, and gives the last segment of its address."""
    session, _ = make_file(True)
    listed = requests.get(f"{BASE}/sessions/{session}/files", headers=HEADERS, timeout=30).json()["data"]
    return listed[0]["url"].rsplit("/", 1)[1]


def mend_form(body):
    """Puts bytes into a form that any name fits, and leaves out what names other records."""
    body["file"] = b"Good morning."
    for name in ("assigned_participant_id", "content_slot_id"):
        body.pop(name, None)


def make_media(step):
    """Begins an upload of a session, sends its only part, and completes it for a read. Gives the id of the session, and
    the id of the item or the body of the step."""
    session = make("sessions")
    upload, file = f"/sessions/{session}/media/upload", {"filename": "a.mp4", "size_bytes": 4}
    opened = post(f"{upload}/initiate", file)["data"]
    target = {"key": opened["key"], "upload_id": opened["upload_id"]}
    part = post(f"{upload}/sign-part", target | {"part_numbers": [1]})["data"]["parts"][0]
    sent = requests.put(part["url"], data=b"film", headers=part["headers"], timeout=30)
    sent.raise_for_status()
    complete = target | file | {"parts": [{"part_number": 1, "etag": sent.headers["ETag"]}]}
    if step == "get":
        return session, post(f"{upload}/complete", complete)["data"]["id"]
    return session, {"initiate": file, "sign-part": target | {"part_numbers": [1, 2]}, "complete": complete, "abort": target}[step]


def make_recording(step):
    """Makes a recording of a session and sends its bytes. Gives the ids of both, without the recording's for a step that
    names none."""
    session, sound = make("sessions"), b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\4\0\0\0\0\0\0\0"
    if step == "recordings":
        return session, None
    made = post(f"/sessions/{session}/recordings", {"filename": "a.wav", "size_bytes": len(sound)})["data"]
    requests.put(made["upload"]["url"], data=sound, headers=made["upload"]["headers"], timeout=30).raise_for_status()
    return session, made["id"]


def mend_draft(case, parameters):
    """Puts another draft of an agenda into the path, with a placed session where the path names one, and
    a session that is not placed into the body."""
    (case.headers or {}).pop("If-Match", None)
    parameters["draftId"] = draft = make(DRAFTS)
    if "draftSessionId" in parameters:
        parameters["draftSessionId"] = post(f"/{DRAFTS}/{draft}/sessions/create", {"session_id": make("sessions")})["id"]
        if isinstance(case.body, dict):
            case.body.pop("session_id", None)
    elif isinstance(case.body, dict) and "session_id" in case.body:
        case.body["session_id"] = make("sessions")
    elif isinstance(case.body, dict) and "days" in case.body:
        case.body.update(
            days=[{"starts_at": "2027-05-10T09:00:00Z", "ends_at": "2027-05-10T18:00:00Z"}], time_limit_ms=100, slot_minutes=30, session_ids=[make("sessions")])
        case.body.pop("room_ids", None)


def operate(command, more):
    """Runs an operator command on the organization and gives the answer."""
    return command_of(command, {"org_id": ORG} | more)


def command_of(command, body):
    """Runs an operator command and gives the answer."""
    service = ["--data", os.environ["LECTERN_DATA"], "--json", json.dumps(body)]
    done = subprocess.run(["bin/lectern", "operator", command, *service], check=True, capture_output=True, timeout=60)
    return json.loads(done.stdout)


def make_award(name, path):
    """Makes the record of awards that an id in a path names, below the path of another, and gives its id."""
    below, body = AWARD_IDS[name]
    return post(below, body | {("code" if "code" in below else "name"): f"Name {next(serial)}"}, path)["id"]


def award_programs(times):
    """Yields programs for paths, each up to so many times, since a program has few rounds. A call with an id that another
    answer has shown may have deleted the program. The program before is deleted, since an organization has few programs."""
    while True:
        made = make_award("programId", AWARDS)
        for _ in range(times):
            if not requests.get(f"{AWARDS}/{made}", headers=HEADERS, timeout=30).ok:
                break
            yield made
        requests.delete(f"{AWARDS}/{made}", params={"force": "true"}, headers=HEADERS, timeout=30)


def fill_award_path(parameters):
    """Puts new records of awards into the ids of a path."""
    path = AWARDS
    for name in AWARD_IDS:
        if name in parameters:
            if name == "programId":
                parameters[name] = next(shared_programs if len(parameters) > 2 else single_programs)
            else:
                parameters[name] = make_award(name, path)
            path += f"{AWARD_IDS[name][0]}/{parameters[name]}"
    if not parameters.keys() & {"submissionId", "reviewId", "reviewerId"}:
        return
    program = {"program_id": parameters["programId"]}
    submission = operate("award-submit", program | {"submitter": {"name": "A name", "email": address()}})
    if "submissionId" in parameters:
        parameters["submissionId"] = submission["id"]
        return
    named = {"submission_id": submission["id"], "round_id": submission["current_round_id"]}
    review = operate("award-assign", program | named | {"reviewer": {"name": "A name", "email": address()}})
    parameters.update((name, i) for name, i in (("reviewId", review["id"]), ("reviewerId", review["reviewer"]["id"])) if name in parameters)


def mend_award(case, parameters):
    """Puts new records into the path of an operation of awards, and into the body what the rules of the records allow."""
    fill_award_path(parameters)
    (case.headers or {}).pop("If-Match", None)
    case.query = {} if case.query is None else case.query
    for name in ("round_id", "force", "cascade"):
        case.query.pop(name, None)
    if not isinstance(case.body, dict):
        return
    for name in ("opens_at", "closes_at", "starts_at", "expires_at", "scorecard", "parent_category_id", "updated_at"):
        case.body.pop(name, None)
    if "discount_type" in case.body:
        case.body["discount_type"] = "flat"
    if case.method.upper() != "POST":
        case.body.pop("type", None)
    if "answers" in case.body:
        case.body["answers"] = {}


def make_report(kind, base):
    """Makes a saved query, a dashboard or a widget below a prefix and gives its id. Dashboards and queries are deleted
    where the owner has nearly as many as it may have."""
    name, below = f"Name {next(serial)}", "queries" if kind == "queries" else "dashboards"
    listed = requests.get(f"{base}/{below}?limit=100", headers=HEADERS, timeout=30).json()
    for record in (listed["results"] if isinstance(listed, dict) else listed)[:-90]:
        requests.delete(f"{base}/{below}/{record['id']}", headers=HEADERS, timeout=30)
    if kind == "queries":
        return post("/queries/create", {"name": name, "query": COUNT}, base)["id"]
    made = post("/dashboards/create", {"name": name}, base)["id"]
    return made if kind == "dashboards" else post(f"/dashboards/{made}/widgets/create", {"type": "chart", "query": COUNT}, base)["id"]


def mend_report(case, parameters):
    """Puts a new record into the path of an operation of reports, and a valid query into the body."""
    kind = collection(case.operation.path)
    prefix = case.operation.path.split(f"/{kind}")[0].removesuffix("/insights")
    made = make_report(kind, URL + prefix.format(eventId=EVENT, orgId=ORG))
    for name in ("id", "queryId", "widgetId"):
        if name in parameters:
            parameters[name] = made
    (case.headers or {}).pop("If-Match", None)
    if not isinstance(case.body, dict):
        return
    for name in ("config", "widgets", "updated_at"):
        case.body.pop(name, None)
    if "query" in case.body:
        case.body["query"] = COUNT
    if case.method.upper() == "PUT":
        case.body.pop("type", None)


# A valid request of an application.
ASKED = {
    "client_id": command_of("application-create", {"client_name": "Agenda", "redirect_uris": ["https://app.example/done"]})["client_id"],
    "redirect_uri": "https://app.example/done", "response_type": "code", "code_challenge": "v" * 43, "code_challenge_method": "S256",
}
hook = make_webhook("http://127.0.0.1:9/", "session.created")
pool = {kind: [make(kind) for _ in range(5)] for kind in (*KINDS, *ROLES, "sessions", "fields", "contacts", "speakers", "webhooks")}
pool[DRAFTS] = []
shared_programs, single_programs = award_programs(25), award_programs(1)
speaker = make_speaker()
transcriptions = [make_transcription() for _ in range(5)]
summarized, _ = make_transcription("summary")
archive = make_archive()
link = make_link()


def collection(path):
    if "/insights/" in path:
        below = path.split("/insights/")[1].split("/")[0]
        return below if below in REPORTS else "insights"
    parts = path.split("/")
    return parts[2] if parts[2] in ("webhooks", "gdpr", *REPORTS) else parts[4]


def real_id(case, path):
    """The id for a path that names a record: an own one where it is used up."""
    kind = collection(path)
    if path.endswith("/restore"):
        made = make(kind)
        requests.delete(f"{BASE}/{kind}/{made}", headers=HEADERS, timeout=30).raise_for_status()
        return made
    return make(kind) if case.method.upper() == "DELETE" else rng.choice(pool[kind])


def mend(body):
    """Puts real ids where a valid body names other records."""
    for name, kind in REFERENCES.items():
        if body.get(name):
            body[name] = rng.choice(pool[kind])
    if body.get("parent_session_id"):
        body["parent_session_id"] = make("sessions")
    for name, kind in LISTS.items():
        if isinstance(body.get(name), list):
            body[name] = [rng.choice(pool[kind])]
    if isinstance(body.get("participants"), list):
        body["participants"] = [{"contact_id": rng.choice(pool["contacts"]), "core_role": "moderator"}]
    for name in ("custom_fields", "values", "translations", "updated_at", "is_abstract", "starts_at"):
        if rng.random() < SHARE_OF_REAL_IDS:
            body.pop(name, None)
    if body.get("custom_status_id"):
        body.pop("status", None)


def mend_party(kind, body, creates):
    """Puts into the body of a contact or an account what their fields take."""
    if rng.random() >= SHARE_OF_REAL_IDS:
        return
    for name, value in STANDARD.items():
        if body.get(name) is not None:
            body[name] = value
    for alias, name in ALIASES.items():
        if kind == "contacts" or alias != "phone":
            body.pop(alias, None)
    if "email" in body:
        body["email"] = address()
    if isinstance(body.get("contacts"), list):
        body["contacts"] = [{"contact_id": rng.choice(pool["contacts"]), "is_primary": True}]
    if kind in ROLES:
        name_it(kind, body, creates)


def mend_webhook(body):
    """Puts into the body of an endpoint what its properties take."""
    if rng.random() >= SHARE_OF_REAL_IDS:
        return
    if "url" in body:
        body["url"] = "https://hooks.invalid/lectern"
    body.pop("event_ids", None)
    if "headers" in body:
        body["headers"] = {"X-Key": "a key"}
    if "since" in body:
        body |= {"since": "2027-05-11T14:00:00Z", "until": "2027-05-12T14:00:00Z"}


def mend_transcription(body, creates, source):
    """Puts into the body of a transcription what its type and the others of its session allow."""
    if rng.random() >= SHARE_OF_REAL_IDS:
        return
    if not creates:
        body.pop("type", None)
    body.pop("source_transcription_id", None)
    if body.get("type") == "translation":
        body["source_transcription_id"] = source
    if body.get("end_time") is not None or body.get("start_time") is None:
        body |= {"start_time": 1, "end_time": 2}
    body.pop("language_code", None)


def mend_recording(case, parameters):
    """Puts a real session and recording into the path, and into the body what fits these."""
    parameters["sessionId"], made = make_recording(case.operation.path.rsplit("/", 1)[1])
    if made:
        parameters["id"] = made
    if isinstance(case.body, dict):
        case.body.pop("file_size_bytes", None)
        if "content_type" in case.body:
            case.body["content_type"] = "audio/wav"


def name_it(kind, body, creates):
    """Leaves an account one of its two ways to be named; account_id is that of the other role."""
    if creates and body.pop("account_id", None) and rng.random() < 0.5:
        body.pop("name", None)
        body["account_id"] = make(ROLES[1 - ROLES.index(kind)])
    elif creates or "name" in body:
        body["name"] = f"Name {next(serial)}"


def with_log_token(request):
    """Replaces the token of a request."""
    request.headers["x-access-token"] = next(LOG_TOKENS)
    return request


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.operation.path == "/oauth/authorize" and rng.random() < SHARE_OF_REAL_IDS:
        case.query = dict(ASKED)
    if case.operation.path.startswith(("/oauth/", "/.well-known/", "/mcp")):
        return
    if case.operation.path.startswith("/v1/logs/"):
        kwargs["auth"] = with_log_token
    mode = getattr(getattr(case.meta, "generation", None), "mode", None)
    if mode is None or not mode.is_positive:
        return
    parameters = case.path_parameters or {}
    if "eventId" in parameters:
        parameters["eventId"] = EVENT
    if "orgId" in parameters:
        parameters["orgId"] = ORG
    if "cursor" in (case.query or {}) and rng.random() < SHARE_OF_REAL_IDS:
        del case.query["cursor"]
    if "email" in (case.query or {}) and rng.random() < SHARE_OF_REAL_IDS:
        case.query["email"] = speaker["email"]
    for name in ("sessionId", "id", "fieldId", "contactId", "sponsorId", "exhibitorId", "ruleId", "personaId"):
        if name in parameters and collection(case.operation.path) in pool and rng.random() < SHARE_OF_REAL_IDS:
            parameters[name] = real_id(case, case.operation.path)
            (case.headers or {}).pop("If-Match", None)
    if "content-slots" in case.operation.path and "session_id" in (case.query or {}) and rng.random() < SHARE_OF_REAL_IDS:
        case.query["session_id"] = rng.choice(pool["sessions"])
    named = None
    if "content/items" in case.operation.path and rng.random() < SHARE_OF_REAL_IDS:
        parameters["id"] = rng.choice(transcriptions)[0]
        (case.query or {}).pop("session_id", None)
    if "{fileId}" in case.operation.path and rng.random() < SHARE_OF_REAL_IDS:
        parameters["sessionId"], parameters["fileId"] = make_file(not case.operation.path.endswith("/complete"))
        (case.headers or {}).pop("If-Match", None)
    if case.operation.path.endswith("/files/upload") and rng.random() < SHARE_OF_REAL_IDS:
        parameters["sessionId"] = make("sessions")
        if isinstance(case.body, dict):
            mend_form(case.body)
    if case.operation.path.endswith("/{documentType}") and "sessionId" in parameters and rng.random() < SHARE_OF_REAL_IDS:
        parameters["sessionId"] = summarized
    if "/transcriptions" in case.operation.path and rng.random() < SHARE_OF_REAL_IDS:
        named = make_transcription() if case.method.upper() == "DELETE" else rng.choice(transcriptions)
        for name, made in zip(("sessionId", "id"), named):
            if name in parameters:
                parameters[name] = made
        (case.headers or {}).pop("If-Match", None)
    if "/media/" in case.operation.path and rng.random() < SHARE_OF_REAL_IDS:
        reads = "mediaItemId" in parameters
        parameters["sessionId"], made = make_media("get" if reads else case.operation.path.rsplit("/", 1)[1])
        if reads:
            parameters["mediaItemId"] = made
        elif isinstance(case.body, dict):
            case.body = made
    if "/recordings" in case.operation.path and rng.random() < SHARE_OF_REAL_IDS:
        mend_recording(case, parameters)
    if "/awards/" in case.operation.path and rng.random() < SHARE_OF_REAL_IDS:
        mend_award(case, parameters)
    if case.operation.path.endswith("/insights/execute") and isinstance(case.body, dict) and rng.random() < SHARE_OF_REAL_IDS:
        for name in ("eventId", "eventIds", "groupBy", "pivot", "sortBy"):
            case.body.pop(name, None)
        case.body["query"] = COUNT
    if collection(f"{case.operation.path}////") in REPORTS and rng.random() < SHARE_OF_REAL_IDS:
        mend_report(case, parameters)
    if "draftId" in parameters and rng.random() < SHARE_OF_REAL_IDS:
        mend_draft(case, parameters)
    if "version" in parameters:
        kwargs["allow_redirects"] = False  # The bucket is no part of the document.
        if rng.random() < SHARE_OF_REAL_IDS:
            parameters["version"] = link
    if "requestId" in parameters and rng.random() < SHARE_OF_REAL_IDS:
        parameters["requestId"] = archive
    if "webhookId" in parameters and rng.random() < SHARE_OF_REAL_IDS:
        parameters["webhookId"] = real_id(case, case.operation.path)
        (case.headers or {}).pop("If-Match", None)
        if "deliveryId" in parameters:
            parameters["webhookId"], parameters["deliveryId"] = hook, make_delivery()
    if isinstance(case.body, dict):
        mend(case.body)
        if named:
            mend_transcription(case.body, case.method.upper() == "POST", named[1])
        if collection(case.operation.path) == "webhooks":
            mend_webhook(case.body)
        if collection(case.operation.path) in ("contacts", *ROLES):
            mend_party(collection(case.operation.path), case.body, case.operation.path.endswith("/create"))
        if case.operation.path.endswith("/fields/{fieldId}"):
            for fixed in ("type", "module_id", "scope", "multiple"):
                case.body.pop(fixed, None)
        if case.operation.path.endswith("/{ruleId}"):
            case.body.pop("type", None)
        if case.operation.path.endswith("/fields") and case.method.upper() == "PUT":
            case.body.setdefault("values", {})


@schemathesis.hook
def after_call(context, case, response):
    if case.method.upper() == case.operation.method.upper():  # Others are tried to be refused.
        counts[f"{case.method.upper()} {case.operation.path}"][response.status_code] += 1


@atexit.register
def keep():
    with open(os.environ["LECTERN_COUNTS"], "w", encoding="utf-8") as file:
        json.dump(counts, file)
