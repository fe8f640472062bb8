import { pino } from 'pino'
import { startAgent, type Agent } from '../../../agent/src/agent.ts'
import { readConfig } from '../../../agent/src/config.ts'
import { freePorts } from './free-ports.ts'

export const AGENT_TOKEN = 'the token of a test agent'

/** A node agent that a test can stop and restart, with the same ports and stored state. */
export type AgentRunner = {
  /** @throws while it is stopped */
  readonly agent: Agent
  readonly ports: { agent: number; proxy: number }
  start(): Promise<void>
  stop(): Promise<void>
}

export function createAgentRunner(dataDir: string): AgentRunner {
  let agent: Agent | null = null
  const ports = { agent: 0, proxy: 0 }
  return {
    get agent() {
      if (!agent) throw new Error('The agent is stopped')
      return agent
    },
    ports,
    async start() {
      if (ports.agent === 0) [ports.agent = 0, ports.proxy = 0] = await freePorts(2)
      const config = readConfig({
        AGENT_PORT: String(ports.agent),
        PROXY_PORT: String(ports.proxy),
        PROXY_HOST: '0.0.0.0',
        AGENT_TOKEN,
        AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8',
        AGENT_WORKERS: '0',
        DATA_DIR: dataDir
      })
      if (!config.ok) throw new Error(config.message)
      const started = await startAgent(config.config, { log: pino({ level: 'silent' }) })
      if (!started.ok) throw new Error(started.message)
      agent = started.agent
    },
    async stop() {
      await agent?.close()
      agent = null
    }
  }
}
