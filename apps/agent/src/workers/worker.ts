// A serving process: proxies on the shared port by the state that the managing process sends.
import { LocalPlane } from './local.ts'
import type { FromWorker, ToWorker } from './messages.ts'

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

async function start(message: Extract<ToWorker, { type: 'start' }>): Promise<void> {
  local = new LocalPlane(message.config, line => lines.push(line))
  setInterval(sendLog, LOG_EVERY_MS).unref()
  const listening = await local.listen()
  send(listening.ok ? { type: 'listening', port: listening.port } : { type: 'failed', ...listening })
}

process.on('message', (message: ToWorker) => {
  if (message.type === 'start') void start(message)
  else if (message.type === 'ops') {
    local?.plane.apply(message.ops)
    send({ type: 'applied', id: message.id })
  } else if (message.type === 'collect' || message.type === 'stop') {
    if (message.type === 'stop') local?.close()
    const rows = local?.plane.collect() ?? []
    sendLog()
    send({ type: 'collected', id: message.id, rows })
  } else local?.reload()
})

// The managing process alone decides when workers stop; a signal to the whole group is its business.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
// Without it nobody would tell of changes any more: better to serve nothing than by an old state.
process.on('disconnect', () => process.exit(0))
