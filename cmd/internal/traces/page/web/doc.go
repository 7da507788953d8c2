// Package web is the page that shows traces, in TypeScript: src has its modules, and dist the page
// as `npm ci && npm run build` makes it, which package page embeds. It has no dependencies at run
// time. Its tests are here.
//
//	src/model    what is in a trace: its lines, calls, filters and differences; nothing of a browser
//	src/source   where the lines come from: the page itself, or toolman trace open
//	src/view     what is shown
//	test         the tests of src/model, which npm test runs
//
// A trace is not trusted. Text reaches the page only as text (view/dom.ts), with escapes for what
// is hidden. Lines stay as they came, and are read where somebody looks: 100,000 of them, or one of
// 10 MB, do not stop the page.
package web
