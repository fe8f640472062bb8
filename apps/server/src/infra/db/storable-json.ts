import { storableText } from '../text.ts'

/**
 * The same value as PostgreSQL's jsonb takes it: without NUL, and without halves of a surrogate pair. What comes from
 * outside may hold both, and must not fail for it when all we want is to keep it.
 */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(storableJson)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [storableJson(key) as string, storableJson(inner)])
  )
}
