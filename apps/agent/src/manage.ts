import { pino } from 'pino'
import { startAgent } from './agent.ts'
import { readConfig, type Times } from './config.ts'
import { isFollowed, lowerPriority, writePid } from './main-process.ts'
import { channelOf, TAKEOVER, type ToPredecessor, type ToSuccessor } from './takeover/messages.ts'
import { SettingsFiles } from './takeover/settings-files.ts'
import { Predecessor } from './takeover/predecessor.ts'
import { ownProgram } from './takeover/start-program.ts'
import { Takeover } from './takeover/takeover.ts'

/**
 * Runs the agent until a signal ends it or another process takes over.
 * @param file path of the agent's program
 */
export async function manage(file: string, times: Partial<Times> = {}): Promise<void> {
  const named = ownProgram(file)
  const settings = await SettingsFiles.of(process.env)
  const isSuccessor = process.argv[2] === TAKEOVER && process.channel !== undefined
  const before = isSuccessor ? new Predecessor(channelOf<ToSuccessor, ToPredecessor>(process)) : null
  const stop = (message: string): never => {
    before?.failed(message)
    console.error(message)
    process.exit(1)
  }
  const read = readConfig(process.env)
  if (!read.ok) return stop(read.message)
  // Without workers this process carries the tunnels, so it keeps its priority.
  if (read.config.workers > 0) lowerPriority()
  const log = pino({ level: process.env['LOG_LEVEL'] ?? 'info', base: null })
  let takeover: Takeover | null = null
  // A supervisor sends it to reload settings, so it must never end the process. One that comes before the agent serves waits until it does.
  let mustReload = false
  process.on('SIGHUP', () => (takeover === null ? (mustReload = true) : takeover.begin()))
  const started = await startAgent(read.config, { log, program: file, path: named.path, times }, before)
  if (!started.ok) return stop(started.message)
  const { agent } = started
  if (before === null) {
    try {
      await writePid(process.env)
    } catch (error) {
      await agent.close()
      return stop(`The file of AGENT_PID_FILE cannot be written (${(error as NodeJS.ErrnoException).code}).`)
    }
  }
  const { host } = read.config
  log.info(`Proxies listen on port ${agent.proxyPort}, the management API on ${host}:${agent.port}.`)
  if (read.config.token === null) log.info(`The management token is in ${read.config.folder}/token.`)
  if (read.config.tls === null && !/^(?:127\.|::1$|localhost$)/.test(host)) {
    log.warn('The management API is reachable from outside without TLS: set AGENT_TLS_CERT and AGENT_TLS_KEY.')
  }
  const { takeoverMs, drainMs } = read.config
  const program = async () => ({ ...named, env: await settings.read() })
  const goesOn = () => void agent.renewCertificate()
  const handing = new Takeover(
    agent.handOver,
    { isFollowed: isFollowed(process.env), program, readyMs: takeoverMs, drainMs, goesOn },
    log
  )
  takeover = handing
  if (mustReload) handing.begin()
  void handing.over.then(() => process.exit(0))
  void handing.lost.then(() => agent.close()).then(() => process.exit(1))
  let stopping = false
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      void handing
        .stop()
        .then(() => (handing.isDraining ? undefined : agent.close()))
        .then(() => process.exit(0))
    })
  }
}
