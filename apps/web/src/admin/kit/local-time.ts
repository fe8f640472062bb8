const two = (value: number) => String(value).padStart(2, '0')

/** An instant as the value of a datetime-local input, to the minute or second; '' for none. */
export function localTime(instant: unknown, precision: 'minute' | 'second'): string {
  const at = new Date(typeof instant === 'string' ? instant : '')
  if (Number.isNaN(at.getTime())) return ''
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const minute = `${day}T${two(at.getHours())}:${two(at.getMinutes())}`
  return precision === 'minute' ? minute : `${minute}:${two(at.getSeconds())}`
}

/** The input's value as ISO 8601; null if it has none. */
export function instantOf(local: string): string | null {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}
