import type { ProofAnswer, ProofState, ProofTry } from '@netlet/contract'
import { and, asc, eq, gt, isNotNull, lte, sql } from '../../infra/db/drizzle.ts'
import pLimit from 'p-limit'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import {
  type SyncContext,
  withAccess,
  lockServer,
  readServerRow,
  type ServerRow,
  setNextProof,
  enqueueRepair
} from '../servers/index.ts'
import { accessProofs } from './tables.ts'
import { agentUsers, orderAccess } from '../servers/tables.ts'
import { enqueueProofs, handOverState } from './request-proofs.ts'
import { renewWithheld } from './failed-proofs.ts'
import { isWithin, sampleAddresses, proofTry, tryRevokedCredentials, tryOne } from './try-credentials.ts'

export type Proof = typeof accessProofs.$inferSelect

/**
 * Addresses that one run tries at a server, and how long each delays the next run. This keeps the console below the
 * rate at which an agent slows down clients that guess passwords.
 */
const MOST_DIALS = 20
const DIAL_COSTS_MS = 1500
/** Limits the wait: a clock that ran ahead may have stored a later time, and a waiting job blocks the next. */
const LONGEST_REST_MS = MOST_DIALS * DIAL_COSTS_MS
const AT_ONCE = 8
const ANSWER_MS = 3000
/** When a proxy that gave no clear answer is tried again. After the last time it is not proved. */
const AGAIN_AFTER = [30_000, 5 * MINUTE, HOUR]
/** How often a failed proof is tried again: after each repair for an hour, then each hour. */
const OPEN_EVERY_MS = 3 * MINUTE
const OPEN_ATTEMPTS = 20
const TRIES_KEPT = 12

/** Starts the tries of every server with some due, also if their job was lost. */
export async function proveDue(ctx: SyncContext): Promise<void> {
  await command(ctx, SYSTEM, async unit => {
    const due = await unit.tx
      .selectDistinct({ serverId: accessProofs.serverId })
      .from(accessProofs)
      .where(and(isNotNull(accessProofs.nextAt), lte(accessProofs.nextAt, unit.now)))
      .orderBy(asc(accessProofs.serverId))
    for (const { serverId } of due) enqueueProofs(unit, serverId)
  })
}

/**
 * Tries what is due at one server: old credentials that must be refused, new ones that were not tried in time, and
 * failed proofs. It may run twice or late, because it reads the state at that time.
 */
export async function proveAccess(ctx: SyncContext, serverId: number): Promise<void> {
  const server = await readServerRow(ctx.db, serverId)
  const waits = await takeTurn(ctx, serverId)
  if (waits > 0)
    return command(ctx, SYSTEM, async unit => enqueueProofs(unit, serverId, Math.min(waits, LONGEST_REST_MS)))
  const due = await ctx.db
    .select()
    .from(accessProofs)
    .where(and(eq(accessProofs.serverId, serverId), lte(accessProofs.nextAt, ctx.now())))
    // Ends of leases first, so that repeated password resets do not delay them.
    .orderBy(sql`${accessProofs.cause} = 'password'`, asc(accessProofs.nextAt), asc(accessProofs.id))
    .limit(MOST_DIALS)
  const [planned, limit] = [[] as (Work & { proof: Proof })[], pLimit(AT_ONCE)]
  let left = MOST_DIALS
  for (const proof of due) {
    if (left <= 0) break
    const work = await workOf(ctx, server, proof)
    left -= work.dials.length
    planned.push({ ...work, proof })
  }
  // All start here: if one failed while others were still being looked up, the unhandled rejection would end the
  // process.
  await Promise.all(planned.map(work => settle(ctx, work, Promise.all(work.dials.map(dial => limit(dial))))))
  const rests = (MOST_DIALS - left) * DIAL_COSTS_MS
  await command(ctx, SYSTEM, async unit => {
    await setNextProof(unit, serverId, later(ctx, rests))
    if (planned.length < due.length || due.length === MOST_DIALS) enqueueProofs(unit, serverId, rests)
  })
}

const later = ({ now }: SyncContext, ms: number) => new Date(now().getTime() + ms)

/** Lets one run at a time begin for each server, across processes. @returns milliseconds to wait; 0: go on */
async function takeTurn(ctx: SyncContext, serverId: number): Promise<number> {
  const now = ctx.now()
  return command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, serverId)
    const waits = (row?.nextProofAt?.getTime() ?? 0) - now.getTime()
    if (waits > 0) return waits
    await setNextProof(unit, serverId, later(ctx, LONGEST_REST_MS))
    return 0
  })
}

type User = Awaited<ReturnType<typeof readUser>>
/** `user`: as it was wanted before the tries. */
type Work = { dials: (() => Promise<ProofTry>)[]; user: User }

async function workOf(ctx: SyncContext, server: ServerRow | undefined, proof: Proof): Promise<Work> {
  const user = await readUser(ctx.db, proof)
  const recorded = (answer: ProofAnswer): Work => ({ dials: [async () => proofTry(ctx, null, { answer })], user })
  if (!server || server.status === 'given_up') return recorded('given_up')
  if (proof.kind === 'hand_over') {
    if (!user?.wanted) return recorded('ended')
    return isInStep(user) ? { dials: [() => tryOne(ctx, server, user, ANSWER_MS)], user } : recorded('no_time')
  }
  const { password, username, prefixes } = proof
  if (password === null) return recorded('ended')
  // An unlisted client is refused even with valid credentials, so a try proves nothing.
  if (await needsClientList(ctx, proof)) return recorded('listed_only')
  const addresses = sampleAddresses(prefixes, address => opensAgain(user, proof, address))
  if (addresses.length === 0) return recorded('wanted_again')
  const point = { port: server.proxyPort, username, password }
  return { dials: addresses.map(address => () => tryRevokedCredentials(ctx, { ...point, address }, ANSWER_MS)), user }
}

async function needsClientList({ db }: SyncContext, { orderId }: Proof): Promise<boolean> {
  const [order] = await db
    .select({ access: orderAccess.access })
    .from(orderAccess)
    .where(eq(orderAccess.orderId, orderId))
  return order?.access === 'password_and_address'
}

const isInStep = (user: NonNullable<User>) => user.generation === user.appliedGeneration

/** Whether old credentials work again at an address, because the order was revived or has the address again. */
const opensAgain = (user: User, { password }: Proof, address: string | null): boolean =>
  user !== undefined && user.wanted && user.password === password && isWithin(address, user.prefixes)

async function readUser(db: SyncContext['db'] | Unit['tx'], { serverId, username }: Proof) {
  const [user] = await db
    .select(withAccess)
    .from(agentUsers)
    .leftJoin(orderAccess, eq(orderAccess.orderId, agentUsers.orderId))
    .where(and(eq(agentUsers.serverId, serverId), eq(agentUsers.username, username)))
  return user
}

/** The worst answer counts: one open address is enough. */
function verdictOf({ kind }: Proof, tries: ProofTry[]): { state: ProofState; answer: ProofAnswer } {
  const rank = (state: ProofState) => ['failed', 'waiting', 'not_proved', 'proved'].indexOf(state)
  const states = tries.map(({ answer }) => ({
    answer,
    state: kind === 'hand_over' ? handOverState(answer) : revocationState(answer)
  }))
  return states.toSorted((a, b) => rank(a.state) - rank(b.state))[0] ?? { state: 'not_proved', answer: 'no_time' }
}

const OVER: ReadonlySet<ProofAnswer> = new Set(['wanted_again', 'given_up', 'ended', 'listed_only'])
const BLIND: ReadonlySet<ProofAnswer> = new Set(['site_blind', 'no_site'])

function revocationState(answer: ProofAnswer): ProofState {
  if (answer === 'refused') return 'proved'
  if (answer === 'accepted') return 'failed'
  return OVER.has(answer) ? 'not_proved' : 'waiting'
}

const VOID = { revocation: 'wanted_again', hand_over: 'no_time' } as const

/** Records the result, unless another run has done so. */
async function settle(
  ctx: SyncContext,
  { proof, user }: { proof: Proof; user: User },
  work: Promise<ProofTry[]>
): Promise<void> {
  const tries = await work
  await command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    const [row] = await tx.select().from(accessProofs).where(eq(accessProofs.id, proof.id)).for('update')
    if (!row || row.nextAt === null || row.attempts !== proof.attempts) return
    const found = verdictOf(row, tries)
    const isVoid = found.state === 'failed' && (await isOutdated(unit, row, user, tries))
    const recorded = isVoid ? [proofTry(ctx, null, { answer: VOID[row.kind] })] : tries
    const attempts = row.attempts + 1
    const next = nextOf(row, isVoid ? verdictOf(row, recorded) : found, { attempts, now })
    await tx
      .update(accessProofs)
      .set({ ...next, attempts, tries: [...recorded, ...row.tries].slice(0, TRIES_KEPT) })
      .where(eq(accessProofs.id, row.id))
    if (row.state !== next.state) {
      unit.publish('order', row.orderId)
      unit.publish('server', row.serverId)
    }
    // Its credentials are wrong. The notice finder tells the operators.
    if (next.state === 'failed' && row.state !== 'failed') enqueueRepair(unit, row.serverId)
    if (row.kind === 'revocation' && (next.state === 'failed' || row.state === 'failed'))
      await renewWithheld(unit, row.serverId)
  })
}

/**
 * Whether a failure does not count because what was tried has changed: the old credentials were wanted again (and if
 * they ended again, another proof covers that), or the user changed on its agent.
 */
async function isOutdated({ tx }: Unit, row: Proof, before: User, tries: ProofTry[]): Promise<boolean> {
  const user = await readUser(tx, row)
  if (row.kind === 'hand_over') return !user || !isInStep(user) || user.generation !== before?.generation
  const accepted = tries.filter(({ answer }) => answer === 'accepted')
  if (accepted.every(({ address }) => opensAgain(user, row, address))) return true
  if (row.state !== 'waiting' || row.cause !== 'removed') return false
  const newer = and(
    eq(accessProofs.serverId, row.serverId),
    eq(accessProofs.username, row.username),
    eq(accessProofs.kind, 'revocation'),
    gt(accessProofs.id, row.id)
  )
  return (await tx.$count(accessProofs, newer)) > 0
}

const over = (state: ProofState, now: Date) => ({ state, nextAt: null, settledAt: now, password: null })

function nextOf(
  row: Proof,
  { state, answer }: { state: ProofState; answer: ProofAnswer },
  { attempts, now }: { attempts: number; now: Date }
) {
  const wait = (ms: number) => ({ nextAt: new Date(now.getTime() + ms) })
  const openAgain = attempts < OPEN_ATTEMPTS ? OPEN_EVERY_MS : HOUR
  if (state === 'failed') return { state, ...wait(openAgain) }
  if (row.state === 'failed') {
    if (state === 'proved') return over('mended', now)
    // Nothing is left to try, or the site never saw who asks. Anything else leaves the alarm as it is.
    return OVER.has(answer) || (row.kind === 'hand_over' && BLIND.has(answer))
      ? over('not_proved', now)
      : { state: 'failed' as const, ...wait(openAgain) }
  }
  if (state === 'proved' || state === 'not_proved') return over(state, now)
  const pause = AGAIN_AFTER[attempts - 1]
  return pause === undefined ? over('not_proved', now) : { state: 'waiting' as const, ...wait(pause) }
}
