import {
  type Health,
  LOG_LEVELS,
  type LogLevel,
  type LogSource,
  type LogTail,
  type SettingTest,
  type SettingTestResult
} from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { SYSTEM, type UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { and, desc, eq, gt, sql } from '../../infra/db/drizzle.ts'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { LogLine } from '../../infra/log.ts'
import { logLines } from './tables.ts'

/** Each tests the saved settings and returns the outcome; a failure is an outcome too. */
export type SettingTests = Record<SettingTest, (by: UserActor) => Promise<SettingTestResult>>

/** Tests saved settings and audits who did. */
export async function testSettings(
  ctx: AppContext,
  by: UserActor,
  tests: SettingTests,
  test: SettingTest
): Promise<SettingTestResult> {
  await command(ctx, by, async unit => unit.audit('settings.test', test))
  return tests[test](by)
}

type Sections = Omit<Health, 'at'>

/** What the health page needs from higher domains. */
export type HealthPorts = {
  /** Each section is read on its own, so that a failing one does not hide the others. */
  sections: { [S in keyof Sections]: () => Promise<NonNullable<Sections[S]>> }
  /** Checks the platform now. The sections report failures. */
  refresh: () => Promise<void>
}

export async function readHealth(ctx: Pick<AppContext, 'now' | 'log'>, { sections }: HealthPorts): Promise<Health> {
  const read = await Promise.all(
    Object.entries(sections).map(async ([name, section]) => [
      name,
      await section().catch((error: unknown) => {
        ctx.log.error({ err: error, section: name }, 'a section of the health page cannot be read')
        return null
      })
    ])
  )
  return { at: ctx.now().toISOString(), ...(Object.fromEntries(read) as Sections) }
}

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
