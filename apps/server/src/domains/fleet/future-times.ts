import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { SyncContext } from './agents.ts'
import { enqueueTry } from './converge-turns.ts'
import { endFutureTimesOfServers } from './future-times-of-servers.ts'
import { endFutureTries } from './proofs/ask.ts'

/**
 * A clock that ran ahead leaves times in the future: since when a server is silent, its next try, the start of its
 * outage. Everything that counts from them would wait until then, so they are set to now. Times less than a minute
 * ahead stay: another check that runs at the same moment wrote them, or the clock is slightly off.
 */
export const endFutureTimes = (ctx: SyncContext): Promise<void> =>
  command(ctx, SYSTEM, async unit => {
    const soon = new Date(unit.now.getTime() + MINUTE)
    // The job of the next try waits for the old time too.
    for (const id of await endFutureTimesOfServers(unit, soon)) enqueueTry(unit, id)
    await endFutureTries(unit, soon)
  })
