import { eq, sql } from '../infra/db/drizzle.ts'
import { startReplicated } from '../infra/db/replica.fixture.ts'
import { servers } from '../domains/servers/tables.ts'
import type { AgentRunner } from '../testing/agent-runner.ts'
import { freePorts } from '../testing/free-ports.ts'
import { startRelay } from '../testing/relay.ts'
import { startTestStack, type TestStack } from '../testing/test-stack.ts'
import { type Supervised, supervise } from '../testing/supervisor.ts'

type Relay = Awaited<ReturnType<typeof startRelay>>

/** A shop of several processes with a link that can be broken between each two of them. */
export type World = {
  stack: TestStack
  serves: Supervised[]
  workers: Supervised[]
  /** Of each process, in the order of `serves`, then `workers`. */
  databaseLinks: Relay[]
  replica: { url: string; link: Relay }
  agents: { runner: AgentRunner; link: Relay; range: string }[]
  close(): Promise<void>
}

const RANGES = ['127.130.0.0/16', '127.131.0.0/16', '127.132.0.0/16']

/** Two serve, two worker, three agents, PostgreSQL with a streaming replica, and the stand-in platform. */
export async function startWorld(): Promise<World> {
  const ends: (() => unknown)[] = []
  const close = async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  }
  try {
    const database = await startReplicated()
    ends.push(() => database.stop())
    const [first = '', ...others] = RANGES
    const stack = await startTestStack({
      range: first,
      ruleCount: 2,
      database: { url: database.primary, drop: () => Promise.resolve() },
      processes: true
    })
    ends.push(() => stack.close())

    const relay = async (url: string) => {
      const link = await startRelay(url)
      ends.push(() => link.stop())
      return link
    }
    const agents = [{ runner: ofStack(stack), range: first }]
    for (const range of others) agents.push({ runner: await stack.addServer(range), range })
    const linked = await Promise.all(
      agents.map(async agent => ({ ...agent, link: await relay(`http://127.0.0.1:${agent.runner.ports.agent}`) }))
    )
    for (const { runner, link } of linked)
      await stack.ctx.db
        .update(servers)
        .set({ agentPort: Number(new URL(link.url).port) })
        .where(eq(servers.agentPort, runner.ports.agent))

    const replicaLink = await relay(database.replica)
    const databaseLinks: Relay[] = []
    const start = async (name: string, mode: 'serve' | 'worker', port: number) => {
      const link = await relay(database.primary)
      databaseLinks.push(link)
      const process = await supervise(name, mode, {
        ...stack.env,
        DATABASE_URL: link.url,
        DATABASE_REPLICA_URL: replicaLink.url,
        PORT: String(port)
      })
      ends.push(() => process.stop())
      return process
    }
    const [second = 0] = await freePorts(1)
    const serves = [
      await start('serve 1', 'serve', Number(new URL(stack.ctx.config.publicUrl).port)),
      await start('serve 2', 'serve', second)
    ]
    const workers = [await start('worker 1', 'worker', 0), await start('worker 2', 'worker', 0)]
    await stack.ctx.db.execute(sql`analyze`)
    return {
      stack,
      serves,
      workers,
      databaseLinks,
      replica: { url: database.replica, link: replicaLink },
      agents: linked,
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The stack's first agent, as a runner. */
const ofStack = (stack: TestStack): AgentRunner => ({
  get agent() {
    return stack.agent
  },
  ports: { agent: stack.agent.port, proxy: 0 },
  start: () => stack.restartAgent(),
  stop: () => stack.stopAgent()
})
