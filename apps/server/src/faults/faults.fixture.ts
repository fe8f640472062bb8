import { withClient } from '../testing/server.ts'
import { eventually } from '../testing/test-stack.ts'
import type { startRelay } from '../testing/relay.ts'
import type { Random } from '../api/hostile.fixture.ts'
import { pause } from './crowd.fixture.ts'
import type { World } from './world.fixture.ts'

/** Begins a fault. @returns what ends it; null if it ends by itself */
type Begin = () => Promise<(() => unknown) | null>

export type Fault = { name: string; begin: Begin }

const WEBHOOKS = ['drop', 'duplicate', 'late', 'hold'] as const
const PLATFORM = ['error500', 'throttled', 'too_many', 'timeout', 'garbage', 'half', 'lost'] as const

type Relay = Awaited<ReturnType<typeof startRelay>>

/** A link that is cut, or that falls silent with its connections open. */
const ofLink = (name: string, link: Relay): Fault[] => [
  {
    name: `${name} cut`,
    begin: async () => {
      link.close()
      return () => link.reopen()
    }
  },
  {
    name: `${name} silent`,
    begin: async () => {
      link.freeze()
      return () => link.thaw()
    }
  }
]

/** What can go wrong in a world: each fault that `pickFault` draws from. */
export function faultsOf(world: World): Fault[] {
  const { stack, serves, workers, databaseLinks, replica, agents } = world
  const processes = [...serves, ...workers]
  const control = async (path: string, body: object) => {
    const reply = await fetch(`${stack.platform.url}/sandbox${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    if (!reply.ok) throw new Error(`The stand-in answered ${reply.status}: ${await reply.text()}`)
  }
  /** Another fault may have ended the server's sessions. */
  const onServer = (url: string, text: string) =>
    eventually('the server', () => withClient(url, client => client.query(text)).catch(() => null))

  return [
    ...processes.flatMap((process, n): Fault[] => [
      {
        name: `${process.name} killed`,
        begin: async () => {
          process.signal('SIGKILL')
          return null
        }
      },
      {
        name: `${process.name} asked to end`,
        begin: async () => {
          process.signal('SIGTERM')
          return null
        }
      },
      {
        name: `${process.name} paused`,
        begin: async () => {
          process.signal('SIGSTOP')
          return () => process.signal('SIGCONT')
        }
      },
      ...ofLink(`database link of ${process.name}`, databaseLinks[n] as Relay)
    ]),
    {
      name: 'database crashed',
      begin: async () => {
        // PostgreSQL ends all sessions and recovers from its log if one of them is killed.
        await withClient(stack.ctx.config.databaseUrl, async client => {
          const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
          client.on('error', () => {})
          process.kill(rows[0]?.pid ?? 0, 'SIGKILL')
        }).catch(() => {})
        return null
      }
    },
    {
      name: 'all sessions of the database ended',
      begin: async () => {
        await onServer(
          stack.ctx.config.databaseUrl,
          `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'netlet%'`
        )
        return null
      }
    },
    {
      name: 'replica late',
      begin: async () => {
        await onServer(replica.url, 'select pg_wal_replay_pause()')
        return () => onServer(replica.url, 'select pg_wal_replay_resume()')
      }
    },
    ...ofLink('replica link', replica.link),
    ...agents.flatMap(({ runner, link }, n): Fault[] => [
      {
        name: `agent ${n + 1} stopped`,
        begin: async () => {
          await runner.stop()
          return () => runner.start()
        }
      },
      ...ofLink(`link of agent ${n + 1}`, link)
    ]),
    ...WEBHOOKS.map((action): Fault => ({
      name: `webhooks: ${action}`,
      begin: async () => {
        await control('/webhooks/faults', { action, next: 3, times: 3, delay_ms: 1500 })
        return action === 'hold' ? () => control('/webhooks/release', { order: 'newest_first' }) : null
      }
    })),
    ...PLATFORM.map((kind): Fault => ({
      name: `platform: ${kind}`,
      begin: async () => {
        await control('/graphql/faults', { kind, next: 2, retry_after: 0.5 })
        return null
      }
    }))
  ]
}

/** Runs faults, some at once, until the time is over; all have ended then. @returns their names */
export async function runFaults(faults: Fault[], random: Random, milliseconds: number): Promise<string[]> {
  const done: string[] = []
  const active = new Set<string>()
  const until = performance.now() + milliseconds
  const lane = async () => {
    while (performance.now() < until) {
      await pause(random, 100, 800)
      const fault = random.pick(faults.filter(({ name }) => !active.has(subjectOf(name))))
      const subject = subjectOf(fault.name)
      active.add(subject)
      done.push(fault.name)
      const end = await fault.begin()
      await pause(random, 200, 2500)
      await end?.()
      active.delete(subject)
    }
  }
  await Promise.all([lane(), lane()])
  return done
}

/** A thing has one fault at a time, because the end of one would end the other. */
const subjectOf = (name: string): string =>
  name.replace(/ (?:killed|asked to end|paused|cut|silent|stopped|late|crashed)$/, '')
