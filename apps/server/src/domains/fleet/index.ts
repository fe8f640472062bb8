/** What other domains may use of the fleet: servers, their groups, and what their agents are to hold. */
export { agentOf, noteAnswer, noteSilence } from './agents.ts'
export { type OnConfirmed } from './apply.ts'
export { AgentUnreachable, convergeServer } from './converge.ts'
export {
  agentProgress,
  followOn,
  askDenyLists,
  bumpPrefixes,
  enqueueConverge,
  enqueueDenyLists,
  removeDesiredUsers,
  setDesiredUsers,
  renewPrefixes,
  serversBehind,
  unwantUsers,
  wantUsers,
  type WantedUser
} from './desired.ts'
export { checkServers } from './health.ts'
export { fleetJobs, fleetQueues } from './jobs.ts'
export { convergeQueue } from './queues.ts'
export { repairServer, type Repair } from './repair.ts'
export { fleetRoutes } from './routes.ts'
export { createGroup } from './groups.ts'
export { createServer } from './save-server.ts'
