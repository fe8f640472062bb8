// A separate process that starts the database in argv[2], prints it as one line of JSON, and stops it on SIGTERM.
import { startEmbeddedPostgres } from './embedded.ts'

const server = await startEmbeddedPostgres({
  dataDir: process.argv[2] ?? '',
  settings: { fsync: 'off' },
  log: () => undefined
})
const keepAlive = setInterval(() => undefined, 60_000)
process.once('SIGTERM', () => {
  clearInterval(keepAlive)
  void server.stop()
})
console.log(JSON.stringify({ url: server.url, port: server.port, pid: server.pid }))
