package slide

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"lectern/shared/auth"
	"lectern/shared/change"
	"lectern/shared/keys"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Type is the kind of the record of an event's holding slides, in change records.
const Type = "holding_slides"

// Keys are the patterns of the items. A background may show what an operator wants.
var Keys = []keys.Pattern{
	{Name: "holding slides of an event", PK: "e#HS", SK: "-", Personal: keys.Nothing},
	{Name: "part of a picture", PK: "e#HS", SK: "P#<kind>#<index>", Personal: keys.Outside},
}

// Config says whether the sessions of an event have holding slides, and has the pictures on them.
type Config struct {
	On         bool      `json:"on"`
	Background *Picture  `json:"background"`
	Logo       *Picture  `json:"logo"`
	UpdatedAt  wire.Time `json:"updated_at"`
	version    int64
}

// Known reports whether an operator has set the slides up, on or off.
func (c *Config) Known() bool { return c.version > 0 }

// Revision returns the version of the record; 0 without a record.
func (c *Config) Revision() int64 { return c.version }

// Draft is what an operator changes. A picture that is sent as null is removed.
type Draft struct {
	On               wire.Opt[bool]
	Background, Logo wire.Opt[[]byte]
}

// Sent reports whether the draft changes something.
func (d *Draft) Sent() bool { return d.On.Sent || d.Background.Sent || d.Logo.Sent }

// partition returns the partition of an event's holding slides.
func partition(org, event int64) string { return table.Event(org, event) + "#HS" }

func configKey(org, event int64) table.Key { return table.Key{PK: partition(org, event), SK: "-"} }

// partBytes is the number of bytes of a picture that an item has: an item has at most 400 KB, and base64
// takes a third more.
const partBytes = 256 << 10

// part is a part of a picture.
type part struct {
	Content []byte `json:"content"`
}

// partKeys returns the keys of the parts of a picture; none for nil.
func partKeys(pk, name string, p *Picture) (all []table.Key) {
	if p == nil {
		return nil
	}
	for i := range (p.Size + partBytes - 1) / partBytes {
		all = append(all, table.Key{PK: pk, SK: fmt.Sprintf("P#%s#%04d", name, i)})
	}
	return all
}

// The names of the pictures in keys.
const background, logo = "background", "logo"

// Config returns the holding slides of an event: off where no operator has set them up.
func (st *Store) Config(ctx context.Context, org, event int64) (*Config, error) {
	item, err := st.Table.Get(ctx, configKey(org, event))
	if errors.Is(err, table.ErrNotFound) {
		return &Config{}, nil
	}
	if err != nil {
		return nil, err
	}
	return DecodeConfig(item)
}

// DecodeConfig reads the holding slides of an event from their item.
func DecodeConfig(item table.Item) (*Config, error) {
	c, err := record.Decode[Config](item)
	if err == nil {
		c.version = item.Version
	}
	return c, err
}

// Set changes the holding slides of the caller's event; 400 for a picture that is not taken. The change is
// published, so that the slides are drawn.
func (st *Store) Set(ctx context.Context, c *auth.Caller, d *Draft) (*Config, error) {
	op := &setting{store: st, org: c.Org.ID, event: c.Event.ID, draft: d}
	for _, p := range []struct {
		name string
		sent wire.Opt[[]byte]
		most int
		into **Picture
	}{
		{background, d.Background, maxBackground, &op.background}, {logo, d.Logo, maxLogo, &op.logo},
	} {
		if !p.sent.Has() {
			continue
		}
		checked, err := newPicture(p.name, p.sent.Value, p.most)
		if err != nil {
			return nil, err
		}
		*p.into = checked
	}
	return write.Run[*Config](ctx, st.Table, op)
}

// setting changes the holding slides of an event, with the parts of the pictures (write.Op).
type setting struct {
	store            *Store
	org, event       int64
	draft            *Draft
	background, logo *Picture
}

// Reads returns the key of the stored slides.
func (o *setting) Reads() []table.Key { return []table.Key{configKey(o.org, o.event)} }

// More returns no keys.
func (o *setting) More(write.Items) []table.Key { return nil }

// Touches returns nil: no bulk has these operations.
func (o *setting) Touches(write.Items) []string { return nil }

// Plan writes the slides, the parts of new pictures and the change record, and deletes former parts.
func (o *setting) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	before := &Config{}
	if item, stored := got[configKey(o.org, o.event)]; stored {
		var err error
		if before, err = DecodeConfig(item); err != nil {
			return nil, err
		}
	}
	after := *before
	o.draft.On.Into(&after.On)
	after.version, after.UpdatedAt = before.version+1, wire.After(before.UpdatedAt, o.store.Now())
	pk := partition(o.org, o.event)
	writes, err := o.parts(pk, background, o.draft.Background, pictures{&after.Background, o.background})
	if err != nil {
		return nil, err
	}
	more, err := o.parts(pk, logo, o.draft.Logo, pictures{&after.Logo, o.logo})
	if err != nil {
		return nil, err
	}
	item, err := record.Encode(configKey(o.org, o.event), after.version, after)
	if err != nil {
		return nil, err
	}
	stored := table.Insert(item)
	if before.version > 0 {
		stored = table.Replace(item, before.version)
	}
	noted := change.New(ctx, change.Record{
		At: after.UpdatedAt, Org: o.org, Event: o.event, Action: Type + ".updated", Type: Type,
		RecordID: strconv.FormatInt(o.event, 10), Version: after.version, Values: change.Diff(before, &after, "updated_at"),
	})
	return &write.Plan{Writes: slices.Concat(writes, more, []table.Write{stored, noted.Write()}), Answer: &after}, nil
}

// pictures are the stored picture, to be replaced, and the new one.
type pictures struct {
	stored **Picture
	fresh  *Picture
}

// parts replaces a picture that was sent, and returns the writes of its parts.
func (o *setting) parts(pk, name string, sent wire.Opt[[]byte], p pictures) (writes []table.Write, err error) {
	if !sent.Sent {
		return nil, nil
	}
	former, fresh := partKeys(pk, name, *p.stored), partKeys(pk, name, p.fresh)
	*p.stored = p.fresh
	rest := sent.Value
	for _, key := range fresh {
		n := min(len(rest), partBytes)
		item, err := record.Encode(key, 1, part{rest[:n]})
		if err != nil {
			return nil, err
		}
		writes, rest = append(writes, table.Put(item)), rest[n:]
	}
	for _, key := range former[min(len(former), len(fresh)):] {
		writes = append(writes, table.Delete(key))
	}
	return writes, nil
}

// ErrReplaced is the error of a picture that an operator has replaced since its event was read.
var ErrReplaced = errors.New("slide: the picture is replaced")

// content returns the bytes of the background or of the logo; nil without the picture, and ErrReplaced for a
// picture that the event has no more.
func (st *Store) content(ctx context.Context, pk, name string, p *Picture) ([]byte, error) {
	all := partKeys(pk, name, p)
	if len(all) == 0 {
		return nil, nil
	}
	got, err := st.Table.GetMany(ctx, all)
	if err != nil {
		return nil, err
	}
	var content []byte
	for _, key := range all {
		if got[key].Version == 0 {
			return nil, ErrReplaced
		}
		one, err := record.Decode[part](got[key])
		if err != nil {
			return nil, err
		}
		content = append(content, one.Content...)
	}
	if sumOf(content) != p.Sum {
		return nil, ErrReplaced
	}
	return content, nil
}

// Pictures returns the bytes of the pictures of an event's slides; nil for a picture that is not there, and
// ErrReplaced for pictures that the event has no more.
func (st *Store) Pictures(ctx context.Context, org, event int64, c *Config) (ground, mark []byte, err error) {
	pk := partition(org, event)
	if ground, err = st.content(ctx, pk, background, c.Background); err != nil {
		return nil, nil, err
	}
	mark, err = st.content(ctx, pk, logo, c.Logo)
	return ground, mark, err
}

// sumOf returns the SHA-256 of bytes.
func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
