import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Created once and kept in the data folder: stored secrets cannot be decrypted without them. */
export type DemoSecrets = {
  appSecret: string
  agentToken: string
  platformToken: string
  platformSecret: string
  discordSecret: string
  botToken: string
  /** Signs the webhooks of the demo customer's endpoint: 'whsec_' and base64. */
  hookSecret: string
}

/** The exit code of the program that makes the history if the shop already has a database. */
export const NO_HISTORY = 3

export type DemoSettings = {
  dataDir: string
  port: number
  platformPort: number
  agentPort: number
  proxyPort: number
  secrets: DemoSecrets
}

/** A problem that the user can solve; the message says how. */
export class StartProblem extends Error {
  override name = 'StartProblem'
}

/** A set-up problem whose message is enough for the user, without a stack. */
export const isStartError = (error: unknown): error is Error =>
  error instanceof Error && (error.name === 'StartProblem' || error.name === 'StartupError')

/**
 * Creates the data folder if needed. @returns its path
 * @throws StartProblem
 */
export function makeDataDir(env: NodeJS.ProcessEnv): string {
  const dataDir = resolve(env['DATA_DIR'] || './data')
  try {
    // Others may pass through but not list it: the database's account may be another. What is inside is private.
    mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  } catch (error) {
    throw new StartProblem(
      `The data folder ${dataDir} cannot be made: ${(error as Error).message}. Set DATA_DIR to another one.`
    )
  }
  return dataDir
}

/** @throws StartProblem */
export function readSettings(env: NodeJS.ProcessEnv): DemoSettings {
  const port = (name: string, standard: number): number => {
    const value = Number(env[name] || standard)
    if (!Number.isInteger(value) || value < 1 || value > 65_535) throw new StartProblem(`${name} is not a port number`)
    return value
  }
  const dataDir = makeDataDir(env)
  return {
    dataDir,
    port: port('PORT', 3000),
    platformPort: port('PLATFORM_PORT', 3001),
    agentPort: port('AGENT_PORT', 65_533),
    proxyPort: port('PROXY_PORT', 3128),
    secrets: readSecrets(join(dataDir, 'secrets.json'), env)
  }
}

function readSecrets(file: string, env: NodeJS.ProcessEnv): DemoSecrets {
  const secret = () => randomBytes(32).toString('base64url')
  const stored = existsSync(file) ? storedSecrets(file) : {}
  const kept: DemoSecrets = {
    appSecret: stored.appSecret ?? secret(),
    agentToken: stored.agentToken ?? secret(),
    platformToken: stored.platformToken ?? secret(),
    platformSecret: stored.platformSecret ?? secret(),
    discordSecret: stored.discordSecret ?? secret(),
    botToken: stored.botToken ?? secret(),
    hookSecret: stored.hookSecret ?? `whsec_${randomBytes(32).toString('base64')}`
  }
  const text = JSON.stringify(kept, null, 2)
  if (JSON.stringify(stored, null, 2) !== text) {
    try {
      // Replace it atomically: stored secrets would be lost with a half-written file.
      writeFileSync(`${file}.new`, text, { mode: 0o600 })
      renameSync(`${file}.new`, file)
    } catch (error) {
      throw new StartProblem(`${file} cannot be written: ${(error as Error).message}. Set DATA_DIR to another folder.`)
    }
  }
  return { ...kept, appSecret: env['APP_SECRET'] || kept.appSecret, agentToken: env['AGENT_TOKEN'] || kept.agentToken }
}

function storedSecrets(file: string): Partial<DemoSecrets> {
  try {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof stored === 'object' && stored !== null) return stored
    throw new Error('it holds no secrets')
  } catch (error) {
    throw new StartProblem(
      `${file} cannot be read: ${(error as Error).message}. Restore it from a backup: without it the stored secrets cannot be opened.`
    )
  }
}

/** @throws StartProblem with the first port that is in use */
export async function checkPorts(settings: DemoSettings): Promise<void> {
  const wanted = {
    PORT: settings.port,
    PLATFORM_PORT: settings.platformPort,
    AGENT_PORT: settings.agentPort,
    PROXY_PORT: settings.proxyPort
  }
  for (const [name, port] of Object.entries(wanted)) {
    if (!(await isFree(port)))
      throw new StartProblem(`Port ${port} is in use. Stop the program that uses it, or set ${name} to a free one.`)
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise(answer => {
    const server = createServer()
    server.once('error', () => answer(false))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => answer(true)))
  })
}

/** An unused port of this machine. */
export function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer()
    server.once('error', failed)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => found(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** The environment of the demo's node agent. */
export const agentEnvironment = (
  { agentPort, proxyPort, secrets }: Pick<DemoSettings, 'agentPort' | 'proxyPort' | 'secrets'>,
  dataDir: string
) => ({
  AGENT_HOST: '127.0.0.1',
  AGENT_PORT: String(agentPort),
  PROXY_PORT: String(proxyPort),
  PROXY_HOST: '0.0.0.0',
  AGENT_TOKEN: secrets.agentToken,
  // The demo's addresses and targets are on this machine.
  AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8',
  // Enough for one machine, and within the 1024 file handles that a terminal gives.
  AGENT_CONNECTIONS: '400',
  DATA_DIR: dataDir
})

const SQLITE_BUSY = 5

/** A reference that keeps the garbage collector from closing the file and releasing its lock. */
const held = new Set<DatabaseSync>()

/**
 * Locks the data folder until the process ends or releases it. The lock is on an empty SQLite file: the system releases
 * it however the process ends, and it needs no disk space.
 * @returns releases the folder
 * @throws StartProblem if another start holds it
 */
export function lockDataDir(dataDir: string): () => void {
  const folder = realpathSync(dataDir)
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(join(folder, 'lock'))
    // Nothing is written, so it needs no journal file.
    file.exec('pragma journal_mode = memory')
    file.exec('begin exclusive')
  } catch (error) {
    file?.close()
    const { errcode, message } = error as { errcode?: number; message: string }
    throw new StartProblem(
      errcode === SQLITE_BUSY
        ? `Another start already uses the data folder ${folder}. Stop it, or set DATA_DIR to another folder.`
        : `The data folder ${folder} cannot be used: ${message}. Set DATA_DIR to another one.`
    )
  }
  const lock = file
  held.add(lock)
  return () => {
    held.delete(lock)
    lock.close()
  }
}
