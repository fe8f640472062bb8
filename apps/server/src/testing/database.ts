import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { inject } from 'vitest'
import { databaseUrl, withClient } from './server.ts'

/** A database of a test file's own, migrated and empty. */
export type TestDatabase = {
  url: string
  /** Removes the database, closing what is still connected to it. */
  drop(): Promise<void>
}

const copyDeadline = 20_000

/**
 * Copies the migrated template into a new database; call it in `beforeAll` and `drop()` it in `afterAll`.
 * @throws when the server refuses for another reason than the template being in use for a moment
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl')
  const template = inject('templateDatabase')
  const name = `netlet_test_${randomBytes(8).toString('hex')}`
  await withClient(server, async client => {
    const deadline = Date.now() + copyDeadline
    for (;;) {
      try {
        await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
        return
      } catch (error) {
        // Two files copying at once, or the end of a connection that the server has not noticed yet.
        const busy = error instanceof DatabaseError && error.code === '55006'
        if (!busy || Date.now() > deadline) throw error
        await sleep(50)
      }
    }
  })
  return {
    url: databaseUrl(server, name),
    async drop() {
      await withClient(server, client => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    }
  }
}
