import { LOG_LEVELS, type LogLevel, type LogSource, type LogTail } from '@netlet/contract'
import { and, desc, eq, gt, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { LogLine } from '../../infra/log.ts'
import { logLines } from './tables.ts'

/** How many lines of each log are kept, for all processes. */
const KEPT = 500

/** Stores the lines of a process's log tail and removes the oldest. */
export const storeLogLines =
  (ctx: AppContext) =>
  async (lines: LogLine[]): Promise<void> => {
    if (lines.length === 0) return
    await command(ctx, SYSTEM, ({ tx }) => tx.insert(logLines).values(lines))
    for (const source of new Set(lines.map(line => line.source)))
      await command(ctx, SYSTEM, ({ tx }) =>
        tx.execute(sql`delete from ${logLines} where source = ${source} and id <=
        (select id from ${logLines} where source = ${source} order by id desc offset ${KEPT} limit 1)`)
      )
  }

/** The latest lines of both logs, oldest first. */
export async function readLogs(db: Executor): Promise<{ server_logs: string; task_logs: string }> {
  const [server, task] = await Promise.all((['server', 'task'] as const).map(source => latest(db, source)))
  return { server_logs: server ?? '', task_logs: task ?? '' }
}

/** The lines of one log after a given line, oldest first. */
export async function readLogTail(
  db: Executor,
  { source, after_id: after }: { source: LogSource; after_id: number }
): Promise<LogTail> {
  const rows = await db
    .select({ id: logLines.id, at: logLines.at, line: logLines.line })
    .from(logLines)
    .where(and(eq(logLines.source, source), gt(logLines.id, after)))
    .orderBy(desc(logLines.id))
    .limit(KEPT)
  return { lines: rows.toReversed().map(({ id, at, line }) => ({ id, at: iso(at), level: levelOf(line), line })) }
}

/** A line begins with its time and its level. */
const levelOf = (line: string): LogLevel => LOG_LEVELS.find(level => line.split(' ', 2)[1] === level) ?? 'INFO'

async function latest(db: Executor, source: LogLine['source']): Promise<string> {
  const rows = await db
    .select({ line: logLines.line })
    .from(logLines)
    .where(eq(logLines.source, source))
    .orderBy(desc(logLines.id))
    .limit(KEPT)
  return rows
    .toReversed()
    .map(row => row.line)
    .join('\n')
}
