package smoke

// The reasons why an emulator shows nothing.
const (
	noSizes    = "its limits of bodies are not those of AWS"
	noKeys     = "it ignores conditions on keys"
	noRecovery = "it leaves the recovery of a template off"
	noMetrics  = "it does not speak the protocol of CloudWatch's client, and has no metrics of AWS"
)

// checks lists all checks, in order. The first search is for the time of a cold start.
var checks = []check{
	{"latency", "times of a first and of later answers", "", (*run).latency},
	{"health", "the gateway reaches a function", "", (*run).health},
	{"links", "links of the entry and the document's server lead on", "", (*run).links},
	{"outside of the stage", "what AWS answers there", "", (*run).outside},
	{"clock", "the clock of the API is right", "", (*run).clock},
	{"unknown route", "every path has an answer of the API", "", (*run).unknownRoute},
	{"no token", "a 401 has a challenge", "", (*run).missingToken},
	{"token of another region", "regions do not serve each other's tokens", "", (*run).otherRegion},
	{"body that is not JSON", "a 400 has the API's shape", "", (*run).wrongBody},
	{"wrong method", "a 405 has Allow", "", (*run).wrongMethod},
	{"other origins", "scripts of other origins may call", "", (*run).origins},
	{"HEAD", "a HEAD has no body", "", (*run).head},
	{"gzip", "answers are compressed for clients that take gzip", "", (*run).compressed},
	{"body of 4 MB", "the function takes the body", "", (*run).sizeInside},
	{"body of 5 MB", "what AWS answers to the largest bulk of the contract", noSizes, (*run).sizeOfAPI},
	{"body of 8 MB", "what AWS answers above Lambda's limit", noSizes, (*run).sizeOfLambda},
	{"body of 10.5 MB", "what AWS answers above the gateway's limit", noSizes, (*run).sizeOfGateway},

	{"versions", "ETag, If-None-Match and If-Match", "", (*run).versions},
	{"repetition", "a repeated POST is done once", "", (*run).replay},
	{"concurrent writes", "one write a version succeeds", "", (*run).contended},
	{"search after a write", "a search shows the last write", "", (*run).found},
	{"bulk", "a bulk creates 100 sessions", "", (*run).create100},
	{"deletion", "a deleted session is not found", "", (*run).deleted},
	{"limits of a token", "scopes, the rate limit and revocation", "", (*run).limits},
	{"operator", "the operator's function refuses in the API's shape", "", (*run).refusals},

	{"expiry", "DynamoDB deletes rate limits and idempotency keys", "", (*run).expiry},
	{"recovery", "the table can be restored to any second", noRecovery, (*run).recovery},
	{"deletion protection", "the table cannot be deleted by mistake", "", (*run).protection},
	{"stream", "the stream has both images", "", (*run).stream},
	{"keys of roles", "a role reaches only its own items", noKeys, (*run).leadingKeys},
	{"key of the table", "a role uses the key through DynamoDB alone", noKeys, (*run).ownKey},
	{"functions", "all functions are ready", "", (*run).functions},
	{"sources of the workers", "changes, queues, the schedule and the log invoke their workers", "", (*run).sources},
	{"rules of the bus", "published changes reach the queues", "", (*run).rules},
	{"work on a change", "a change goes through stream, bus and queue to its worker", "", (*run).worked},
	{"reserved instances", "instances are reserved as configured", "", (*run).concurrency},
	{"throttles of the stage", "the stage limits requests as configured", "", (*run).stage},
	{"certificate", "the domain's certificate is issued", "", (*run).certificate},
	{"alarms", "no alarm is raised", noMetrics, (*run).alarms},
	{"line of a request", "the log has a request within a minute", "", (*run).arrival},
	{"lines of the log", "the log has no unknown lines", "", (*run).lines},
}
