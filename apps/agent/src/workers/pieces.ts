import { packRanges, prefixesOf } from '../net/ip.ts'
import { BLACKLIST } from '../proxy/access-table.ts'
import type { Op } from '../state/ops.ts'

/** Size of one message: less than a millisecond of a worker's work. */
const ENTRIES = 1000
const OPS = 100
const PREFIXES = 1000

type Piece = { type: 'ops'; ops: Op[] } | { type: 'entries'; list: string; entries: string[] }

/** Splits changes into small messages to a worker, so that tunnels proceed between them. */
export function* piecesOf(ops: readonly Op[]): Generator<Piece> {
  let batch: Op[] = []
  let prefixes = 0
  for (const op of ops) {
    let small = op
    if ((op.op === 'deny-set' || op.op === 'blacklist') && op.domains !== null) {
      const list = op.op === 'deny-set' ? op.hash : BLACKLIST
      let entries: string[] = []
      for (const entry of op.domains) {
        if (entries.length === ENTRIES) {
          yield { type: 'entries', list, entries }
          entries = []
        }
        entries.push(entry)
      }
      small = { ...op, domains: entries }
    } else if (weightOf(op) > PREFIXES) small = packed(op)
    batch.push(small)
    prefixes += weightOf(small)
    if (batch.length < OPS && prefixes < PREFIXES) continue
    yield { type: 'ops', ops: batch }
    batch = []
    prefixes = 0
  }
  if (batch.length > 0) yield { type: 'ops', ops: batch }
}

/** Roughly how many prefixes or entries the worker must parse. */
function weightOf(op: Op): number {
  if (op.op === 'user') return (op.record?.prefixes.length ?? 0) + (op.record?.allowedClientIps.length ?? 0)
  return op.op === 'prefixes' ? op.prefixes.length : (op.domains?.length ?? 0)
}

/** Packs long lists of prefixes. Wide prefixes stay as text, because the worker counts them separately. */
function packed(op: Op): Op {
  if (op.op === 'prefixes') return { ...op, prefixes: [], packed: packRanges(prefixesOf(op.prefixes)) }
  if (op.op !== 'user' || op.record === null) return op
  const all = prefixesOf(op.record.prefixes)
  const wide = all.filter(prefix => prefix.last - prefix.first >= 65_536n).map(prefix => prefix.text)
  const clients = packRanges(prefixesOf(op.record.allowedClientIps))
  // Clients without a password are looked up by prefix, and are few. Otherwise one entry shows that the list is not empty.
  const kept = op.record.access === 'address' ? op.record.allowedClientIps : op.record.allowedClientIps.slice(0, 1)
  const record = { ...op.record, prefixes: wide, allowedClientIps: kept }
  return { ...op, record, packed: { addresses: packRanges(all), clients } }
}
