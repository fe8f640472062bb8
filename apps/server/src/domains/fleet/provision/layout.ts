/** Where things are on a proxy server, and what the small text files among them say. */
export type Layout = ReturnType<typeof layoutOf>

/** @param root '' on a real server; tests install below a folder of their own */
export function layoutOf(root: string) {
  const home = `${root}/opt/netlet-agent`
  const settings = `${root}/etc/netlet-agent`
  return {
    home,
    settings,
    node: `${home}/bin/node`,
    agent: `${home}/bin/agent.mjs`,
    /** The agent reads its version there. */
    manifest: `${home}/package.json`,
    control: `${home}/bin/control`,
    environment: `${settings}/agent.env`,
    certificate: `${settings}/cert.pem`,
    key: `${settings}/key.pem`,
    unit: `${root}/etc/systemd/system/netlet-agent.service`,
    state: `${root}/var/lib/netlet-agent`,
    log: `${root}/var/log/netlet-agent.log`,
    pid: `${home}/agent.pid`
  }
}

/** A word of a shell command, whatever is in it. */
export const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

export type AgentSettings = {
  host: string
  port: number
  proxyPort: number
  token: string
  /** Answers with the certificate that is beside the settings. */
  secure: boolean
}

/** What a token may consist of, so that every reader of the settings file reads the same. */
export const PLAIN_TOKEN = /^[A-Za-z0-9._~+/=-]{8,}$/

/** The agent's environment: one file that both systemd and a shell read. */
export function environmentOf(layout: Layout, settings: AgentSettings): string {
  const lines = [
    `AGENT_HOST=${settings.host}`,
    `AGENT_PORT=${settings.port}`,
    `PROXY_PORT=${settings.proxyPort}`,
    `AGENT_TOKEN=${settings.token}`,
    `DATA_DIR=${layout.state}`,
    ...(settings.secure ? [`AGENT_TLS_CERT=${layout.certificate}`, `AGENT_TLS_KEY=${layout.key}`] : [])
  ]
  return `${lines.join('\n')}\n`
}

/** Root, since routes for whole ranges are root's to set; what the agent does not need is closed to it. */
export const unitOf = (layout: Layout): string => `[Unit]
Description=Netlet node agent
Wants=network-online.target
After=network-online.target

[Service]
EnvironmentFile=${layout.environment}
ExecStart=${layout.node} ${layout.agent}
Restart=always
RestartSec=2
LimitNOFILE=1048576
NoNewPrivileges=yes
ProtectHome=yes
ProtectSystem=full
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
`

/** Starts and stops the agent where there is no systemd, such as in a container. */
export const controlOf = (layout: Layout): string => `#!/bin/sh
# control start|stop|restart: the Netlet agent on a machine without systemd
agent=${quote(layout.agent)}
pid=${quote(layout.pid)}
# The number may belong to a stranger since the last boot.
running() { [ -s "$pid" ] && tr '\\0' ' ' < "/proc/$(cat "$pid")/cmdline" 2>/dev/null | grep -qF "$agent"; }
stop() {
  running || return 0
  kill "$(cat "$pid")"
  left=100
  while running && [ "$left" -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
  running && kill -9 "$(cat "$pid")"
  rm -f "$pid"
}
start() {
  running && return 0
  set -a
  . ${quote(layout.environment)}
  set +a
  setsid ${quote(layout.node)} "$agent" < /dev/null >> ${quote(layout.log)} 2>&1 &
  echo $! > "$pid"
}
case "$1" in
  start) start ;;
  stop) stop ;;
  restart) stop; start ;;
  *) echo "start, stop or restart?" >&2; exit 2 ;;
esac
`
