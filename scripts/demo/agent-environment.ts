import type { DemoSettings } from './settings.ts'

/** The environment of the demo's node agent. */
export const agentEnvironment = (
  { agentPort, proxyPort, secrets }: Pick<DemoSettings, 'agentPort' | 'proxyPort' | 'secrets'>,
  dataDir: string
) => ({
  AGENT_HOST: '127.0.0.1',
  AGENT_PORT: String(agentPort),
  PROXY_PORT: String(proxyPort),
  PROXY_HOST: '0.0.0.0',
  AGENT_TOKEN: secrets.agentToken,
  // The demo's addresses and targets are on this machine.
  AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8',
  DATA_DIR: dataDir
})
