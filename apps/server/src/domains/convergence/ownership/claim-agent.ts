import { randomBytes } from 'node:crypto'
import type { AgentOwner } from '@netlet/contract/agent'
import { eq, sql } from '../../../infra/db/drizzle.ts'
import { SYSTEM } from '../../../infra/actor.ts'
import { type Unit, command } from '../../../infra/command.ts'
import type { AgentAddress, AgentClient } from '../../../integrations/agent/index.ts'
import { type SyncContext, agentOf, clearTrouble, setTrouble, type ServerRow } from '../../servers/index.ts'
import { isRecovering } from '../../settings/index.ts'
import { agentTies, consoleIdentity } from '../tables.ts'

/** This console as agents know it. A copied database is the same console; a new one is another. */
type ConsoleIdentity = { id: string; name: string }

/** The id is made when the first agent is asked, and stays in the database. */
export async function readConsole(ctx: SyncContext): Promise<ConsoleIdentity> {
  const name = ctx.config.publicUrl.slice(0, 200)
  const read = () => ctx.db.select({ id: consoleIdentity.consoleId }).from(consoleIdentity)
  let [row] = await read()
  if (!row) {
    await command(ctx, SYSTEM, ({ tx, now }) =>
      tx.insert(consoleIdentity).values({ createdAt: now }).onConflictDoNothing()
    )
    ;[row] = await read()
  }
  if (!row) throw new Error('the console has no id')
  return { id: row.id, name }
}

/**
 * Whether this console may change an agent. `foreign`: it belongs to another console. `older`: it has taken changes
 * that this database does not know.
 */
export type ClaimOutcome =
  | { kind: 'open'; agent: AgentClient }
  | { kind: 'foreign' | 'older'; owner: AgentOwner; message: string }
  | { kind: 'failed'; message: string }

const RECOVERING = 'The shop was restored from a backup and is checking for newer payments'

type Options = {
  timeoutMs?: number | undefined
  dial?: AgentAddress['dial']
  /** A mark that the agent may have besides those in the database: the mark of an approved plan. */
  known?: string
  /** The id of the console to take the agent over from. */
  takeOverFrom?: string
}

/**
 * Claims the agent for a session of changes. The caller holds the server's lock. The next mark is stored before it is
 * sent and until the agent confirms it, so that the two differ only if the database is an older copy.
 */
export async function claimAgent(ctx: SyncContext, server: ServerRow, options: Options = {}): Promise<ClaimOutcome> {
  const { timeoutMs, dial, known, takeOverFrom } = options
  if (await isRecovering(ctx.db)) return { kind: 'failed', message: RECOVERING }
  const { id, name } = await readConsole(ctx)
  const { mark, nextMark } = await prepareMark(ctx, server.id)
  const client = agentOf(server, ctx.secrets, timeoutMs, { console: { id, mark: nextMark }, ...(dial ? { dial } : {}) })
  const reply = await client.claim({
    id,
    name,
    server: String(server.id),
    mark: nextMark,
    known: [mark, known].filter(one => typeof one === 'string'),
    ...(takeOverFrom === undefined ? {} : { take_over_from: takeOverFrom })
  })
  if (reply.kind === 'failed') return reply
  // An older agent knows neither consoles nor marks.
  if (reply.kind === 'unknown')
    return { kind: 'open', agent: agentOf(server, ctx.secrets, timeoutMs, dial && { dial }) }
  if (reply.kind === 'foreign') {
    const { owner } = reply
    await command(ctx, SYSTEM, unit => recordForeignOwner(unit, server.id, owner))
    return { kind: 'foreign', owner, message: `The agent belongs to another console: ${owner.name} (${owner.id})` }
  }
  if (reply.kind === 'older' || reply.owner.mark !== nextMark) {
    const message = 'The agent has data that this console does not know'
    return { kind: 'older', owner: reply.owner, message }
  }
  await command(ctx, SYSTEM, async unit => {
    const agreed = { mark: nextMark, nextMark: null, plan: null, approved: null }
    await unit.tx.update(agentTies).set(agreed).where(eq(agentTies.serverId, server.id))
    await clearTrouble(unit, server.id, ['foreign_console', 'older_console'])
  })
  return { kind: 'open', agent: client }
}

/** A mark that was sent but never confirmed is sent again, because the agent may have it. */
async function prepareMark(ctx: SyncContext, serverId: number): Promise<{ mark: string | null; nextMark: string }> {
  const fresh = randomBytes(8).toString('hex')
  const [tie] = await command(ctx, SYSTEM, ({ tx }) =>
    tx
      .insert(agentTies)
      .values({ serverId, nextMark: fresh })
      .onConflictDoUpdate({
        target: agentTies.serverId,
        set: { nextMark: sql`coalesce(${agentTies.nextMark}, excluded.next_mark)` }
      })
      .returning({ mark: agentTies.mark, nextMark: agentTies.nextMark })
  )
  return { mark: tie?.mark ?? null, nextMark: tie?.nextMark ?? fresh }
}

/** Shows which console owns the agent. Nothing is sent to it until it is taken over. */
export async function recordForeignOwner(
  unit: Unit,
  serverId: number,
  owner: Pick<AgentOwner, 'id' | 'name'>
): Promise<void> {
  const params = { name: owner.name, owner: owner.id }
  await setTrouble(unit, serverId, { code: 'foreign_console', params })
}
