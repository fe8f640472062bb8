import {
  type AgentProxy,
  type AgentReason,
  type agentUserBody,
  denySetHash,
  normaliseDenyList,
  userHash
} from '@netlet/contract/agent'
import type { z } from 'zod'
import { formatAddress, mergeRanges, parseAddress, parsePrefix, parsePrefixes, type Prefix } from '../net/ip.ts'
import type { Definitions, StoredUser } from './definitions.ts'
import type { Op, UserRecord } from './ops.ts'
import type { Plan } from './store.ts'

type Planned<T> = Plan<T, AgentReason>
type Planner<T> = (state: Definitions) => Planned<T>
const refuse = (reason: AgentReason, detail?: string): { ok: false; reason: AgentReason; detail?: string } => ({
  ok: false,
  reason,
  ...(detail === undefined ? {} : { detail })
})

/** The most addresses that one user's reply lists; a single IPv6 prefix may be larger and is listed by one address. */
export const MAX_LISTED = 65_536n

/** The hash of the empty list, so that users without denied domains need no set. */
export const noDenySet: string = denySetHash([])

export type UserChange = { user: string; record: UserRecord }

const sizeOf = (prefix: Prefix): bigint => prefix.last - prefix.first + 1n
const prefixesOf = (texts: readonly string[]): Prefix[] => texts.flatMap(text => parsePrefix(text) ?? [])

/** Whether every prefix lies inside the server's own ones; if not, the first that does not. */
function firstOutside(prefixes: readonly Prefix[], own: readonly string[]): Prefix | undefined {
  const ranges = mergeRanges(prefixesOf(own))
  return prefixes.find(
    prefix =>
      !ranges.some(range => range.family === prefix.family && range.first <= prefix.first && prefix.last <= range.last)
  )
}

/** The changes that make a user be `record` (or be gone), with the deny sets that come and go with it. */
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

/** `PUT /api/users/{user}`: everything that needs no look at the state is checked before the change waits in line. */
export function putUser(user: string, body: z.output<typeof agentUserBody>): Planner<UserChange> {
  const parsed = parsePrefixes(body.prefixes)
  if (!parsed.ok) return () => refuse('badPrefix', parsed.bad)
  const total = parsed.prefixes.reduce((sum, prefix) => sum + (sizeOf(prefix) > MAX_LISTED ? 1n : sizeOf(prefix)), 0n)
  if (total > MAX_LISTED || parsed.prefixes.some(prefix => prefix.family === 4 && sizeOf(prefix) > MAX_LISTED)) {
    return () => refuse('tooManyAddresses')
  }
  const clients = parsePrefixes(body.allowed_client_ips)
  if (!clients.ok) return () => refuse('badClientIp', clients.bad)
  const denied = normaliseDenyList(body.denied_domains ?? [], body.allowed_domains ?? [])
  if (!denied.ok) return () => refuse('badDomain', denied.bad.slice(0, 100))
  if (denied.domains.some(entry => /^[\d.]+\/|:/.test(entry) && parsePrefix(entry) === null)) {
    return () => refuse('badDomain')
  }
  const listed = body.denied_domains !== undefined || body.allowed_domains !== undefined
  const byName = !listed && body.deny_set !== undefined && body.deny_set !== noDenySet
  const denySet = byName ? (body.deny_set ?? noDenySet) : denySetHash(denied.domains)
  const record: UserRecord = {
    password: body.password,
    prefixes: parsed.prefixes.map(prefix => prefix.text),
    denySet,
    allowedClientIps: clients.prefixes.map(prefix => prefix.text)
  }
  return state => {
    if (byName && !state.denySets.has(denySet)) return refuse('unknownDenySet')
    const outside = firstOutside(parsed.prefixes, state.prefixes)
    if (outside !== undefined) return refuse('outsidePrefixes', outside.text)
    const value = { user, record }
    const before = state.users.get(user)
    // Saying the same again costs no disk and drops no connection.
    if (before !== undefined && sameRecord(before, record)) return { ok: true, ops: [], value }
    return { ok: true, ops: userOps(state, user, record, denied.domains), value }
  }
}

const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, i) => text === b[i])

const sameRecord = (a: UserRecord, b: UserRecord): boolean =>
  a.password === b.password &&
  a.denySet === b.denySet &&
  sameList(a.prefixes, b.prefixes) &&
  sameList(a.allowedClientIps, b.allowedClientIps)

/** `DELETE /api/users/{user}`: a user that is not there is no failure. */
export function deleteUser(user: string): Planner<{ deleted: boolean }> {
  return state => {
    if (!state.users.has(user)) return { ok: true, ops: [], value: { deleted: false } }
    return { ok: true, ops: userOps(state, user, null), value: { deleted: true } }
  }
}

/** `PUT /api/prefixes`: refused while a user leases addresses that would not be the server's own any more. */
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

/** The addresses of a user one by one. */
function* addressesOf(record: UserRecord): Generator<string> {
  for (const prefix of prefixesOf(record.prefixes)) {
    if (sizeOf(prefix) > MAX_LISTED) yield formatAddress(prefix.family, prefix.first + 1n)
    else for (let at = prefix.first; at <= prefix.last; at++) yield formatAddress(prefix.family, at)
  }
}

export function proxiesOf(user: string, record: UserRecord, port: number): AgentProxy[] {
  return Array.from(addressesOf(record), ip => ({ ip, port, username: user, password: record.password }))
}

/** `ip:port:user:password`; IPv6 addresses in brackets, or nobody could tell where the port begins. */
export function proxyLine(proxy: AgentProxy): string {
  const ip = proxy.ip.includes(':') ? `[${proxy.ip}]` : proxy.ip
  return `${ip}:${proxy.port}:${proxy.username}:${proxy.password}`
}

export const hashOf = (record: UserRecord | StoredUser): string => userHash(record)

/** An address or prefix of a client in canonical notation, or null. */
export function clientPrefix(text: string): string | null {
  const address = text.includes('/') ? null : parseAddress(text)
  return address === null ? (parsePrefix(text)?.text ?? null) : (parsePrefix(text.replace('::ffff:', ''))?.text ?? null)
}
