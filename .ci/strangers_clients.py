"""The clients of .ci/strangers.py: three that send requests, and two that look into the bucket.

curl and requests know nothing of S3, and boto3 is used for its own HTTP client as the third. boto3 and the
AWS CLI look into the bucket with the key pair of the service.
"""
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest.mock
import urllib.parse

import boto3
import requests
from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from botocore.httpsession import URLLib3Session

AWS = pathlib.Path(sys.executable).parent / "aws"


class Answer:
    """The answer to a request: the status, the headers by their names in lower case, and the body."""

    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers}

    def json(self):
        return json.loads(self.body)


class Curl:
    """Sends requests with the program curl."""

    name = "curl"

    def run(self, *arguments, content=b""):
        """Calls curl in a folder with the file `sent`. curl writes the headers of all answers to the file
        `heads`, and the last body to the file `body`."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "sent").write_bytes(content)
            (folder / "body").touch()
            subprocess.run(
                ["curl", "-q", "-sS", "--max-time", "60", "-D", "heads", "-o", "body", *arguments], cwd=folder, check=True,
            )
            last = (folder / "heads").read_text(encoding="latin-1").strip().split("\n\n")[-1].splitlines()
            headers = [line.split(": ", 1) for line in last[1:] if ": " in line]
            return Answer(int(last[0].split()[1]), headers, (folder / "body").read_bytes())

    def put(self, url, headers, content):
        return self.run("-T", "sent", *flags(headers), url, content=content)

    def put_chunks(self, url, headers, content):
        return self.put(url, headers | {"Transfer-Encoding": "chunked"}, content)

    def post(self, url, headers, content):
        return self.run("--data-binary", "@sent", *flags(headers), url, content=content)

    def form(self, url, headers, texts, filename, content):
        fields = [flag for name, value in texts.items() for flag in ("-F", f"{name}={value}")]
        return self.run(*fields, "-F", f"file=@sent;filename={filename}", *flags(headers), url, content=content)

    def get(self, url):
        return self.run("-L", url)


def flags(headers):
    """The headers as arguments of curl."""
    return [flag for name, value in headers.items() for flag in ("-H", f"{name}: {value}")]


class Requests:
    """Sends requests with the package requests."""

    name = "requests"

    def send(self, method, url, **more):
        answer = requests.request(method, url, timeout=60, **more)
        return Answer(answer.status_code, answer.headers.items(), answer.content)

    def put(self, url, headers, content):
        return self.send("PUT", url, headers=headers, data=content)

    def put_chunks(self, url, headers, content):
        return self.send("PUT", url, headers=headers, data=iter([content]))

    def post(self, url, headers, content):
        return self.send("POST", url, headers=headers, data=content)

    def form(self, url, headers, texts, filename, content):
        return self.send("POST", url, headers=headers, data=texts, files={"file": (filename, content)})

    def get(self, url):
        return self.send("GET", url)


class Boto3:
    """Sends requests with the HTTP client of boto3."""

    name = "boto3"

    def put(self, url, headers, content):
        answer = URLLib3Session(timeout=60).send(AWSRequest("PUT", url, headers, content).prepare())
        return Answer(answer.status_code, answer.headers.items(), answer.content)

    def put_chunks(self, url, headers, content):
        return self.put(url, headers | {"Transfer-Encoding": "chunked"}, content)


class Signer:
    """Signs an address of the service again for another time, by the key pair of the bucket."""

    def __init__(self, bucket):
        self.credentials = Credentials(bucket["access_key"], bucket["secret_key"])
        self.region = bucket["aws_region"]

    def at(self, when, method, url, headers):
        """The address, signed at a time. headers has all signed ones, but for Host."""
        parts = urllib.parse.urlsplit(url)
        query = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
        plain = urllib.parse.urlencode([(k, v) for k, v in query if not k.startswith("X-Amz-")], quote_via=urllib.parse.quote)
        request = AWSRequest(method, parts._replace(query=plain).geturl(), dict(headers))
        auth = S3SigV4QueryAuth(self.credentials, "s3", self.region, int(dict(query)["X-Amz-Expires"]))
        with unittest.mock.patch("botocore.auth.get_current_datetime", lambda *_, **__: when):
            auth.add_auth(request)
        return request.url

    def late(self, method, url, headers):
        """The address, signed so early that its life ended a minute ago."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
        signed = datetime.datetime.strptime(query["X-Amz-Date"], "%Y%m%dT%H%M%SZ")
        again = self.at(signed, method, url, headers)
        assert f"X-Amz-Signature={query['X-Amz-Signature']}" in again, f"boto3 signs {url} as {again}; want the same signature"
        life = datetime.timedelta(seconds=int(query["X-Amz-Expires"]))
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        return self.at(now - life - datetime.timedelta(minutes=1), method, url, headers)


class Boto3Bucket:
    """The bucket as boto3 shows it."""

    name = "boto3"

    def __init__(self, bucket, secret=None):
        self.bucket = bucket["name"]
        self.client = boto3.client(
            "s3", endpoint_url=bucket["url"], region_name=bucket["aws_region"],
            aws_access_key_id=bucket["access_key"], aws_secret_access_key=secret or bucket["secret_key"],
        )

    def pages(self, operation, **more):
        return self.client.get_paginator(operation).paginate(Bucket=self.bucket, **more)

    def listed(self, prefix=""):
        """The size of each object with its key, in order."""
        return [(o["Key"], o["Size"]) for page in self.pages("list_objects_v2", Prefix=prefix) for o in page.get("Contents", [])]

    def versions(self):
        """The keys of all versions and delete markers, in order."""
        return sorted(
            v["Key"] for page in self.pages("list_object_versions") for kind in ("Versions", "DeleteMarkers") for v in page.get(kind, [])
        )

    def head(self, key):
        """Size and type of an object; None without one."""
        try:
            found = self.client.head_object(Bucket=self.bucket, Key=key)
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                return None
            raise
        return found["ContentLength"], found["ContentType"]

    def content(self, key):
        return self.client.get_object(Bucket=self.bucket, Key=key)["Body"].read()

    def uploads(self):
        """Key and id of each upload in parts that is open."""
        return [(u["Key"], u["UploadId"]) for page in self.pages("list_multipart_uploads") for u in page.get("Uploads", [])]

    def parts(self, key, upload):
        """Number, size and ETag of each part."""
        found = self.client.list_parts(Bucket=self.bucket, Key=key, UploadId=upload)
        return [(p["PartNumber"], p["Size"], p["ETag"]) for p in found["Parts"]]

    def refused(self):
        """The code of the refusal of a list."""
        try:
            self.listed()
        except ClientError as error:
            return error.response["Error"]["Code"]
        return None


class AwsBucket:
    """The bucket as `aws s3api` shows it."""

    name = "aws"

    def __init__(self, bucket, secret=None):
        self.bucket, self.url = bucket["name"], bucket["url"]
        self.environment = {
            "AWS_ACCESS_KEY_ID": bucket["access_key"], "AWS_SECRET_ACCESS_KEY": secret or bucket["secret_key"],
            "AWS_DEFAULT_REGION": bucket["aws_region"], "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        }

    def run(self, operation, *arguments):
        return subprocess.run(
            [sys.executable, AWS, "s3api", operation, "--bucket", self.bucket, "--endpoint-url", self.url, "--output", "json", *arguments],
            env=self.environment, capture_output=True, text=True, timeout=120, check=False,
        )

    def ask(self, operation, *arguments):
        done = self.run(operation, *arguments)
        assert done.returncode == 0, f"aws s3api {operation} ended with {done.returncode}: {done.stderr}"
        return json.loads(done.stdout or "{}")

    def listed(self, prefix=""):
        """The size of each object with its key, in order."""
        return [(o["Key"], o["Size"]) for o in self.ask("list-objects-v2", "--prefix", prefix).get("Contents", [])]

    def head(self, key):
        """Size and type of an object."""
        found = self.ask("head-object", "--key", key)
        return found["ContentLength"], found["ContentType"]

    def content(self, key):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "text")
            self.ask("get-object", "--key", key, str(text))
            return text.read_bytes()

    def uploads(self):
        """Key and id of each upload in parts that is open."""
        return [(u["Key"], u["UploadId"]) for u in self.ask("list-multipart-uploads").get("Uploads", [])]

    def parts(self, key, upload):
        """Number, size and ETag of each part."""
        found = self.ask("list-parts", "--key", key, "--upload-id", upload)
        return [(p["PartNumber"], p["Size"], p["ETag"]) for p in found["Parts"]]

    def refused(self):
        """The code of the refusal of a list."""
        done = self.run("list-objects-v2")
        return done.stderr.split("(", 1)[-1].split(")", 1)[0] if done.returncode else None
