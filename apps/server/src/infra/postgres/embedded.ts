import { spawn } from 'node:child_process'
import { constants, open, readFile, type FileHandle } from 'node:fs/promises'
import { createServer } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Account, childEnvironment, chooseAccount, safeFolder } from './account.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { type Cluster, openCluster, superuser } from './cluster.ts'
import { markOwner } from './owners.ts'
import { type Postmaster, findPostmaster, removeStaleLock, stopPostmaster, verify } from './postmaster.ts'
import { pidTaken, startOf } from './processes.ts'

export type EmbeddedPostgresOptions = {
  /** Folder of the database; made on the first start. It is all there is: remove it to start afresh. */
  dataDir: string
  /** Wanted TCP port on 127.0.0.1; where it is taken or not given, the system chooses a free one. */
  port?: number
  /** Server settings beside the launcher's own, e.g. `{ fsync: 'off' }`. They do not change a server that runs. */
  settings?: Record<string, string>
  log: (line: string) => void
}

export type EmbeddedPostgres = {
  /** Connection string of the superuser, database `postgres`. Holds the password. */
  url: string
  port: number
  pid: number
  /** Shuts the server down and waits for its end, unless another living process has started it as well. */
  stop(): Promise<void>
}

const startDeadline = 120_000
const logLimit = 5_000_000

/**
 * Starts PostgreSQL on `dataDir`, or joins the one that already serves it: one that another process has started, or
 * that has outlived its killed starter. The caller must `stop()` before it ends.
 * @throws with a one-line reason that says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir)
  const account = await chooseAccount(dataDir)
  const binaries = await findBinaries(account)
  const cluster = await openCluster(dataDir, binaries, account, {
    sync: options.settings?.['fsync'] !== 'off',
    log: options.log
  })
  const owner = await markOwner(cluster.owners)
  try {
    const server = await joinOrLaunch(cluster, binaries, account, options)
    const interruptOnExit = () => {
      if (owner.releaseNow()) process.kill(server.pid, 'SIGINT')
    }
    process.once('exit', interruptOnExit)
    return {
      url: `postgres://${superuser}:${cluster.password}@127.0.0.1:${server.port}/postgres`,
      port: server.port,
      pid: server.pid,
      async stop() {
        process.off('exit', interruptOnExit)
        if (await owner.release()) await stopPostmaster(server.pid, cluster, binaries, account)
      }
    }
  } catch (error) {
    await owner.release()
    throw error
  }
}

async function joinOrLaunch(
  cluster: Cluster,
  binaries: Binaries,
  account: Account,
  options: EmbeddedPostgresOptions
): Promise<Postmaster> {
  const deadline = performance.now() + startDeadline
  let port = options.port || (await freePort())
  while (performance.now() < deadline) {
    const running = await findPostmaster(cluster)
    if (running) {
      const ready = await whenReady(cluster, running.pid, deadline)
      if (typeof ready === 'object') {
        options.log(`PostgreSQL already serves ${options.dataDir} on port ${ready.port}; joining it`)
        return ready
      }
      continue
    }
    if (!(await portFree(port))) {
      options.log(`Port ${port} is taken; PostgreSQL gets another one`)
      port = await freePort()
    }
    await removeStaleLock(cluster)
    const launched = await launch(cluster, binaries, account, port, options.settings ?? {}, deadline)
    if (launched === 'superseded') continue
    if ('pid' in launched) return launched
    // It may have ended for another start's sake, for the port's, or because processes of a killed server still end.
    const passing = /lock file|could not bind|could not create any TCP|pre-existing shared memory/.test(launched.reason)
    if (!passing) throw new Error(`PostgreSQL did not start: ${launched.reason} (log: ${cluster.log})`)
    await sleep(100)
  }
  throw new Error(`PostgreSQL was not ready after ${startDeadline / 1000} s. Its log: ${cluster.log}`)
}

/** @returns the server; `superseded` where another start's server has the folder by now; or why it ended */
async function launch(
  cluster: Cluster,
  binaries: Binaries,
  account: Account,
  port: number,
  settings: Record<string, string>,
  deadline: number
): Promise<Postmaster | 'superseded' | { reason: string }> {
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    max_connections: '200',
    log_checkpoints: 'off',
    // Containers give 64 MB of shared memory, which parallel queries can outgrow.
    dynamic_shared_memory_type: process.platform === 'win32' ? 'windows' : 'mmap',
    ...settings
  }
  const args = ['-D', cluster.data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const log = await openLog(cluster.log)
  const logStart = (await log.stat()).size
  let failure: string | undefined
  try {
    // In a session of its own: Ctrl+C in the terminal is for the shop, which then stops its database last.
    const child = spawn(binaries.postgres, args, {
      ...account,
      cwd: safeFolder(),
      env: childEnvironment(),
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log.fd, log.fd]
    })
    child.once('error', error => (failure = error.message))
    child.unref()
    const ready = child.pid === undefined ? 'ended' : await whenReady(cluster, child.pid, deadline)
    if (typeof ready === 'object') return ready
    if (child.pid !== undefined && pidTaken(child.pid) && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGQUIT')
    }
    // Its log may say nothing of that, since it has not met the other's lock file yet.
    if (ready === 'superseded') return ready
  } finally {
    await log.close()
  }
  const lines = (await readFile(cluster.log)).subarray(logStart).toString().trim().split('\n')
  return { reason: failure ?? lines.find(line => line.includes('FATAL')) ?? lines.at(-1) ?? 'it ended without a word' }
}

/** The account could put a link in its folder, through which root must not write. */
async function openLog(path: string): Promise<FileHandle> {
  const log = await open(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0),
    0o600
  )
  if ((await log.stat()).size > logLimit) await log.truncate()
  return log
}

/** Waits until this very process serves the cluster, has ended, or another one has the folder. */
async function whenReady(
  cluster: Cluster,
  pid: number,
  deadline: number
): Promise<Postmaster | 'superseded' | 'ended'> {
  while ((await startOf(pid)) !== undefined && performance.now() < deadline) {
    const found = await findPostmaster(cluster)
    if (found?.pid === pid && found.status === 'ready' && (await verify(cluster, found))) return found
    if (found && found.pid !== pid) return 'superseded'
    await sleep(20)
  }
  return 'ended'
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer()
    server.once('error', fail)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

function portFree(port: number): Promise<boolean> {
  return new Promise(done => {
    const server = createServer()
    server.once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
  })
}
