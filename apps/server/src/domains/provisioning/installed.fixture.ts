import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { eq } from '../../infra/db/drizzle.ts'
import { startTestMachine } from '../../integrations/ssh/machine.fixture.ts'
import { freePort } from '../../testing/free-ports.ts'
import { startTestShop } from '../../testing/shop.ts'
import { agentOf } from '../servers/server-row.ts'
import { addTestServer, serverRow } from '../convergence/fleet.fixture.ts'
import { servers } from '../servers/tables.ts'
import { bundleAgent, type Bundle } from '../../integrations/agent/bundle.ts'
import { layoutOf, localOf } from './layout.ts'
import type { Work } from '../servers/installations.ts'
import { provisionServer } from './provision.ts'

/**
 * A shop with one server, whose agent is really installed on this machine, below a folder of its own.
 * @param range its addresses, which no other test uses
 * @param first without the operator's file, as in a first installation
 */
export async function startInstalledMachine(range: string, { first = false } = {}) {
  // No proxy reaches these sites, and each fails at once.
  const site = 'http://127.0.0.1:9'
  const world = await startTestShop({ config: { checkSites: { google: site, bing: site, amazon: site } } })
  const ran = (command: string): string | null | Promise<string | null> => command
  const during = { replace: ran, forwards: true }
  const machine = await startTestMachine({
    shell: true,
    replace: command => during.replace(command),
    forwards: () => during.forwards
  })
  const root = await mkdtemp(join(tmpdir(), 'netlet-installed-'))
  const layout = layoutOf(root)
  // The runtime is there already, as after an earlier installation, because it takes long to send.
  await mkdir(dirname(layout.node), { recursive: true })
  await copyFile(process.execPath, layout.node)
  // The operator's file is there too, which leaves the client list to the operator.
  if (!first) {
    await mkdir(layout.settings, { recursive: true })
    await writeFile(layout.local, localOf(''))
  }
  const id = await addTestServer(world.ctx, 'machine', { ranges: [range] })
  const row = () => serverRow(world.ctx, id)
  const set = (columns: Partial<typeof servers.$inferInsert>) =>
    world.ctx.db.update(servers).set(columns).where(eq(servers.id, id))
  await set({
    agentPort: await freePort(),
    proxyPort: await freePort(),
    sshPort: machine.port,
    sshPassword: world.ctx.secrets.seal('root secret')
  })
  let asked = world.ctx.now()
  const install = async (more: Partial<Work> & { bundle?: Bundle; waitMs?: number } = {}) => {
    const { bundle, waitMs = 30_000, ...work } = more
    const target = { root, username: 'root', waitMs, ...(bundle ? { bundle } : {}) }
    // Each one later than the last cancellation.
    asked = new Date(asked.getTime() + 1000)
    const named = { serverId: id, init: true, ranges: false, askedAt: asked.toISOString(), ...work }
    await provisionServer(world.ctx, named, target)
    return (await row()).provisioning
  }
  await install()
  return {
    world,
    layout,
    id,
    row,
    set,
    install,
    /** While `work` runs, each command is replaced by what this returns, as in `startTestMachine`. */
    async whileReplacing<T>(replace: (typeof during)['replace'], work: () => Promise<T>): Promise<T> {
      during.replace = replace
      try {
        return await work()
      } finally {
        during.replace = ran
      }
    },
    /** While `work` runs, sshd forwards no ports, as with AllowTcpForwarding no. */
    async withoutForwarding<T>(work: () => Promise<T>): Promise<T> {
      during.forwards = false
      try {
        return await work()
      } finally {
        during.forwards = true
      }
    },
    /** Cancels the installation instead of running this command. */
    cancelAt: (part: string) => async (command: string) => {
      if (!command.includes(part)) return command
      await set({ provisioningCancelledAt: asked })
      return 'echo $$ >&2; sleep 60'
    },
    async version() {
      const info = await agentOf(await row(), world.ctx.secrets).info()
      return info.ok && info.data.health?.version
    },
    /** The name of the release that a link names. */
    release: async (link = 'current') => basename(await readlink(join(layout.home, link))),
    pid: async () => (await readFile(layout.pid, 'utf8')).trim(),
    async close() {
      await promisify(execFile)(layout.control, ['stop']).catch(() => {})
      machine.close()
      await rm(root, { recursive: true, force: true })
      await world.close()
    }
  }
}

/** The agent with other code, which reports another version. */
export async function otherProgram(change: (code: string) => string, version = '9.9.9'): Promise<Bundle> {
  const code = Buffer.from(change((await bundleAgent()).code.toString()))
  return { code, sha256: createHash('sha256').update(code).digest('hex'), version }
}

/** An agent that answers the console, but listens at no leased address. */
export const deafProgram = () => otherProgram(code => `process.env.PROXY_HOST = '127.0.0.1'\n${code}`)
