import { isIP, isIPv6 } from 'node:net'
import type { ProvisioningSaid } from '@netlet/contract'
import { startOf } from '../../infra/text.ts'
import { rollBackInstallation } from './roll-back.ts'
import { bundleAgent, type Bundle } from '../../integrations/agent/index.ts'
import {
  CLIENT_LIST,
  KERNEL_SETTINGS,
  type Layout,
  closedToOthers,
  controlOf,
  environmentOf,
  layoutOf,
  localOf,
  quote,
  serviceFileOf,
  shutsOut
} from './layout.ts'
import { namesInLocal, readOwner, serviceFingerprint, readReleaseSettings } from './machine-settings.ts'
import type { Found, Installation, Installed, RowUpdates, InstallContext, Progress } from './installation-types.ts'
import { contentOf, contentOfFile, StepFailed, type Machine } from './machine.ts'
import {
  canReplaceGood,
  fillRelease,
  makeRelease,
  markGood,
  prepareReleases,
  readGood,
  requiredLevel,
  type ReleaseFile
} from './releases.ts'
import { startAgent } from './start-agent.ts'

/**
 * Installs and starts the agent: a Node runtime, the agent in one file, its settings, a service. Files that are there
 * already stay, and the agent restarts only if something changed.
 * @throws StepFailed, after the last good release runs again, if there is one and it was replaced
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
  await prepareReleases(machine, layout)
  const good = await readGood(machine, layout, found.systemd)
  if (installation.settingsOnly && good === null) throw new StepFailed('not_installed')
  const context: InstallContext = { machine, layout, found, installation, progress, good, mayHaveStopped: false }
  const applied = installation.asApplied && good ? await readReleaseSettings(machine, good.folder) : null
  const isFirst = good === null && (await machine.attempt(`test -e ${quote(layout.local)}`)).code !== 0
  const known = applied ?? installation.settings
  const settings = isFirst ? closedToOthers(known, found.consoleAddress, installation.consoleAddresses) : known
  const local = await namesInLocal(machine, layout)
  const { consoleAddress } = found
  await updates.storeFindings({
    local,
    consoleAddress,
    closed: settings === known ? null : (settings[CLIENT_LIST] ?? null)
  })
  refuseShutOut(found, settings, local)
  const rollBack = (reason: StepFailed): Promise<never> => rollBackInstallation(context, updates, reason)
  try {
    const said = await makeAndStartRelease(context, settings, updates)
    return {
      said,
      settings,
      service: await readServiceState(machine, layout, found),
      requiredLevel: requiredLevel(good, installation.before),
      keep: async level => {
        if (canReplaceGood(good, level)) await markGood(machine, layout, level)
      },
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
async function readServiceState(machine: Machine, { unit, control }: Layout, { systemd }: Found): Promise<string> {
  const { stdout } = await machine.attempt(`sha256sum < ${quote(systemd ? unit : control)}`)
  return serviceFingerprint(systemd, stdout.slice(0, 64))
}

async function makeAndStartRelease(
  context: InstallContext,
  own: Installation['settings'],
  updates: RowUpdates
): Promise<ProvisioningSaid[]> {
  const { machine, layout, found, installation, progress, good } = context
  const service: ReleaseFile = found.systemd
    ? ['netlet-agent.service', '644', contentOf(serviceFileOf(layout))]
    : ['bin/control', '755', contentOf(controlOf(layout))]
  let folder: string
  // The version of a program that stays is unknown. Its service file belongs to it.
  let version: string | null = null
  const changed: string[] = []
  if (installation.settingsOnly) folder = await makeRelease(machine, layout, 'settings')
  else {
    await progress.step('upload', 'Copies the agent and its runtime')
    const bundle = installation.bundle ?? (await bundleAgent())
    ;({ version } = bundle)
    folder = await makeRelease(machine, layout, version)
    changed.push(...(await upload(machine, folder, bundle, service)))
  }

  await progress.step('configure', 'Writes certificate and settings')
  const certificate = found.openssl ? await makeCertificate(machine, layout) : null
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
    ...(await fillRelease(machine, folder, [['agent.env', '600', contentOf(environmentOf(layout, settings))]]))
  )
  if ((await machine.attempt(`test -e ${quote(layout.local)}`)).code !== 0) {
    await machine.put(layout.local, '600', contentOf(localOf(found.consoleAddress)))
  }
  await setKernel(machine, layout, installation.root)
  await machine.run(`mkdir -p ${quote(layout.state)} ${quote(`${installation.root}/var/log`)}`)

  await updates.storeCertificate(certificate)
  const said = await startAgent(context, updates, {
    certificate,
    version,
    folder: good !== null && changed.length === 0 ? good.folder : folder,
    isOtherService: changed.includes(service[0])
  })
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

/** @returns the paths of the files that changed */
async function upload(machine: Machine, folder: string, bundle: Bundle, service: ReleaseFile): Promise<string[]> {
  const manifest = { name: 'netlet-agent', version: bundle.version, type: 'module' }
  const changed = await fillRelease(machine, folder, [
    ['bin/node', '755', await contentOfFile(process.execPath)],
    ['bin/agent.mjs', '644', { sha256: bundle.sha256, text: bundle.code }],
    // The agent reads its version from it.
    ['package.json', '644', contentOf(`${JSON.stringify(manifest)}\n`)],
    service
  ])
  const { code, stderr } = await machine.attempt(`${quote(`${folder}/bin/node`)} --version`)
  if (code !== 0) throw new StepFailed('runtime_fails', { output: startOf(stderr.trim(), 500) })
  return changed
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
