package table

// Corrections set a number to what it should be, where it still is what was read. The
// service itself only adds to these numbers; package repair alone sets them. A number that
// is not there is 0.
var (
	setVersion  = setting(attrVersion, attrVersion+" = :n AND "+live)
	newVersion  = setting(attrVersion, ifNone(attrVersion))
	setSettings = setting(attrSettings, attrSettings+" = :n AND "+live)
	newSettings = setting(attrSettings, ifNone(attrSettings)+" AND attribute_exists("+attrPK+")")
	setCount    = setting(attrCount, attrCount+" = :n AND "+live)
	newCount    = setting(attrCount, ifNone(attrCount))
	absent      = &kind{condition: ifAbsent}
)

func ifNone(attr string) string {
	return "(attribute_not_exists(" + attr + ") OR " + attr + " = :n) AND " + live
}

// setting is the kind of write that sets a number. A shard's last id is of another write.
func setting(attr, condition string) *kind {
	return &kind{update: "SET " + attr + " = :is REMOVE " + attrLast, condition: condition, n: true, is: true}
}

// CorrectVersion sets the version of a shard that is was.
func CorrectVersion(key Key, was, is int64) Write {
	return correct(setVersion, newVersion, key, was, is)
}

// CorrectSettings sets the settings version of an event or organization that exists.
func CorrectSettings(key Key, was, is int64) Write {
	return correct(setSettings, newSettings, key, was, is)
}

// CorrectCount sets a counter that is was.
func CorrectCount(key Key, was, is int64) Write { return correct(setCount, newCount, key, was, is) }

func correct(set, begin *kind, key Key, was, is int64) Write {
	if was == 0 {
		set = begin
	}
	return Write{kind: set, item: Item{Key: key, Version: is}, n: was}
}

// Absent writes nothing; its condition is that no item stands under the key.
func Absent(key Key) Write { return Write{kind: absent, item: Item{Key: key}} }
