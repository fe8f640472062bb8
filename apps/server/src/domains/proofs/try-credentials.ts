import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProofAnswer, ProofTry } from '@netlet/contract'
import ipaddr from 'ipaddr.js'
import pLimit from 'p-limit'
import { MINUTE, iso } from '../../infra/clock.ts'
import type { Database } from '../../infra/db/client.ts'
import { type AgentUser, type ServerRow, type SyncContext, firstOf } from '../servers/index.ts'
import { type Point, checkDirectly, requestTunnel, checkThroughProxy } from './dial.ts'

/** A worker of an agent may learn of a change some milliseconds after the console has its answer. */
const AGAIN_MS = 300

/** Statuses of a proxy that accepted the login, even if it did not reach the target. */
const LOGGED_IN = new Set([200, 403, 502, 504])

/** Tries credentials that must no longer work. */
export async function tryRevokedCredentials(ctx: SyncContext, point: Point, timeoutMs: number): Promise<ProofTry> {
  const site = new URL(ctx.config.egressSite ?? ctx.config.publicUrl)
  const begun = performance.now()
  let answer = revokedAnswer(await requestTunnel(point, site, timeoutMs))
  if (answer === 'accepted') {
    await sleep(AGAIN_MS)
    answer = revokedAnswer(await requestTunnel(point, site, timeoutMs))
  }
  return proofTry(ctx, point.address, { answer, begun })
}

function revokedAnswer(status: number): ProofAnswer {
  if (status === 407) return 'refused'
  if (status === 429) return 'too_many'
  return LOGGED_IN.has(status) ? 'accepted' : 'silent'
}

/** Tries new credentials: does the proxy accept them, and does the check site see the leased address? */
async function tryNew(
  ctx: SyncContext,
  point: Point,
  { prefixes, timeoutMs }: { prefixes: readonly string[]; timeoutMs: number }
): Promise<ProofTry> {
  const { egressSite } = ctx.config
  if (egressSite === null) return proofTry(ctx, null, { answer: 'no_site' })
  const site = new URL(egressSite)
  const begun = performance.now()
  // One time limit for all requests.
  const signal = AbortSignal.timeout(Math.ceil(timeoutMs))
  const ask = () => checkThroughProxy(point, site, { signal, secrets: ctx.secrets })
  let found = await ask()
  if (found.status === 407) found = await ask()
  const { status, seen } = found
  if (seen === null) return proofTry(ctx, point.address, { answer: newAnswer(status), begun })
  if (isOwn(seen, point.address, prefixes)) return proofTry(ctx, point.address, { answer: 'own_address', begun, seen })
  const isBlind = hidesClients(await checkDirectly(site, ctx.secrets, signal), { seen, leased: point.address })
  return proofTry(ctx, point.address, { answer: isBlind ? 'site_blind' : 'other_address', begun, seen })
}

/**
 * Whether a site cannot see who asks. Behind a reverse proxy that it does not know, every client seems to come from one
 * address, or from an internal one. If it does not answer directly, that is unknown and counts as blind.
 */
function hidesClients(direct: string | null, { seen, leased }: { seen: string; leased: string }): boolean {
  return direct === null || direct === seen || (isInside(seen) && !isInside(leased))
}

const isInside = (address: string): boolean => ipaddr.process(address).range() !== 'unicast'

function newAnswer(status: number): ProofAnswer {
  if (status === 407) return 'refused'
  if (status === 429) return 'too_many'
  // A used-up quota, or a rule of this user's. It says nothing about other users.
  if (status === 403) return 'denied'
  return status === 0 ? 'silent' : 'site_unreached'
}

type Came = { answer: ProofAnswer; begun?: number; seen?: string }

/** One try as it is stored. @param begun by `performance.now()` */
export const proofTry = (
  ctx: Pick<SyncContext, 'now'>,
  address: string | null,
  { answer, begun, seen }: Came
): ProofTry => ({
  at: iso(ctx.now()),
  address,
  answer,
  took: begun === undefined ? null : Math.round(performance.now() - begun),
  seen: seen ?? null
})

/** What all tries together may take before orders go on. In milliseconds. */
const PATIENCE_MS = 600
const AT_ONCE = 8
/** How long a server is not tried after its proxy, or its way to the check site, was silent. */
const REST_MS = MINUTE

/** Until when (by `performance.now`) a server is not tried, by database. */
const resting = new WeakMap<Database, Map<number, number>>()

/**
 * Tries credentials that an agent has just taken for the first time, or at other addresses, once at each server, before
 * their orders show as delivered. What there is no time for is tried afterwards.
 * @returns by username
 */
export async function tryNewCredentials(
  ctx: SyncContext,
  server: ServerRow,
  users: AgentUser[]
): Promise<Map<string, ProofTry>> {
  const due = users.filter(({ wanted, orderId, handOver }) => wanted && orderId !== null && handOver)
  const found = new Map<string, ProofTry>()
  if (due.length === 0) return found
  const begun = performance.now()
  const rests = restsOf(ctx.db)
  await pLimit(AT_ONCE).map(due, async user => {
    const left = begun + PATIENCE_MS - performance.now()
    const mayDial = left > 0 && (rests.get(server.id) ?? 0) <= performance.now()
    const untried = () => proofTry(ctx, null, { answer: 'no_time' })
    // A failure here must not keep an order from being delivered.
    const result = mayDial ? await tryOne(ctx, server, user, left).catch(untried) : untried()
    if (result.answer === 'silent' || result.answer === 'site_unreached')
      rests.set(server.id, performance.now() + REST_MS)
    found.set(user.username, result)
  })
  return found
}

/** One try with a user's current credentials. */
export async function tryOne(
  ctx: SyncContext,
  server: Pick<ServerRow, 'proxyPort'>,
  { username, password, prefixes, access }: Pick<AgentUser, 'username' | 'password' | 'prefixes' | 'access'>,
  timeoutMs: number
): Promise<ProofTry> {
  // This process is not one of the listed clients.
  if (access === 'password_and_address') return proofTry(ctx, null, { answer: 'listed_only' })
  const [address] = sampleAddresses(prefixes)
  if (address === undefined) return proofTry(ctx, null, { answer: 'no_time' })
  return tryNew(ctx, { address, port: server.proxyPort, username, password }, { prefixes, timeoutMs })
}

function restsOf(db: Database): Map<number, number> {
  let rests = resting.get(db)
  if (!rests) resting.set(db, (rests = new Map()))
  return rests
}

/** If there are no more addresses than this, all are tried; otherwise one. */
const MOST_SAMPLES = 4

/**
 * Addresses of these ranges to try: all if they are few, otherwise a random one, so that it cannot be predicted. Of an
 * IPv6 range it is the first usable address.
 * @param isLeftOut addresses that are not tried
 */
export function sampleAddresses(
  prefixes: readonly string[],
  isLeftOut: (address: string) => boolean = () => false
): string[] {
  const ranges = prefixes.flatMap(prefix => {
    const [address, bits] = ipaddr.parseCIDR(prefix)
    return address instanceof ipaddr.IPv4 ? [{ first: numberOf(address), count: 2 ** (32 - bits) }] : []
  })
  const total = ranges.reduce((sum, { count }) => sum + count, 0)
  const nth = (at: number): string => {
    let left = at
    for (const { first, count } of ranges) {
      if (left < count) return textOf(first + left)
      left -= count
    }
    return ''
  }
  const ofIpv6 = prefixes.filter(prefix => prefix.includes(':')).map(firstOf)
  const few = total + ofIpv6.length <= MOST_SAMPLES
  if (few) return [...Array.from({ length: total }, (_, at) => nth(at)), ...ofIpv6].filter(one => !isLeftOut(one))
  // Whole ranges are left out, so some tries find an address beside them, or there are too few to matter.
  for (let tries = 0; tries < 50; tries++) {
    const at = randomInt(total + ofIpv6.length)
    const found = at < total ? nth(at) : (ofIpv6[at - total] ?? '')
    if (!isLeftOut(found)) return [found]
  }
  return []
}

const numberOf = (address: ipaddr.IPv4) => address.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0)
const textOf = (number: number) => [24, 16, 8, 0].map(shift => Math.floor(number / 2 ** shift) % 256).join('.')

/** Whether an address lies in one of these ranges. False for null and for anything that is not an address. */
export function isWithin(text: string | null, prefixes: readonly string[]): boolean {
  if (text === null || !ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return prefixes.some(prefix => {
    const [network, bits] = ipaddr.parseCIDR(prefix)
    return network.kind() === address.kind() && address.match(network, bits)
  })
}

/** Whether the check site saw the leased address; for an IPv6 lease, any address of its range. */
export const isOwn = (seen: string, address: string, prefixes: readonly string[]): boolean =>
  ipaddr.isValid(seen) &&
  (address.includes(':') ? isWithin(seen, prefixes) : ipaddr.process(seen).toString() === address)
