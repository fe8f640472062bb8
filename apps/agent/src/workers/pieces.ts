import { packRanges, prefixesOf } from '../net/ip.ts'
import { BLACKLIST } from '../proxy/access-table.ts'
import type { Op } from '../state/ops.ts'

/** What a worker takes in within one turn of its loop: less than a millisecond's work. */
const ENTRIES = 1000
const OPS = 100
const PREFIXES = 1000

type Piece = { type: 'ops'; ops: Op[] } | { type: 'entries'; list: string; entries: string[] }

/** Changes as messages to a worker, each of which is little work: tunnels go on between them. */
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

/** Roughly how many prefixes or entries it makes a worker read. */
function weightOf(op: Op): number {
  if (op.op === 'user') return (op.record?.prefixes.length ?? 0) + (op.record?.allowedClientIps.length ?? 0)
  return op.op === 'prefixes' ? op.prefixes.length : (op.domains?.length ?? 0)
}

/** Prefixes too many to be read by the worker. Wide ones stay in the record, where they are told apart. */
function packed(op: Op): Op {
  if (op.op === 'prefixes') return { ...op, prefixes: [], packed: packRanges(prefixesOf(op.prefixes)) }
  if (op.op !== 'user' || op.record === null) return op
  const all = prefixesOf(op.record.prefixes)
  const wide = all.filter(prefix => prefix.last - prefix.first >= 65_536n).map(prefix => prefix.text)
  const clients = packRanges(prefixesOf(op.record.allowedClientIps))
  // Where they stand for a password they are looked up one by one; then they are few.
  const kept = op.record.access === 'address' ? op.record.allowedClientIps : op.record.allowedClientIps.slice(0, 1)
  const record = { ...op.record, prefixes: wide, allowedClientIps: kept }
  return { ...op, record, packed: { addresses: packRanges(all), clients } }
}
