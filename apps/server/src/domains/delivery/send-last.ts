import type { Executor } from '../../infra/db/client.ts'
import type { Sender } from '../../infra/jobs.ts'

export type LateSender = Sender & {
  /** Sends what was kept back, in an order that is the same for everyone. */
  flush(tx: Executor): Promise<void>
}

/**
 * Keeps jobs back until the end of a transaction. A job with a key makes everyone else who sends the same one wait for
 * our commit, which is a lock; taken last and in one order, it cannot close a circle with those on orders and stock.
 */
export function sendLast(jobs: Sender): LateSender {
  let kept: { name: string; key: string; send: (tx: Executor) => Promise<unknown> }[] = []
  return {
    send: async (_tx, to, data, options = {}) => {
      kept.push({ name: to.name, key: options.key ?? '', send: tx => jobs.send(tx, to, data, options) })
      return null
    },
    async flush(tx) {
      const all = kept.toSorted(byNameAndKey)
      kept = []
      for (const one of all) await one.send(tx)
    }
  }
}

type Named = { name: string; key: string }

/** Shorter keys first: numbers stand in their own order. */
function byNameAndKey(a: Named, b: Named): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1
  if (a.key.length !== b.key.length) return a.key.length - b.key.length
  return a.key === b.key ? 0 : a.key < b.key ? -1 : 1
}
