import en from '../../i18n/admin.en.json'
import type { Key } from '../../i18n/admin.ts'
import type { T } from '../kit/index.ts'

/** A queue's name; the technical name if it is unknown. */
export function nameOf(t: T, queue: string): string {
  const key = `tasks.name.${queue}`
  return key in en ? t(key as Key) : queue
}
