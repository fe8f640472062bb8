import type { DemoSettings } from './settings.ts'

/** What the demo's node agent is told, for the demo's own machine. */
export const agentEnvironment = (
  { agentPort, proxyPort, secrets }: Pick<DemoSettings, 'agentPort' | 'proxyPort' | 'secrets'>,
  dataDir: string
) => ({
  AGENT_HOST: '127.0.0.1',
  AGENT_PORT: String(agentPort),
  PROXY_PORT: String(proxyPort),
  PROXY_HOST: '0.0.0.0',
  AGENT_TOKEN: secrets.agentToken,
  // The demo's addresses and targets are this machine itself.
  AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8',
  DATA_DIR: dataDir
})
