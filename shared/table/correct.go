package table

// Corrections set a number to what it should be, where it still is what was read. The
// service itself only adds to these numbers; package repair alone sets them. A number that
// is not there is 0.

// CorrectShard sets the version of a shard that is was, and how many rows it has. Each
// write that changes the rows changes the version, so that none is lost.
func CorrectShard(key Key, was, is, rows int64) Write {
	w := correct(attrVersion, "", key, was, is)
	w.kind.update, w.kind.counts, w.rows = "SET "+attrVersion+" = :is, "+attrCount+" = :rows REMOVE "+attrLast, true, rows
	return w
}

// CorrectSettings sets the settings version of an event or organization that exists.
func CorrectSettings(key Key, was, is int64) Write {
	return correct(attrSettings, " AND attribute_exists("+attrPK+")", key, was, is)
}

// CorrectCount sets a counter that is was.
func CorrectCount(key Key, was, is int64) Write { return correct(attrCount, "", key, was, is) }

// correct sets the number attr. It removes a shard's last id, which is of another write.
func correct(attr, condition string, key Key, was, is int64) Write {
	unchanged := attr + " = :n"
	if was == 0 {
		unchanged = "(attribute_not_exists(" + attr + ") OR " + unchanged + ")"
	}
	set := &kind{
		update: "SET " + attr + " = :is REMOVE " + attrLast, condition: unchanged + condition + " AND " + live, n: true, is: true,
	}
	return Write{kind: set, item: Item{Key: key, Version: is}, n: was}
}

// absent asks that no item stands under the key.
var absent = &kind{condition: ifAbsent}

// Absent writes nothing; its condition is that no item stands under the key.
func Absent(key Key) Write { return Write{kind: absent, item: Item{Key: key}} }
