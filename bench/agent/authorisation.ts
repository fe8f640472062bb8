// Speed and memory of the agent's access table on a full server. Run with --expose-gc.
import { EXCEPTION_MARK } from '@netlet/contract/agent-hashes'
import { AccessTable } from '../../apps/agent/src/proxy/access-table.ts'
import { formatV4, parseAddress } from '../../apps/agent/src/net/ip.ts'
import { parseBasic } from '../../apps/agent/src/proxy/request-head.ts'
import type { Op } from '../../apps/agent/src/state/definitions.ts'

const users = 10_000
const addresses = 65_536
/** 50,000 lines; one in fifty is an exception. */
const domains = Array.from(
  { length: 50_000 },
  (_, n) => `${n % 50 === 0 ? EXCEPTION_MARK : ''}site-${n}.example-${n % 977}.com`
)
const gc = (globalThis as { gc?: () => void }).gc ?? ((): void => {})
const mb = (): number => {
  gc()
  return process.memoryUsage().rss / 1e6
}

const before = mb()
const accessTable = new AccessTable()
const ops: Op[] = [{ op: 'deny-set', hash: 'all', domains }]
const base = (127 << 24) >>> 0
const owned = Array.from({ length: users }, (): number[] => [])
for (let n = 0; n < addresses; n++) owned[n % users]?.push(base + n)
for (const [n, own] of owned.entries()) {
  const prefixes = own.map(value => `${formatV4(value)}/32`)
  const record = { password: `password-${n}`, prefixes, denySet: 'all', allowedClientIps: [] }
  ops.push({ op: 'user', user: `user${n}`, record })
}
accessTable.apply(ops)
ops.length = 0
const weight = mb() - before

const headers = Array.from({ length: users }, (_, n) => {
  const value = `Basic ${Buffer.from(`user${n}:password-${n}`).toString('base64')}`
  return { value, local: formatV4(base + n) }
})
const hosts = Array.from({ length: 1000 }, (_, n) => `www.shop-${n}.some-cdn.example.org`)

/** Everything from a parsed head to a decision: address, credentials, user, client, denied name. */
function decide(n: number): boolean {
  const header = headers[n % users]
  if (header === undefined) return false
  const local = parseAddress(header.local)
  const given = parseBasic(header.value)
  if (local === null || given === null) return false
  const lease = accessTable.authorise(local, '127.0.0.1', given.user, given.password)
  return lease !== null && !lease.deny.deniesName(hosts[n % hosts.length] ?? '')
}

for (let n = 0; n < 200_000; n++) decide(n)
const rounds = 1_000_000
let yes = 0
// CPU time, so that other programs do not count.
const startedAt = process.cpuUsage()
for (let n = 0; n < rounds; n++) if (decide(n * 7919)) yes++
const used = process.cpuUsage(startedAt)
const us = (used.user + used.system) / rounds
process.send?.({ us, weight, rss: mb(), right: yes === rounds })
