import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { SyncContext } from '../agents.ts'
import { consoleIdentity } from '../tables.ts'

/** This console as agents know it. A copied database is the same console; a new one is another. */
export type ConsoleIdentity = { id: string; name: string }

/** The id is made when the first agent is asked, and stays in the database. */
export async function readConsole(ctx: SyncContext): Promise<ConsoleIdentity> {
  const name = ctx.config.publicUrl.slice(0, 200)
  const read = () => ctx.db.select({ id: consoleIdentity.consoleId }).from(consoleIdentity)
  let [row] = await read()
  if (!row) {
    await command(ctx, SYSTEM, ({ tx, now }) =>
      tx.insert(consoleIdentity).values({ createdAt: now }).onConflictDoNothing()
    )
    ;[row] = await read()
  }
  if (!row) throw new Error('the console has no id')
  return { id: row.id, name }
}
