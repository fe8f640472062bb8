export { storeLogLines } from './log-lines.ts'
export { readSettings, writeSettings } from './read.ts'
export { settingsRoutes } from './routes.ts'
