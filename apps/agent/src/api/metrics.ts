import { isAgentRefusal } from '@netlet/contract/agent-codes'
import type { AgentProgram } from '@netlet/contract/agent-takeover'
import type { AgentHealth, AgentLoad } from '@netlet/contract/agent'
import type { BackendFigures } from '../workers/backend.ts'
import type { ProcessFigures } from '../workers/process-figures.ts'

export type Measured = {
  figures: BackendFigures
  load: AgentLoad
  workers: { now: number; wanted: number }
  manager: ProcessFigures
  users: number
  prefixes: number
  journalBytes: number
  /** Local ports that one leased address has for one target. */
  portsPerAddress: number
  /** When the certificate shown at each port expires. Null: no TLS at that port. */
  certificates: NonNullable<AgentHealth['certificates']>
  program: AgentProgram
}

type Sample = { labels?: Record<string, string>; value: number }

const escaped = (text: string): string => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')

function* family(name: string, type: 'counter' | 'gauge', help: string, samples: Sample[]): Generator<string> {
  yield `# HELP ${name} ${help}`
  yield `# TYPE ${name} ${type}`
  for (const { labels = {}, value } of samples) {
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`)
    yield `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
  }
}

/** The text of `GET /metrics` (Prometheus, version 0.0.4). It names no user, client or target: local readers need no token. */
export function metricsText(measured: Measured): string {
  const { figures, load, workers, manager, program } = measured
  const { plane, processes, restarts } = figures
  const outcomes = Object.entries(plane.outcomes).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const counted = (label: 'reason' | 'kind'): Sample[] =>
    outcomes
      .filter(([note]) => note !== 'ok' && isAgentRefusal(note) === (label === 'reason'))
      .map(([note, value]) => ({ labels: { [label]: note }, value }))
  const each = (value: (process: ProcessFigures) => number): Sample[] => [
    { labels: { process: 'management' }, value: value(manager) },
    ...processes.map(one => ({ labels: { process: `worker-${one.pid}` }, value: value(one) }))
  ]
  const one = (value: number): Sample[] => [{ value }]
  const seconds = (ms: number): number => Math.round(ms * 1000) / 1e6
  const quantiles = (['median', 'p99', 'longest'] as const).flatMap(which =>
    each(({ delay }) => seconds(delay[which])).map(({ labels, value }) => ({
      labels: { ...labels, quantile: { median: '0.5', p99: '0.99', longest: '1' }[which] },
      value
    }))
  )
  const prefix = 'netlet_agent_'
  const lines = [
    ...family(`${prefix}info`, 'gauge', 'The version of the agent.', [
      { labels: { version: program.program_version, path: program.program_path }, value: 1 }
    ]),
    ...family(
      `${prefix}program_started_seconds`,
      'gauge',
      'Time when the process started to serve (Unix time).',
      one(Date.parse(program.program_started_at) / 1000)
    ),
    ...family(
      `${prefix}certificate_end_seconds`,
      'gauge',
      'Expiry of the certificate at a port (Unix time).',
      (['api', 'proxy'] as const).flatMap(port => {
        const ends = measured.certificates[port]
        return ends === null ? [] : [{ labels: { port }, value: Date.parse(ends) / 1000 }]
      })
    ),
    ...family(
      `${prefix}draining_connections`,
      'gauge',
      'Open connections of replaced processes.',
      program.draining.map(({ version, pid, connections }) => ({
        labels: { version, pid: String(pid) },
        value: connections
      }))
    ),
    ...family(`${prefix}connections`, 'gauge', 'Open client connections.', one(plane.open)),
    ...family(`${prefix}connections_accepted_total`, 'counter', 'Client connections accepted.', one(plane.accepted)),
    ...family(
      `${prefix}faults_total`,
      'counter',
      'Internal errors of the agent, each of which ended one connection.',
      one(plane.faults)
    ),
    ...family(
      `${prefix}requests_total`,
      'counter',
      'Requests and tunnels that succeeded.',
      one(plane.outcomes['ok'] ?? 0)
    ),
    ...family(`${prefix}refusals_total`, 'counter', 'Requests refused, by reason.', counted('reason')),
    ...family(`${prefix}errors_total`, 'counter', 'Requests that failed, by kind.', counted('kind')),
    ...family(`${prefix}bytes_total`, 'counter', 'Client bytes, by direction.', [
      { labels: { direction: 'up' }, value: load.up },
      { labels: { direction: 'down' }, value: load.down }
    ]),
    ...family(`${prefix}local_ports_used`, 'gauge', 'Local ports of open connections to targets.', one(plane.targets)),
    ...family(
      `${prefix}local_ports_per_address`,
      'gauge',
      'Local ports of a leased address for one target.',
      one(measured.portsPerAddress)
    ),
    ...family(`${prefix}loop_delay_seconds`, 'gauge', 'Delay of the event loop in the last seconds.', quantiles),
    ...family(
      `${prefix}handles_used`,
      'gauge',
      'Open file handles.',
      each(({ handles }) => handles.used)
    ),
    ...family(
      `${prefix}handles_limit`,
      'gauge',
      'Maximum number of file handles per process.',
      each(({ handles }) => handles.limit)
    ),
    ...family(`${prefix}dns_lookups_total`, 'counter', 'DNS queries.', one(plane.dns.lookups)),
    ...family(
      `${prefix}dns_failures_total`,
      'counter',
      'DNS queries without a usable answer.',
      one(plane.dns.failures)
    ),
    ...family(`${prefix}dns_failing`, 'gauge', 'Processes whose DNS queries get no answer.', one(plane.dns.failing)),
    ...family(
      `${prefix}dns_seconds_total`,
      'counter',
      'Duration of DNS queries.',
      one(seconds(plane.dns.milliseconds))
    ),
    ...family(`${prefix}users`, 'gauge', 'Proxy users.', one(measured.users)),
    ...family(`${prefix}prefixes`, 'gauge', 'Address ranges of the server.', one(measured.prefixes)),
    ...family(`${prefix}journal_bytes`, 'gauge', 'Size of the state on disk.', one(measured.journalBytes)),
    ...family(`${prefix}workers`, 'gauge', 'Running workers.', one(workers.now)),
    ...family(`${prefix}workers_wanted`, 'gauge', 'Configured workers.', one(workers.wanted)),
    ...family(`${prefix}worker_restarts_total`, 'counter', 'Workers that ended and were replaced.', one(restarts))
  ]
  return `${lines.join('\n')}\n`
}
