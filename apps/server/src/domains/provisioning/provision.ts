import {
  recordInstallation,
  saveAgentSettings,
  recordReport,
  programIn,
  agentOf,
  markReachable,
  type SyncContext,
  enqueueFullSync,
  withServerLock,
  provisionQueue,
  isWrongPort,
  type ServerRow,
  settingsOf,
  withSettings,
  firstAddressOf,
  markServed,
  markUnserved,
  showUnserved,
  type ProxyAddress,
  kindOf,
  type Work
} from '../servers/index.ts'
import {
  claimAgent,
  readConsole,
  recordForeignOwner,
  sendRanges,
  tryProxy,
  LEVELS,
  type ProxyLevel
} from '../convergence/index.ts'
import type { ProvisioningSaid } from '@netlet/contract'
import type { AgentOwner } from '@netlet/contract/agent'
import type { AgentAddress } from '../../integrations/agent/index.ts'
import { connectSsh, fingerprintOf } from '../../integrations/ssh/index.ts'
import { randomToken } from '../../infra/secrets.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { Cancelled, untilCancelled, writeCancelled } from './cancel.ts'
import { CLIENT_LIST, PLAIN_TOKEN, layoutOf } from './layout.ts'
import { installAgent } from './install.ts'
import type { Installation, Installed, Progress } from './installation-types.ts'
import { machineOf, StepFailed, type Machine } from './machine.ts'
import {
  recordLearned,
  claimRow,
  restoreRow,
  lockOwnServer,
  showUnlessCancelled,
  type InstallTarget,
  type Job,
  type Run
} from './installation-row.ts'
import { StepsLog, type ShownProvisioning } from './steps-log.ts'

const WAIT_MS = 30_000
/** Limit of each call to the agent while its proxy is tried. */
const CHECK_MS = 5_000
/** How long a try of a proxy waits for the server's lock. */
const TRY_WAIT_MS = 60_000

/**
 * Installs and starts the agent over SSH (`init`), or loads the server's ranges (`ranges`). The server's row shows each
 * step, and why one failed. Doing everything again is harmless.
 */
export async function provisionServer(ctx: SyncContext, work: Work, target: InstallTarget): Promise<void> {
  const ran = await withServerLock(ctx.db, work.serverId, () => run(ctx, work, target), {
    lock: 'serverProvisioning'
  })
  if (ran) return
  await command(ctx, SYSTEM, async unit =>
    unit.jobs.send(provisionQueue, work, {
      key: `${work.serverId}:${kindOf(work)}:${work.askedAt ?? ''}`,
      startIn: 5000
    })
  )
}

async function run(ctx: SyncContext, work: Work, target: InstallTarget): Promise<void> {
  const { serverId } = work
  const steps = new StepsLog(ctx.now, work, work.askedAt)
  const shown = steps.wait('Waiting for a worker')
  const own: Run = { work, begunAt: steps.begunAt }
  const server = await claimRow(ctx, own, shown)
  if (!server) {
    await command(ctx, SYSTEM, unit => writeCancelled(unit, serverId))
    return
  }
  const show = (provisioning: ShownProvisioning) => showUnlessCancelled(ctx, own, provisioning)
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
    return work.init || work.settings ? init(job) : loadRangesWithFallback(job)
  }
  try {
    const summary = await untilCancelled(ctx, work, install)
    if (!(await show(steps.finish(summary)))) throw new Cancelled()
    // If its proxy was silent.
    await command(ctx, SYSTEM, unit => showUnserved(unit, server.id))
    ctx.log.info({ server: server.id, init: work.init }, 'server provisioned')
  } catch (error) {
    const expected = error instanceof StepFailed
    const said: ProvisioningSaid = expected ? error.said : { code: 'unexpected', params: {} }
    const isCancelled = error instanceof Cancelled || !(await show(steps.fail(said)))
    await command(ctx, SYSTEM, async unit => {
      if (isCancelled) await writeCancelled(unit, server.id, [...steps.steps])
      await showUnserved(unit, server.id)
    })
    if (isCancelled) {
      ctx.log.info({ server: server.id, step: steps.current }, 'provisioning cancelled')
      return
    }
    if (!expected) throw error
    ctx.log.warn({ server: server.id, step: steps.current, reason: error.message }, 'server not provisioned')
  }
}

async function init(job: Job): Promise<ProvisioningSaid[]> {
  const { ctx, own, server, target, progress } = job
  const at = await firstAddressOf(ctx, server)
  const { id: console } = await readConsole(ctx)
  const isUnapproved = server.trouble === 'older_console'
  const before = await inspectRunningAgent(job, { at, console, isUnapproved })
  const known = own.work.asApplied ? (server.agentSettingsApplied ?? {}) : settingsOf(server)
  const { said, service, settings, withoutRanges, isSilent } = await withMachine(job, async (machine, redial) => {
    const token = tokenOf(job)
    const { root, waitMs = WAIT_MS, bundle } = target
    const installation = {
      address: { host: server.ip, port: server.agentPort, token: token.text },
      proxyPort: server.proxyPort,
      console,
      isUnapproved,
      settings: known,
      consoleAddresses: ctx.config.consoleAddresses,
      asApplied: Boolean(own.work.asApplied),
      settingsOnly: Boolean(own.work.settings) && !own.work.init,
      ...before,
      redial,
      root,
      waitMs,
      ...(bundle ? { bundle } : {})
    }
    // Stored only when it is about to be written there, because an installation may end before that.
    let closed: string | null = null
    const installed = await installAgent(machine, installation, progress, {
      // Before they are written there: a token that only the server knows would lock the console out.
      storeCertificate: async certificate => {
        if (closed !== null) await keepClosed(job, closed)
        await recordLearned(job, { agentCertificate: certificate, ...token.columns })
      },
      restoreConnection: connection => restoreRow(job, connection),
      markUnserved: () =>
        command(ctx, SYSTEM, async unit => {
          await lockOwnServer(unit, own)
          await markUnserved(unit, server.id)
        }),
      // The next health check tries a server that was unserved before this installation.
      markServed: async () => {
        if (server.unservedSince === null) await command(ctx, SYSTEM, unit => markServed(unit, server.id))
      },
      storeFindings: async found => {
        closed = found.closed
        await recordLearned(job, { agentLocalNames: found.local, consoleAddress: found.consoleAddress || null })
      }
    })
    await progress.step('ranges', 'Loading the address ranges')
    const ranges = await loadUnderLock(job, {}).catch((error: unknown) => {
      if (!(error instanceof StepFailed)) throw error
      if (error.said.code === 'foreign_console') return installed.rollBack(error)
      progress.print(error.message)
      return error
    })
    // Even without its ranges: another program runs there, and must not serve worse.
    const level = await checkServing(job, { installed, at, machine })
    const { service, settings } = installed
    const found = { service, settings, isSilent: level === 'silent' }
    return ranges instanceof StepFailed
      ? { said: [], ...found, withoutRanges: ranges.message }
      : { said: [...installed.said, ranges, ...messagesOf(level, server, at)], ...found, withoutRanges: null }
  }).catch(async (error: unknown) => {
    if (error instanceof StepFailed && error.said.code === 'foreign_console') await showForeign(job, error.said)
    throw error
  })
  const { agentCertificate, agentToken } = await command(ctx, SYSTEM, unit => lockOwnServer(unit, own))
  const askedAt = ctx.now()
  const info = await agentOf({ ...server, agentCertificate, agentToken }, ctx.secrets, CHECK_MS).info()
  await command(ctx, SYSTEM, async unit => {
    const { unservedSince } = await lockOwnServer(unit, own)
    await recordInstallation(unit, server.id, { agentSettingsApplied: { ...settings }, agentService: service })
    // Its version in particular must not wait for the next health check.
    if (info.ok) await recordReport(unit, server.id, info.data, askedAt)
    // The proxy is silent. The health check tries it, and clears the mark once it serves.
    if (!isSilent) await markServed(unit, server.id)
    else if (unservedSince === null) await markUnserved(unit, server.id)
    await markReachable(unit, server.id)
    enqueueFullSync(unit, server.id)
  })
  if (withoutRanges !== null) {
    await progress.step('ranges', 'The address ranges were not loaded')
    throw new StepFailed('runs_without_ranges', { problem: withoutRanges })
  }
  return said
}

/** Stores the client list of a first installation, so that the console shows it and can change it. */
const keepClosed = ({ ctx, own }: Job, list: string): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const row = await lockOwnServer(unit, own)
    const { id } = row
    const before = settingsOf(row)
    // An operator has given one since. The next installation writes it.
    if (CLIENT_LIST in before) return
    const after = { ...before, [CLIENT_LIST]: list }
    await saveAgentSettings(unit, id, withSettings(row, after))
    unit.audit('server.agent_settings', id, { before, after })
  })

/** Shows the agent's owner in the row, so that an administrator can take it over. */
const showForeign = ({ ctx, own }: Job, { params }: ProvisioningSaid): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const { id } = await lockOwnServer(unit, own)
    await recordForeignOwner(unit, id, { id: String(params['owner']), name: String(params['name']) })
  })

/** What runs there now, and how far a request through the port that it serves gets; the row may name another. */
async function inspectRunningAgent(
  { ctx, server }: Job,
  { at, console, isUnapproved }: { at: ProxyAddress | null } & Pick<Installation, 'console' | 'isUnapproved'>
): Promise<Pick<Installation, 'running' | 'before'>> {
  const nothing = { running: null, before: null }
  if (!server.connected) return nothing
  const agent = agentOf(server, ctx.secrets, CHECK_MS)
  const info = await agent.info()
  if (!info.ok) return nothing
  const port = Number(info.data.proxy_port)
  const isPort = Number.isInteger(port) && port >= 1 && port <= 65_535
  // A program that may not serve is no measure. The stored level of the one that served is.
  const isKnown = server.unservedSince === null
  // A try makes a user on the agent. It is not sent to another console's agent, or to one that waits for an approval.
  const { owner } = info.data
  const isOurs = (!owner || owner.id === console) && !isUnapproved
  const mayTry = at !== null && isPort && isKnown && isOurs
  const tried = mayTry
    ? await tryProxy(ctx, server.id, { agent, at: { ...at, port }, waitMs: TRY_WAIT_MS, twice: true })
    : null
  const before = LEVELS.find(level => level === tried) ?? null
  return { running: { agent, program: programIn(info.data) }, before }
}

/**
 * Sends a request through the proxy. If it gets less far than before the installation, what worked then is restored.
 * @returns how far it got; null: it was not sent
 */
async function checkServing(
  job: Job,
  { installed, at, machine }: { installed: Installed; at: ProxyAddress | null; machine: Machine }
): Promise<ProxyLevel | null> {
  const { ctx, own, server, target, progress } = job
  await progress.step('check', 'Sends a request through the proxy')
  const { agentCertificate, agentToken, agentLocalNames } = await command(ctx, SYSTEM, unit => lockOwnServer(unit, own))
  const agent = agentOf({ ...server, agentCertificate, agentToken }, ctx.secrets, CHECK_MS)
  const detour = ({ host, port }: ProxyAddress) => machine.dial(port, host)
  const found = await tryProxy(ctx, server.id, { agent, at, waitMs: TRY_WAIT_MS, twice: true, detour })
  // A program that could not be checked does not stay.
  if (found === 'busy') return installed.rollBack(new StepFailed('machine_busy'))
  const hasNoWay = found === 'no_way'
  const after: ProxyLevel | null = hasNoWay ? null : found
  // Without an address, or a route to it, the proxy cannot be judged.
  const required = at === null || hasNoWay ? null : installed.requiredLevel
  progress.print(`Through the proxy: ${after ?? 'not asked'}; before: ${required ?? 'not asked'}`)
  const isWorse = required !== null && LEVELS.indexOf(after ?? 'silent') < LEVELS.indexOf(required)
  if (isWorse) {
    const agentInfo = agentLocalNames?.includes('PROXY_PORT') ? await agent.info() : null
    const theirs = agentInfo?.ok ? Number(agentInfo.data.proxy_port) : server.proxyPort
    return installed.rollBack(
      isWrongPort(server, theirs)
        ? new StepFailed('local_port', { theirs, ours: server.proxyPort, file: layoutOf(target.root).local })
        : new StepFailed('check_failed', { before: required, after: after ?? 'silent' })
    )
  }
  await installed.keep(after)
  return after
}

function messagesOf(
  level: ProxyLevel | null,
  { proxyPort: port }: ServerRow,
  at: ProxyAddress | null
): ProvisioningSaid[] {
  if (level === 'silent') return [{ code: 'proxy_silent', params: { port } }]
  return at !== null && level === null ? [{ code: 'proxy_not_tried', params: { address: at.host } }] : []
}

/** The stored token, so that a repeated run changes nothing; a new one if none fits. */
function tokenOf({ ctx: { secrets }, server }: Job): { text: string; columns: Partial<ServerRow> } {
  const stored = server.agentToken ? secrets.open(server.agentToken) : ''
  if (PLAIN_TOKEN.test(stored)) return { text: stored, columns: {} }
  const text = randomToken(24)
  return { text, columns: { agentToken: secrets.seal(text) } }
}

/** By the management API if the console can reach it, otherwise through an SSH connection to it. */
async function loadRangesWithFallback(job: Job): Promise<ProvisioningSaid[]> {
  const { ctx, server, progress } = job
  await progress.step('ranges', 'Loading the address ranges')
  const direct = agentOf(server, ctx.secrets, 5000)
  if ((await direct.info()).ok) return [await loadUnderLock(job, {})]
  return withMachine(job, async machine => {
    await progress.step('ranges', 'Loading the address ranges over SSH')
    const dial = () => machine.dial(server.agentPort)
    return [await loadUnderLock(job, { dial }), { code: 'ranges_over_ssh', params: {} }]
  })
}

const foreign = ({ id, name }: AgentOwner) => new StepFailed('foreign_console', { name, owner: id })

async function loadUnderLock({ ctx, own, server }: Job, way: Pick<AgentAddress, 'dial'>): Promise<ProvisioningSaid> {
  let loadedAs: ProvisioningSaid = { code: 'ranges_loaded', params: { count: 0 } }
  const ran = await withServerLock(
    ctx.db,
    server.id,
    async () => {
      const fresh = await command(ctx, SYSTEM, unit => lockOwnServer(unit, own))
      const claimed = await claimAgent(ctx, fresh, way)
      if (claimed.kind === 'foreign') throw foreign(claimed.owner)
      if (claimed.kind !== 'open') throw new StepFailed('prefixes_refused', { message: claimed.message })
      const loaded = await sendRanges(ctx, claimed.agent, fresh)
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

/** @param work gets the machine, and a function that reconnects to it if the connection broke */
async function withMachine<T>(
  job: Job,
  work: (machine: Machine, redial: () => Promise<Machine>) => Promise<T>
): Promise<T> {
  const { ctx, server, target, progress } = job
  await progress.step('connect', `Connects to ${server.ip}:${server.sshPort}`)
  if (!server.sshPassword) throw new StepFailed('no_password')
  const login = {
    host: server.ip,
    port: server.sshPort,
    username: target.username,
    secret: ctx.secrets.open(server.sshPassword),
    knownHostKey: server.sshHostKey,
    fingerprint: server.sshFingerprint,
    signal: progress.signal
  }
  const connected = await connectSsh(login)
  progress.signal.throwIfAborted()
  if (!connected.ok) {
    if (connected.shown !== undefined) await recordLearned(job, { sshHostKeyRefused: connected.shown })
    throw new StepFailed(connected.code, connected.params)
  }
  const { session } = connected
  const sessions = [session]
  try {
    progress.print(`The SSH host key of the machine is ${fingerprintOf(session.hostKey)}`)
    await recordLearned(job, { sshHostKey: session.hostKey, sshHostKeyRefused: null, sshFingerprint: null })
    return await work(machineOf(session, progress), async () => {
      const again = await connectSsh({ ...login, knownHostKey: session.hostKey })
      if (!again.ok) throw new StepFailed(again.code, again.params)
      sessions.push(again.session)
      return machineOf(again.session, progress)
    })
  } finally {
    for (const one of sessions) one.close()
  }
}
