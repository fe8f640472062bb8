/**
 * The settings that administrators save, and the latest log lines for the console. It owns settings and log_lines.
 * Other domains use `readSettings`; only `saveSettings` (a form) and `writeSettings` (the program) write.
 */
export { storeLogLines } from './log-lines.ts'
export { checkGeofeed, readGeofeed, type GeofeedLine } from './geofeed.ts'
export { readSettings, readSome, savedAt, writeSettings } from './read.ts'
export { type HealthPorts } from './health.ts'
export { checkAppSecret, opensSecrets, sealedSettings, secretChange, settingsJobs } from './app-secret.ts'
export { endRecovery, isRecovering, markRestored, noteHeld, readRestored, type Held } from './restored.ts'
export { settingsRetention } from './retention.ts'
export { settingsRoutes } from './routes.ts'
export { type SettingTests } from './health.ts'
