package it

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/content/verify"
	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/stacktest"
	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/blob"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/maintain"
	"lectern/shared/purge"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// DumpedItem holds an item of the table, without its key.
type DumpedItem struct {
	Version, Settings, Auth, Count, Expires int64
	Data, Kind                              string
}

// Dump holds the items of a table, or of a part, at one moment.
type Dump map[table.Key]DumpedItem

// Engine reads and writes a table directly, without the service.
type Engine struct {
	Client *dynamodb.Client
	Table  string
}

// ChangeWatch returns the changes of one type of record, each once.
type ChangeWatch struct {
	of   *Client
	kind string
	seen map[string]bool
}

// farFuture replaces the expiry of items in a dump, in seconds since 1970, so that a
// fixture does not expire.
const farFuture = 4_102_444_800

// Attributes is an item in DynamoDB's types.
type Attributes = map[string]attribute.AttributeValue

// DumpLine is an item as a line of JSON: strings and numbers as in JSON, bytes as an
// object.
type DumpLine map[string]any

// inBytes is the form of bytes in a line, in base64.
type inBytes struct {
	B string `json:"b"`
}

// items reads all items of the table.
func (e Engine) items(t *testing.T) (all []Attributes) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(e.Client, &dynamodb.ScanInput{TableName: &e.Table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		all = append(all, page.Items...)
	}
	return all
}

// Dump returns the items of the whole table.
func (e Engine) Dump(t *testing.T) Dump {
	t.Helper()
	all := Dump{}
	for _, item := range e.items(t) {
		all.Add(t, item)
	}
	return all
}

// Add decodes an item into the dump.
func (d Dump) Add(t *testing.T, all Attributes) {
	t.Helper()
	item, err := raw.Read(all)
	require.NoError(t, err)
	d[item.Key] = DumpedItem{item.Version, item.Settings, item.Auth, item.Count, item.Expires, item.Data, item.Kind}
}

// Below returns the items of a partition and of the partitions below.
func (d Dump) Below(prefix string) Dump {
	part := maps.Clone(d)
	maps.DeleteFunc(part, func(key table.Key, _ DumpedItem) bool {
		return key.PK != prefix && !strings.HasPrefix(key.PK, prefix+"#")
	})
	return part
}

// Add adds to a number of an item.
func (e Engine) Add(t *testing.T, key table.Key, name string, by int) {
	t.Helper()
	_, err := e.Client.UpdateItem(t.Context(),
		&dynamodb.UpdateItemInput{TableName: &e.Table, Key: KeyOf(key), UpdateExpression: new("ADD #a :n"),
			ExpressionAttributeNames:  map[string]string{"#a": name},
			ExpressionAttributeValues: Attributes{":n": &attribute.AttributeValueMemberN{Value: strconv.Itoa(by)}}})
	require.NoError(t, err)
}

// WatchChanges returns a watch of the changes of a type of record.
func (d *Client) WatchChanges(kind string) *ChangeWatch {
	return &ChangeWatch{d, kind, map[string]bool{}}
}

// Since returns the changes since the last call, oldest first.
func (w *ChangeWatch) Since() (fresh []change.Record) {
	w.of.T.Helper()
	for _, r := range ChangesOf(w.of.T, w.of.Stack) {
		if r.Type == w.kind && !w.seen[r.ID] {
			w.seen[r.ID] = true
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// Item converts a line to an item.
func (l DumpLine) Item() (Attributes, error) {
	item := Attributes{}
	for name, value := range l {
		switch v := value.(type) {
		case string:
			item[name] = &attribute.AttributeValueMemberS{Value: v}
		case json.Number:
			item[name] = &attribute.AttributeValueMemberN{Value: v.String()}
		case map[string]any:
			text, _ := v["b"].(string)
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, err
			}
			item[name] = &attribute.AttributeValueMemberB{Value: data}
		}
	}
	return item, nil
}

// Scan returns all items of the table as lines, sorted by key.
func (e Engine) Scan(t *testing.T) (lines []DumpLine) {
	t.Helper()
	for _, item := range e.items(t) {
		lines = append(lines, lineOf(t, item))
	}
	slices.SortFunc(lines, func(a, b DumpLine) int {
		return cmp.Or(cmp.Compare(a.text("PK"), b.text("PK")), cmp.Compare(a.text("SK"), b.text("SK")))
	})
	return lines
}

// text returns a string attribute.
func (l DumpLine) text(name string) string { s, _ := l[name].(string); return s }

// RequireWhole checks the table as lectern verify does.
func (e Engine) RequireWhole(t *testing.T) *verify.Report {
	t.Helper()
	report, err := verify.Table(t.Context(), e.Client, e.Table)
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	return report
}

// StartWithEngine starts a region and returns its engine too. The client of wrap, if any,
// serves the region's calls of the table.
func StartWithEngine(t *testing.T, wrap func(table.Client) table.Client, options ...stacktest.Option) (*stacktest.Stack, Engine) {
	t.Helper()
	if wrap != nil {
		options = append(options, stacktest.WithClient(wrap))
	}
	s := stacktest.Start(t, options...)
	return s, EngineOf(t, s)
}

// EngineOf returns the engine of a region on this machine.
func EngineOf(t testing.TB, s *stacktest.Stack) Engine {
	t.Helper()
	url, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: url})
	require.NoError(t, err)
	return Engine{client, name}
}

// Publishes returns a published kind of a change.
func Publishes(name string, sequence int64, fields ...string) change.Kind {
	return change.Kind{Name: name, Sequence: sequence, Fields: fields}
}

// ChangesOf returns the organization's changes within an hour of now, oldest first.
func ChangesOf(t *testing.T, s *stacktest.Stack) (all []change.Record) {
	t.Helper()
	for hours := -1; hours <= 1; hours++ {
		for bucket := range change.Buckets {
			partition := change.Partition(s.Org, time.Now().Add(time.Duration(hours)*time.Hour), bucket)
			for item, err := range s.Table(t).Between(t.Context(), partition, "0", "~") {
				require.NoError(t, err)
				var r change.Record
				require.NoError(t, json.Unmarshal(item.Data, &r))
				require.Equal(t, item.Key, r.Key())
				require.Equal(t, table.KindChange, item.Kind)
				all = append(all, wholeChange(t, s, r))
			}
		}
	}
	slices.SortFunc(all, func(a, b change.Record) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// wholeChange returns a change with its values. The values of a person or company are in a
// second item, beside the record.
func wholeChange(t *testing.T, s *stacktest.Stack, r change.Record) change.Record {
	t.Helper()
	id, _ := strconv.ParseInt(r.RecordID, 10, 64)
	beside, personal := map[string]string{
		"contact": contact.Kind.PK(r.Org, r.RecordID), "account": account.Kind.PK(r.Org, r.RecordID), "member": tenancy.MemberPK(r.Org, id),
	}[r.Type]
	if !personal {
		return r
	}
	item, err := s.Table(t).Get(t.Context(), change.PersonalKey(beside, r.ID))
	require.NoError(t, err)
	require.Empty(t, item.Kind, "a stream's filter finds a change once")
	var whole change.Record
	require.NoError(t, json.Unmarshal(item.Data, &whole))
	thin := whole
	thin.Values = nil
	require.Equal(t, r, thin, "the feed has no values")
	return whole
}

// KeyOf returns a key as DynamoDB's attributes.
func KeyOf(key table.Key) Attributes {
	return Attributes{"PK": &attribute.AttributeValueMemberS{Value: key.PK}, "SK": &attribute.AttributeValueMemberS{Value: key.SK}}
}

// lineOf converts an item to a line.
func lineOf(t *testing.T, item Attributes) DumpLine {
	t.Helper()
	l := DumpLine{}
	for name, value := range item {
		switch v := value.(type) {
		case *attribute.AttributeValueMemberS:
			l[name] = v.Value
		case *attribute.AttributeValueMemberN:
			l[name] = json.Number(v.Value)
		case *attribute.AttributeValueMemberB:
			l[name] = inBytes{base64.StdEncoding.EncodeToString(v.Value)}
		default:
			require.Fail(t, "an attribute of no kind that a table has", "%s: %T", name, value)
		}
	}
	if _, passes := l["ttl"]; passes {
		l["ttl"] = farFuture
	}
	return l
}

// Maintained does the whole of maintenance in an environment, and returns the numbers of failed steps and
// of what it has purged.
func Maintained(t *testing.T, env api.Env) (failed int, purged purge.Counts) {
	t.Helper()
	for cursor := (&maintain.Cursor{}); cursor != nil; {
		done, err := operator.New(env).Do(t.Context(), operator.Maintain, Encode(t, Object{"cursor": cursor}))
		require.NoError(t, err)
		report := done.(*maintain.Report)
		failed, purged, cursor = failed+report.Failed, sumOf(purged, report.Purged), report.Cursor
	}
	return failed, purged
}

// MaintainedLater does Maintained as of a later time. No step may fail.
func MaintainedLater(t *testing.T, env api.Env, later time.Duration) purge.Counts {
	t.Helper()
	env.Now = func() time.Time { return time.Now().Add(later) }
	failed, purged := Maintained(t, env)
	require.Zero(t, failed)
	return purged
}

// Maintain does MaintainedLater so many days from now.
func (d *Client) Maintain(days int) purge.Counts {
	d.T.Helper()
	return MaintainedLater(d.T, d.Env(d.T), time.Until(time.Now().AddDate(0, 0, days)))
}

func sumOf(a, b purge.Counts) purge.Counts {
	return purge.Counts{
		Sessions: a.Sessions + b.Sessions, Contacts: a.Contacts + b.Contacts, Accounts: a.Accounts + b.Accounts,
		Settings: a.Settings + b.Settings, Shrunk: a.Shrunk + b.Shrunk, Records: a.Records + b.Records, Uploads: a.Uploads + b.Uploads,
	}
}

// EndUpload moves the end of the upload under a key so far into the past.
func EndUpload(t *testing.T, in *table.Table, key table.Key, ago time.Duration) {
	t.Helper()
	ChangeUpload(t, in, key, Object{"ends": wire.At(time.Now().Add(-ago))})
}

// ChangeUpload sets properties of the stored upload under a key.
func ChangeUpload(t *testing.T, in *table.Table, key table.Key, more Object) {
	t.Helper()
	stored, err := in.Get(t.Context(), key)
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(stored.Data, &all))
	maps.Copy(all, more)
	stored.Data, err = json.Marshal(all)
	require.NoError(t, err)
	require.NoError(t, in.Transact(t.Context(), table.Replace(stored, stored.Version)))
}

// BucketAt returns the bucket of an environment at another address, which change makes of its own.
func BucketAt(t *testing.T, env api.Env, change func(address string) string) *blob.Store {
	t.Helper()
	place, err := env.Blobs.Find(t.Context())
	require.NoError(t, err)
	address := change(*place.Config.BaseEndpoint)
	place.Config.BaseEndpoint = &address
	return &blob.Store{Find: func(context.Context) (blob.Place, error) { return place, nil }}
}

// Nowhere returns an address without a server, for BucketAt.
func Nowhere(string) string { return "http://127.0.0.1:9" }
