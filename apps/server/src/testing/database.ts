import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { inject } from 'vitest'
import { databaseUrl, withClient } from './server.ts'

/** A test file's own database, migrated and empty. */
export type TestDatabase = {
  url: string
  /** Closes its connections and removes it. */
  drop(): Promise<void>
}

const copyDeadline = 20_000

/**
 * Copies the migrated template into a new database. Call it in `beforeAll`, and `drop()` in `afterAll`.
 * @throws if the server fails for another reason than a template that is briefly in use
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl')
  const template = inject('templateDatabase')
  const name = `netlet_test_${randomBytes(8).toString('hex')}`
  await withClient(server, async client => {
    // A third of the work of writing a whole database to the log, which the server does to save a checkpoint.
    const deadline = Date.now() + copyDeadline
    for (;;) {
      try {
        await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
        return
      } catch (error) {
        // Another file is copying, or the server has not noticed a closed connection yet.
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
