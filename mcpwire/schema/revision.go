package schema

// Modern is the revision without sessions; all others are of the legacy era.
const Modern = "2026-07-28"

// Legacy returns the revisions of the legacy era, the oldest first.
func Legacy() []string { return []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} }

// Known reports whether a revision has an official schema.
func Known(revision string) bool {
	for _, r := range Legacy() {
		if r == revision {
			return true
		}
	}
	return revision == Modern
}
