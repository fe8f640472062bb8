/** How a person is named, and what replaces it. */
type Named = { username: string; email: string; replacement: string }

/**
 * Removes a person from a JSON value: the username if it is the whole value of one of `nameFields`, at any depth, and
 * the mail address in any text unless it is part of a longer address. Keys and other words stay.
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

/** Matches no part of a longer address. An apostrophe belongs to one only after a letter. */
function wholeAddress(email: string): RegExp {
  const escaped = email.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)
  return new RegExp(String.raw`(?<![\p{L}\p{N}_+.%\-]'*)${escaped}(?![\p{L}\p{N}_\-]|\.[\p{L}\p{N}])`, 'giu')
}
