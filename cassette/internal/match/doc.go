// Package match tells whether two requests are the same, and where they differ when they are not.
//
// A [Matcher] brings a redacted request into a canonical form, in which spelling plays no part: the order of members,
// white space, escapes, the way a number is written, multipart boundaries, ids that only tie a tool call to its
// result. The [Matcher.Key] of a request is the SHA-256 of that form. Nothing else is left out but what the [Rules]
// say; what is not understood is compared by its exact bytes.
package match
