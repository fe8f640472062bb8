import { isIP, isIPv6 } from 'node:net'
import type { ProvisioningSaid } from '@netlet/contract'
import { startOf } from '../../infra/text.ts'
import { rollBackInstallation } from './roll-back.ts'
import { removeLeftovers, requireDiskSpace } from './disk-space.ts'
import { bundleAgent, type Bundle } from '../../integrations/agent/index.ts'
import type { ProxyLevel } from '../convergence/index.ts'
import { requiredLevel, ensureKept, keepProgram, canReplaceKept, type Service } from './kept-program.ts'
import {
  CLIENT_LIST,
  KERNEL_SETTINGS,
  type Layout,
  closedToOthers,
  environmentOf,
  layoutOf,
  localOf,
  quote,
  shutsOut
} from './layout.ts'
import { namesInLocal, readOwner, serviceFingerprint, readKeptSettings } from './machine-settings.ts'
import type { Found, Installation, Installed, RowUpdates, InstallContext, Progress } from './installation-types.ts'
import { contentOf, contentOfFile, StepFailed, type Machine } from './machine.ts'
import { readFilesSinceStart, startAgent } from './start-agent.ts'

/**
 * Installs and starts the agent: a Node runtime, the agent in one file, its settings, a service. Files that are there
 * already stay, and the agent restarts only if something changed.
 * @throws StepFailed, after what worked before has been restored
 */
export async function installAgent(
  machine: Machine,
  installation: Installation,
  progress: Progress,
  updates: RowUpdates
): Promise<Installed> {
  const layout = layoutOf(installation.root)
  await progress.step('examine', 'Looks at the machine')
  const found = await examine(machine, installation.root)
  await refuseForeign(machine, layout, installation.console)
  if (installation.isUnapproved) throw new StepFailed('older_console')
  await removeLeftovers(machine, layout)
  const service: Service = found.systemd
    ? { file: layout.unit, restart: 'systemctl daemon-reload && systemctl restart netlet-agent' }
    : { file: layout.control, restart: `${quote(layout.control)} restart` }
  const unstarted = await readFilesSinceStart(machine, layout)
  const isStarted = unstarted.length === 0
  const kept = await ensureKept(machine, layout, service, { before: installation.before, isStarted })
  const runsKept = kept?.runs ?? false
  const context: InstallContext = {
    machine,
    layout,
    service,
    installation,
    progress,
    unstarted,
    runsKept,
    start: { begun: false }
  }
  if (installation.settingsOnly && kept === null) throw new StepFailed('not_installed')
  const applied = installation.asApplied ? await readKeptSettings(machine, layout) : null
  const isFirst = kept === null && (await machine.attempt(`test -e ${quote(layout.local)}`)).code !== 0
  const known = applied ?? installation.settings
  const settings = isFirst ? closedToOthers(known, found.consoleAddress, installation.consoleAddresses) : known
  const local = await namesInLocal(machine, layout)
  const { consoleAddress } = found
  await updates.seen({ local, consoleAddress, closed: settings === known ? null : (settings[CLIENT_LIST] ?? null) })
  refuseShutOut(found, settings, local)
  const rollBack = async (reason: StepFailed): Promise<never> => {
    if (kept) await rollBackInstallation(context, updates, reason)
    throw reason
  }
  const keep = async (level: ProxyLevel | null): Promise<void> => {
    if (canReplaceKept(kept, level)) await keepProgram(machine, layout, service, level)
  }
  try {
    const said = await replace(context, found, settings, updates)
    return {
      said,
      settings,
      service: await readServiceState(machine, found, service),
      requiredLevel: requiredLevel(kept, installation.before),
      keep,
      rollBack
    }
  } catch (error) {
    // A cancelled installation is not rolled back. The next one goes on from there.
    if (error instanceof StepFailed && !progress.signal.aborted) return rollBack(error)
    throw error
  }
}

/** Refuses another console's agent before anything is replaced. One that was taken over already belongs to this one. */
async function refuseForeign(machine: Machine, layout: Layout, console: string): Promise<void> {
  const owner = await readOwner(machine, layout)
  if (owner === null || owner.id === console) return
  throw new StepFailed('foreign_console', { name: owner.name, owner: owner.id })
}

/** Refuses, before anything is written, a client list that would shut this console out. */
function refuseShutOut({ consoleAddress }: Found, settings: Installation['settings'], local: readonly string[]): void {
  if (local.includes(CLIENT_LIST) || !shutsOut(settings[CLIENT_LIST] ?? '', consoleAddress)) return
  throw new StepFailed('console_shut_out', { address: consoleAddress })
}

/** How the agent is kept there now. */
async function readServiceState(machine: Machine, { systemd }: Found, { file }: Service): Promise<string> {
  const { stdout } = await machine.attempt(`sha256sum < ${quote(file)}`)
  return serviceFingerprint(systemd, stdout.slice(0, 64))
}

async function replace(
  context: InstallContext,
  found: Found,
  own: Installation['settings'],
  updates: RowUpdates
): Promise<ProvisioningSaid[]> {
  const { machine, layout, installation, progress } = context
  const changed: boolean[] = []
  // The version of a program that stays is unknown.
  let version: string | null = null
  if (!installation.settingsOnly) {
    await progress.step('upload', 'Copies the agent and its runtime')
    const bundle = installation.bundle ?? (await bundleAgent())
    ;({ version } = bundle)
    changed.push(await upload(machine, layout, bundle))
  }

  await progress.step('configure', 'Writes certificate and settings')
  const certificate = found.openssl ? await makeCertificate(machine, layout) : null
  await updates.remember(certificate)
  const { host, port, token } = installation.address
  const settings = {
    own,
    host: isIPv6(host) ? '::' : '0.0.0.0',
    port,
    proxyPort: installation.proxyPort,
    token,
    secure: certificate !== null
  }
  changed.push(
    await machine.put(layout.environment, '600', contentOf(environmentOf(layout, settings)), layout.unstarted)
  )
  if ((await machine.attempt(`test -e ${quote(layout.local)}`)).code !== 0) {
    await machine.put(layout.local, '600', contentOf(localOf(found.consoleAddress)))
  }
  await setKernel(machine, layout, installation.root)
  await machine.run(`mkdir -p ${quote(layout.state)} ${quote(`${installation.root}/var/log`)}`)

  const said = await startAgent(context, found, updates, { certificate, version, hasWritten: changed.includes(true) })
  return [...said, ...(certificate === null ? [{ code: 'no_tls', params: {} } as const] : [])]
}

async function examine(machine: Machine, root: string): Promise<Found> {
  const output = await machine.run(
    'uname -s; uname -m; id -u; test -d /run/systemd/system && echo has-systemd; for tool in openssl gzip sha256sum setsid; do command -v "$tool" > /dev/null && echo "has-$tool"; done; echo "from-${SSH_CONNECTION%% *}"'
  )
  const [system = '', machineName = '', uid = '', ...rest] = output.split('\n').map(line => line.trim())
  const has = new Set(rest)
  if (system !== 'Linux') throw new StepFailed('only_linux', { system })
  const arch = { x86_64: 'x64', aarch64: 'arm64', arm64: 'arm64' }[machineName] ?? machineName
  if (process.platform !== 'linux' || arch !== process.arch) {
    throw new StepFailed('other_machine', { theirs: `linux-${arch}`, ours: `${process.platform}-${process.arch}` })
  }
  if (root === '' && uid !== '0') throw new StepFailed('not_root')
  for (const tool of ['gzip', 'sha256sum']) if (!has.has(`has-${tool}`)) throw new StepFailed('tool_missing', { tool })
  const systemd = root === '' && has.has('has-systemd')
  if (!systemd && !has.has('has-setsid')) throw new StepFailed('no_service_manager')
  const from = rest.find(line => line.startsWith('from-'))?.slice('from-'.length) ?? ''
  return { systemd, openssl: has.has('has-openssl'), consoleAddress: isIP(from) === 0 ? '' : from }
}

/** Writes the kernel's settings and prints their values. Settings that the kernel does not know are left out. */
async function setKernel(machine: Machine, layout: Layout, root: string): Promise<void> {
  await machine.put(layout.kernel, '644', contentOf(KERNEL_SETTINGS))
  // Below a folder of its own, this is a test on a machine whose kernel we must not change.
  if (root === '') await machine.attempt(`sysctl -e -q -p ${quote(layout.kernel)}`)
  const names = [...KERNEL_SETTINGS.matchAll(/^-?([a-z][\w.]+) =/gm)].map(([, name]) => name)
  await machine.run(`sysctl -e ${names.join(' ')} 2> /dev/null || true`)
}

async function upload(machine: Machine, layout: Layout, bundle: Bundle): Promise<boolean> {
  const node = await contentOfFile(process.execPath)
  const agent = { sha256: bundle.sha256, text: bundle.code }
  await requireDiskSpace(machine, layout.home, [
    [layout.node, node],
    [layout.agent, agent]
  ])
  const changed = [
    await machine.put(layout.node, '755', node, layout.unstarted),
    await machine.put(layout.agent, '644', agent, layout.unstarted),
    await machine.put(
      layout.manifest,
      '644',
      contentOf(`${JSON.stringify({ name: 'netlet-agent', version: bundle.version, type: 'module' })}\n`),
      layout.unstarted
    )
  ]
  const { code, stderr } = await machine.attempt(`${quote(layout.node)} --version`)
  if (code !== 0) throw new StepFailed('runtime_fails', { output: startOf(stderr.trim(), 500) })
  return changed.includes(true)
}

/** The agent's own certificate, made once on its machine. The key never leaves it. */
async function makeCertificate(machine: Machine, layout: Layout): Promise<string> {
  const { certificate, key } = layout
  const make = `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=netlet-agent -keyout ${quote(key)} -out ${quote(certificate)}`
  await machine.run(
    `mkdir -p ${quote(layout.settings)} && umask 077 && { test -s ${quote(certificate)} && test -s ${quote(key)} || ${make}; }`
  )
  return machine.run(`cat ${quote(certificate)}`)
}
