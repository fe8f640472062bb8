/** How somebody is named, and what stands in place of that. */
type Named = { username: string; email: string; replacement: string }

/**
 * A JSON value that does not name a person any more: the values of `nameFields` that are the username, at any depth, and the
 * address in every text where it stands whole. Keys stay, and so do other words that happen to be the username.
 */
export function withoutPersonIn(value: unknown, nameFields: readonly string[], person: Named): unknown {
  const username = person.username.toLowerCase()
  const address = wholeAddress(person.email)
  const walk = (inner: unknown, field?: string): unknown => {
    if (typeof inner === 'string') {
      const isName = field !== undefined && nameFields.includes(field) && inner.toLowerCase() === username
      return isName ? person.replacement : inner.replace(address, () => person.replacement)
    }
    if (Array.isArray(inner)) return inner.map(item => walk(item))
    if (inner === null || typeof inner !== 'object') return inner
    return Object.fromEntries(Object.entries(inner).map(([key, item]) => [key, walk(item, key)]))
  }
  return walk(value)
}

/** Not as a part of a longer address. An apostrophe belongs to one where it follows a letter, and is a quotation mark elsewhere. */
function wholeAddress(email: string): RegExp {
  const escaped = email.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\p{L}\p{N}_+.%\-]'*)${escaped}(?![\p{L}\p{N}_\-]|\.[\p{L}\p{N}])`, 'giu')
}
