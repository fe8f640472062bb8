import { setTimeout as sleep } from 'node:timers/promises'
import ipaddr from 'ipaddr.js'
import type { ProofAnswer, ProofTry } from '@netlet/contract'
import { iso } from '../../infra/clock.ts'
import type { SyncContext } from '../servers/index.ts'
import { askDirectly, askThrough, askForTunnel, type Point } from './dial.ts'
import { isOwn } from './samples.ts'

/** A worker of an agent may learn of a change some milliseconds after the console has its answer. */
const AGAIN_MS = 300

/** Statuses of a proxy that accepted the login, even if it did not reach the target. */
const LOGGED_IN = new Set([200, 403, 502, 504])

/** Tries credentials that must no longer work. */
export async function tryOld(ctx: SyncContext, point: Point, timeoutMs: number): Promise<ProofTry> {
  const site = new URL(ctx.config.egressSite ?? ctx.config.publicUrl)
  const begun = performance.now()
  let answer = oldAnswer(await askForTunnel(point, site, timeoutMs))
  if (answer === 'accepted') {
    await sleep(AGAIN_MS)
    answer = oldAnswer(await askForTunnel(point, site, timeoutMs))
  }
  return tried(ctx, point.address, { answer, begun })
}

function oldAnswer(status: number): ProofAnswer {
  if (status === 407) return 'refused'
  if (status === 429) return 'too_many'
  return LOGGED_IN.has(status) ? 'accepted' : 'silent'
}

/** Tries new credentials: does the proxy accept them, and does the check site see the leased address? */
export async function tryNew(
  ctx: SyncContext,
  point: Point,
  { prefixes, timeoutMs }: { prefixes: readonly string[]; timeoutMs: number }
): Promise<ProofTry> {
  const { egressSite, appSecret } = ctx.config
  if (egressSite === null) return tried(ctx, null, { answer: 'no_site' })
  const site = new URL(egressSite)
  const begun = performance.now()
  // One time limit for all requests.
  const signal = AbortSignal.timeout(Math.ceil(timeoutMs))
  const ask = () => askThrough(point, site, { signal, appSecret })
  let found = await ask()
  if (found.status === 407) found = await ask()
  const { status, seen } = found
  if (seen === null) return tried(ctx, point.address, { answer: newAnswer(status), begun })
  if (isOwn(seen, point.address, prefixes)) return tried(ctx, point.address, { answer: 'own_address', begun, seen })
  const isBlind = cannotSee(await askDirectly(site, appSecret, signal), { seen, leased: point.address })
  return tried(ctx, point.address, { answer: isBlind ? 'site_blind' : 'other_address', begun, seen })
}

/**
 * Whether a site cannot see who asks. Behind a reverse proxy that it does not know, every client seems to come from one
 * address, or from an internal one. If it does not answer directly, that is unknown and counts as blind.
 */
function cannotSee(direct: string | null, { seen, leased }: { seen: string; leased: string }): boolean {
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
export const tried = (
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
