/** Problems of a server's agent, found by itself or the console: codes with English sentences. */
export const agentProblems = {
  worker_missing: 'Not all workers serve',
  disk_not_writable: 'The disk cannot be written',
  handles_low: 'File handles run short',
  loop_slow: 'The agent is overloaded: tunnels wait for it',
  routes_missing: 'Some ranges are not routed to the server',
  dns_failing: 'Name servers do not answer',
  certificate_unreadable: 'The certificate for proxy clients cannot be read',
  clock_off: "The server's clock is off by more than a minute"
} as const
export type ServerProblem = keyof typeof agentProblems
