/** Problems of a server's agent, found by itself or the console: codes with English sentences. */
export const agentProblems = {
  worker_missing: 'Some workers are not running',
  disk_not_writable: 'The disk is not writable',
  handles_low: 'File handles are running out',
  loop_slow: 'Overloaded: the agent delays tunnels',
  routes_missing: 'Some ranges are not routed to the server',
  dns_failing: 'Name servers do not respond',
  certificate_unreadable: 'The certificate for proxy clients cannot be read',
  clock_off: 'The clock is off by more than a minute'
} as const
export type ServerProblem = keyof typeof agentProblems
