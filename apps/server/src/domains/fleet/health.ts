import { isNull } from 'drizzle-orm'
import pLimit from 'p-limit'
import { SYSTEM } from '../../infra/actor.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { readSettings } from '../settings/index.ts'
import { agentOf, markOffline, markReachable, markUnreachable, type SyncContext, type Trouble } from './agents.ts'
import type { AgentInfo } from '../../integrations/agent/index.ts'
import { recordReport } from './agent-report.ts'
import { enqueueFullSync } from './desired.ts'
import { endFutureTimes } from './future-times.ts'
import { troubleSentence } from './list-servers.ts'
import type { ServerRow } from './server-row.ts'
import { servers } from './tables.ts'

const AT_ONCE = 32
const ANSWER_MS = 5000
/** So many failures in a row make an alarm. */
export const ALARM_AFTER = 5

/**
 * Asks every server's agent whether it is there. One that came back gets what it missed, and sells again; one that was
 * silent for longer than `unreachable_after` sells nothing.
 */
export async function checkServers(ctx: SyncContext): Promise<void> {
  await endFutureTimes(ctx)
  const all = await ctx.db.select().from(servers).where(isNull(servers.deletedAt))
  const { unreachable_after: minutes } = await readSettings(ctx.db, ctx.secrets)
  await pLimit(AT_ONCE).map(all, server => checkServer(ctx, server, minutes * MINUTE))
}

async function checkServer(ctx: SyncContext, server: ServerRow, sellsForMs: number): Promise<void> {
  const answer = await askHealth(ctx, server)
  await command(ctx, SYSTEM, async unit => {
    const deadline = new Date(unit.now.getTime() - sellsForMs)
    if ('info' in answer) {
      if (answer.info.misreported) ctx.log.warn({ server: server.id }, 'agent told figures that cannot be right')
      await recordReport(unit, server.id, answer.info)
      if (await markReachable(unit, server.id)) enqueueFullSync(unit, server.id)
      await markOffline(unit, server.id, deadline)
      if (server.connected) await tellOfFailing(unit, server, deadline)
      return
    }
    const { trouble } = answer
    const failures = await markUnreachable(unit, server.id, trouble)
    await markOffline(unit, server.id, deadline)
    // Nobody waits for a server that was given up.
    if (failures !== ALARM_AFTER || server.status === 'given_up') return
    const since = (server.unreachableSince ?? unit.now).toISOString()
    await notifyAdmins(unit, {
      subject: `Server ${server.name} does not answer`,
      text: `The agent of server ${server.name} (${server.ip}) has not answered ${ALARM_AFTER} times in a row, since ${since}.\n\nLast error: ${troubleSentence(trouble)}\n\nOrders that need it wait until it is back; it is asked again each minute.`,
      key: `server-silent:${server.id}:${since}`
    })
  })
}

/** It answers, and takes no changes: nothing else would show it, since what it serves already works. */
async function tellOfFailing(unit: Unit, server: ServerRow, deadline: Date): Promise<void> {
  const { failingSince } = server
  if (failingSince === null || failingSince > deadline || server.status === 'given_up') return
  const reason = server.trouble ? troubleSentence({ code: server.trouble, params: server.troubleParams ?? {} }) : ''
  await notifyAdmins(unit, {
    subject: `Server ${server.name} takes no changes`,
    text: `The agent of server ${server.name} (${server.ip}) answers its health check, but what is sent to it has failed since ${iso(failingSince)}.\n\n${reason}\n\nWhat it serves goes on working. It sells nothing until a change gets there, and new orders on it get addresses of other servers.`,
    key: `server-failing:${server.id}:${iso(failingSince)}`
  })
}

/** What the agent told, or why it did not. */
async function askHealth(ctx: SyncContext, server: ServerRow): Promise<{ info: AgentInfo } | { trouble: Trouble }> {
  try {
    const reply = await agentOf(server, ctx.secrets, ANSWER_MS).info()
    return reply.ok ? { info: reply.data } : { trouble: { code: 'unreachable', params: { message: reply.message } } }
  } catch (error) {
    // One server's unreadable token must not keep the others from being asked.
    ctx.log.error({ err: error, server: server.id }, 'server could not be asked')
    return { trouble: { code: 'token_unreadable' } }
  }
}
