/**
 * Agents on their machines: installing them over SSH, rolling back to what worked, cancelling, their settings, and
 * upgrades of several servers (docs/FLEET.md). It owns upgrades and upgrade_servers. Installations are requested and
 * shown in the server's row, through commands of servers; no other domain logs in to a machine.
 */
export { provisioningJobs } from './jobs.ts'
export { provisioningRoutes } from './routes.ts'
export { countStoppedUpgrades, upgradeFinder, upgradeRetention } from './upgrades/list-upgrades.ts'
