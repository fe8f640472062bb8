import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { functionFiles, migrate } from '../infra/db/migrate.ts'
import { makeQueues } from '../infra/jobs.ts'
import { createLog } from '../infra/log.ts'
import { startEmbeddedPostgres } from '../infra/postgres/embedded.ts'
import { databaseUrl, withClient } from './server.ts'

declare module 'vitest' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface adds to another's type
  export interface ProvidedContext {
    /** Its role may create databases. */
    postgresUrl: string
    /** A database with every migration applied, all queues, and no rows of its own. */
    templateDatabase: string
  }
}

type Server = { url: string; template: string; stop: () => Promise<void> }

/**
 * Provides one PostgreSQL server for the run (DATABASE_URL, or an embedded one that ends with the run), and a migrated
 * template for test databases.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  // Set by the test command if none of its files needs the database.
  if (process.env['NETLET_TEST_DATABASE'] === 'none') return undefined
  const { url, template, stop } = await (process.env['DATABASE_URL']
    ? useServer(process.env['DATABASE_URL'])
    : startEmbedded())
  project.provide('postgresUrl', url)
  project.provide('templateDatabase', template)
  return stop
}

async function useServer(url: string): Promise<Server> {
  const template = `netlet_template_${randomBytes(6).toString('hex')}`
  const stop = () =>
    withClient(url, async client => void (await client.query(`DROP DATABASE IF EXISTS ${template} WITH (FORCE)`)))
  try {
    await makeTemplate(url, template)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, template, stop }
}

async function makeTemplate(url: string, template: string): Promise<void> {
  await withClient(url, client => client.query(`CREATE DATABASE ${template} TEMPLATE template0 ENCODING 'UTF8'`))
  const templateUrl = databaseUrl(url, template)
  await migrate(templateUrl)
  // Loaded only here, because a kept cluster has them.
  const { allQueues } = await import('../workers.ts')
  await makeQueues(templateUrl, createLog('test', 'silent'), allQueues)
}

async function startEmbedded(): Promise<Server> {
  // The test command names a folder, so that it can find and stop the server of a killed run.
  const parent = await mkdtemp(join(process.env['NETLET_TEST_DIR'] ?? tmpdir(), 'netlet-test-'))
  // As root, PostgreSQL runs under another account, which must be able to enter; the data folder stays private.
  await chmod(parent, 0o755)
  const dataDir = join(parent, 'postgres')
  const template = 'netlet_template'
  const start = () =>
    startEmbeddedPostgres({
      dataDir,
      // Test data need not survive a power cut.
      settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
      log: () => undefined
    })
  const kept = await keptCluster()
  const isKept = kept !== undefined && existsSync(kept)
  if (isKept) await copyFolder(kept, dataDir)
  let postgres = await start()
  if (!isKept) {
    await makeTemplate(postgres.url, template)
    if (kept) {
      await postgres.stop()
      await keep(await realpath(dataDir), kept)
      postgres = await start()
    }
  }
  return {
    url: postgres.url,
    template,
    async stop() {
      await postgres.stop()
      // If that account cannot enter the temporary folder, the data is elsewhere behind a link.
      await rm(await realpath(dataDir), { recursive: true, force: true })
      await rm(parent, { recursive: true, force: true })
    }
  }
}

/**
 * The folder that caches a cluster with its template, because making them takes longer than most test files. Its name
 * depends on all that they are made of. Undefined if no program here copies a folder with its owners.
 */
async function keptCluster(): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  const root = new URL('../../../../', import.meta.url)
  const migrations = fileURLToPath(new URL('apps/server/migrations', root))
  const hash = createHash('sha256').update(`${process.getuid?.()}`)
  hash.update(await readFile(new URL('package-lock.json', root)))
  for (const name of (await readdir(migrations)).filter(one => one.endsWith('.sql')).toSorted())
    hash.update(name).update(await readFile(join(migrations, name)))
  hash.update(await readFile(new URL('docs/JOBS.md', root)))
  for (const { domain, text } of functionFiles()) hash.update(domain).update(text)
  return join(fileURLToPath(root), 'node_modules', '.cache', 'netlet-tests', hash.digest('hex').slice(0, 16))
}

/** Stores a copy atomically, because other runs may do the same, and removes outdated ones. */
async function keep(cluster: string, kept: string): Promise<void> {
  const parent = dirname(kept)
  await mkdir(parent, { recursive: true })
  // A name with a dot is another run's unfinished copy.
  for (const name of (await readdir(parent)).filter(one => !one.includes('.')))
    await rm(join(parent, name), { recursive: true, force: true })
  const copy = await mkdtemp(`${kept}.`)
  await copyFolder(cluster, join(copy, 'cluster'))
  await rename(join(copy, 'cluster'), kept).catch(() => undefined)
  await rm(copy, { recursive: true, force: true })
}

const copyFolder = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to])
