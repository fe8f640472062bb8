/**
 * The fleet: servers with their groups and address ranges, what their agents should hold, and how agents are brought
 * there, watched and repaired (docs/FLEET.md). It owns servers, server_outages, server_groups,
 * server_group_servers, server_reports, agent_users, agent_ties, console_identity, server_places, order_access, order_traffic, abuse_alarms, access_proofs and the sequence agent_generation.
 * Other domains set what an order's user should hold (`setDesiredUsers`, `removeDesiredUsers`) and read the agents'
 * progress (`agentProgress`). Only the fleet writes its tables and talks to agents.
 * It gets ports from the domains above: which variants sell from a group, and how orders go on once an agent has
 * confirmed (`ConfirmPort`).
 */
export { troubledSince, type SyncContext, agentOf, markReachable } from './agents.ts'
export { httpsHost, groupsWithTls, readOffers } from './proxy-tls/offer.ts'
export { serversHealth } from './servers-health.ts'
export { countOpenAlarms } from './alarms.ts'
export { countOpenProofs, proofsOfLeases } from './proofs/alarm.ts'
export { requestRevocationProofs } from './proofs/ask.ts'
export { type ConfirmPort } from './apply.ts'
export { checkServers } from './health.ts'
export { convergeServer } from './converge.ts'
export {
  agentProgress,
  renewPrefixes,
  enqueueConverge,
  enqueueDenyLists,
  removeDesiredUsers,
  serversBehind,
  waitsForServer,
  enqueueFullSync
} from './desired.ts'
export { countTroubledServers, searchServers, readServer, serverList, usersOfServers } from './list-servers.ts'
export { removeServer } from './delete-server.ts'
export { countriesOfGroups, createGroup } from './groups.ts'
export { fleetJobs } from './jobs.ts'
export { fleetRetention } from './retention.ts'
export { addTraffic, beginOrderLimits, returnTraffic, takeTraffic, type QuotaPort, useTraffic } from './order-limits.ts'
export { fleetRoutes } from './routes.ts'
export { findOutage, lockOutage, removeOutage, takeUnannounced, type Outage } from './outages.ts'
export { groupsOfServer, stockAfter, stockChanges, stockOfGroups, stockOfRanges } from './plans.ts'
export { accessOf, countAccessAttempt, forgetAccess, setAccess, type OrderAccess } from './order-access.ts'
export { createServer } from './save-server.ts'
export { lockServer, readServerRow, type ServerRow, isWrongPort, saveAgentSettings } from './server-row.ts'
export { fleetFinders } from './notice-finders.ts'
export { changeStatus } from './server-status.ts'
export { type Program, handsOverToOurs, programIn, recordReport } from './agent-report.ts'
export { certificateOf } from './certificate.ts'
export {
  type Work,
  askedFor,
  isAlive,
  isCancelling,
  isInstalling,
  kindOf,
  requestProvisioning,
  recordInstallation
} from './installations.ts'
export { withServerLock } from './lock.ts'
export { openSession, readConsole, setForeign } from './ownership/session.ts'
export { loadPrefixes } from './prefixes.ts'
export { isWithin } from './proofs/samples.ts'
export { LEVELS, type ProxyAddress, type ProxyLevel } from './proxy-check.ts'
export { settingsOf, withSettings } from './proxy-tls/kept.ts'
export { provisionQueue } from './queues.ts'
export { firstAddressOf, markServed, markUnserved, showUnserved, tryProxy } from './unserved.ts'
export { dropDesiredUser, setDesiredUsers } from './set-desired-users.ts'
