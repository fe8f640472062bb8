// A serving process: proxies on the shared port by the state that the managing process sends.
import { piecesOf } from '../proxy/traffic-meter.ts'
import { nextTurn } from '../turns.ts'
import { LocalPlane, ROWS_A_TURN } from './local.ts'
import type { FromWorker, ToWorker } from './messages.ts'

// What was loaded before may have let go of it, and nothing else keeps a worker alive before it listens.
process.channel?.ref()

const LOG_EVERY_MS = 200
let local: LocalPlane | null = null
let lines: string[] = []

const send = (message: FromWorker): void => {
  process.send?.(message)
}

function sendLog(): void {
  if (lines.length === 0) return
  send({ type: 'log', text: lines.join('\n'), lines: lines.length })
  lines = []
}

async function listen(): Promise<void> {
  if (local === null) return
  const listening = await local.listen()
  send(listening.ok ? { type: 'listening', port: listening.port } : { type: 'failed', ...listening })
}

async function collect(id: number): Promise<void> {
  for (const rows of piecesOf(local?.plane.collect() ?? [], ROWS_A_TURN)) {
    send({ type: 'rows', rows })
    await nextTurn()
  }
  sendLog()
  send({ type: 'collected', id, connections: local?.plane.connections ?? 0 })
}

process.on('message', (message: ToWorker) => {
  if (message.type === 'start') {
    local = new LocalPlane(message.config, line => lines.push(line))
    setInterval(sendLog, LOG_EVERY_MS).unref()
  } else if (message.type === 'listen') void listen()
  else if (message.type === 'ops') {
    void local?.plane.apply(message.ops).then(() => send({ type: 'applied', id: message.id }))
  } else if (message.type === 'entries') {
    local?.plane.accessTable.prepare(message.list, message.entries)
    send({ type: 'applied', id: message.id })
  } else if (message.type === 'collect' || message.type === 'stop') {
    if (message.type === 'stop') local?.close()
    void collect(message.id)
  } else local?.reload()
})

// The managing process alone decides when workers stop; a signal to the whole group is its business.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
// Without it nobody would tell of changes any more: better to serve nothing than by an old state.
process.on('disconnect', () => process.exit(0))
