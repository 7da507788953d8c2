// Package redact removes secrets from frames, log lines and other text before they are written.
//
// Libraries for logging hide fields by name. Here secrets are known by value and occur anywhere in
// the messages of other programs. So redact has to find them in all encodings that those use.
//
// The secrets of a [Secrets] are found as follows:
//
//   - A secret of four bytes or more is replaced by [redacted] anywhere inside a JSON string, a
//     key, or text that is not JSON. Escapes are resolved first, also those of JSON inside a JSON
//     string. A number that equals it, or that holds one of eight bytes or more, becomes
//     "[redacted]".
//   - Other escapes than those of JSON are resolved too: a backslash before any character, \xHH,
//     %HH (with + for a space), and character references of HTML (only names of ASCII characters).
//     One of these may occur inside JSON.
//   - Base64 in both alphabets, also of a longer text that holds the secret, and hex in lower or in
//     upper case are found for a secret of 5 bytes to 4 KiB. They may be wrapped in lines of 48
//     bytes or more, and occur in text with escapes. Of the base64 of a longer text, the characters
//     at the edges stay. They hold up to four bits of the first and the last byte of the secret.
//   - A secret of two or three bytes is replaced where it is a whole JSON string or number.
//   - "", single characters and true, false, null, yes, no, on, off and 2.0 are not secrets, in
//     whatever case.
//   - A secret is also found without the white space and quotes around it. If it has several lines,
//     those of eight bytes or more are found alone.
//   - A text that is cut loses its end if that could be the start of a secret.
//   - By key: a JSON string, or the strings of an array, under a key that contains authorization,
//     cookie, token, secret, passw, apikey, api_key, api-key or credential is replaced.
//     progressToken and page tokens belong to the protocol and stay.
//
// A secret that is compressed, encrypted, hashed, split, in another letter case or in another
// encoding (base32, quoted-printable) is not found, nor is the base64 of a text in which the secret
// has escapes. Bytes that are not part of a match stay as they are.
package redact
