import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { keptVariables } from '../infra/config.ts'
import { startEmbeddedPostgres } from '../infra/postgres/embedded.ts'
import type { Header } from './format.ts'
import { BackupProblem, reasonOf } from './problem.ts'

/** A shop that is backed up or restored: by DATABASE_URL, or the embedded database of a data folder. */
export type Place = {
  databaseUrl: string
  /** Null: the database is another program's, named by DATABASE_URL. */
  dataDir: string | null
  /** What a restored shop needs besides its database. */
  kept: Pick<Header, 'environment' | 'files'>
  close(): Promise<void>
}

/** The demo's secrets, and what its starts have already done to the database. */
const FILES = ['secrets.json', 'postgres/history.json', 'postgres/prepared.json']

/**
 * Opens the place that the environment names. The embedded database may run already, and is started otherwise.
 * @param mayBeNew makes the embedded database if there is none
 * @throws BackupProblem
 */
export async function openPlace(env: NodeJS.ProcessEnv, { mayBeNew }: { mayBeNew: boolean }): Promise<Place> {
  const environment = Object.fromEntries(
    keptVariables.flatMap(name => (env[name] === undefined || env[name] === '' ? [] : [[name, env[name]]]))
  )
  // A pooler in front of the database would end a long copy, and keeps no session.
  const databaseUrl = env['DATABASE_SESSION_URL'] || env['DATABASE_URL']
  if (databaseUrl) return { databaseUrl, dataDir: null, kept: { environment, files: {} }, close: async () => {} }
  const dataDir = resolve(env['DATA_DIR'] || './data')
  if (!mayBeNew && !existsSync(join(dataDir, 'postgres')))
    throw new BackupProblem(
      `There is no shop in ${dataDir}. Set DATABASE_URL to its database, or DATA_DIR to its folder.`
    )
  const files = Object.fromEntries(
    FILES.flatMap(name => (existsSync(join(dataDir, name)) ? [[name, readFileSync(join(dataDir, name), 'utf8')]] : []))
  )
  const postgres = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), log: () => {} }).catch(
    (error: unknown) => {
      throw new BackupProblem(reasonOf(error))
    }
  )
  const secret = appSecretOf(files)
  return {
    databaseUrl: postgres.url,
    dataDir,
    kept: { environment: { ...(secret === undefined ? {} : { APP_SECRET: secret }), ...environment }, files },
    close: () => postgres.stop()
  }
}

function appSecretOf(files: Record<string, string>): string | undefined {
  try {
    const { appSecret } = JSON.parse(files['secrets.json'] ?? '{}') as { appSecret?: unknown }
    return typeof appSecret === 'string' ? appSecret : undefined
  } catch {
    throw new BackupProblem('secrets.json of the data folder cannot be read as JSON.')
  }
}

/** Writes the files of a backup that the data folder does not have. */
export async function restoreFiles(dataDir: string, files: Record<string, string>): Promise<void> {
  for (const name of FILES) {
    const path = join(dataDir, name)
    const text = files[name]
    if (text === undefined || existsSync(path)) continue
    await mkdir(dirname(path), { recursive: true })
    await writeFile(`${path}.new`, text, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }
}
