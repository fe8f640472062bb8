import type { Health } from '@netlet/contract'
import { asc, isNull } from 'drizzle-orm'
import { isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { troubleSentence } from './list-servers.ts'
import { servers } from './tables.ts'

/** Which servers answer, and what keeps those that do from holding what is wanted. */
export async function serversHealth(db: Executor): Promise<NonNullable<Health['servers']>> {
  const all = await db
    .select({
      id: servers.id,
      name: servers.name,
      connected: servers.connected,
      since: servers.unreachableSince,
      failingSince: servers.failingSince,
      trouble: servers.trouble,
      troubleParams: servers.troubleParams
    })
    .from(servers)
    .where(isNull(servers.deletedAt))
    .orderBy(asc(servers.id))
  const unreachable = all.filter(server => !server.connected)
  return {
    total: all.length,
    reachable: all.length - unreachable.length,
    unreachable: unreachable.map(({ id, name, since }) => ({ id, name, since: isoOrNull(since) })),
    troubled: all.flatMap(({ id, name, connected, failingSince, trouble: code, troubleParams }) =>
      connected && code
        ? [
            {
              id,
              name,
              since: isoOrNull(failingSince),
              message: troubleSentence({ code, params: troubleParams ?? {} })
            }
          ]
        : []
    )
  }
}
