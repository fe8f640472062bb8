import { and, eq, isNull } from 'drizzle-orm'
import { createAgentClient } from '../../../integrations/agent/index.ts'
import { connectSsh } from '../../../integrations/ssh/index.ts'
import { iso } from '../../../infra/clock.ts'
import { randomToken } from '../../../infra/secrets.ts'
import type { AppContext } from '../../../infra/context.ts'
import { agentOf, noteAnswer, type ServerRow } from '../agents.ts'
import { followOn } from '../desired.ts'
import { withServerLock } from '../lock.ts'
import { loadPrefixes } from '../prefixes.ts'
import { provisionQueue, repairQueue } from '../queues.ts'
import { servers } from '../tables.ts'
import { installAgent, type Progress } from './install.ts'
import { PLAIN_TOKEN } from './layout.ts'
import { machineOf, StepFailed, type Machine } from './machine.ts'

type Provisioning = Pick<AppContext, 'db' | 'jobs' | 'secrets' | 'now' | 'log'>
export type Work = { serverId: number; init: boolean; ranges: boolean }
/** What tests install differently. */
export type Surroundings = { root: string; username: string; waitMs: number }

const REAL: Surroundings = { root: '', username: 'root', waitMs: 30_000 }

/**
 * Installs and starts the agent over SSH (`init`), or loads the server's ranges (`ranges`). The server's row shows
 * each step; a step that fails says why there, and doing everything again is harmless.
 */
export async function provisionServer(ctx: Provisioning, work: Work, surroundings = REAL): Promise<void> {
  const ran = await withServerLock(ctx.db, work.serverId, () => run(ctx, work, surroundings), {
    purpose: 'provisioning'
  })
  if (ran) return
  const startAfter = new Date(ctx.now().getTime() + 5000)
  await ctx.jobs.send(ctx.db, provisionQueue, work, { key: `${work.serverId}:${work.init}`, startAfter })
}

async function run(ctx: Provisioning, work: Work, surroundings: Surroundings): Promise<void> {
  const server = await readServer(ctx, work.serverId)
  if (!server) return
  let current = 'connect'
  const show = (status: 'running' | 'done' | 'failed', step: string, message: string) =>
    ctx.db
      .update(servers)
      .set({ provisioning: { status, step, message, at: iso(ctx.now()) } })
      .where(eq(servers.id, server.id))
  const progress: Progress = async (step, message) => {
    current = step
    await show('running', step, message)
  }
  try {
    const told = work.init
      ? await init(ctx, server, surroundings, progress)
      : await loadRangesAnyhow(ctx, server, surroundings, progress)
    await show('done', 'done', told)
    ctx.log.info({ server: server.id, init: work.init }, 'server provisioned')
  } catch (error) {
    const expected = error instanceof StepFailed
    await show('failed', current, expected ? error.message : 'This step failed unexpectedly. The log says more.')
    if (!expected) throw error
    ctx.log.warn({ server: server.id, step: current, reason: error.message }, 'server not provisioned')
  }
}

async function init(
  ctx: Provisioning,
  server: ServerRow,
  surroundings: Surroundings,
  progress: Progress
): Promise<string> {
  const told = await withMachine(ctx, server, surroundings, progress, async machine => {
    const token = await tokenOf(ctx, server)
    const { root, waitMs } = surroundings
    const address = { host: server.ip, port: server.agentPort, token }
    return installAgent(
      machine,
      { address, proxyPort: server.proxyPort, root, waitMs },
      progress,
      async certificate => {
        await ctx.db.update(servers).set({ agentCertificate: certificate }).where(eq(servers.id, server.id))
      }
    )
  })
  await progress('ranges', 'Loads the address ranges')
  const fresh = await readServer(ctx, server.id)
  const ranges = fresh ? await loadRanges(ctx, fresh, agentOf(fresh, ctx.secrets)) : ''
  await ctx.db.transaction(async tx => {
    await noteAnswer(tx, server.id, ctx.now())
    await followOn(tx, ctx.jobs, [server.id])
    await ctx.jobs.send(tx, repairQueue, { serverId: server.id }, { key: String(server.id) })
  })
  return `${told} ${ranges}`
}

/** The stored token, so that running it again changes nothing; a new one where there is none that fits. */
async function tokenOf(ctx: Provisioning, server: ServerRow): Promise<string> {
  const stored = server.agentToken ? ctx.secrets.open(server.agentToken) : ''
  if (PLAIN_TOKEN.test(stored)) return stored
  const token = randomToken(24)
  // Before it is written there: a token that only the server knows would lock the console out.
  await ctx.db
    .update(servers)
    .set({ agentToken: ctx.secrets.seal(token) })
    .where(eq(servers.id, server.id))
  return token
}

/** By the management API where the console reaches it, else through an SSH connection to the same. */
async function loadRangesAnyhow(
  ctx: Provisioning,
  server: ServerRow,
  surroundings: Surroundings,
  progress: Progress
): Promise<string> {
  await progress('ranges', 'Loads the address ranges')
  const direct = agentOf(server, ctx.secrets, 5000)
  if ((await direct.info()).ok) return loadRanges(ctx, server, direct)
  return withMachine(ctx, server, surroundings, progress, async machine => {
    await progress('ranges', 'Loads the address ranges over SSH')
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
  ctx: Provisioning,
  server: ServerRow,
  agent: ReturnType<typeof createAgentClient>
): Promise<string> {
  let told = ''
  const ran = await withServerLock(
    ctx.db,
    server.id,
    async () => {
      const fresh = (await readServer(ctx, server.id)) ?? server
      const loaded = await loadPrefixes(ctx, agent, fresh)
      if ('message' in loaded) throw new StepFailed(loaded.message)
      const { routes } = loaded.reply
      const missing = routes.filter(route => !route.local)
      told =
        missing.length === 0
          ? `${routes.length} ranges are loaded.`
          : `${routes.length} ranges are loaded, but some are not local yet. Run there as root: ${missing.map(route => route.command).join('; ')}`
    },
    { waitMs: 60_000 }
  )
  if (!ran) throw new StepFailed('Other changes of this server take too long. Try again.')
  return told
}

async function withMachine<T>(
  ctx: Provisioning,
  server: ServerRow,
  { username }: Surroundings,
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
    await ctx.db.update(servers).set({ sshHostKey: session.hostKey }).where(eq(servers.id, server.id))
    return await work(machineOf(session))
  } finally {
    session.close()
  }
}

async function readServer(ctx: Provisioning, id: number): Promise<ServerRow | undefined> {
  const [row] = await ctx.db
    .select()
    .from(servers)
    .where(and(eq(servers.id, id), isNull(servers.deletedAt)))
  return row
}
