/** What keeps a server's agent from holding what the console wants of it, by code. `last_error` of the wire is made of these. */
export const serverTroubles = {
  unreachable: '{message}',
  token_unreadable: 'This APP_SECRET cannot decrypt the stored agent token. Enter the token again.',
  prefixes_refused: 'The agent refused its ranges: {message}',
  prefixes_waiting: 'Users on the agent still use a removed range.',
  removals_waiting:
    'The console does not know {count} of {users} {users|user|users} on the agent. An operator must approve their removal.',
  changes_failing: 'The agent does not accept changes: {message}',
  foreign_console: 'The agent belongs to another console: {name} ({owner}). This console sends nothing to it.',
  older_console:
    'The agent has data that this console does not know, such as after a restored backup. An operator must approve the repair: {removed} {removed|user|users} removed, {changed} changed, {ranges} {ranges|range|ranges} removed.',
  not_served:
    'No request has passed through the proxy since the last installation. The server sells nothing until one does. The console tries every minute. Check that it can reach the proxy port, or reinstall the agent.',
  other_port:
    'The agent serves proxies on port {theirs}, but customers see port {ours}. The server sells nothing until they match. If /etc/netlet-agent/local.env sets PROXY_PORT, remove it and restart the agent, or enter port {theirs} in the server form. Otherwise, reinstall the agent.'
} as const

export type ServerTrouble = keyof typeof serverTroubles
