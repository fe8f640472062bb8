import { eq } from 'drizzle-orm'
import type { AgentPrefixesReply } from '@netlet/contract/agent'
import type { AgentClient, AgentResult } from '../../integrations/agent/index.ts'
import type { AppContext } from '../../infra/context.ts'
import { serverCidrs } from '../inventory/index.ts'
import type { ServerRow } from './agents.ts'
import { servers } from './tables.ts'

/**
 * `widened`: the agent has the new ranges beside those that users on it still lease of; it gets the exact ones once
 * those users are gone.
 */
export type Loaded =
  | { kind: 'exact' | 'widened'; reply: AgentPrefixesReply }
  | { kind: 'refused' | 'unreachable'; message: string }

/** Makes the agent's ranges those of the server. */
export async function loadPrefixes(
  ctx: Pick<AppContext, 'db'>,
  agent: AgentClient,
  server: Pick<ServerRow, 'id' | 'prefixesGeneration'>
): Promise<Loaded> {
  const wanted = await serverCidrs(ctx.db, server.id)
  const reply = await agent.putPrefixes(wanted)
  if (reply.ok) {
    await ctx.db
      .update(servers)
      .set({ prefixesApplied: server.prefixesGeneration, lastError: null })
      .where(eq(servers.id, server.id))
    return { kind: 'exact', reply: reply.data }
  }
  if (reply.kind !== 'refused' || reply.reason !== 'prefixInUse') return failed(reply)
  const state = await agent.state()
  if (!state.ok) return failed(state)
  const wider = await agent.putPrefixes([...new Set([...state.data.prefixes, ...wanted])])
  return wider.ok ? { kind: 'widened', reply: wider.data } : failed(wider)
}

function failed(reply: Exclude<AgentResult<unknown>, { ok: true }>): Loaded {
  return { kind: reply.kind, message: `The agent did not take its ranges: ${reply.message}` }
}
