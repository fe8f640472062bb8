import type { Provisioning, ProvisioningStep } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import { createAgentClient } from '../../../integrations/agent/index.ts'
import { connectSsh } from '../../../integrations/ssh/index.ts'
import { iso } from '../../../infra/clock.ts'
import { randomToken } from '../../../infra/secrets.ts'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import { agentOf, markReachable, type ServerRow, type SyncContext } from '../agents.ts'
import { enqueueFullSync } from '../desired.ts'
import { withServerLock } from '../lock.ts'
import { loadPrefixes, prefixesRefused } from '../prefixes.ts'
import { provisionQueue } from '../queues.ts'
import { servers } from '../tables.ts'
import { installAgent, type Progress } from './install.ts'
import { PLAIN_TOKEN } from './layout.ts'
import { machineOf, StepFailed, type Machine } from './machine.ts'
import { NEXT_STEPS } from './steps.ts'

export type Work = { serverId: number; init: boolean; ranges: boolean }
/** What tests install differently. */
export type InstallTarget = { root: string; username: string; waitMs: number }

const REAL: InstallTarget = { root: '', username: 'root', waitMs: 30_000 }

/**
 * Installs and starts the agent over SSH (`init`), or loads the server's ranges (`ranges`). The server's row shows
 * each step; a step that fails says why there, and doing everything again is harmless.
 */
export async function provisionServer(ctx: SyncContext, work: Work, target = REAL): Promise<void> {
  const ran = await withServerLock(ctx.db, work.serverId, () => run(ctx, work, target), {
    lock: 'serverProvisioning'
  })
  if (ran) return
  const startAfter = new Date(ctx.now().getTime() + 5000)
  await command(ctx, SYSTEM, async unit =>
    unit.jobs.send(provisionQueue, work, { key: `${work.serverId}:${work.init}`, startAfter })
  )
}

async function run(ctx: SyncContext, work: Work, target: InstallTarget): Promise<void> {
  const server = await readServer(ctx, work.serverId)
  if (!server) return
  // Whatever a process that died had done is done again.
  let current: ProvisioningStep = 'waiting'
  const show = (status: Provisioning['status'], step: ProvisioningStep, message: string) => {
    const provisioning = { status, step, message, at: iso(ctx.now()) }
    return change(ctx, server.id, { provisioning })
  }
  const progress: Progress = async (step, message) => {
    if (!NEXT_STEPS[current].includes(step)) throw new Error(`${step} does not come after ${current}`)
    current = step
    await show('running', step, message)
  }
  try {
    const summary = work.init
      ? await init(ctx, server, target, progress)
      : await loadRangesWithFallback(ctx, server, target, progress)
    await show('done', 'done', summary)
    ctx.log.info({ server: server.id, init: work.init }, 'server provisioned')
  } catch (error) {
    const expected = error instanceof StepFailed
    await show('failed', current, expected ? error.message : 'This step failed unexpectedly. The log says more.')
    if (!expected) throw error
    ctx.log.warn({ server: server.id, step: current, reason: error.message }, 'server not provisioned')
  }
}

/** Writes to the server's row, and tells the screens that show it. */
const change = (ctx: SyncContext, serverId: number, columns: Partial<ServerRow>): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    await unit.tx.update(servers).set(columns).where(eq(servers.id, serverId))
    unit.publish('server', serverId)
  })

async function init(ctx: SyncContext, server: ServerRow, target: InstallTarget, progress: Progress): Promise<string> {
  const summary = await withMachine(ctx, server, target, progress, async machine => {
    const token = await tokenOf(ctx, server)
    const { root, waitMs } = target
    const address = { host: server.ip, port: server.agentPort, token }
    return installAgent(machine, { address, proxyPort: server.proxyPort, root, waitMs }, progress, certificate =>
      change(ctx, server.id, { agentCertificate: certificate })
    )
  })
  await progress('ranges', 'Loading the address ranges')
  const fresh = await readServer(ctx, server.id)
  const ranges = fresh ? await loadRanges(ctx, fresh, agentOf(fresh, ctx.secrets)) : ''
  await command(ctx, SYSTEM, async unit => {
    await markReachable(unit, server.id)
    enqueueFullSync(unit, server.id)
  })
  return `${summary} ${ranges}`
}

/** The stored token, so that running it again changes nothing; a new one where there is none that fits. */
async function tokenOf(ctx: SyncContext, server: ServerRow): Promise<string> {
  const stored = server.agentToken ? ctx.secrets.open(server.agentToken) : ''
  if (PLAIN_TOKEN.test(stored)) return stored
  const token = randomToken(24)
  // Before it is written there: a token that only the server knows would lock the console out.
  await change(ctx, server.id, { agentToken: ctx.secrets.seal(token) })
  return token
}

/** By the management API where the console reaches it, else through an SSH connection to the same. */
async function loadRangesWithFallback(
  ctx: SyncContext,
  server: ServerRow,
  target: InstallTarget,
  progress: Progress
): Promise<string> {
  await progress('ranges', 'Loading the address ranges')
  const direct = agentOf(server, ctx.secrets, 5000)
  if ((await direct.info()).ok) return loadRanges(ctx, server, direct)
  return withMachine(ctx, server, target, progress, async machine => {
    await progress('ranges', 'Loading the address ranges over SSH')
    const inside = createAgentClient({
      host: server.ip,
      port: server.agentPort,
      token: server.agentToken ? ctx.secrets.open(server.agentToken) : '',
      certificate: server.agentCertificate,
      dial: () => machine.dial(server.agentPort)
    })
    return `${await loadRanges(ctx, server, inside)} They went over SSH: the management port is not reachable from the console.`
  })
}

async function loadRanges(
  ctx: SyncContext,
  server: ServerRow,
  agent: ReturnType<typeof createAgentClient>
): Promise<string> {
  let summary = ''
  const ran = await withServerLock(
    ctx.db,
    server.id,
    async () => {
      const fresh = (await readServer(ctx, server.id)) ?? server
      const loaded = await loadPrefixes(ctx, agent, fresh)
      if ('message' in loaded) throw new StepFailed(prefixesRefused(loaded.message))
      const { routes } = loaded.reply
      const missing = routes.filter(route => !route.local)
      summary =
        missing.length === 0
          ? `${routes.length} ranges are loaded.`
          : `${routes.length} ranges are loaded, but some are not local yet. Run there as root: ${missing.map(route => route.command).join('; ')}`
    },
    { waitMs: 60_000 }
  )
  if (!ran) throw new StepFailed('Other changes of this server take too long. Try again.')
  return summary
}

async function withMachine<T>(
  ctx: SyncContext,
  server: ServerRow,
  { username }: InstallTarget,
  progress: Progress,
  work: (machine: Machine) => Promise<T>
): Promise<T> {
  await progress('connect', `Connects to ${server.ip}:${server.sshPort}`)
  if (!server.sshPassword) throw new StepFailed("Enter root's password or private key in the server's form first")
  const connected = await connectSsh({
    host: server.ip,
    port: server.sshPort,
    username,
    secret: ctx.secrets.open(server.sshPassword),
    knownHostKey: server.sshHostKey
  })
  if (!connected.ok) throw new StepFailed(connected.message)
  const { session } = connected
  try {
    await change(ctx, server.id, { sshHostKey: session.hostKey })
    return await work(machineOf(session))
  } finally {
    session.close()
  }
}

async function readServer(ctx: SyncContext, id: number): Promise<ServerRow | undefined> {
  const [row] = await ctx.db
    .select()
    .from(servers)
    .where(and(eq(servers.id, id), isNull(servers.deletedAt)))
  return row
}
