import { fillIn, serverTroubles } from '@netlet/contract'
import type { AgentPrefixesReply } from '@netlet/contract/agent'
import type { AgentClient, AgentResult } from '../../integrations/agent/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { serverCidrs } from '../inventory/index.ts'
import { setTrouble, type SyncContext, type ServerRow, clearRefusals, recordRanges } from '../servers/index.ts'

/**
 * `with_old_ranges`: the agent has the new ranges, and the old ones that its users still lease from. It gets the exact
 * ranges once those users are gone.
 */
export type RangesOutcome =
  | { kind: 'exact' | 'with_old_ranges'; reply: AgentPrefixesReply }
  /** The agent refused some new ranges, and still has the old ones. */
  | { kind: 'partial'; reply: AgentPrefixesReply; refused: string[]; message: string }
  /** `message`: the error text from the agent. */
  | { kind: 'refused' | 'failed'; message: string }

/** Why the agent refused ranges, as a sentence. */
export const rangesRefused = (message: string): string => fillIn(serverTroubles.prefixes_refused, { message })

/**
 * Sends the server's ranges to its agent, and records in one command what the agent took. The caller holds the
 * server's lock.
 * @param options.retryRefused whether users that the agent refused get another try, because they may have lacked a range
 */
export async function sendRanges(
  ctx: SyncContext,
  agent: AgentClient,
  server: Pick<ServerRow, 'id' | 'name' | 'ip' | 'prefixesGeneration'>,
  { retryRefused = true } = {}
): Promise<RangesOutcome> {
  const sent = await putRanges(agent, await serverCidrs(ctx.db, server.id))
  if (sent.kind === 'failed') return sent
  const refused = sent.kind === 'partial' ? sent.refused : []
  const generation = sent.kind === 'exact' ? server.prefixesGeneration : null
  await command(ctx, SYSTEM, async unit => {
    await recordRanges(unit, server.id, { generation, refused })
    if (retryRefused) await clearRefusals(unit, server.id)
    if ('message' in sent) await notifyRefusal(unit, server, refused, sent.message)
  })
  return sent
}

async function putRanges(agent: AgentClient, wanted: string[]): Promise<RangesOutcome> {
  const reply = await agent.putPrefixes(wanted)
  if (reply.ok) return { kind: 'exact', reply: reply.data }
  if (reply.kind !== 'refused') return failed(reply)
  if (reply.reason !== 'prefixInUse') return putSome(agent, wanted, reply.message)
  const state = await agent.state()
  if (!state.ok) return failed(state)
  const wider = await agent.putPrefixes([...new Set([...state.data.prefixes, ...wanted])])
  return wider.ok ? { kind: 'with_old_ranges', reply: wider.data } : failed(wider)
}

/** Adds as many of the wanted ranges as the agent takes. One bad range must not keep the others out. */
async function putSome(agent: AgentClient, wanted: string[], message: string): Promise<RangesOutcome> {
  const state = await agent.state()
  if (!state.ok) return failed(state)
  const refused: string[] = []
  let taken = state.data.prefixes
  let said = message
  let last: AgentPrefixesReply | null = null
  /** @returns why it could not continue */
  const add = async (ranges: string[]): Promise<RangesOutcome | null> => {
    const together = [...new Set([...taken, ...ranges])]
    const reply = await agent.putPrefixes(together)
    if (reply.ok) {
      taken = together
      last = reply.data
      return null
    }
    if (reply.kind === 'failed') return failed(reply)
    if (ranges.length <= 1) {
      refused.push(...ranges)
      said = reply.message
      return null
    }
    const half = Math.ceil(ranges.length / 2)
    return (await add(ranges.slice(0, half))) ?? add(ranges.slice(half))
  }
  const missing = wanted.filter(range => !state.data.prefixes.includes(range))
  const stopped = await add(missing)
  if (stopped) return stopped
  // No new range was taken. See whether the agent takes the ranges that it has.
  if (last === null && missing.length > 0) await add([])
  return last === null ? { kind: 'refused', message: said } : { kind: 'partial', reply: last, refused, message: said }
}

/** Notifies the administrators once for each change of the ranges. */
async function notifyRefusal(
  unit: Unit,
  { id, name, ip, prefixesGeneration }: Pick<ServerRow, 'id' | 'name' | 'ip' | 'prefixesGeneration'>,
  refused: string[],
  message: string
): Promise<void> {
  const first = await setTrouble(unit, id, { code: 'prefixes_refused', params: { message } })
  if (!first) return
  await notifyAdmins(unit, {
    words: refused.length > 0 ? 'ranges_refused' : 'range_change_refused',
    params: { server: name, ip, ranges: refused.join(', '), message },
    key: `ranges-refused:${id}:${prefixesGeneration}`,
    cause: 'server_trouble',
    about: `${id}:prefixes_refused`
  })
}

const failed = ({ kind, message }: Exclude<AgentResult<unknown>, { ok: true }>): RangesOutcome => ({ kind, message })
