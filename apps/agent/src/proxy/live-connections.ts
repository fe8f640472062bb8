import type { AgentConnections } from '@netlet/contract/agent-live'
import { nextTurn } from '../turns.ts'
import type { Plane } from './plane.ts'

type Users = AgentConnections['users']
type Connections = AgentConnections['connections']

/** Open connections of one process. */
export type LivePart = { total: number; users: Users; connections: Connections }

/** Connections counted in one turn of the loop. */
const A_TURN = 1000

/** The users with the most connections. It counts their bytes in several turns, so that no tunnel waits. */
async function liveUsers(plane: Plane, limit: number): Promise<LivePart> {
  const most = [...plane.open.users()].toSorted(([, a], [, b]) => b.size - a.size).slice(0, limit)
  const users: Users = []
  let looked = 0
  for (const [user, connections] of most) {
    const row = { user, count: connections.size, up: 0, down: 0 }
    let since = Infinity
    for (const connection of connections) {
      row.up += connection.up
      row.down += connection.down
      since = Math.min(since, connection.openedAt)
      if (++looked % A_TURN === 0) await nextTurn()
    }
    if (since !== Infinity) users.push({ ...row, since: new Date(since).toISOString() })
  }
  return { total: plane.connections, users, connections: [] }
}

/** The oldest connections of a user. */
function liveConnections(plane: Plane, user: string, limit: number): LivePart {
  const of = plane.open.of(user)
  const connections: Connections = []
  for (const { id, clientText: client, egress, target, up, down, openedAt } of of) {
    if (connections.length >= limit) break
    const since = new Date(openedAt).toISOString()
    connections.push({
      id: `${process.pid}-${id}`,
      client,
      ip: egress.text,
      target: target.slice(0, 400),
      up,
      down,
      since
    })
  }
  return { total: of.size, users: [], connections }
}

export const listConnections = (plane: Plane, user: string | null, limit: number): Promise<LivePart> =>
  user === null ? liveUsers(plane, limit) : Promise.resolve(liveConnections(plane, user, limit))

/** Ends the user's connections, or only the one with this id. Returns how many. */
export async function endConnections(plane: Plane, user: string, id: string | null): Promise<number> {
  let ended = 0
  for (const connection of plane.open.of(user)) {
    if (id !== null && id !== `${process.pid}-${connection.id}`) continue
    if (++ended % 50 === 0) await nextTurn()
    connection.endBecause('killed')
  }
  return ended
}

export function joinParts(parts: readonly LivePart[], limit: number): LivePart {
  const users = new Map<string, Users[number]>()
  for (const row of parts.flatMap(part => part.users)) {
    const { user, count, up, down, since } = row
    const before = users.get(user)
    if (before === undefined) users.set(user, row)
    else {
      const oldest = since < before.since ? since : before.since
      users.set(user, {
        user,
        count: before.count + count,
        up: before.up + up,
        down: before.down + down,
        since: oldest
      })
    }
  }
  return {
    total: parts.reduce((sum, part) => sum + part.total, 0),
    users: [...users.values()].toSorted((a, b) => b.count - a.count).slice(0, limit),
    connections: parts
      .flatMap(part => part.connections)
      .toSorted((a, b) => (a.since < b.since ? -1 : 1))
      .slice(0, limit)
  }
}
