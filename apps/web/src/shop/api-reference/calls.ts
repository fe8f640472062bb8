import type { ReferenceCall } from '@netlet/contract'
import type { Key } from '../../i18n/reference.ts'

type Translate = (key: Key) => string

/** What a call does; as the server says it where the lists of words do not have it yet. */
export function summaryOf(call: ReferenceCall, t: Translate): string {
  const key = `call.${call.id}`
  const words = t(key as Key)
  return words === key ? call.summary : words
}

/** The calls in which each word is found: in what they do, the address, and the names of what they take and answer. */
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
