import { MINUTE } from '../../infra/clock.ts'
import { sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { readServerStates, type ReadProxyChecks, type ServerNow } from './states.ts'
import { statusCursor, statusDays } from './tables.ts'

/** A sample also covers this many minutes before it, because a job may be late. */
const MOST_MINUTES = 3

/** A clock that ran ahead must not count more minutes than a day has. */
const MINUTES_A_DAY = 1440

/** How far the clocks of several processes may differ, in milliseconds. */
const AHEAD_MS = 2 * MINUTE

/**
 * Adds the current states of all servers to the day: the minutes since the last sample, at most `mostMinutes`. Earlier
 * ones stay unknown. The cursor's lock makes concurrent processes count each minute once.
 * @returns how many minutes were counted
 */
export const sampleStatus = (
  ctx: AppContext,
  readChecks: ReadProxyChecks,
  { mostMinutes = MOST_MINUTES } = {}
): Promise<number> =>
  command(ctx, SYSTEM, async unit => {
    const minute = Math.floor(unit.now.getTime() / MINUTE)
    const last = await lockCursor(unit, minute)
    // A clock that ran ahead left a future cursor. Reset it without counting a minute twice.
    const first = minute - last > mostMinutes ? minute : last + 1
    if (minute < first) {
      if ((last - minute) * MINUTE > AHEAD_MS) await moveCursor(unit, minute)
      return 0
    }
    const states = await readServerStates(unit.tx, readChecks, unit.now)
    for (const { day, minutes } of daysOf(first, minute)) await addMinutes(unit, states, day, minutes)
    await moveCursor(unit, minute)
    return minute - first + 1
  })

/** The last counted minute, by default the previous one. Locked until the commit. */
async function lockCursor({ tx }: Unit, minute: number): Promise<number> {
  await tx
    .insert(statusCursor)
    .values({ minute: new Date((minute - 1) * MINUTE) })
    .onConflictDoNothing()
  const [row] = await tx.select({ minute: statusCursor.minute }).from(statusCursor).for('update')
  if (!row) throw new Error('the cursor is one row')
  return row.minute.getTime() / MINUTE
}

const moveCursor = ({ tx }: Unit, minute: number) => tx.update(statusCursor).set({ minute: new Date(minute * MINUTE) })

/** The minutes from `first` to `last` in each day (UTC). */
function daysOf(first: number, last: number): { day: string; minutes: number }[] {
  const days = new Map<string, number>()
  for (let minute = first; minute <= last; minute++) {
    const day = new Date(minute * MINUTE).toISOString().slice(0, 10)
    days.set(day, (days.get(day) ?? 0) + 1)
  }
  return [...days].map(([day, minutes]) => ({ day, minutes }))
}

async function addMinutes({ tx }: Unit, states: readonly ServerNow[], day: string, minutes: number): Promise<void> {
  const known = states.filter(({ state }) => state !== 'unknown')
  if (known.length === 0) return
  const column = (pick: (one: ServerNow) => number | string) => sql.param(known.map(pick))
  const of = (state: string) => sql`case when s.state = ${state} then ${minutes}::int else 0 end`
  await tx.execute(sql`
    insert into ${statusDays} as d (group_id, server_id, day, up, degraded, down, maintenance)
    select s.group_id, s.server_id, ${day}::date, ${of('up')}, ${of('degraded')}, ${of('down')}, ${of('maintenance')}
    from unnest(${column(one => one.groupId)}::bigint[], ${column(one => one.serverId)}::bigint[],
      ${column(one => one.state)}::text[]) as s (group_id, server_id, state)
    order by s.group_id, s.server_id
    on conflict (group_id, server_id, day) do update set up = d.up + excluded.up, degraded = d.degraded + excluded.degraded,
      down = d.down + excluded.down, maintenance = d.maintenance + excluded.maintenance
    where d.up + d.degraded + d.down + d.maintenance + ${minutes}::int <= ${MINUTES_A_DAY}`)
}
