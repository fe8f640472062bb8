/** File handles beyond those of connections: the runtime's own, files, listeners, name servers. */
const OTHER_HANDLES = 100
/** One for the client, one for the target. */
const HANDLES_EACH = 2

/**
 * Limits a process' connections by its file handles: without a free one, the process could not even accept the connection that
 * replaces an older one. `warning` is for operators.
 * @param wanted connections of each process
 * @param handles limit of a process; 0: unknown
 */
export function connectionsWithin(wanted: number, handles: number): { connections: number; warning: string | null } {
  const most = Math.max(1, Math.floor((handles - OTHER_HANDLES) / HANDLES_EACH))
  if (handles === 0 || wanted <= most) return { connections: wanted, warning: null }
  const needed = wanted * HANDLES_EACH + OTHER_HANDLES
  return {
    connections: most,
    warning: `Each serving process takes ${most} connections at most, not ${wanted} as set: it may have ${handles} file handles. Set LimitNOFILE (ulimit -n) to ${needed}.`
  }
}
