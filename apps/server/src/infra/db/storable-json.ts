import { storableText } from '../text.ts'

/** External JSON without NUL and unpaired surrogates, which jsonb refuses. */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableJson(key) as string, storableJson(inner)])
  )
}
