"""Uploads files and media with the clients of strangers_clients.py to the service that .ci/strangers
starts. Then boto3 and the AWS CLI list the bucket, and must see exactly what the API shows, and what is
known to wait for its removal.
"""
import json
import os
import pathlib
import sys
import urllib.parse

import requests
from strangers_clients import AwsBucket, Boto3, Boto3Bucket, Curl, Requests, Signer

ROOT = f"{os.environ['LECTERN_US_URL']}/v1/event/{os.environ['LECTERN_US_EVENT']}"
TOKEN = {"x-access-token": os.environ["LECTERN_US_TOKEN"]}
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))
# PART is the smallest part that another may follow.
PART = 5 << 20


def pdf(name, size=100):
    """A PDF of its own for each name."""
    return f"%PDF-1.7\n% {name}\n".encode() + b"slides\n" * (size // 7) + b"%%EOF\n"


def equal(got, want, what):
    assert got == want, f"{what}: got {got!r}, want {want!r}"


def api(method, path, body=None, status=200):
    """Calls the API and returns the answer; a call with another status fails."""
    answer = requests.request(method, ROOT + path, json=body, headers=TOKEN, timeout=60)
    assert answer.status_code == status, f"{method} {path}: got {answer.status_code} {answer.text}, want {status}"
    return answer.json() if answer.content else None


def refused(answer, field, what):
    """Requires a 400 of the API that names a field."""
    equal((answer.status, answer.json().get("details", {}).get("field")), (400, field), what)


def changed(url, **parameters):
    """The address with other values of parameters."""
    parts = urllib.parse.urlsplit(url)
    query = dict(urllib.parse.parse_qsl(parts.query)) | parameters
    return parts._replace(query=urllib.parse.urlencode(query, quote_via=urllib.parse.quote)).geturl()


class Service:
    """A session of the event with a speaker, and what the strangers have stored in the bucket."""

    def __init__(self, bucket):
        self.bucket, self.signer = bucket["name"], Signer(bucket)
        self.boto3, self.aws = Boto3Bucket(bucket), AwsBucket(bucket)
        self.speaker = api("POST", "/contacts/create", {"email": "ada@strangers.example", "first_name": "Ada"})["id"]
        self.path = "/sessions/" + api("POST", "/sessions/create", {
            "title": "A talk", "participants": [{"contact_id": self.speaker, "core_role": "speaker"}],
        })["id"]
        # contents has the bytes of each file by its id, and media the bytes of each item by its id.
        self.contents, self.media = {}, {}
        # waiting has the keys whose bytes no file has, and why the bytes are there.
        self.waiting = {}

    def key(self, url):
        """The key of an address of the bucket."""
        start = f"/{self.bucket}/"
        path = urllib.parse.unquote(urllib.parse.urlsplit(url).path)
        assert path.startswith(start), f"an address begins with {path}, want {start}"
        return path[len(start):]

    def location(self, file):
        """The address that the url of a file leads to."""
        answer = requests.get(file["url"], allow_redirects=False, timeout=60)
        equal(answer.status_code, 302, f"the url of {file['filename']}")
        return answer.headers["Location"]

    def files(self):
        """The files of the session by their ids."""
        return {f["id"]: f for f in api("GET", self.path + "/files")["data"]}

    def shown(self):
        """Size and type of each object by its key, as the API shows the files of all sessions, and the media."""
        objects, page, pages = {}, 1, 1
        while page <= pages:
            answer = api("GET", f"/sessions?page_size=100&page={page}")
            page, pages = page + 1, answer["pagination"]["totalPages"]
            for file in (f for s in answer["results"] for f in s["content"]):
                key = self.key(self.location(file))
                assert key not in objects, f"two files have the object {key}"
                objects[key] = file["size"], file["mimetype"]
        for item, content in self.media.items():
            objects[api("GET", f"{self.path}/media/{item}")["data"]["media_s3_key"]] = len(content), "video/mp4"
        return objects

    def added(self, sender, file, filename, content, mimetype):
        """Requires that a file is shown as it was sent, and can be downloaded."""
        equal((file["filename"], file["size"], file["mimetype"]), (filename, len(content), mimetype), f"a file of {sender.name}")
        equal(self.files().get(file["id"]), file, f"the listed file of {sender.name}")
        self.contents[file["id"]] = content


def form(service, sender, filename, content, mimetype):
    """Uploads a form, and forms that are refused."""
    url, before = ROOT + service.path + "/files/upload", service.files()
    texts = {"title": f"Folien für {sender.name}", "assigned_participant_id": service.speaker}
    small = content[:200]
    sent = requests.Request("POST", url, data=texts, files={"file": (filename, small)}).prepare()
    headers = TOKEN | {"Content-Type": sent.headers["Content-Type"]}
    refused(sender.post(url, headers, sent.body[:-20]), "file", f"a form of {sender.name} that ends early")
    refused(sender.form(url, TOKEN, texts, filename, b"<html>no slides</html>"), "file", f"a page of {sender.name} with another type")
    refused(sender.form(url, TOKEN, texts, filename, b""), "file", f"an empty file of {sender.name}")
    other = texts | {"assigned_participant_id": "00000000-0000-4000-8000-000000000000"}
    refused(sender.form(url, TOKEN, other, filename, small), "assigned_participant_id", f"an unknown participant of {sender.name}")
    equal(sender.form(url, {}, texts, filename, small).status, 401, f"a form of {sender.name} without a token")
    equal(service.files(), before, f"the files after the refused forms of {sender.name}")

    answer = sender.form(url, TOKEN, texts, filename, content)
    equal(answer.status, 201, f"a form of {sender.name}: {answer.body!r}")
    file = answer.json()["data"]
    equal({name: file[name] for name in texts}, texts, f"the texts of a form of {sender.name}")
    service.added(sender, file, filename, content, mimetype)


def misuse(service, sender, upload, content):
    """Sends bytes that an upload is not for. The bucket refuses them and has nothing afterwards."""
    url, headers = upload["url"], upload["headers"]
    signed = headers | {"Content-Length": str(len(content))}
    wrong = {
        "too long": (url, headers, content + b"x"),
        "too short": (url, headers, content[:-1]),
        "of another type": (url, headers | {"Content-Type": "text/html"}, content),
        "that may overwrite": (url, {k: v for k, v in headers.items() if k != "If-None-Match"}, content),
        "for another key": (url.replace("?", "x?"), headers, content),
        "for a longer life": (changed(url, **{"X-Amz-Expires": "604800"}), headers, content),
        "with a forged signature": (changed(url, **{"X-Amz-Signature": "0" * 64}), headers, content),
        "that come late": (service.signer.late("PUT", url, signed), headers, content),
    }
    for name, request in wrong.items():
        answer = sender.put(*request)
        equal(answer.status, 403, f"bytes of {sender.name} {name}: {answer.body!r}")
    answer = sender.put_chunks(url, headers, content)
    assert 400 <= answer.status < 500, f"bytes of {sender.name} without a length: got {answer.status}, want a refusal"
    for key in (service.key(url), service.key(url) + "x"):
        equal(service.boto3.head(key), None, f"the object after the refused bytes of {sender.name}")


def send(service, sender, upload, content):
    """Sends bytes as an upload asks for, and once more, which is refused."""
    equal(upload["method"], "PUT", "the method of an upload")
    for status, what in ((200, "the bytes"), (412, "the same bytes again")):
        answer = sender.put(upload["url"], upload["headers"], content)
        equal(answer.status, status, f"{what} of {sender.name}: {answer.body!r}")
    return service.key(upload["url"])


def begin(service, filename, content, **more):
    """Begins the upload of a file."""
    return api("POST", service.path + "/files", {"filename": filename, "size_bytes": len(content), **more}, 201)["data"]


def direct(service, sender, filename, content, mimetype):
    """Uploads a file directly, and returns it."""
    begun = begin(service, filename, content, title=f"Sent by {sender.name}", assigned_participant_id=service.speaker)
    misuse(service, sender, begun["upload"], content)
    complete = f"{service.path}/files/{begun['id']}/complete"
    api("POST", complete, status=400)
    key = send(service, sender, begun["upload"], content)
    assert begun["id"] not in service.files(), f"the file of {sender.name} is shown before complete"
    file = api("POST", complete)["data"]
    equal(service.key(service.location(file)), key, f"the object of a file of {sender.name}")
    service.added(sender, file, filename, content, mimetype)
    return file


def hide(service, sender):
    """Leaves bytes that no file has: refused, not complete, and deleted ones."""
    page = b"<html>no slides</html>"
    begun = begin(service, "page.pdf", page)
    send(service, sender, begun["upload"], page)
    api("POST", f"{service.path}/files/{begun['id']}/complete", status=400)

    begun = begin(service, "open.pdf", pdf("open"))
    service.waiting[send(service, sender, begun["upload"], pdf("open"))] = "not complete"

    begun = begin(service, "deleted.pdf", pdf("deleted"))
    service.waiting[send(service, sender, begun["upload"], pdf("deleted"))] = "deleted"
    file = api("POST", f"{service.path}/files/{begun['id']}/complete")["data"]
    api("DELETE", f"{service.path}/files/{file['id']}", status=204)
    equal(requests.get(file["url"], timeout=60).status_code, 404, "the url of a deleted file")


def replace(service, sender, file, filename, content, mimetype):
    """Replaces the bytes of a file."""
    former, path = service.key(service.location(file)), f"{service.path}/files/{file['id']}"
    begun = api("POST", path + "/replace", {"filename": filename, "size_bytes": len(content)})["data"]
    misuse(service, sender, begun["upload"], content)
    send(service, sender, begun["upload"], content)
    equal(service.files()[file["id"]], file, "the file before its replacement is complete")
    new = api("POST", path + "/complete")["data"]
    equal((new["id"], new["title"]), (file["id"], file["title"]), "what a replacement keeps")
    assert new["url"] != file["url"], "a replacement has the former url, want a new one"
    equal(requests.get(file["url"], timeout=60).status_code, 404, "the url of replaced bytes")
    service.added(sender, new, filename, content, mimetype)
    service.waiting[former] = "replaced"


def download(service, sender):
    """Downloads each file by its url. Changed and late addresses lead nowhere."""
    for file in service.files().values():
        answer = sender.get(file["url"])
        equal(answer.status, 200, f"{sender.name} gets {file['filename']}")
        equal(answer.body, service.contents[file["id"]], f"the bytes that {sender.name} gets of {file['filename']}")
        disposition = answer.headers["content-disposition"]
        assert disposition.startswith("attachment"), f"{sender.name} gets {disposition}, want an attachment"
        safe = file["mimetype"] if file["mimetype"] in ("application/pdf", "image/png") else "application/octet-stream"
        equal(answer.headers["content-type"], safe, f"the type that {sender.name} gets of {file['filename']}")
        middle = len(file["url"]) - 30
        other = "A" if file["url"][middle] != "A" else "B"
        equal(sender.get(file["url"][:middle] + other + file["url"][middle + 1:]).status, 404, f"a changed url of {sender.name}")
        location = service.location(file)
        for name, wrong in {
            "late": service.signer.late("GET", location, {}),
            "of another type": changed(location, **{"response-content-type": "text/html"}),
            "of another object": location.replace("?", "x?"),
        }.items():
            equal(sender.get(wrong).status, 403, f"an address of {sender.name} that is {name}")


def film(service, sender):
    """Uploads a film in two parts, after wrong ones, and gives up another."""
    content = b"film" * (PART // 4) + f"end of {sender.name}".encode()
    upload, body = service.path + "/media/upload", {"filename": "Keynote.mp4", "size_bytes": len(content)}
    opened = api("POST", upload + "/initiate", body, 201)["data"]
    target = {"key": opened["key"], "upload_id": opened["upload_id"]}
    signed = api("POST", upload + "/sign-part", target | {"part_numbers": [1, 2]})["data"]["parts"]

    def put(number, part):
        one = signed[number - 1]
        answer = sender.put(one["url"], one["headers"], part)
        equal(answer.status, 200, f"part {number} of {sender.name}: {answer.body!r}")
        return {"part_number": number, "etag": answer.headers["etag"]}

    url = signed[1]["url"]
    for name, wrong in {
        "with another number": changed(url, partNumber="3"), "of another upload": changed(url, uploadId="other"),
        "that comes late": service.signer.late("PUT", url, {}), "for a longer life": changed(url, **{"X-Amz-Expires": "604800"}),
        "with another key": url.replace("?", "x?"),
    }.items():
        equal(sender.put(wrong, {}, content[PART:]).status, 403, f"a part of {sender.name} {name}")
    for view in (service.boto3, service.aws):
        equal(view.uploads(), [(opened["key"], opened["upload_id"])], f"the open uploads as {view.name} shows them")

    first, short = put(1, content[:PART]), put(2, content[PART:-1])
    api("POST", upload + "/complete", target | body | {"parts": [first, short]}, 400)
    last = put(2, content[PART:])
    stored = [(1, PART, first["etag"]), (2, len(content) - PART, last["etag"])]
    for view in (service.boto3, service.aws):
        equal(view.parts(opened["key"], opened["upload_id"]), stored, f"the parts as {view.name} shows them")
    done = target | body | {"parts": [first, last]}
    api("POST", upload + "/complete", done | {"filename": "Keynote.mp3"}, 400)
    equal(service.boto3.head(opened["key"]), None, "the film before complete")
    item = api("POST", upload + "/complete", done, 201)["data"]
    equal((item["title"], item["kind"], item["media_s3_key"]), ("Keynote.mp4", "video", opened["key"]), f"a film of {sender.name}")
    service.media[item["id"]] = content

    opened = api("POST", upload + "/initiate", body, 201)["data"]
    api("POST", upload + "/abort", {"key": opened["key"], "upload_id": opened["upload_id"]})
    for view in (service.boto3, service.aws):
        equal(view.uploads(), [], f"the open uploads after an abort as {view.name} shows them")


def agree(service):
    """Requires that the bucket has what the API shows and what waits, as boto3 and the AWS CLI see it."""
    shown = service.shown()
    contents = {service.key(service.location(f)): service.contents[f["id"]] for f in service.files().values()}
    contents |= {api("GET", f"{service.path}/media/{i}")["data"]["media_s3_key"]: c for i, c in service.media.items()}
    equal(set(shown), set(contents), "the objects of the API, and those of this check")
    wanted = sorted([*shown, *service.waiting])
    equal(service.boto3.versions(), wanted, "the keys of all versions, one for each object")
    for view in (service.boto3, service.aws):
        listed = view.listed()
        equal([key for key, _ in listed], wanted, f"the objects as {view.name} shows them")
        equal(view.listed("files/") + view.listed("media/"), listed, f"the objects by their prefix as {view.name} shows them")
        for key, size in listed:
            found = view.head(key)
            equal(found[0], size, f"the size of {key} as {view.name} shows it")
            if key in shown:
                equal(found, shown[key], f"size and type of {key} as {view.name} shows them")
                equal(view.content(key), contents[key], f"the bytes of {key} as {view.name} shows them")
    return wanted


def main():
    region = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["regions"]["us"]
    bucket, service = region["bucket"], Service(region["bucket"])
    for view in (Boto3Bucket, AwsBucket):
        equal(view(bucket, "wrong").refused(), "SignatureDoesNotMatch", f"a list of {view.name} with another secret key")

    curl, python, boto3 = Curl(), Requests(), Boto3()
    form(service, curl, "Ünïcode slides.pdf", pdf("form of curl", 11_000_000), "application/pdf")
    form(service, python, "Bild für Ada.PNG", PNG, "image/png")
    direct(service, curl, "curl.pdf", pdf("curl"), "application/pdf")
    file = direct(service, python, "requests.pdf", pdf("requests"), "application/pdf")
    direct(service, boto3, "notes of boto3.txt", "Notes für Ada\n".encode(), "text/plain")
    replace(service, python, file, "requests.png", PNG + b"new", "image/png")
    hide(service, python)
    for sender in (curl, python):
        download(service, sender)
    for sender in (curl, python, boto3):
        film(service, sender)
    keys = agree(service)
    print(f"boto3 and the AWS CLI show {len(keys)} objects: {len(service.contents)} files, {len(service.media)} media items, "
          f"and {len(service.waiting)} that wait for their removal")


main()
