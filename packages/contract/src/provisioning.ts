/** Results and failures of an installation over SSH, by code. The wire's `message` is composed of them. */
export const provisioningMessages = {
  unexpected: 'This step failed unexpectedly. See the log for details.',
  machine_busy: 'Other changes to this server are taking too long. Try again.',
  no_password: 'Enter the root password or private key in the server form first.',
  ssh_refused: '{host} did not accept the password or key of {username}.',
  ssh_timeout: '{host}:{port} did not respond within {seconds} s.',
  ssh_key_changed:
    'The SSH host key of {host} has changed from {was} to {is}. The console sent nothing to it. If this is the right machine, accept the key in the console.',
  ssh_key_unexpected:
    'The SSH host key of {host} is {is} instead of {was}. The console sent nothing to it. If this is the right machine, accept the key in the console.',
  ssh_other_key:
    '{host} no longer shows a host key of the known type. The console sent nothing to it. If you reinstalled the machine, enter the fingerprint of its new key in the server form.',
  ssh_closed: '{host} closed the connection.',
  ssh_failed: 'No SSH connection to {host}:{port}: {problem}',
  ssh_ended: 'The connection attempt was stopped.',
  key_unreadable: 'The private key cannot be read. Use a PEM key without a passphrase.',
  machine_said: '{output}',
  command_ended: 'A command exited with code {code}.',
  no_room:
    '{folder} has {free} MB free, but the files need {needed} MB. Nothing was changed. Free up space there first.',
  not_arrived: 'The copy of {path} is damaged or incomplete.',
  only_linux: 'The agent runs on Linux only, but this machine runs {system}.',
  other_machine:
    'This machine is {theirs}, but the console runs on {ours} and can install only on the same type. Install the agent there manually.',
  not_root: 'The login is not root. The agent needs root to set its routes.',
  tool_missing: '{tool} is not installed on the machine.',
  no_service_manager: 'The machine has neither systemd nor setsid.',
  runtime_fails: 'The Node runtime does not start on the machine: {output}',
  port_closed:
    'The agent is running, but the console cannot reach {address} ({problem}). Open that port for the console in the firewall.',
  no_answer: 'The agent does not respond: {problem}. Its log ends with: {log}',
  foreign_console:
    'The agent belongs to another console: {name} ({owner}). Nothing was changed. Enter its token in the server form, then take it over.',
  older_console:
    'The agent has data that this console does not know, such as after a restored backup. Nothing was changed. An operator must approve the repair first.',
  console_shut_out:
    "AGENT_ALLOW_CLIENTS does not include {address}, this console's address, so the agent would refuse its connections. Nothing was changed. Add that address to the list.",
  not_installed: "This console's agent is not on the machine. Install it first.",
  taken_over: 'Open tunnels continue in the previous program until they end.',
  restarted: 'The agent restarted, which closed its open tunnels.',
  takeover_failed: 'The new program did not take over: {reason}',
  prefixes_refused: 'The agent refused its ranges: {message}',
  runs_without_ranges:
    '{problem} The new installation keeps running: as far as it could be tested, it works no worse than before.',
  check_failed: 'A request through the proxy reached "{before}" before. Now the result is: {after}.',
  local_port:
    'The agent serves proxies on port {theirs}, but customers see port {ours}. {file} on the machine sets PROXY_PORT, which takes precedence. Remove it there, or enter port {theirs} in the server form.',
  rolled_back: '{problem} The previous program and settings are running again.',
  rollback_failed: '{problem} The previous program and settings could not be restored either: {also}',
  proxy_silent:
    'Port {port} on the first leased address does not respond, so the server sells nothing. Check that the ranges are routed there and that this console can reach the port. The console tries every minute, and sales resume once a request gets through.',
  proxy_not_tried: 'The proxy at {address} could not be tested. Check it yourself.',
  runs_as_service: 'The agent runs as a systemd service.',
  runs_alone: 'The agent runs without systemd. After a reboot, run {command} start.',
  no_tls: 'The machine has no openssl, so the agent has no TLS. Allow only the console to reach its port.',
  ranges_loaded: '{count} {count|range is|ranges are} loaded.',
  ranges_not_local:
    '{count} {count|range is|ranges are} loaded, but some are not local yet. Run this on the machine as root: {commands}',
  ranges_over_ssh: 'The ranges were sent over SSH, because the console cannot reach the management port.'
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
