import { pino } from 'pino'
import { startAgent } from './agent.ts'
import { readConfig } from './config.ts'

const stop = (message: string): never => {
  console.error(message)
  process.exit(1)
}

/** Runs the agent until a signal ends it. @param program the file of the agent's program */
export async function manage(program: string): Promise<void> {
  const read = readConfig(process.env)
  if (!read.ok) stop(read.message)
  else {
    const log = pino({ level: process.env['LOG_LEVEL'] ?? 'info', base: null })
    const started = await startAgent(read.config, { log, program })
    if (!started.ok) stop(started.message)
    else {
      const { agent } = started
      const { host } = read.config
      log.info(`Proxies listen on port ${agent.proxyPort}, the management API on ${host}:${agent.port}.`)
      if (read.config.token === null) log.info(`The management token is in ${read.config.folder}/token.`)
      if (read.config.tls === null && host !== '127.0.0.1' && host !== '::1') {
        log.warn('The management API is reachable from outside without TLS: set AGENT_TLS_CERT and AGENT_TLS_KEY.')
      }
      let stopping = false
      // Its settings are read at the start alone: what asks others to read them again must not end every tunnel.
      process.on('SIGHUP', () => log.info('SIGHUP: settings are read at the start; restart the agent for new ones.'))
      for (const signal of ['SIGTERM', 'SIGINT']) {
        process.on(signal, () => {
          if (stopping) return
          stopping = true
          void agent.close().then(() => process.exit(0))
        })
      }
    }
  }
}
