/**
 * Servers with their groups and address ranges, and what each agent should hold: the users of orders, their access and
 * limits (docs/FLEET.md). It owns servers, server_outages, server_groups, server_group_servers, server_reports,
 * server_places, agent_users, order_access, order_traffic and the sequence agent_generation.
 * It talks to no agent. Higher domains do, by `agentOf`, and record here what they learned: of an agent's health
 * (`markReachable`), of what it took (`recordAnswer`), of installations (`recordInstallation`), of proofs
 * (`setWithheldRanges`). What an edit asks of them is a job in a queue of this domain (`enqueueConverge`,
 * `requestProvisioning`) that they work on.
 * A port says which variants sell from a group.
 */
export { type Program, handsOverToOurs, programIn, recordReport } from './agent-report.ts'
export {
  allowRemovals,
  clearRefusals,
  endFutureTimesOfServers,
  recordAnswer,
  recordRanges,
  renewUsers,
  setNextProof,
  setWithheldRanges
} from './agent-answers.ts'
export {
  type ProxyAddress,
  type ServerRow,
  type SyncContext,
  agentOf,
  firstAddressOf,
  firstOf,
  isWrongPort,
  lockServer,
  publishSelling,
  readServerRow,
  replaceAgentToken,
  saveAgentSettings,
  withServerLock
} from './server-row.ts'
export {
  ALARM_AFTER,
  type Trouble,
  clearTrouble,
  markConverged,
  markFailing,
  markOffline,
  markReachable,
  markUnreachable,
  setTrouble,
  troubledSince
} from './agent-health.ts'
export { createServer, linesOf, removeServer } from './save-server.ts'
export {
  type WantedUser,
  agentProgress,
  dropUser,
  enqueueConverge,
  enqueueDenyLists,
  enqueueFullSync,
  enqueueRepair,
  removeDesiredUsers,
  removeUsersByHand,
  renewPrefixes,
  serversBehind,
  upsertDesiredUsers,
  usersOutsideRanges,
  waitsForServer
} from './desired/desired-users.ts'
export {
  type AgentUser,
  type OrderAccess,
  accessOf,
  countAccessAttempt,
  forgetAccess,
  setAccess,
  withAccess
} from './desired/order-access.ts'
export {
  type QuotaPort,
  addTraffic,
  beginOrderLimits,
  grantLimits,
  returnTraffic,
  takeTraffic,
  useTraffic
} from './desired/order-limits.ts'
export {
  countriesOfGroups,
  createGroup,
  groupsOfServer,
  stockAfter,
  stockChanges,
  stockOfGroups,
  stockOfRanges
} from './groups.ts'
export {
  type Work,
  requestedWork,
  isAlive,
  isCancelling,
  isInstalling,
  kindOf,
  recordInstallation,
  requestProvisioning
} from './installations.ts'
export {
  countTroubledServers,
  isServedOrder,
  readServer,
  searchServers,
  serverList,
  troubleSentence,
  usersOfServers
} from './list-servers.ts'
export { type Outage, findOutage, lockOutage, removeOutage, claimUnannounced } from './outages.ts'
export { certificateOf, certificatesIn, daysLeft, firstEndOf, isCertificates } from './pem.ts'
export { convergeQueue, provisionQueue, repairQueue } from './queues.ts'
export { cidrRefusal } from './form-refusals.ts'
export { changeStatus, endReturn, markServed, markUnserved, showUnserved } from './server-status.ts'
export { serversHealth } from './routes.ts'
export {
  type KeptTls,
  openTls,
  resealedTls,
  sealed,
  settingsOf,
  tlsOf,
  withSettings,
  withTls
} from './stored-settings.ts'
export { serverFinders } from './jobs.ts'
export { serverJobs } from './jobs.ts'
export { serverRoutes } from './routes.ts'
