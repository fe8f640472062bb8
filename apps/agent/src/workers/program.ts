/** The argument that starts the agent's program as a worker. */
export const WORKER = 'worker'
