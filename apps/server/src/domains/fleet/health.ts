import { withUnit } from '../../infra/legacy-unit.ts'
import { isNull } from 'drizzle-orm'
import type { AppContext } from '../../infra/context.ts'
import { forEachAtOnce } from '../../infra/concurrency.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { agentOf, noteAnswer, noteSilence, type ServerRow } from './agents.ts'
import { followOn } from './desired.ts'
import { repairQueue } from './queues.ts'
import { servers } from './tables.ts'

const AT_ONCE = 32
const ANSWER_MS = 5000
/** So many failures in a row make an alarm. */
export const ALARM_AFTER = 5

type Checking = Pick<AppContext, 'db' | 'jobs' | 'secrets' | 'now' | 'log'>

/** Asks every server's agent whether it is there. One that came back gets what it missed. */
export async function checkServers(ctx: Checking): Promise<void> {
  const all = await ctx.db.select().from(servers).where(isNull(servers.deletedAt))
  await forEachAtOnce(all, AT_ONCE, server => checkServer(ctx, server))
}

async function checkServer(ctx: Checking, server: ServerRow): Promise<void> {
  const silence = await askHealth(ctx, server)
  await ctx.db.transaction(async tx => {
    if (silence === null) {
      const back = await noteAnswer(tx, server.id, ctx.now())
      if (!back) return
      await followOn(tx, ctx.jobs, [server.id])
      await ctx.jobs.send(tx, repairQueue, { serverId: server.id }, { key: String(server.id) })
      return
    }
    const failures = await noteSilence(tx, server.id, silence, ctx.now(), { counts: true })
    if (failures !== ALARM_AFTER) return
    const since = (server.unreachableSince ?? ctx.now()).toISOString()
    await withUnit(tx, ctx.jobs, unit =>
      notifyAdmins(unit, {
        subject: `Server ${server.name} does not answer`,
        text: `The agent of server ${server.name} (${server.ip}) has not answered ${ALARM_AFTER} times in a row, since ${since}.\n\nIt said: ${silence}\n\nOrders that need it wait until it is back; it is asked again each minute.`,
        key: `server-silent:${server.id}:${since}`
      })
    )
  })
}

/** @returns null where the agent answered, else why not */
async function askHealth(ctx: Checking, server: ServerRow): Promise<string | null> {
  try {
    const reply = await agentOf(server, ctx.secrets, ANSWER_MS).info()
    return reply.ok ? null : reply.message
  } catch (error) {
    // One server's unreadable token must not keep the others from being asked.
    ctx.log.error({ err: error, server: server.id }, 'server could not be asked')
    return 'The stored agent token cannot be read with this APP_SECRET. Enter the token again.'
  }
}
