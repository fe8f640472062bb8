import type { ReferenceCall } from '@netlet/contract'
import type { Key } from '../../i18n/reference.ts'

type Translate = (key: Key) => string

/** What a call does; the server's words if there is no translation. */
export function summaryOf(call: ReferenceCall, t: Translate): string {
  const key = `call.${call.id}`
  const words = t(key as Key)
  return words === key ? call.summary : words
}

/** The calls that contain every word in their summary, address or field names. */
export function callsThatMatch(calls: ReferenceCall[], search: string, t: Translate): ReferenceCall[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return calls
  return calls.filter(call => {
    const fields = [...call.path_fields, ...call.query, ...call.body, ...call.reply].map(({ name }) => name)
    const text = [call.method, call.path, call.scope, call.summary, summaryOf(call, t), ...fields]
      .join(' ')
      .toLowerCase()
    return words.every(word => text.includes(word))
  })
}
