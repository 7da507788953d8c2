// Package provider turns tools into what the APIs of language models take, and the calls
// that models make into results. It is pure: it knows neither servers nor HTTP.
//
// A tool has one name for all providers, mcp__SERVER__TOOL, within what all of them take:
// 64 letters, digits, - and _ (see Name). Schemas are loosened where a provider refuses
// what a server has written: what a model is told may allow more than the server does, and
// the bridge holds arguments against the server's own schema. What has no type is less: it
// has to have one at Gemini, and is a string.
//
//	modern ─▶ object ──────▶ OpenAI, xAI, Anthropic
//	modern ─▶ gemini
//
// Texts in quotes are the providers' own errors, as users have reported them: nothing here
// can be tried against them. One tool that a provider refuses makes it refuse all.
package provider
