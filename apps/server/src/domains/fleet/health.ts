import { isNull } from 'drizzle-orm'
import pLimit from 'p-limit'
import { SYSTEM } from '../../infra/actor.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { readSettings } from '../settings/index.ts'
import {
  agentOf,
  markOffline,
  markReachable,
  markUnreachable,
  type ServerRow,
  type SyncContext,
  type Trouble
} from './agents.ts'
import { enqueueFullSync } from './desired.ts'
import { troubleSentence } from './list-servers.ts'
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
  const all = await ctx.db.select().from(servers).where(isNull(servers.deletedAt))
  const { unreachable_after: minutes } = await readSettings(ctx.db, ctx.secrets)
  await pLimit(AT_ONCE).map(all, server => checkServer(ctx, server, minutes * MINUTE))
}

async function checkServer(ctx: SyncContext, server: ServerRow, sellsForMs: number): Promise<void> {
  const trouble = await askHealth(ctx, server)
  await command(ctx, SYSTEM, async unit => {
    const deadline = new Date(unit.now.getTime() - sellsForMs)
    if (trouble === null) {
      if (await markReachable(unit, server.id)) enqueueFullSync(unit, server.id)
      await markOffline(unit, server.id, deadline)
      if (server.connected) await tellOfFailing(unit, server, deadline)
      return
    }
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

/** @returns null where the agent answered, else why not */
async function askHealth(ctx: SyncContext, server: ServerRow): Promise<Trouble | null> {
  try {
    const reply = await agentOf(server, ctx.secrets, ANSWER_MS).info()
    return reply.ok ? null : { code: 'unreachable', params: { message: reply.message } }
  } catch (error) {
    // One server's unreadable token must not keep the others from being asked.
    ctx.log.error({ err: error, server: server.id }, 'server could not be asked')
    return { code: 'token_unreadable' }
  }
}
