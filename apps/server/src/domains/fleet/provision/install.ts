import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProvisioningStep } from '@netlet/contract'
import { createAgentClient, type AgentAddress } from '../../../integrations/agent/index.ts'
import { bundleAgent } from './bundle.ts'
import { controlOf, environmentOf, layoutOf, quote, unitOf, type Layout } from './layout.ts'
import { contentOf, contentOfFile, StepFailed, type Machine } from './machine.ts'

/** Says which step begins. */
export type Progress = (step: ProvisioningStep, message: string) => Promise<void>

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
 * @returns a sentence on how it runs
 * @throws StepFailed
 */
export async function installAgent(
  machine: Machine,
  installation: Installation,
  progress: Progress,
  remember: (certificate: string | null) => Promise<void>
): Promise<string> {
  const layout = layoutOf(installation.root)
  await progress('examine', 'Looks at the machine')
  const found = await examine(machine, installation.root)

  await progress('upload', 'Copies the agent and its runtime')
  const changed = [await upload(machine, layout)]

  await progress('configure', 'Writes certificate and settings')
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

  await progress('start', 'Starts the agent')
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

  await progress('wait', 'Waits for the agent to answer')
  await waitForAnswer(machine, { ...installation.address, certificate }, installation.waitMs, () =>
    tailLog(machine, layout, found)
  )
  const service = found.systemd
    ? 'as a systemd service'
    : `without systemd: after a reboot, ${layout.control} start has to be run`
  const safety = certificate === null ? ' Without openssl there it has no TLS: keep its port to the console alone.' : ''
  return `The agent runs ${service}.${safety}`
}

async function examine(machine: Machine, root: string): Promise<Found> {
  const output = await machine.run(
    'uname -s; uname -m; id -u; test -d /run/systemd/system && echo has-systemd; for tool in openssl gzip sha256sum setsid; do command -v "$tool" > /dev/null && echo "has-$tool"; done; true'
  )
  const [system = '', machineName = '', uid = '', ...rest] = output.split('\n').map(line => line.trim())
  const has = new Set(rest)
  if (system !== 'Linux') throw new StepFailed(`The agent can be installed on Linux only; this machine runs ${system}`)
  const arch = { x86_64: 'x64', aarch64: 'arm64', arm64: 'arm64' }[machineName] ?? machineName
  if (process.platform !== 'linux' || arch !== process.arch) {
    throw new StepFailed(
      `This machine is linux-${arch}, and the console runs on ${process.platform}-${process.arch}: it can only install on machines of its own kind. Install the agent there by hand.`
    )
  }
  if (root === '' && uid !== '0') throw new StepFailed('The login is not root: the agent needs root to set its routes')
  for (const tool of ['gzip', 'sha256sum'])
    if (!has.has(`has-${tool}`)) throw new StepFailed(`${tool} is missing there`)
  const systemd = root === '' && has.has('has-systemd')
  if (!systemd && !has.has('has-setsid')) throw new StepFailed('There is neither systemd nor setsid on this machine')
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
  if (code !== 0) throw new StepFailed(`The Node runtime does not start there: ${stderr.trim().slice(0, 500)}`)
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
  readLog: () => Promise<string>
): Promise<void> {
  const deadline = Date.now() + waitMs
  const client = createAgentClient(address, 3000)
  for (;;) {
    const info = await client.info()
    if (info.ok) return
    if (Date.now() < deadline) {
      await sleep(200)
      continue
    }
    const inside = await createAgentClient({ ...address, dial: () => machine.dial(address.port) }, 3000).info()
    if (inside.ok) {
      throw new StepFailed(
        `The agent runs, but the console does not reach ${address.host}:${address.port} (${info.message}). Open that port for the console in the firewall.`
      )
    }
    throw new StepFailed(`The agent does not answer: ${inside.message}. ${await readLog()}`)
  }
}

async function tailLog(machine: Machine, layout: Layout, found: Found): Promise<string> {
  const { stdout } = await machine.attempt(
    found.systemd ? 'journalctl -u netlet-agent -n 5 --no-pager -o cat' : `tail -n 5 ${quote(layout.log)}`
  )
  return `Its log ends with: ${stdout.trim().slice(-600)}`
}
