import { AsyncLocalStorage } from 'node:async_hooks'
import { NodePgSession } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'

/** The transaction in which the current code runs. */
const inside = new AsyncLocalStorage<{ began: Error; isOpen: boolean }>()

/**
 * Does a test hold it, to see who waits? Or is it a sync of the catalogue, which writes its progress by another
 * connection? At most one for each kind runs.
 */
function mayTakeAnother({ stack = '' }: Error): boolean {
  const ours = stack.split('\n').filter(line => line.includes('/src/') && !/one-connection|db\/client/.test(line))
  return /\.(test|fixture)\.ts:/.test(ours[0] ?? '') || ours.some(line => line.includes('/sync-runs/work.ts:'))
}

// oxlint-disable typescript/unbound-method -- called with their own `this`
const { transaction } = NodePgSession.prototype
const { connect } = Pool.prototype

NodePgSession.prototype.transaction = async function <T>(
  this: NodePgSession<never, never>,
  ...[work, config]: Parameters<typeof transaction<T>>
): Promise<T> {
  const own = { began: new Error('The transaction began here'), isOpen: true }
  try {
    return (await transaction.call(this, tx => inside.run(own, () => work(tx)), config)) as T
  } finally {
    own.isOpen = false
  }
}

/**
 * Fails the run where code in a transaction takes another connection: a burst of such transactions would hold every
 * connection of the pool while each waits for one more. The error is an uncaught one, because that code might catch it.
 */
Pool.prototype.connect = function (this: Pool, ...rest: Parameters<typeof connect>) {
  const own = inside.getStore()
  if (own?.isOpen && !mayTakeAnother(own.began))
    void Promise.reject(new Error('Code in a transaction takes a second connection', { cause: own.began }))
  return connect.apply(this, rest)
} as typeof connect

/** Two queries at once on one connection, as by `Promise.all` in a transaction: the driver's next version refuses them. */
process.on('warning', warning => {
  if (warning.message.includes('already executing a query')) void Promise.reject(warning)
})

/** Runs what a test does by another connection while a command that it watches holds one. */
export const meanwhile = <T>(work: () => Promise<T>): Promise<T> => inside.exit(async () => work())
