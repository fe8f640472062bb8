import type { Provisioning, ProvisioningSaid } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { createAgentClient } from '../../../integrations/agent/index.ts'
import { connectSsh } from '../../../integrations/ssh/index.ts'
import { randomToken } from '../../../infra/secrets.ts'
import { SYSTEM } from '../../../infra/actor.ts'
import { command, type Unit } from '../../../infra/command.ts'
import { agentOf, markReachable, type SyncContext } from '../agents.ts'
import { enqueueFullSync } from '../desired.ts'
import { withServerLock } from '../lock.ts'
import { loadPrefixes } from '../prefixes.ts'
import { provisionQueue } from '../queues.ts'
import { lockServer, type ServerRow } from '../server-row.ts'
import { servers } from '../tables.ts'
import { Cancelled, untilCancelled, wasCancelled, writeCancelled } from './cancel.ts'
import { installAgent, type Progress } from './install.ts'
import { PLAIN_TOKEN } from './layout.ts'
import { machineOf, StepFailed, type Machine } from './machine.ts'
import { StepsLog } from './steps-log.ts'

/** `askedAt`: when it was asked for, in ISO 8601. */
export type Work = { serverId: number; init: boolean; ranges: boolean; askedAt?: string }
/** `root`: '' but in tests. `waitMs`: how long a started agent may take to answer. */
export type InstallTarget = { root: string; username: string; waitMs?: number }

const WAIT_MS = 30_000

/**
 * Installs and starts the agent over SSH (`init`), or loads the server's ranges (`ranges`). The server's row shows
 * each step; a step that fails says why there, and doing everything again is harmless.
 */
export async function provisionServer(ctx: SyncContext, work: Work, target: InstallTarget): Promise<void> {
  const ran = await withServerLock(ctx.db, work.serverId, () => run(ctx, work, target), {
    lock: 'serverProvisioning'
  })
  if (ran) return
  await command(ctx, SYSTEM, async unit =>
    unit.jobs.send(provisionQueue, work, { key: `${work.serverId}:${work.init}:${work.askedAt ?? ''}`, startIn: 5000 })
  )
}

async function run(ctx: SyncContext, work: Work, target: InstallTarget): Promise<void> {
  const { serverId } = work
  const steps = new StepsLog(ctx.now, work.init, work.askedAt)
  const shown = steps.wait('Waiting for a worker')
  const own: Run = { work, begunAt: steps.begunAt }
  const server = await claim(ctx, own, shown)
  if (!server) {
    await command(ctx, SYSTEM, unit => writeCancelled(unit, serverId))
    return
  }
  const show = (provisioning: Shown) => showUnlessCancelled(ctx, own, provisioning)
  const install = (signal: AbortSignal) => {
    const progress: Progress = {
      signal,
      async step(step, message) {
        signal.throwIfAborted()
        if (!(await show(steps.begin(step, message)))) throw new Cancelled()
      },
      print: text => steps.print(text)
    }
    const job = { ctx, own, server, target, progress }
    return work.init ? init(job) : loadRangesWithFallback(job)
  }
  try {
    const summary = await untilCancelled(ctx, work, install)
    if (!(await show(steps.finish(summary)))) throw new Cancelled()
    ctx.log.info({ server: server.id, init: work.init }, 'server provisioned')
  } catch (error) {
    const expected = error instanceof StepFailed
    const said: ProvisioningSaid = expected ? error.said : { code: 'unexpected', params: {} }
    if (error instanceof Cancelled || !(await show(steps.fail(said)))) {
      await command(ctx, SYSTEM, unit => writeCancelled(unit, server.id, [...steps.steps]))
      ctx.log.info({ server: server.id, step: steps.current }, 'provisioning cancelled')
      return
    }
    if (!expected) throw error
    ctx.log.warn({ server: server.id, step: steps.current, reason: error.message }, 'server not provisioned')
  }
}

type Shown = Omit<Provisioning, 'cancelling'>
/** One installation, as the server's row names it: by when it was asked for. */
type Run = { work: Work; begunAt: string }
type Job = { ctx: SyncContext; own: Run; server: ServerRow; target: InstallTarget; progress: Progress }

/** Makes the row show this installation. Undefined where it was cancelled before it began, or the server is gone. */
const claim = (ctx: SyncContext, { work }: Run, provisioning: Shown): Promise<ServerRow | undefined> =>
  command(ctx, SYSTEM, async unit => {
    const row = await lockServer(unit, work.serverId)
    if (!row || wasCancelled(work.askedAt, row.provisioningCancelledAt)) return undefined
    await unit.tx.update(servers).set({ provisioning }).where(eq(servers.id, row.id))
    unit.publish('server', row.id)
    return row
  })

const isShown = ({ begunAt }: Run, row: ServerRow): boolean => row.provisioning?.steps[0]?.started_at === begunAt

/**
 * The row of the server that is installed, locked.
 * @throws Cancelled where it was cancelled, another one is shown since, or the server is gone: it may have another address by now
 */
async function ownServer(unit: Unit, own: Run): Promise<ServerRow> {
  const { serverId, askedAt } = own.work
  const row = await lockServer(unit, serverId)
  if (!row || !isShown(own, row) || wasCancelled(askedAt, row.provisioningCancelledAt)) throw new Cancelled()
  return row
}

/**
 * Shows how far an installation is, unless it was cancelled: another one may have been asked for since, whose steps stay.
 * One that has done all by then is done.
 * @returns whether it is shown
 */
const showUnlessCancelled = (ctx: SyncContext, own: Run, provisioning: Shown): Promise<boolean> =>
  command(ctx, SYSTEM, async unit => {
    const { serverId, askedAt } = own.work
    const row = await lockServer(unit, serverId)
    if (!row || !isShown(own, row)) return false
    if (wasCancelled(askedAt, row.provisioningCancelledAt) && provisioning.status !== 'done') return false
    await unit.tx.update(servers).set({ provisioning }).where(eq(servers.id, serverId))
    unit.publish('server', serverId)
    return true
  })

/** Writes what was learned of the machine to the server's row, and tells the screens that show it. */
const change = ({ ctx, own }: Job, columns: Partial<ServerRow>): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const { id } = await ownServer(unit, own)
    await unit.tx.update(servers).set(columns).where(eq(servers.id, id))
    unit.publish('server', id)
  })

async function init(job: Job): Promise<ProvisioningSaid[]> {
  const { ctx, own, server, target, progress } = job
  const runs = await withMachine(job, async machine => {
    const token = await tokenOf(job)
    const { root, waitMs = WAIT_MS } = target
    const address = { host: server.ip, port: server.agentPort, token }
    return installAgent(machine, { address, proxyPort: server.proxyPort, root, waitMs }, progress, certificate =>
      change(job, { agentCertificate: certificate })
    )
  })
  await progress.step('ranges', 'Loading the address ranges')
  const fresh = await command(ctx, SYSTEM, unit => ownServer(unit, own))
  const ranges = await loadRanges(job, agentOf(fresh, ctx.secrets))
  await command(ctx, SYSTEM, async unit => {
    await ownServer(unit, own)
    await markReachable(unit, server.id)
    enqueueFullSync(unit, server.id)
  })
  return [...runs, ranges]
}

/** The stored token, so that running it again changes nothing; a new one where there is none that fits. */
async function tokenOf(job: Job): Promise<string> {
  const { secrets } = job.ctx
  const { agentToken } = job.server
  const stored = agentToken ? secrets.open(agentToken) : ''
  if (PLAIN_TOKEN.test(stored)) return stored
  const token = randomToken(24)
  // Before it is written there: a token that only the server knows would lock the console out.
  await change(job, { agentToken: secrets.seal(token) })
  return token
}

/** By the management API where the console reaches it, else through an SSH connection to the same. */
async function loadRangesWithFallback(job: Job): Promise<ProvisioningSaid[]> {
  const { ctx, server, progress } = job
  await progress.step('ranges', 'Loading the address ranges')
  const direct = agentOf(server, ctx.secrets, 5000)
  if ((await direct.info()).ok) return [await loadRanges(job, direct)]
  return withMachine(job, async machine => {
    await progress.step('ranges', 'Loading the address ranges over SSH')
    const inside = createAgentClient({
      host: server.ip,
      port: server.agentPort,
      token: server.agentToken ? ctx.secrets.open(server.agentToken) : '',
      certificate: server.agentCertificate,
      dial: () => machine.dial(server.agentPort)
    })
    return [await loadRanges(job, inside), { code: 'ranges_over_ssh', params: {} }]
  })
}

async function loadRanges(
  { ctx, own, server }: Job,
  agent: ReturnType<typeof createAgentClient>
): Promise<ProvisioningSaid> {
  let loadedAs: ProvisioningSaid = { code: 'ranges_loaded', params: { count: 0 } }
  const ran = await withServerLock(
    ctx.db,
    server.id,
    async () => {
      const fresh = await command(ctx, SYSTEM, unit => ownServer(unit, own))
      const loaded = await loadPrefixes(ctx, agent, fresh)
      if ('message' in loaded) throw new StepFailed('prefixes_refused', { message: loaded.message })
      const { routes } = loaded.reply
      const missing = routes.filter(route => !route.local)
      const count = routes.length
      const commands = missing.map(route => route.command).join('; ')
      loadedAs =
        missing.length > 0
          ? { code: 'ranges_not_local', params: { count, commands } }
          : { code: 'ranges_loaded', params: { count } }
    },
    { waitMs: 60_000 }
  )
  if (!ran) throw new StepFailed('machine_busy')
  return loadedAs
}

async function withMachine<T>(job: Job, work: (machine: Machine) => Promise<T>): Promise<T> {
  const { ctx, server, target, progress } = job
  await progress.step('connect', `Connects to ${server.ip}:${server.sshPort}`)
  if (!server.sshPassword) throw new StepFailed('no_password')
  const connected = await connectSsh({
    host: server.ip,
    port: server.sshPort,
    username: target.username,
    secret: ctx.secrets.open(server.sshPassword),
    knownHostKey: server.sshHostKey,
    signal: progress.signal
  })
  progress.signal.throwIfAborted()
  if (!connected.ok) throw new StepFailed(connected.code, connected.params)
  const { session } = connected
  try {
    await change(job, { sshHostKey: session.hostKey })
    return await work(machineOf(session, progress))
  } finally {
    session.close()
  }
}
