// A worker: it serves proxies on the shared port, by the state that the managing process sends.
import type { SendHandle } from 'node:child_process'
import { borrowed, type ListenHandle, type Listener } from '../net/listen-handle.ts'
import { piecesOf } from '../proxy/traffic-meter.ts'
import { endConnections, listConnections } from '../proxy/live-connections.ts'
import { noFigures } from '../proxy/plane-figures.ts'
import { nextTurn } from '../turns.ts'
import { LocalPlane, ROWS_A_TURN } from './local.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { ProcessMeter } from './process-figures.ts'

// Imports may have unreferenced the channel, and only the channel keeps a worker alive before it listens.
process.channel?.ref()

const LOG_EVERY_MS = 200
const meter = new ProcessMeter()
let local: LocalPlane | null = null
let lines: string[] = []
/** How long changed counts are gathered before they are sent. */
const TELL_MS = 20
let telling: NodeJS.Timeout | null = null

/** Sockets of a predecessor. */
const opened: Listener[] = []

const send = (message: FromWorker, handle?: ListenHandle): void => {
  process.send?.(message, handle as SendHandle | undefined)
}

function sendLog(): void {
  if (lines.length === 0) return
  send({ type: 'log', text: lines.join('\n'), lines: lines.length })
  lines = []
}

function sendOpen(): void {
  const open = local?.plane.shared.reportableChanges() ?? []
  if (open.length > 0) send({ type: 'open', open })
}

function sendOpenCount(): void {
  telling ??= setTimeout(() => {
    telling = null
    sendOpen()
  }, TELL_MS)
}

async function listen(): Promise<void> {
  if (local === null) return
  const listening = await local.listen(opened.splice(0))
  send(listening.ok ? { type: 'listening', ...listening } : { type: 'failed', ...listening })
}

async function collect(id: number): Promise<void> {
  for (const rows of piecesOf((await local?.plane.collectInTurns()) ?? [], ROWS_A_TURN)) {
    send({ type: 'rows', rows })
    await nextTurn()
  }
  sendLog()
  const report = {
    plane: local?.figures() ?? noFigures(),
    process: await meter.read(),
    signs: local?.plane.abuse.take() ?? []
  }
  const { connections = 0 } = local?.plane ?? {}
  sendOpen()
  send({ type: 'collected', id, connections, report, speeds: local?.plane.shared.reportableSpeeds() ?? [] })
}

async function look({ id, user, limit }: Extract<ToWorker, { type: 'look' }>): Promise<void> {
  const part =
    local === null ? { total: 0, users: [], connections: [] } : await listConnections(local.plane, user, limit)
  send({ type: 'looked', id, part })
}

async function end({ id, user, connection }: Extract<ToWorker, { type: 'end' }>): Promise<void> {
  send({ type: 'ended', id, ended: local === null ? 0 : await endConnections(local.plane, user, connection) })
}

function lend(id: number): void {
  for (const { host, port, handle } of local?.lend() ?? []) send({ type: 'listener', host, port }, handle)
  send({ type: 'lent', id, open: local?.plane.shared.reportableOpen(true) ?? [] })
}

process.on('message', (message: ToWorker, handle?: unknown) => {
  if (message.type === 'start') {
    local = new LocalPlane(
      message.config,
      line => lines.push(line),
      text => send({ type: 'tell', text })
    )
    setInterval(sendLog, LOG_EVERY_MS).unref()
    local.plane.shared.onMany(sendOpenCount)
  } else if (message.type === 'listener') {
    const { host, port } = message
    if (handle !== undefined) opened.push(borrowed(host, port, handle as ListenHandle))
  } else if (message.type === 'listen') void listen()
  else if (message.type === 'lend') lend(message.id)
  else if (message.type === 'drain') {
    local?.drain()
    send({ type: 'applied', id: message.id })
  } else if (message.type === 'ops') {
    void local?.plane.apply(message.ops).then(() => send({ type: 'applied', id: message.id }))
  } else if (message.type === 'entries') {
    local?.plane.accessTable.prepare(message.list, message.entries)
    send({ type: 'applied', id: message.id })
  } else if (message.type === 'collect' || message.type === 'stop') {
    if (message.type === 'stop') local?.close(message.note)
    void collect(message.id)
  } else if (message.type === 'look') void look(message)
  else if (message.type === 'end') void end(message)
  else if (message.type === 'certificate') local?.secure(message.pem)
  else if (message.type === 'spent') void local?.plane.setSpent(message.users)
  else if (message.type === 'elsewhere') {
    if (local === null) return
    local.plane.shared.isTogether = message.isTogether
    local.plane.shared.setElsewhere(message.open, false)
  } else if (message.type === 'speeds') local?.plane.shared.setSpeeds(message.speeds)
  else local?.reload()
})

// The managing process alone decides when workers stop, even if a signal goes to the whole group.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
// Without the managing process no changes arrive, and serving an old state is worse than serving nothing.
process.on('disconnect', () => process.exit(0))
