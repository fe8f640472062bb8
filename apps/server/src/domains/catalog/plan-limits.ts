import type { PlanLimits } from '@netlet/contract'
import { variants } from './tables.ts'

type Columns = Pick<typeof variants.$inferSelect, 'trafficGb' | 'mbps' | 'connections' | 'connectionsPerSecond'>

/** A variant's limits under the contract's names. */
export const limitsOf = ({ trafficGb, mbps, connections, connectionsPerSecond }: Columns): PlanLimits => ({
  traffic_gb: trafficGb,
  mbps,
  connections,
  connections_per_second: connectionsPerSecond
})

/** The same for a query. */
export const limitFields = {
  traffic_gb: variants.trafficGb,
  mbps: variants.mbps,
  connections: variants.connections,
  connections_per_second: variants.connectionsPerSecond
}
