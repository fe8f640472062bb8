import {
  type AgentAccess,
  type AgentProxy,
  type AgentReason,
  type agentUserBody,
  MOST_OPEN_CLIENTS,
  WIDEST_OPEN_CLIENT
} from '@netlet/contract/agent'
import { denySetHash, limitsText, normaliseDenyList, userHash } from '@netlet/contract/agent-hashes'
import type { z } from 'zod'
import {
  formatAddress,
  mergeRanges,
  parseAddress,
  parsePrefix,
  parsePrefixes,
  type Prefix,
  prefixesOf
} from '../net/ip.ts'
import { resentClients, sameList, sentClients } from './client-list.ts'
import type { Definitions, Op, StoredUser, UserRecord } from './definitions.ts'
import type { Plan } from './store.ts'

type Planned<T> = Plan<T, AgentReason>
type Planner<T> = (state: Definitions) => Planned<T>

export const refuse = (reason: AgentReason, detail?: string): { ok: false; reason: AgentReason; detail?: string } => ({
  ok: false,
  reason,
  ...(detail === undefined ? {} : { detail })
})

/** Most addresses that a user's reply lists. A larger IPv6 prefix is allowed and counts as one address. */
export const MAX_LISTED = 65_536n

/** Size of an IPv6 /64, which counts as one address. */
const WHOLE_64 = 1n << 64n

/** Hash of the empty list. Users without denied domains need no set. */
export const noDenySet: string = denySetHash([])

export type UserChange = { user: string; record: UserRecord }

const sizeOf = (prefix: Prefix): bigint => prefix.last - prefix.first + 1n

/** The first prefix that is not inside the server's own ones. Undefined: all are. */
export function firstOutside(prefixes: readonly Prefix[], own: readonly string[]): Prefix | undefined {
  const ranges = mergeRanges(prefixesOf(own))
  return prefixes.find(
    prefix =>
      !ranges.some(range => range.family === prefix.family && range.first <= prefix.first && prefix.last <= range.last)
  )
}

/** The changes that set a user to `record` (null: delete it), with the deny sets that they add or make unused. */
export function userOps(state: Definitions, user: string, record: UserRecord | null, domains?: string[]): Op[] {
  const ops: Op[] = []
  const before = state.users.get(user)
  if (record !== null && record.denySet !== noDenySet && !state.denySets.has(record.denySet)) {
    ops.push({ op: 'deny-set', hash: record.denySet, domains: domains ?? [] })
  }
  ops.push({ op: 'user', user, record })
  const left = before?.denySet
  if (left !== undefined && left !== noDenySet && left !== record?.denySet && state.references(left) === 1) {
    ops.push({ op: 'deny-set', hash: left, domains: null })
  }
  return ops
}

/** `PUT /api/users/{user}`. Checks that do not need the state run before the change is queued. */
export function putUser(user: string, body: z.output<typeof agentUserBody>): Planner<UserChange> {
  const parsed = parsePrefixes(body.prefixes)
  if (!parsed.ok) return () => refuse('badPrefix', parsed.bad)
  const total = parsed.prefixes.reduce((sum, prefix) => sum + (sizeOf(prefix) > MAX_LISTED ? 1n : sizeOf(prefix)), 0n)
  if (total > MAX_LISTED || parsed.prefixes.some(prefix => prefix.family === 4 && sizeOf(prefix) > MAX_LISTED)) {
    return () => refuse('tooManyAddresses')
  }
  const narrow = parsed.prefixes.find(prefix => prefix.family === 4 || sizeOf(prefix) < WHOLE_64)
  if (narrow !== undefined && (body.egress ?? 'fixed') !== 'fixed') return () => refuse('egressNeedsIpv6', narrow.text)
  const clients = parsePrefixes(body.allowed_client_ips)
  if (!clients.ok) return () => refuse('badClientIp', clients.bad)
  const unfit = unfitClients(body.access ?? 'password', clients.prefixes)
  if (unfit !== null) return () => unfit
  const denied = normaliseDenyList(body.denied_domains ?? [], body.allowed_domains ?? [])
  if (!denied.ok) return () => refuse('badDomain', denied.bad.slice(0, 100))
  if (denied.domains.some(entry => /^[\d.]+\/|:/.test(entry) && parsePrefix(entry) === null)) {
    return () => refuse('badDomain')
  }
  const listed = body.denied_domains !== undefined || body.allowed_domains !== undefined
  const byName = !listed && body.deny_set !== undefined && body.deny_set !== noDenySet
  const denySet = byName ? (body.deny_set ?? noDenySet) : denySetHash(denied.domains)
  const sent = clients.prefixes.map(prefix => prefix.text)
  const said = { password: body.password, prefixes: parsed.prefixes.map(prefix => prefix.text), denySet }
  const more = {
    ...(body.access === undefined || body.access === 'password' ? {} : { access: body.access }),
    ...(limitsText(body.limits ?? {}) === '' ? {} : { limits: body.limits }),
    ...(body.egress === undefined || body.egress === 'fixed' ? {} : { egress: body.egress })
  }
  return state => {
    if (byName && !state.denySets.has(denySet)) return refuse('unknownDenySet')
    const outside = firstOutside(parsed.prefixes, state.prefixes)
    if (outside !== undefined) return refuse('outsidePrefixes', outside.text)
    const before = state.users.get(user)
    const kept = resentClients(before, sent)
    // If operators' changes do not fit the new `access`, the console's list applies as it is.
    const fits = unfitClients(body.access ?? 'password', prefixesOf(kept.allowedClientIps)) === null
    const record: UserRecord = { ...said, ...(fits ? kept : { allowedClientIps: sent }), ...more }
    const value = { user, record }
    // An unchanged record causes no write and cuts no connection.
    if (before !== undefined && sameRecord(before, record)) return { ok: true, ops: [], value }
    return { ok: true, ops: userOps(state, user, record, denied.domains), value }
  }
}

/**
 * Why a client list does not fit `access`. An empty list would let no client in here, but every client with the password in at
 * older agents, which ignore `access`.
 */
export function unfitClients(access: AgentAccess, clients: readonly Prefix[]): ReturnType<typeof refuse> | null {
  if (access === 'password') return null
  if (clients.length === 0) return refuse('noClientIps')
  if (access === 'password_and_address') return null
  if (clients.length > MOST_OPEN_CLIENTS) return refuse('tooManyClientIps')
  const wide = clients.find(({ family, first, last }) => {
    const bits = family === 4 ? 32 : 128
    return last - first >= 1n << BigInt(bits - WIDEST_OPEN_CLIENT[family])
  })
  return wide === undefined ? null : refuse('wideClientIp', wide.text)
}

const sameRecord = (a: UserRecord, b: UserRecord): boolean =>
  a.password === b.password &&
  a.denySet === b.denySet &&
  a.access === b.access &&
  a.egress === b.egress &&
  limitsText(a.limits ?? {}) === limitsText(b.limits ?? {}) &&
  sameList(a.prefixes, b.prefixes) &&
  sameList(a.allowedClientIps, b.allowedClientIps) &&
  sameList(sentClients(a), sentClients(b))

/** `DELETE /api/users/{user}`. An unknown user is not an error. */
export function deleteUser(user: string): Planner<{ deleted: boolean }> {
  return state => {
    if (!state.users.has(user)) return { ok: true, ops: [], value: { deleted: false } }
    return { ok: true, ops: userOps(state, user, null), value: { deleted: true } }
  }
}

/** `PUT /api/prefixes`. Refused if a user would keep addresses outside the new prefixes. */
export function putPrefixes(texts: readonly string[]): Planner<{ prefixes: string[]; removed: string[] }> {
  const parsed = parsePrefixes(texts)
  if (!parsed.ok) return () => refuse('badPrefix', parsed.bad)
  const prefixes = parsed.prefixes.map(prefix => prefix.text)
  return state => {
    const leased = [...state.users.values()].flatMap(user => prefixesOf(user.prefixes))
    const orphan = firstOutside(leased, prefixes)
    if (orphan !== undefined) return refuse('prefixInUse', orphan.text)
    const removed = state.prefixes.filter(prefix => !prefixes.includes(prefix))
    const same = sameList(prefixes, state.prefixes)
    return { ok: true, ops: same ? [] : [{ op: 'prefixes', prefixes }], value: { prefixes, removed } }
  }
}

/** A user's addresses. A prefix that is too large to list gives one address. */
function* addressesOf(record: UserRecord): Generator<string> {
  for (const prefix of prefixesOf(record.prefixes)) {
    if (sizeOf(prefix) > MAX_LISTED) yield formatAddress(prefix.family, prefix.first + 1n)
    else for (let at = prefix.first; at <= prefix.last; at++) yield formatAddress(prefix.family, at)
  }
}

export function proxiesOf(user: string, record: UserRecord, port: number): AgentProxy[] {
  return Array.from(addressesOf(record), ip => ({ ip, port, username: user, password: record.password }))
}

/** `ip:port:user:password`. IPv6 addresses are in brackets, because they contain colons. */
export function proxyLine(proxy: AgentProxy): string {
  const ip = proxy.ip.includes(':') ? `[${proxy.ip}]` : proxy.ip
  return `${ip}:${proxy.port}:${proxy.username}:${proxy.password}`
}

/** The console compares this hash with its own, so operators' changes of the client list are left out. */
export const hashOf = (record: UserRecord | StoredUser): string =>
  userHash({ ...record, allowedClientIps: sentClients(record) })

/** A client address or prefix in canonical notation. Null: invalid. */
export function clientPrefix(text: string): string | null {
  const address = text.includes('/') ? null : parseAddress(text)
  return address === null ? (parsePrefix(text)?.text ?? null) : (parsePrefix(text.replace('::ffff:', ''))?.text ?? null)
}
