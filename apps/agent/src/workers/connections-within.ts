/** File handles of a process besides those of its connections: the runtime's own, files, listeners, name servers. */
const OTHER_HANDLES = 100
/** A client and a target. */
const HANDLES_EACH = 2

/**
 * How many connections a process may have open: what is wanted, and no more than it has file handles for, since without any it could
 * not even take the connection for which an older one makes room. `warning` is what an operator should know.
 * @param wanted of each process
 * @param handles that a process may have; 0: not known
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
