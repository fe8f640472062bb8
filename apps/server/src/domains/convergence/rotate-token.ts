import { refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { type Result, done } from '../../infra/result.ts'
import { randomToken } from '../../infra/secrets.ts'
import { type SyncContext, replaceAgentToken, withServerLock } from '../servers/index.ts'
import { LOCK_WAIT_MS, callFailed, refusedByAgent, requireAgent } from './agent-calls.ts'

/**
 * Gives a server's agent a new token. The agent accepts the former one until a call comes with the new one, so the stored
 * one works wherever this ends: before the token is saved here, the former one; afterwards, the new one.
 */
export async function rotateToken(ctx: SyncContext, by: Actor, serverId: number): Promise<Result<null>> {
  let result: Result<null> = refuse('stale')
  await withServerLock(
    ctx.db,
    serverId,
    async () => {
      result = await rotate(ctx, by, serverId)
    },
    { waitMs: LOCK_WAIT_MS }
  )
  return result
}

async function rotate(ctx: SyncContext, by: Actor, serverId: number): Promise<Result<null>> {
  const found = await requireAgent(ctx, serverId)
  if (!found.ok) return found
  const { agent, server } = found.data
  const token = randomToken()
  const given = await agent.putToken(token)
  if (!given.ok) return given.kind === 'refused' ? refusedByAgent(given.message) : callFailed(given.message)
  const stored = await command(ctx, by, async (unit): Promise<Result<null>> => {
    // Refused if the server was edited meanwhile: it may be another machine now.
    if (!(await replaceAgentToken(unit, server, ctx.secrets.seal(token)))) return refuse('stale')
    unit.audit('server.rotate_token', serverId)
    return done
  })
  if (!stored.ok) return stored
  // The first call with the new token ends the former one.
  const verified = await requireAgent(ctx, serverId)
  return verified.ok ? done : verified
}
