/** What an installation over SSH came to, or why it failed, by code. `message` of the wire is made of these. */
export const provisioningMessages = {
  unexpected: 'This step failed unexpectedly. The log says more.',
  machine_busy: 'Other changes of this server take too long. Try again.',
  no_password: "Enter root's password or private key in the server's form first",
  ssh_refused: '{host} did not accept the password or key of {username}',
  ssh_timeout: '{host}:{port} did not answer within {seconds} s',
  ssh_key_changed:
    'The SSH host key of {host} has changed: it was {was} and is {is} now. Nothing was sent to it. If the machine was reinstalled, save the server with its host key forgotten.',
  ssh_other_key:
    'The SSH host key of {host} has changed: it has none of the remembered kind any more. Nothing was sent to it. If the machine was reinstalled, save the server with its host key forgotten.',
  ssh_closed: '{host} closed the connection',
  ssh_failed: 'No SSH connection to {host}:{port}: {problem}',
  ssh_ended: 'The attempt to connect was ended',
  key_unreadable: 'The private key cannot be read. It must be one in PEM without a passphrase.',
  machine_said: '{output}',
  command_ended: 'A command ended with code {code}',
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
  prefixes_refused: 'The agent did not take its ranges: {message}',
  runs_as_service: 'The agent runs as a systemd service.',
  runs_alone: 'The agent runs without systemd: after a reboot, {command} start has to be run.',
  no_tls: 'Without openssl there it has no TLS: keep its port to the console alone.',
  ranges_loaded: '{count} ranges are loaded.',
  ranges_not_local: '{count} ranges are loaded, but some are not local yet. Run there as root: {commands}',
  ranges_over_ssh: 'They went over SSH: the management port is not reachable from the console.'
} as const
export type ProvisioningCode = keyof typeof provisioningMessages
