import { fillIn, serverTroubles } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { AgentPrefixesReply } from '@netlet/contract/agent'
import type { AgentClient, AgentResult } from '../../integrations/agent/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { serverCidrs } from '../inventory/index.ts'
import { clearTrouble, type ServerRow, type SyncContext } from './agents.ts'
import { servers } from './tables.ts'

/**
 * `widened`: the agent has the new ranges beside those that users on it still lease of; it gets the exact ones once
 * those users are gone.
 */
export type LoadedPrefixes =
  | { kind: 'exact' | 'widened'; reply: AgentPrefixesReply }
  /** `message`: the agent's own words. */
  | { kind: 'refused' | 'unreachable'; message: string }

/** Why a load failed, as a sentence. */
export const prefixesRefused = (message: string): string => fillIn(serverTroubles.prefixes_refused, { message })

/** Makes the agent's ranges those of the server. */
export async function loadPrefixes(
  ctx: SyncContext,
  agent: AgentClient,
  server: Pick<ServerRow, 'id' | 'prefixesGeneration'>
): Promise<LoadedPrefixes> {
  const wanted = await serverCidrs(ctx.db, server.id)
  const reply = await agent.putPrefixes(wanted)
  if (reply.ok) {
    await command(ctx, SYSTEM, async unit => {
      await unit.tx.update(servers).set({ prefixesApplied: server.prefixesGeneration }).where(eq(servers.id, server.id))
      await clearTrouble(unit, server.id, ['prefixes_refused', 'prefixes_waiting'])
      unit.publish('server', server.id)
    })
    return { kind: 'exact', reply: reply.data }
  }
  if (reply.kind !== 'refused' || reply.reason !== 'prefixInUse') return failed(reply)
  const state = await agent.state()
  if (!state.ok) return failed(state)
  const wider = await agent.putPrefixes([...new Set([...state.data.prefixes, ...wanted])])
  return wider.ok ? { kind: 'widened', reply: wider.data } : failed(wider)
}

const failed = ({ kind, message }: Exclude<AgentResult<unknown>, { ok: true }>): LoadedPrefixes => ({ kind, message })
