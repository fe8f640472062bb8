import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import pLimit from 'p-limit'
import { SYSTEM } from '../../infra/actor.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { raiseNotice } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import {
  agentOf,
  clearTrouble,
  markOffline,
  markReachable,
  markUnreachable,
  type SyncContext,
  type Trouble,
  ALARM_AFTER,
  recordReport,
  enqueueFullSync,
  troubleSentence,
  isServedOrder,
  isAlive,
  isWrongPort,
  type ServerRow,
  endFutureTimesOfServers
} from '../servers/index.ts'
import type { AgentInfo } from '../../integrations/agent/index.ts'
import { recordAlarms } from './abuse-alarms.ts'
import { readConsole, recordForeignOwner } from './ownership/claim-agent.ts'
import { agentUsers, servers } from '../servers/tables.ts'
import { type Doubtful, tryDoubtful } from './doubtful-proxies.ts'
import { enqueueTry } from './converge-retries.ts'
import { endFutureTries } from '../proofs/index.ts'

const AT_ONCE = 32
const ANSWER_MS = 5000
/**
 * Asks every server's agent for its health. One that came back gets the changes it missed and sells again; one that was
 * silent for longer than `unreachable_after` goes out of stock. Doubtful proxies are tried last, so that no other
 * server waits for them.
 */
export async function checkServers(ctx: SyncContext): Promise<void> {
  await endFutureTimes(ctx)
  const all = await ctx.db.select().from(servers).where(isNull(servers.deletedAt))
  const { unreachable_after: minutes } = await readSettings(ctx.db, ctx.secrets)
  const { id: consoleId } = await readConsole(ctx)
  const checked = await pLimit(AT_ONCE).map(all, server => checkServer(ctx, server, consoleId, minutes * MINUTE))
  await tryDoubtful(
    ctx,
    checked.filter(one => one !== null)
  )
}

/** @returns the server if its proxy must be tried */
async function checkServer(
  ctx: SyncContext,
  server: ServerRow,
  consoleId: string,
  sellsForMs: number
): Promise<Doubtful | null> {
  const askedAt = ctx.now()
  const answer = await askHealth(ctx, server)
  const reportedPort = 'info' in answer ? Number(answer.info.proxy_port) : 0
  const isUnserved = server.unservedSince !== null || server.trouble === 'other_port'
  const owner = 'info' in answer ? answer.info.owner : undefined
  const isForeign = owner !== undefined && owner !== null && owner.id !== consoleId
  // A trial makes a user. Another console's agent takes none, and one that waits for approval is sent nothing.
  const mayTry = 'info' in answer && !isForeign && server.trouble !== 'older_console' && server.status !== 'given_up'
  const mayNotServe = mayTry && (isUnserved || isWrongPort(server, reportedPort)) && !isAlive(server, ctx.now())
  await command(ctx, SYSTEM, async unit => {
    const deadline = new Date(unit.now.getTime() - sellsForMs)
    if ('info' in answer) {
      if (answer.info.misreported) ctx.log.warn({ server: server.id }, 'agent reported figures that cannot be right')
      await recordReport(unit, server.id, answer.info, askedAt)
      await recordAlarms(unit, server.id, answer.info.alarms ?? [])
      // Before `markReachable`, which may put the server back in stock.
      if (isForeign) await recordForeignOwner(unit, server.id, owner)
      else await clearTrouble(unit, server.id, ['foreign_console'])
      if (await markReachable(unit, server.id, { mayNotServe })) enqueueFullSync(unit, server.id)
      await markOffline(unit, server.id, deadline)
      if (server.connected) await notifyFailing(unit, server, deadline)
      return
    }
    const { trouble } = answer
    const failures = await markUnreachable(unit, server.id, trouble)
    await markOffline(unit, server.id, deadline)
    // A server that was given up needs no alarm.
    if (failures !== ALARM_AFTER || server.status === 'given_up') return
    const since = iso(server.unreachableSince ?? unit.now)
    const orders = await unit.tx.$count(agentUsers, and(eq(agentUsers.serverId, server.id), isServedOrder))
    raiseNotice(unit, {
      cause: 'server_down',
      subject: String(server.id),
      key: `server-silent:${server.id}:${since}`,
      words: 'server_down',
      params: { server: server.name, ip: server.ip, since, message: troubleSentence(trouble), orders },
      since
    })
  })
  return mayNotServe ? { server, reportedPort } : null
}

/** The agent answers but takes no changes. What it serves already works. */
async function notifyFailing(unit: Unit, server: ServerRow, deadline: Date): Promise<void> {
  const { failingSince } = server
  if (failingSince === null || failingSince > deadline || server.status === 'given_up') return
  const reason = server.trouble ? troubleSentence({ code: server.trouble, params: server.troubleParams ?? {} }) : ''
  await notifyAdmins(unit, {
    words: 'changes_failing',
    params: { server: server.name, ip: server.ip, since: iso(failingSince), message: reason },
    key: `server-failing:${server.id}:${iso(failingSince)}`,
    cause: 'server_trouble',
    about: `${server.id}:changes_failing`
  })
}

/** What the agent reported, or why it did not answer. */
async function askHealth(ctx: SyncContext, server: ServerRow): Promise<{ info: AgentInfo } | { trouble: Trouble }> {
  try {
    const reply = await agentOf(server, ctx.secrets, ANSWER_MS).info()
    return reply.ok ? { info: reply.data } : { trouble: { code: 'unreachable', params: { message: reply.message } } }
  } catch (error) {
    // One server's unreadable token must not stop the check of the others.
    ctx.log.error({ err: error, server: server.id }, 'server could not be asked')
    return { trouble: { code: 'token_unreadable' } }
  }
}

/**
 * A clock that ran ahead leaves times in the future: since when a server is silent, its next try, the start of its
 * outage. Everything that counts from them would wait until then, so they are set to now. Times less than a minute
 * ahead stay: another check that runs at the same moment wrote them, or the clock is slightly off.
 */
const endFutureTimes = (ctx: SyncContext): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const soon = new Date(unit.now.getTime() + MINUTE)
    // The job of the next try waits for the old time too.
    for (const id of await endFutureTimesOfServers(unit, soon)) enqueueTry(unit, id)
    await endFutureTries(unit, soon)
  })
