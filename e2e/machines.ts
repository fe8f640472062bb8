import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { layoutOf } from '../apps/server/src/domains/provisioning/layout.ts'
import { sshdPath, startSshd, type TestSshd } from '../apps/server/src/integrations/ssh/sshd.fixture.ts'
import type { EmptyShop } from './first-start.ts'
import { freePorts } from '../apps/server/src/testing/free-ports.ts'

const run = promisify(execFile)

/** Allows our agent to reach the stand-in, which is on loopback. */
const OPEN_LOOPBACK = { AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8' }

/** A proxy server on loopback, as an operator enters it. */
export type Machine = {
  name: string
  cidr: string
  agentPort: number
  proxyPort: number
  /** How the agent is installed: over SSH, or already running with this token. */
  access: { sshPort: number; key: string } | { token: string }
  /** Kills the agent's process. */
  kill(): Promise<void>
}

/** An OpenSSH server whose logins install into the test's own folder. */
export type SshHost = {
  /** The environment that makes the shop use it. */
  env: Record<string, string>
  machine(at: Pick<Machine, 'name' | 'cidr'>): Promise<Machine>
  close(): Promise<void>
}

/** null if this machine cannot run one. */
export async function startSshHost(): Promise<SshHost | null> {
  if (!sshdPath || process.platform !== 'linux') return null
  const root = await mkdtemp(join(tmpdir(), 'netlet-day-agent-'))
  const layout = layoutOf(root)
  const sshd: TestSshd = await startSshd(OPEN_LOOPBACK)
  return {
    env: { AGENT_INSTALL_USER: sshd.username, AGENT_INSTALL_ROOT: root },
    async machine(at) {
      const [agentPort = 0, proxyPort = 0] = await freePorts(2)
      return {
        ...at,
        agentPort,
        proxyPort,
        access: { sshPort: sshd.port, key: sshd.key },
        async kill() {
          process.kill(Number(await readFile(layout.pid, 'utf8')), 'SIGKILL')
        }
      }
    },
    async close() {
      // If nothing was installed, there is nothing to stop.
      await run(layout.control, ['stop']).catch(() => {})
      await sshd.close()
      await rm(root, { recursive: true, force: true })
    }
  }
}

/** A machine whose agent was started manually. */
export async function startByHand(shop: EmptyShop, at: Pick<Machine, 'name' | 'cidr'>): Promise<Machine> {
  const [agentPort = 0, proxyPort = 0] = await freePorts(2)
  const token = `token-of-${at.name}`
  const agent = shop.start(`The agent of ${at.name}`, ['apps/agent/src/main.ts'], {
    ...OPEN_LOOPBACK,
    AGENT_HOST: '127.0.0.1',
    AGENT_PORT: String(agentPort),
    PROXY_PORT: String(proxyPort),
    AGENT_TOKEN: token,
    DATA_DIR: join(shop.folder, at.name)
  })
  return { ...at, agentPort, proxyPort, access: { token }, kill: () => agent.stop(0) }
}
