package agenda

// KindCommitted is the published kind of the change that begins the commit of a draft (package draft). The workers
// that know the kind alone do not load what a draft needs.
const KindCommitted = "agenda_draft.committed"
