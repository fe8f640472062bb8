import { randomBytes } from 'node:crypto'
import { mkdtemp, realpath, rm, chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { migrate } from '../apps/server/src/infra/db/migrate.ts'
import { startEmbeddedPostgres } from '../apps/server/src/infra/postgres/embedded.ts'

export type BenchDatabase = {
  url: string
  /** 'PostgreSQL 18.4' */
  version: string
  drop(): Promise<void>
}

/**
 * A migrated database for one benchmark: on DATABASE_URL's server, or on its own embedded one with production settings
 * (fsync on).
 */
export async function openBenchDatabase(): Promise<BenchDatabase> {
  const server = await benchServer()
  const name = `netlet_bench_${randomBytes(6).toString('hex')}`
  await run(server.url, `create database ${name}`)
  const url = new URL(server.url)
  url.pathname = `/${name}`
  await migrate(url.href)
  const [version] = await run(url.href, `select 'PostgreSQL ' || split_part(version(), ' ', 2) as version`)
  return {
    url: url.href,
    version: String(version?.['version']),
    async drop() {
      await run(server.url, `drop database if exists ${name} with (force)`)
      await server.stop()
    }
  }
}

async function benchServer(): Promise<{ url: string; stop(): Promise<void> }> {
  if (process.env['DATABASE_URL']) return { url: process.env['DATABASE_URL'], stop: async () => undefined }
  const parent = await mkdtemp(join(tmpdir(), 'netlet-bench-'))
  // Under root, PostgreSQL runs as another account, which must traverse this folder. The data folder stays private.
  await chmod(parent, 0o755)
  const dataDir = join(parent, 'postgres')
  const postgres = await startEmbeddedPostgres({
    dataDir,
    settings: { shared_buffers: '512MB', max_wal_size: '4GB' },
    log: () => undefined
  })
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop()
      await rm(await realpath(dataDir), { recursive: true, force: true })
      await rm(parent, { recursive: true, force: true })
    }
  }
}

async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}
