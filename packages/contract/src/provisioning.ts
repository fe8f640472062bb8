/** Results and failures of an installation over SSH, by code. The wire's `message` is composed of them. */
export const provisioningMessages = {
  unexpected: 'This step failed unexpectedly. The log says more.',
  machine_busy: 'Other changes of this server take too long. Try again.',
  no_password: "Enter root's password or private key in the server's form first",
  ssh_refused: '{host} did not accept the password or key of {username}',
  ssh_timeout: '{host}:{port} did not answer within {seconds} s',
  ssh_key_changed:
    'The SSH host key of {host} has changed: it was {was} and is {is} now. Nothing was sent to it. If the machine is the right one, accept this key in the console.',
  ssh_key_unexpected:
    'The SSH host key of {host} is {is}, and {was} was expected. Nothing was sent to it. If the machine is the right one, accept this key in the console.',
  ssh_other_key:
    'The SSH host key of {host} has changed: it has none of the remembered kind any more. Nothing was sent to it. If the machine was reinstalled, enter the fingerprint of its new key in the form of the server.',
  ssh_closed: '{host} closed the connection',
  ssh_failed: 'No SSH connection to {host}:{port}: {problem}',
  ssh_ended: 'The attempt to connect was ended',
  key_unreadable: 'The private key cannot be read. It must be one in PEM without a passphrase.',
  machine_said: '{output}',
  command_ended: 'A command ended with code {code}',
  no_room:
    'There are {free} MB of room at {folder}, and what has to be copied needs {needed} MB. Nothing was changed: make room there first.',
  not_arrived: '{path} did not arrive as it was sent',
  only_linux: 'The agent can be installed on Linux only; this machine runs {system}',
  other_machine:
    'This machine is {theirs}, and the console runs on {ours}: it can only install on machines of its own kind. Install the agent there by hand.',
  not_root: 'The login is not root: the agent needs root to set its routes',
  tool_missing: '{tool} is missing there',
  no_service_manager: 'There is neither systemd nor setsid on this machine',
  runtime_fails: 'The Node runtime does not start there: {output}',
  port_closed:
    'The agent runs, but the console does not reach {address} ({problem}). Open that port for the console in the firewall.',
  no_answer: 'The agent does not answer: {problem}. Its log ends with: {log}',
  foreign_console:
    'The agent there belongs to another console: {name} ({owner}). Nothing was changed. Enter its token in the form of the server, and take it over first.',
  older_console:
    'The agent there was told things that this console does not know, as after a restored backup. Nothing was changed. An administrator has to approve what would be done, first.',
  console_shut_out:
    'AGENT_ALLOW_CLIENTS of its settings leaves out {address}, where this console comes from: the agent would take none of its connections any more. Nothing was changed. Add that address to the list.',
  not_installed: 'There is no agent of this console on the machine: install it first.',
  taken_over: 'Open tunnels stay with the previous program until they end.',
  restarted: 'The agent was restarted, which ended its open tunnels.',
  takeover_failed: 'The new program did not take over: {reason}',
  prefixes_refused: 'The agent did not take its ranges: {message}',
  runs_without_ranges:
    '{problem} What was installed runs all the same: as far as it could be tried, it serves no worse than before.',
  check_failed: 'A request through the proxy came as far as "{before}" before, and now: {after}.',
  local_port:
    'The agent serves proxies on port {theirs}, and customers are shown port {ours}: {file} on its machine sets PROXY_PORT, which wins. Take it out there, or enter port {theirs} in the form of the server.',
  rolled_back: '{problem} The previous program and settings are running again.',
  rollback_failed: '{problem} Restoring the previous program and settings also failed: {also}',
  proxy_silent:
    'Nothing answered on port {port} of its first leased address, so that the server sells nothing. See that the ranges arrive there, and that this console reaches the port: it is tried each minute, and the server sells once a request comes through.',
  proxy_not_tried: 'Nothing could be tried through the proxy at {address}: see for yourself that it serves.',
  runs_as_service: 'The agent runs as a systemd service.',
  runs_alone: 'The agent runs without systemd: after a reboot, {command} start has to be run.',
  no_tls: 'Without openssl there it has no TLS: keep its port to the console alone.',
  ranges_loaded: '{count} {count|range is|ranges are} loaded.',
  ranges_not_local:
    '{count} {count|range is|ranges are} loaded, but some are not local yet. Run there as root: {commands}',
  ranges_over_ssh: 'They went over SSH: the management port is not reachable from the console.'
} as const
export type ProvisioningCode = keyof typeof provisioningMessages

/** The steps of an installation over SSH, in order. */
export const PROVISIONING_STEPS = [
  'waiting',
  'connect',
  'examine',
  'upload',
  'configure',
  'start',
  'wait',
  'ranges',
  'check',
  'done'
] as const
export type ProvisioningStep = (typeof PROVISIONING_STEPS)[number]
