import { lt } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { chatTold } from './tables.ts'

/** Channels' cursors are kept: there are as many as the platform has channels. */
export const chatRetention: RetentionEntry[] = [
  {
    what: 'chat_told',
    keep: { ms: 365 * DAY },
    why: 'Chat platform members that the bot told how to connect an account, so that it tells each only once.',
    remove: (unit, before, limit) => removeRows(unit, chatTold, lt(chatTold.at, before), limit),
    count: db => countRows(db, chatTold, chatTold.at)
  }
]
