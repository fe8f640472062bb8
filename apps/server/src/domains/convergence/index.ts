/**
 * Talking to agents: bringing them to what they should hold, comparing and repairing them, whose they are, their health,
 * and what operators do on them (docs/FLEET.md). It owns agent_ties, console_identity and abuse_alarms. Other domains set
 * what an order's user should hold (`setDesiredUsers`). A port moves orders on once an agent has confirmed
 * (`ConfirmPort`).
 */
export { countOpenAlarms, abuseFinder, alarmRetention } from './abuse-alarms.ts'
export type { ConfirmPort } from './apply-user.ts'
export { LEVELS, type ProxyLevel, tryProxy } from './doubtful-proxies.ts'
export { checkServers } from './check-servers.ts'
export { convergeServer } from './converge.ts'
export { readHeldBesides } from './held-besides.ts'
export { sendRanges } from './send-ranges.ts'
export { claimAgent, readConsole, setForeign } from './ownership/claim-agent.ts'
export { dropDesiredUser, setDesiredUsers } from './manage-users.ts'
export { convergenceJobs } from './jobs.ts'
export { convergenceRoutes } from './routes.ts'
