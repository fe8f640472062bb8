import { type AgentReason } from '@netlet/contract/agent'
import { denySetHash, EXCEPTION_MARK, normaliseDenied, normaliseDenyList } from '@netlet/contract/agent-hashes'
import { mergeRanges, parsePrefix, type Prefix, prefixesOf, rangeToPrefixes } from '../net/ip.ts'
import { changedClients } from './client-list.ts'
import { clientPrefix, MAX_LISTED, noDenySet, refuse, unfitClients, type UserChange, userOps } from './commands.ts'
import type { Definitions, Op } from './definitions.ts'
import type { Plan } from './store.ts'

type Planner<T> = (state: Definitions) => Plan<T, AgentReason>

/** Leases the lowest free addresses. Refused if the user exists. */
export function createUser(user: string, count: number, password: string): Planner<UserChange> {
  return state => {
    if (state.users.has(user)) return refuse('userExists')
    const leased = mergeRanges([...state.users.values()].flatMap(record => prefixesOf(record.prefixes)))
    const found: Prefix[] = []
    let missing = BigInt(count)
    for (const own of mergeRanges(prefixesOf(state.prefixes))) {
      let at = own.first
      for (const taken of [...leased.filter(range => range.family === own.family), null]) {
        const end = taken === null || taken.first > own.last ? own.last + 1n : taken.first
        if (end > at && missing > 0n) {
          const last = end - at > missing ? at + missing - 1n : end - 1n
          found.push(...rangeToPrefixes(own.family, at, last))
          missing -= last - at + 1n
        }
        if (taken !== null && taken.last >= at) at = taken.last + 1n
        if (at > own.last || missing === 0n) break
      }
      if (missing === 0n) break
    }
    if (missing > 0n) return refuse('noFreeAddresses')
    const record = { password, prefixes: found.map(prefix => prefix.text), denySet: noDenySet, allowedClientIps: [] }
    return { ok: true, ops: userOps(state, user, record), value: { user, record } }
  }
}

export type Trim = { network: boolean; broadcast: boolean }

/** Leases whole prefixes, optionally without their first (network) and last (broadcast) addresses. */
export function createUserByPrefix(
  user: string,
  texts: readonly string[],
  trim: Trim,
  password: string
): Planner<UserChange> {
  const prefixes: Prefix[] = []
  let total = 0n
  for (const text of texts) {
    const prefix = parsePrefix(text.trim())
    if (prefix === null) return () => refuse('badPrefix')
    const single = prefix.first === prefix.last
    const first = trim.network && !single ? prefix.first + 1n : prefix.first
    const last = trim.broadcast && !single ? prefix.last - 1n : prefix.last
    prefixes.push(...rangeToPrefixes(prefix.family, first, last))
    total += last - first + 1n
  }
  if (prefixes.length === 0) return () => refuse('badPrefix')
  if (total > MAX_LISTED) return () => refuse('tooManyAddresses')
  return state => {
    if (state.users.has(user)) return refuse('userExists')
    const own = mergeRanges(prefixesOf(state.prefixes))
    const inside = prefixes.every(prefix =>
      own.some(range => range.family === prefix.family && range.first <= prefix.first && prefix.last <= range.last)
    )
    if (!inside) return refuse('badPrefix', "outside the server's own prefixes")
    const record = {
      password,
      prefixes: prefixes.map(prefix => prefix.text),
      denySet: noDenySet,
      allowedClientIps: []
    }
    return { ok: true, ops: userOps(state, user, record), value: { user, record } }
  }
}

/** Sets a new password. The addresses stay. */
export function updateUser(user: string, password: string): Planner<UserChange> {
  return state => {
    const before = state.users.get(user)
    if (before === undefined) return refuse('unknownUser')
    const { generation: _, ...rest } = before
    const record = { ...rest, password }
    return { ok: true, ops: userOps(state, user, record), value: { user, record } }
  }
}

export function deleteAllUsers(): Planner<{ deleted: number }> {
  return state => {
    const ops: Op[] = [...state.users.keys()].map(user => ({ op: 'user', user, record: null }))
    for (const hash of state.denySets.keys()) ops.push({ op: 'deny-set', hash, domains: null })
    return { ok: true, ops, value: { deleted: state.users.size } }
  }
}

/**
 * Adds or removes an address of a user's client list. An empty list lets every client in, so it is refused if `access`
 * requires listed clients.
 */
export function changeWhitelist(user: string, ip: string, add: boolean): Planner<{ allowed: string[] }> {
  const prefix = clientPrefix(ip.trim())
  if (prefix === null) return () => refuse('badClientIp')
  return state => {
    const before = state.users.get(user)
    if (before === undefined) return refuse('unknownUser')
    const { generation: _, allowedClientIps: __, sentClientIps: ___, ...rest } = before
    const others = before.allowedClientIps.filter(text => text !== prefix)
    const allowed = add ? [...others, prefix].toSorted() : others
    if (allowed.length === before.allowedClientIps.length) return { ok: true, ops: [], value: { allowed } }
    const unfit = unfitClients(before.access ?? 'password', prefixesOf(allowed))
    if (unfit !== null) return unfit
    const record = { ...rest, ...changedClients(before, allowed) }
    return { ok: true, ops: userOps(state, user, record), value: { allowed } }
  }
}

export type AclChange = { users: number; domains: number; ignored_users: string[] }

/**
 * Replaces the deny lists of all users. Lines are `user domain`, or `user !domain` for an exception. A user without lines
 * gets an empty list. Lines of unknown users are ignored and reported.
 */
export function writeUserAcl(text: string): Planner<AclChange> {
  const lists = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const [user = '', domain, ...more] = trimmed.split(/\s+/)
    if (domain === undefined || more.length > 0) return () => refuse('badDomain', trimmed.slice(0, 100))
    const list = lists.get(user)
    if (list === undefined) lists.set(user, [domain])
    else list.push(domain)
  }
  const sets = new Map<string, { hash: string; domains: string[] }>()
  for (const [user, lines] of lists) {
    const isException = (line: string): boolean => line.startsWith(EXCEPTION_MARK)
    const allowed = lines.filter(isException).map(line => line.slice(EXCEPTION_MARK.length))
    const denied = lines.filter(line => !isException(line))
    const normal = normaliseDenyList(denied, allowed)
    if (!normal.ok) return () => refuse('badDomain', normal.bad.slice(0, 100))
    sets.set(user, { hash: denySetHash(normal.domains), domains: normal.domains })
  }
  return state => {
    const ops: Op[] = []
    const wanted = new Set<string>()
    for (const [user, { generation: _, ...record }] of state.users) {
      const set = sets.get(user) ?? { hash: noDenySet, domains: [] }
      if (set.hash !== noDenySet && !state.denySets.has(set.hash) && !wanted.has(set.hash)) {
        ops.push({ op: 'deny-set', hash: set.hash, domains: set.domains })
      }
      wanted.add(set.hash)
      if (record.denySet !== set.hash) ops.push({ op: 'user', user, record: { ...record, denySet: set.hash } })
    }
    for (const hash of state.denySets.keys()) {
      if (!wanted.has(hash)) ops.push({ op: 'deny-set', hash, domains: null })
    }
    const ignored = [...sets.keys()].filter(user => !state.users.has(user))
    const domains = [...sets.values()].reduce((sum, set) => sum + set.domains.length, 0)
    return { ok: true, ops, value: { users: sets.size - ignored.length, domains, ignored_users: ignored } }
  }
}

/** Adds or removes a domain that is closed to all users. */
export function changeBlacklist(domain: string, add: boolean): Planner<{ blacklist: string[] }> {
  const normal = normaliseDenied(domain)
  if (normal === null || normal === '') return () => refuse('badDomain', domain.slice(0, 100))
  return state => {
    const others = state.blacklist.filter(entry => entry !== normal)
    const blacklist = add ? [...others, normal].toSorted() : others
    const same = blacklist.length === state.blacklist.length
    return { ok: true, ops: same ? [] : [{ op: 'blacklist', domains: blacklist }], value: { blacklist } }
  }
}
