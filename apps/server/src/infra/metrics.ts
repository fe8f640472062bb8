import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from './db/client.ts'

/** What this process did, for Prometheus. The names are in deploy/prometheus and deploy/grafana too. */
const ofProcess = new Registry()
collectDefaultMetrics({ register: ofProcess })

export const requestSeconds = new Histogram({
  name: 'netlet_http_request_seconds',
  help: 'Time to answer, by route and status',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  registers: [ofProcess]
})

const jobSeconds = new Histogram({
  name: 'netlet_job_seconds',
  help: 'Time that a job ran, by queue and outcome: done or failed',
  labelNames: ['queue', 'outcome'],
  buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120],
  registers: [ofProcess]
})

/** Runs a job and records how long it took and how it ended. */
export async function timedJob<T>(queue: string, run: () => Promise<T>): Promise<T> {
  const end = jobSeconds.startTimer({ queue })
  try {
    const result = await run()
    end({ outcome: 'done' })
    return result
  } catch (error) {
    end({ outcome: 'failed' })
    throw error
  }
}

export const longReads = new Counter({
  name: 'netlet_database_long_reads_total',
  help: 'Lists, exports and reports, by the database that they were read from: replica or primary',
  labelNames: ['from'],
  registers: [ofProcess]
})

/** From the payment until all proxies worked. */
export const deliverySeconds = new Histogram({
  name: 'netlet_delivery_seconds',
  help: 'Time from the payment of an order until all its proxies worked',
  buckets: [1, 2, 5, 10, 30, 60, 300, 1800, 7200],
  registers: [ofProcess]
})

/** The figures of this process with those of its connections. */
export function processMetrics({ $client }: Pick<Database, '$client'>): Registry {
  const connections = new Gauge({
    name: 'netlet_database_connections',
    help: 'Connections of this process by DATABASE_URL: used or idle',
    labelNames: ['state'],
    registers: [],
    collect() {
      this.set({ state: 'used' }, $client.totalCount - $client.idleCount)
      this.set({ state: 'idle' }, $client.idleCount)
    }
  })
  const most = new Gauge({
    name: 'netlet_database_connections_max',
    help: 'DATABASE_CONNECTIONS of this process',
    registers: [],
    collect() {
      this.set($client.options.max)
    }
  })
  const waiting = new Gauge({
    name: 'netlet_database_waiting',
    help: 'Statements that wait for a connection of this process',
    registers: [],
    collect() {
      this.set($client.waitingCount)
    }
  })
  const ofPool = new Registry()
  for (const gauge of [connections, most, waiting]) ofPool.registerMetric(gauge)
  return Registry.merge([ofProcess, ofPool])
}
