import type { AgentSettingName } from '@netlet/contract/agent-settings'

/** What docs/CONFIGURATION.md says of a variable. Defaults of settings that the console knows are in the contract. */
type About = { fallback?: string; meaning: string }

/** Settings that only the server's own environment has. */
export const OWN_SETTINGS = {
  AGENT_HOST: { fallback: '`127.0.0.1`', meaning: 'where the management API listens' },
  AGENT_PORT: { fallback: '65533', meaning: 'its port; 0: the system chooses' },
  AGENT_TOKEN: { fallback: 'generated', meaning: 'its bearer token, at least 8 characters' },
  AGENT_TLS_CERT: { meaning: 'PEM file: the API then speaks TLS only' },
  AGENT_TLS_KEY: { meaning: 'PEM file with the key of `AGENT_TLS_CERT`' },
  PROXY_HOST: { fallback: '`::`', meaning: 'hosts of the proxies, comma-separated; `::` includes IPv4' },
  PROXY_PORT: { fallback: '3128', meaning: 'port of the proxies' },
  PROXY_TLS_CERT: { meaning: "PEM file for TLS to the proxies, instead of the console's" },
  PROXY_TLS_KEY: { meaning: 'PEM file with the key of `PROXY_TLS_CERT`' },
  DATA_DIR: { fallback: '`./data`', meaning: 'files are in `agent/` below it' },
  AGENT_ALLOW_DESTINATIONS: { meaning: 'prefixes that may be reached although they are not public' },
  AGENT_ECH_NAMES: { fallback: '`cloudflare-ech.com`', meaning: 'visible names of encrypted TLS hellos' },
  AGENT_SOCKETS: { fallback: '`auto`', meaning: '`handles`, `streams` (public interfaces); `auto` tries handles' },
  AGENT_TLS_RATE: { fallback: '300', meaning: 'TLS handshakes a second in each worker' },
  AGENT_TLS_CLIENT_RATE: { fallback: '50', meaning: 'the same of a client that has not logged in' },
  AGENT_TAKEOVER_SECONDS: { fallback: '60', meaning: 'how long a new process may take to be ready' },
  AGENT_SETTINGS_FILES: { meaning: 'environment files that a takeover reads again; later ones win' },
  AGENT_PID_FILE: { meaning: 'file with the process number, which a supervisor other than systemd follows' },
  LOG_LEVEL: { fallback: '`info`', meaning: "of the agent's own messages on standard output" }
} as const satisfies Record<string, About>

/** Settings that can also be set in the console for each server. */
export const CONSOLE_SETTINGS: Record<AgentSettingName, { meaning: string }> = {
  AGENT_ALLOW_CLIENTS: { meaning: 'addresses and prefixes that reach the API, if not all; this machine always does' },
  AGENT_ALLOW_PORTS: { meaning: 'destination ports that are open, with ranges (`80,8000-8999`), if not all' },
  AGENT_DENY_PORTS: { meaning: 'destination ports that are closed in any case' },
  AGENT_OWN_PORTS: { meaning: "ports of the server's own addresses that customers may reach" },
  AGENT_PROTECTED_PORTS: { meaning: "ports that customers never reach; the API's is one" },
  AGENT_UDP: { meaning: '`off`: no UDP ASSOCIATE' },
  AGENT_WORKERS: {
    meaning:
      'worker processes (several: Linux), best one for each core but one; 0: the managing process does their work'
  },
  AGENT_IDLE_SECONDS: { meaning: 'silence that ends a tunnel' },
  AGENT_DRAIN_SECONDS: {
    meaning: "how long a replaced process keeps tunnels (the new process's value); 0: not at all"
  },
  AGENT_CONNECTIONS: { meaning: 'open connections in all, shared; fewer if file handles are short' },
  AGENT_USER_CONNECTIONS: { meaning: 'open connections of a user' },
  AGENT_ADDRESS_CONNECTIONS: { meaning: 'open connections of a leased address' },
  AGENT_CUSTOMER_CONNECTIONS: { meaning: 'open connections of a client (IPv6: /64) that has logged in' },
  AGENT_CLIENT_CONNECTIONS: { meaning: 'open connections of a client that has not, in each worker' },
  AGENT_USER_RATE: { meaning: 'new connections a second of a user, shared' },
  AGENT_ADDRESS_RATE: { meaning: 'new connections a second of a leased address, shared' },
  AGENT_CLIENT_RATE: { meaning: 'new connections a second of a client, shared' },
  AGENT_FAILED_LOGINS: { meaning: 'wrong passwords of a client at once, shared' },
  AGENT_FAILED_LOGIN_SECONDS: { meaning: 'seconds until one more; shared' },
  AGENT_ALARM_SCAN: { meaning: 'alarm: targets that fail for one user in a minute, shared' },
  AGENT_ALARM_FLOOD: { meaning: 'alarm: connections of one user to one target in a minute, shared' },
  AGENT_ALARM_MAIL: { meaning: 'alarm: tries of one user at closed ports in a minute, shared' },
  AGENT_ALARM_GUESSING: { meaning: 'alarm: wrong passwords for one user in a minute, shared' },
  AGENT_LOG_MEGABYTES: { meaning: 'size at which the access log rotates' },
  AGENT_LOG_FILES: { meaning: 'how many old files of it stay (300 MB in all)' }
}

/** Every variable that the agent reads. */
export type VariableName = keyof typeof OWN_SETTINGS | AgentSettingName
