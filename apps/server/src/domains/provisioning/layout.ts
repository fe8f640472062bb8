import { type AgentSettingName, readSetting } from '@netlet/contract/agent-settings'
import { makePrefix, parsePrefix, parsePrefixes } from '@netlet/contract/prefixes'
import { isWithin } from '../proofs/index.ts'

/** Where files are on a proxy server, and the contents of the small text files among them. */
export type Layout = ReturnType<typeof layoutOf>

/** @param root '' on a real server; tests install below a folder of their own */
export function layoutOf(root: string) {
  const home = `${root}/opt/netlet-agent`
  const settings = `${root}/etc/netlet-agent`
  return {
    /** `releases/`, and the links `current` (what starts), `good` (what last passed its check) and `previous`. */
    home,
    settings,
    // `bin` is a link to `current/bin`.
    node: `${home}/bin/node`,
    agent: `${home}/bin/agent.mjs`,
    control: `${home}/bin/control`,
    /** The console's settings: a link to the file of the current release. */
    environment: `${settings}/agent.env`,
    /** The operator's own settings: written once, never changed again, and read after ours. */
    local: `${settings}/local.env`,
    /** Kernel settings that a proxy needs. */
    kernel: `${root}/etc/sysctl.d/60-netlet-agent.conf`,
    certificate: `${settings}/cert.pem`,
    key: `${settings}/key.pem`,
    unit: `${root}/etc/systemd/system/netlet-agent.service`,
    state: `${root}/var/lib/netlet-agent`,
    log: `${root}/var/log/netlet-agent.log`,
    pid: `${home}/agent.pid`
  }
}

/** Quotes any text as one word of a shell command. */
export const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

export type InstalledSettings = {
  host: string
  port: number
  proxyPort: number
  token: string
  /** Answers with the certificate beside the settings. */
  secure: boolean
  /** What operators set for this server in the console. Checked: nothing in it has a meaning to a shell. */
  own: Readonly<Record<string, string>>
}

/** What a token may consist of, so that every reader of the settings file reads the same. */
export const PLAIN_TOKEN = /^[A-Za-z0-9._~+/=-]{8,}$/

/** The agent's environment: one file that both systemd and a shell read. */
export function environmentOf(layout: Layout, settings: InstalledSettings): string {
  const lines = [
    `AGENT_HOST=${settings.host}`,
    `AGENT_PORT=${settings.port}`,
    `PROXY_PORT=${settings.proxyPort}`,
    `AGENT_TOKEN=${settings.token}`,
    `DATA_DIR=${layout.state}`,
    ...(settings.secure ? [`AGENT_TLS_CERT=${layout.certificate}`, `AGENT_TLS_KEY=${layout.key}`] : [])
  ]
  return `${lines.join('\n')}\n${environmentLines(settings.own)}`
}

/** One setting a line; '' for none. The texts are normalised, so that nothing in them has a meaning to a shell. */
export const environmentLines = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

/**
 * The operator's file at first: comments only.
 * @param consoleAddress where the console logged in from, as sshd saw it; '' if unknown
 */
export const localOf = (
  consoleAddress: string
): string => `# Settings of your own for the Netlet agent, one NAME=value a line.
# They are read after agent.env and win; no installation and no upgrade writes to this file.
# Apply changes without cutting a tunnel: systemctl reload netlet-agent
#
# Management API from these addresses only (and from this machine). The console begins with its own;
# what stands here wins over what is set there:
# AGENT_ALLOW_CLIENTS=${consoleAddress || '203.0.113.7'}
`

/** Read at each boot. A file that sorts after this one can set other values. */
export const KERNEL_SETTINGS = `# Written by Netlet. Put values of your own into a file that sorts after this one, such as 90-local.conf.
# Connections that wait to be taken.
net.core.somaxconn = 65535
net.ipv4.tcp_max_syn_backlog = 65535
# Local ports of connections to targets: per leased address and target. The agent's own ports are outside.
net.ipv4.ip_local_port_range = 10240 65000
# Leased IPv6 addresses are bound without being on an interface.
net.ipv6.ip_nonlocal_bind = 1
# Only where connection tracking is loaded.
-net.netfilter.nf_conntrack_max = 1048576
`

/** Runs as root, because only root can set routes for whole ranges. Everything else is closed to the agent. */
export const serviceFileOf = (layout: Layout): string => `[Unit]
Description=Netlet node agent
Wants=network-online.target
After=network-online.target
# However often it fails, it is started again.
StartLimitIntervalSec=0

[Service]
EnvironmentFile=${layout.environment}
EnvironmentFile=-${layout.local}
# A reload reads them again: it replaces the program without cutting tunnels.
Environment=AGENT_SETTINGS_FILES=${layout.environment},${layout.local}
ExecStart=${layout.node} ${layout.agent}
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=2
# The agent says that it is well; a loop that hangs, or workers that never serve again, end in a restart.
WatchdogSec=90
NotifyAccess=all
# The managing process stops its workers.
KillMode=mixed
TimeoutStopSec=30
# The system ends the process that took too much: a worker is replaced, and the others serve on.
OOMPolicy=continue
MemoryHigh=80%
MemoryMax=90%
TasksMax=4096
LimitNOFILE=1048576
# The managing process runs after its workers, and starts them with the priority that it had itself.
LimitNICE=+0
# Routes of the ranges, and ports below 1024; nothing else of root's.
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_BIND_SERVICE
AmbientCapabilities=
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths=${layout.state}
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
RemoveIPC=yes
UMask=0077
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`

/** Starts and stops the agent on a machine without systemd, such as a container. */
export const controlOf = (layout: Layout): string => `#!/bin/sh
# control start|stop|restart|reload: the Netlet agent on a machine without systemd
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
  [ ! -r ${quote(layout.local)} ] || . ${quote(layout.local)}
  # A reload reads them again, and the process that takes over writes its number there.
  AGENT_SETTINGS_FILES=${quote(`${layout.environment},${layout.local}`)}
  AGENT_PID_FILE=$pid
  set +a
  setsid ${quote(layout.node)} "$agent" < /dev/null >> ${quote(layout.log)} 2>&1 &
  echo $! > "$pid"
}
# Replaces the program without cutting tunnels, as \`systemctl reload\` does.
reload() { running && kill -HUP "$(cat "$pid")"; }
case "$1" in
  start) start ;;
  stop) stop ;;
  restart) stop; start ;;
  reload) reload ;;
  *) echo "start, stop, restart or reload?" >&2; exit 2 ;;
esac
`

/** Who, besides its own machine, may reach an agent's management API; empty: anyone. */
export const CLIENT_LIST: AgentSettingName = 'AGENT_ALLOW_CLIENTS'

/**
 * Whether this list would keep the console out. Agents always accept connections from their own machine.
 * @param address where the console comes from; '' or null: unknown
 */
export function shutsOut(list: string, address: string | null): boolean {
  if (list === '' || !address || isWithin(address, ['127.0.0.0/8', '::1/128'])) return false
  const read = parsePrefixes(list.split(','))
  return (
    read.ok &&
    !isWithin(
      address,
      read.prefixes.map(prefix => prefix.text)
    )
  )
}

/**
 * The settings of a first installation: only the console may reach the management API. Nothing is added if the
 * console's address is unknown or local, or if the settings have a list.
 * @param address where the console logged in from. Of IPv6 its /64 network is used, because the rest may change daily.
 * @param others addresses of its other machines, if it has some
 */
export function closedToOthers(
  settings: Readonly<Record<string, string>>,
  address: string,
  others: readonly string[]
): Readonly<Record<string, string>> {
  if (CLIENT_LIST in settings || address === '' || isWithin(address, ['127.0.0.0/8', '::1/128'])) return settings
  const list = readSetting(CLIENT_LIST, [networkOf(address), ...others].join(','))
  return list.ok ? { ...settings, [CLIENT_LIST]: list.value } : settings
}

/** An IPv4 address as it is, or the /64 network of an IPv6 address. */
function networkOf(address: string): string {
  const read = parsePrefix(address)
  const network = read?.family === 6 ? makePrefix(6, (read.first >> 64n) << 64n, 64) : null
  return network?.text ?? address
}
