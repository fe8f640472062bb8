import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProvisioningSaid, ProvisioningStep } from '@netlet/contract'
import { createAgentClient, type AgentAddress } from '../../../integrations/agent/index.ts'
import { endOf, startOf } from '../../../infra/text.ts'
import { bundleAgent } from './bundle.ts'
import { controlOf, environmentOf, layoutOf, quote, unitOf, type Layout } from './layout.ts'
import { contentOf, contentOfFile, StepFailed, type Machine } from './machine.ts'

/** Says which step begins, and what the machine prints in it. */
export type Progress = {
  step: (step: ProvisioningStep, message: string) => Promise<void>
  print: (text: string) => void
  /** Aborted when somebody cancels it, with `Cancelled` as its reason. */
  signal: AbortSignal
}

export type Installation = {
  /** Where the agent answers; the token is written into its settings. */
  address: Omit<AgentAddress, 'certificate'>
  proxyPort: number
  /** '' but in tests. */
  root: string
  /** How long a started agent may take to answer. */
  waitMs: number
}

type Found = { systemd: boolean; openssl: boolean }

/**
 * Installs the agent and starts it: a Node runtime, the agent in one file, its settings, a service. What is there
 * already stays, and the agent is only restarted where something changed.
 * @param remember called with the certificate before the agent uses it; null where the machine cannot make one
 * @returns how it runs
 * @throws StepFailed
 */
export async function installAgent(
  machine: Machine,
  installation: Installation,
  progress: Progress,
  remember: (certificate: string | null) => Promise<void>
): Promise<ProvisioningSaid[]> {
  const layout = layoutOf(installation.root)
  await progress.step('examine', 'Looks at the machine')
  const found = await examine(machine, installation.root)

  await progress.step('upload', 'Copies the agent and its runtime')
  const changed = [await upload(machine, layout)]

  await progress.step('configure', 'Writes certificate and settings')
  const certificate = found.openssl ? await makeCertificate(machine, layout) : null
  await remember(certificate)
  const { host, port, token } = installation.address
  const settings = {
    host: isIPv6(host) ? '::' : '0.0.0.0',
    port,
    proxyPort: installation.proxyPort,
    token,
    secure: certificate !== null
  }
  changed.push(await machine.put(layout.environment, '600', contentOf(environmentOf(layout, settings))))
  await machine.run(`mkdir -p ${quote(layout.state)} ${quote(`${installation.root}/var/log`)}`)

  await progress.step('start', 'Starts the agent')
  changed.push(
    found.systemd
      ? await machine.put(layout.unit, '644', contentOf(unitOf(layout)))
      : await machine.put(layout.control, '755', contentOf(controlOf(layout)))
  )
  const verb = changed.includes(true) ? 'restart' : 'start'
  await machine.run(
    found.systemd
      ? `systemctl daemon-reload && systemctl enable netlet-agent && systemctl ${verb} netlet-agent`
      : `${quote(layout.control)} ${verb}`
  )

  await progress.step('wait', 'Waits for the agent to answer')
  await waitForAnswer(machine, { ...installation.address, certificate }, installation.waitMs, progress.signal, () =>
    tailLog(machine, layout, found)
  )
  return [
    found.systemd
      ? { code: 'runs_as_service', params: {} }
      : { code: 'runs_alone', params: { command: layout.control } },
    ...(certificate === null ? [{ code: 'no_tls', params: {} } as const] : [])
  ]
}

async function examine(machine: Machine, root: string): Promise<Found> {
  const output = await machine.run(
    'uname -s; uname -m; id -u; test -d /run/systemd/system && echo has-systemd; for tool in openssl gzip sha256sum setsid; do command -v "$tool" > /dev/null && echo "has-$tool"; done; true'
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
  return { systemd, openssl: has.has('has-openssl') }
}

async function upload(machine: Machine, layout: Layout): Promise<boolean> {
  const bundle = await bundleAgent()
  const changed = [
    await machine.put(layout.node, '755', await contentOfFile(process.execPath)),
    await machine.put(layout.agent, '644', { sha256: bundle.sha256, text: bundle.code }),
    await machine.put(
      layout.manifest,
      '644',
      contentOf(`${JSON.stringify({ name: 'netlet-agent', version: bundle.version, type: 'module' })}\n`)
    )
  ]
  const { code, stderr } = await machine.attempt(`${quote(layout.node)} --version`)
  if (code !== 0) throw new StepFailed('runtime_fails', { output: startOf(stderr.trim(), 500) })
  return changed.includes(true)
}

/** The agent's own certificate, made once on its machine; the key never leaves it. */
async function makeCertificate(machine: Machine, layout: Layout): Promise<string> {
  const { certificate, key } = layout
  const make = `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj /CN=netlet-agent -keyout ${quote(key)} -out ${quote(certificate)}`
  await machine.run(
    `mkdir -p ${quote(layout.settings)} && umask 077 && { test -s ${quote(certificate)} && test -s ${quote(key)} || ${make}; }`
  )
  return machine.run(`cat ${quote(certificate)}`)
}

async function waitForAnswer(
  machine: Machine,
  address: AgentAddress,
  waitMs: number,
  signal: AbortSignal,
  readLog: () => Promise<string>
): Promise<void> {
  const deadline = Date.now() + waitMs
  const client = createAgentClient(address, 3000)
  for (;;) {
    const info = await client.info()
    if (info.ok) return
    signal.throwIfAborted()
    if (Date.now() < deadline) {
      await sleep(200)
      continue
    }
    const inside = await createAgentClient({ ...address, dial: () => machine.dial(address.port) }, 3000).info()
    if (inside.ok) {
      throw new StepFailed('port_closed', { address: `${address.host}:${address.port}`, problem: info.message })
    }
    throw new StepFailed('no_answer', { problem: inside.message, log: await readLog() })
  }
}

async function tailLog(machine: Machine, layout: Layout, found: Found): Promise<string> {
  const { stdout } = await machine.attempt(
    found.systemd ? 'journalctl -u netlet-agent -n 5 --no-pager -o cat' : `tail -n 5 ${quote(layout.log)}`
  )
  return endOf(stdout.trim(), 600)
}
