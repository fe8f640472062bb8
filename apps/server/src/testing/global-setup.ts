import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrate } from '../infra/db/migrate.ts'
import { startEmbeddedPostgres } from '../infra/postgres/embedded.ts'
import { databaseUrl, withClient } from './server.ts'

declare module 'vitest' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface adds to another's type
  export interface ProvidedContext {
    /** A role on it may create databases. */
    postgresUrl: string
    /** A database with every migration applied and no rows of its own. */
    templateDatabase: string
  }
}

/**
 * Makes one PostgreSQL server ready for the run (DATABASE_URL, else an embedded one that ends with the run) and a
 * migrated template that test databases are copied from.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  // Said by the test command when none of the files that it runs asks for the database.
  if (process.env['NETLET_TEST_DATABASE'] === 'none') return undefined
  const server = await startServer()
  const template = `netlet_template_${randomBytes(6).toString('hex')}`
  const stop = async () => {
    await withClient(server.url, client => client.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`))
    await server.stop()
  }
  try {
    await withClient(server.url, client =>
      client.query(`CREATE DATABASE ${template} TEMPLATE template0 ENCODING 'UTF8'`)
    )
    await migrate(databaseUrl(server.url, template))
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('postgresUrl', server.url)
  project.provide('templateDatabase', template)
  return stop
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  if (process.env['DATABASE_URL']) return { url: process.env['DATABASE_URL'], stop: async () => undefined }
  // The test command names a folder of its own, so that it can end the server of a run that was killed.
  const parent = await mkdtemp(join(process.env['NETLET_TEST_DIR'] ?? tmpdir(), 'netlet-test-'))
  // Run by root, PostgreSQL gets an account of its own, which has to pass through; the data folder stays private.
  await chmod(parent, 0o755)
  const dataDir = join(parent, 'postgres')
  const postgres = await startEmbeddedPostgres({
    dataDir,
    // Nothing here needs to outlive a power cut.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
    log: () => undefined
  })
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop()
      // Where even the folder for temporary files is closed, the data stand elsewhere behind a link.
      await rm(await realpath(dataDir), { recursive: true, force: true })
      await rm(parent, { recursive: true, force: true })
    }
  }
}
