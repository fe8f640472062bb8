/** The argument by which the agent's program is started as one of its workers. */
export const WORKER = 'worker'
