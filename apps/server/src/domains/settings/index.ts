export { readSettings, writeSettings } from './read.ts'
