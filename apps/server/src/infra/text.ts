/** The same text as PostgreSQL takes it: without NUL, and without halves of a surrogate pair. */
export const storableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** At most so many UTF-16 units of the start of what others wrote, cut between characters, and storable. */
export function startOf(text: string, length: number): string {
  const storable = storableText(text)
  return storable.slice(0, isWithinPair(storable, length) ? length - 1 : length)
}

/** At most so many UTF-16 units of the end, likewise. */
export function endOf(text: string, length: number): string {
  const storable = storableText(text)
  const from = Math.max(0, storable.length - length)
  return storable.slice(isWithinPair(storable, from) ? from + 1 : from)
}

/** Is the place between the two halves of a surrogate pair? */
const isWithinPair = (text: string, at: number): boolean =>
  at > 0 && at < text.length && /[\ud800-\udbff]/.test(text.charAt(at - 1))
