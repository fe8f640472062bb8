/** The first line of an error's innermost message: the query layer, which wraps it, quotes the statement. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  if (error instanceof Error && error.cause) return reasonOf(error.cause)
  return (error instanceof Error ? error.message || error.name : String(error)).split('\n')[0] ?? ''
}

/** The text without NUL and unpaired surrogates, which PostgreSQL refuses. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** The first `length` UTF-16 units of foreign text, cut between characters, without what PostgreSQL refuses. */
export function startOf(text: string, length: number): string {
  const storable = storableText(text)
  return storable.slice(0, isWithinPair(storable, length) ? length - 1 : length)
}

/** The last `length` UTF-16 units, likewise. */
export function endOf(text: string, length: number): string {
  const storable = storableText(text)
  const from = Math.max(0, storable.length - length)
  return storable.slice(isWithinPair(storable, from) ? from + 1 : from)
}

/** Is the place between the two halves of a surrogate pair? */
const isWithinPair = (text: string, at: number): boolean =>
  at > 0 && at < text.length && /[\ud800-\udbff]/.test(text.charAt(at - 1))

/** External JSON without NUL and unpaired surrogates, which jsonb refuses. */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableJson(key) as string, storableJson(inner)])
  )
}
