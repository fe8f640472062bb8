import type { ProofAnswer, ProofCause, ProofState, ProofTry } from '@netlet/contract'
import { and, eq, gt, isNotNull, sql } from '../../infra/db/drizzle.ts'
import { HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { accessProofs } from './tables.ts'
import { agentUsers } from '../servers/tables.ts'
import { enqueueRepair } from '../servers/index.ts'
import { queue } from '../../infra/jobs.ts'

/** Tries credentials at one server's proxies. The job does not contain the credentials. */
export const proveQueue = queue<{ serverId: number }>('prove-access', { retryLimit: 0, deleteAfterSeconds: 3600 })

type User = Pick<typeof agentUsers.$inferSelect, 'serverId' | 'username' | 'orderId' | 'password' | 'prefixes'>
/** What a user had before a change. */
export type FormerUser = User

/** Starts the due tries at a server's proxies, once the command has committed. */
export function enqueueProofs(unit: Unit, serverId: number, startIn?: number): void {
  const key = String(serverId)
  unit.jobs.send(proveQueue, { serverId }, { key, group: key, ...(startIn === undefined ? {} : { startIn }) })
}

/** Agents have confirmed that these users are gone, so their credentials are tried. Users made by hand are left out. */
export async function requestRevocationProofs(unit: Unit, users: User[], cause: ProofCause): Promise<void> {
  const rows = users.flatMap(({ serverId, username, orderId, password, prefixes }) =>
    orderId === null || prefixes.length === 0
      ? []
      : [{ kind: 'revocation' as const, cause, orderId, serverId, username, password, prefixes, nextAt: unit.now }]
  )
  if (rows.length === 0) return
  await unit.tx.insert(accessProofs).values(rows.map(row => ({ ...row, askedAt: unit.now })))
  for (const serverId of new Set(rows.map(row => row.serverId))) enqueueProofs(unit, serverId)
}

/** What these users have now. Call it before they change, under the lock of their order. */
export async function readFormerUsers(
  { tx }: Unit,
  users: Pick<User, 'serverId' | 'username'>[]
): Promise<FormerUser[]> {
  const { serverId, username, orderId, password, prefixes } = agentUsers
  return tx
    .select({ serverId, username, orderId, password, prefixes })
    .from(agentUsers)
    .where(
      and(
        isNotNull(orderId),
        sql`(${serverId}, ${username}) in (select * from unnest(
          ${sql.param(users.map(user => user.serverId))}::bigint[], ${sql.param(users.map(user => user.username))}::text[]))`
      )
    )
}

/** These users have another password or fewer addresses. The old ones are tried once the agents have confirmed. */
export async function requestReplacedProofs(
  unit: Unit,
  held: FormerUser[],
  now: (User & { generation: number })[]
): Promise<void> {
  const rows = held.flatMap(before => {
    const next = now.find(user => user.serverId === before.serverId && user.username === before.username)
    if (!next || before.orderId === null) return []
    const isReset = next.password !== before.password
    const prefixes = isReset ? before.prefixes : before.prefixes.filter(prefix => !next.prefixes.includes(prefix))
    if (prefixes.length === 0) return []
    const { orderId, serverId, username, password } = before
    const cause: ProofCause = isReset ? 'password' : 'addresses'
    const { generation } = next
    return [{ kind: 'revocation' as const, cause, orderId, serverId, username, password, prefixes, generation }]
  })
  if (rows.length > 0) await unit.tx.insert(accessProofs).values(rows.map(row => ({ ...row, askedAt: unit.now })))
}

/** Agents have confirmed these generations, so the checks that waited for them can run. */
export async function confirmReplaced(
  unit: Unit,
  users: { serverId: number; username: string; generation: number }[]
): Promise<void> {
  if (users.length === 0) return
  const due = await unit.tx.execute<{ serverId: string }>(sql`
    update ${accessProofs} set generation = null, next_at = ${unit.now.toISOString()}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(users)}::jsonb) as u("serverId" bigint, username text, generation bigint)
    where access_proofs.server_id = u."serverId" and access_proofs.username = u.username
      and access_proofs.generation is not null and access_proofs.generation <= u.generation
    returning access_proofs.server_id as "serverId"`)
  for (const serverId of new Set(due.rows.map(row => Number(row.serverId)))) enqueueProofs(unit, serverId)
}

/** Records that the end of these users cannot be proved, because their agent will never confirm it. */
export async function recordUnproved(unit: Unit, users: User[], answer: ProofAnswer): Promise<void> {
  const { now } = unit
  const rows = users.flatMap(({ serverId, username, orderId, prefixes }) =>
    orderId === null || prefixes.length === 0
      ? []
      : [
          {
            kind: 'revocation' as const,
            cause: 'removed' as const,
            state: 'not_proved' as const,
            orderId,
            serverId,
            username,
            prefixes,
            tries: [{ at: now.toISOString(), address: null, answer, took: null, seen: null }],
            askedAt: now,
            settledAt: now
          }
        ]
  )
  if (rows.length > 0) await unit.tx.insert(accessProofs).values(rows)
}

const UNTRIED: ReadonlySet<ProofAnswer> = new Set(['no_site', 'listed_only', 'site_blind', 'given_up', 'ended'])

/** The state that a try gives a hand-over. */
export function handOverState(answer: ProofAnswer): ProofState {
  if (answer === 'own_address') return 'proved'
  if (answer === 'refused' || answer === 'other_address') return 'failed'
  return UNTRIED.has(answer) ? 'not_proved' : 'waiting'
}

/** How long to wait before a check that did not fit into the time limit. */
const SOON_MS = 5000

/** Records the tries made before a hand-over. A failure has the server repaired, and needs an operator. */
export async function recordNewCredentials(unit: Unit, users: { user: User; trial: ProofTry }[]): Promise<void> {
  const { now } = unit
  const rows = users.flatMap(({ user: { serverId, username, orderId, prefixes }, trial }) => {
    if (orderId === null) return []
    const state = handOverState(trial.answer)
    const isOver = state === 'proved' || state === 'not_proved'
    return [
      {
        kind: 'hand_over' as const,
        cause: 'served' as const,
        state,
        orderId,
        serverId,
        username,
        prefixes,
        tries: [trial],
        attempts: 1,
        askedAt: now,
        nextAt: isOver ? null : new Date(now.getTime() + SOON_MS),
        settledAt: isOver ? now : null
      }
    ]
  })
  if (rows.length === 0) return
  await unit.tx.insert(accessProofs).values(rows)
  for (const serverId of new Set(rows.filter(row => row.nextAt !== null).map(row => row.serverId)))
    enqueueProofs(unit, serverId, SOON_MS)
  for (const serverId of new Set(rows.filter(row => row.state === 'failed').map(row => row.serverId)))
    enqueueRepair(unit, serverId)
}

/** Settles all unconfirmed proofs of a user without a try: the user was dropped before its agent confirmed. */
export const dropUnconfirmed = ({ tx, now }: Unit, serverId: number, orderId: number) =>
  tx
    .update(accessProofs)
    .set({ state: 'not_proved', password: null, generation: null, settledAt: now })
    .where(
      and(eq(accessProofs.serverId, serverId), eq(accessProofs.orderId, orderId), isNotNull(accessProofs.generation))
    )

/** Sets next tries after `soon` to now, which a clock that ran ahead has left. None waits longer than an hour. */
export async function endFutureTries({ tx, now }: Unit, soon: Date): Promise<void> {
  await tx
    .update(accessProofs)
    .set({ nextAt: now })
    .where(gt(accessProofs.nextAt, new Date(soon.getTime() + HOUR)))
}
