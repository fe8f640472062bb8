import { readdirSync, statSync, watch, type FSWatcher } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Program } from '../demo/programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Milliseconds to wait after a change, because editors write a file in several steps. */
const SETTLE_MS = 60
/** Milliseconds that a program has to end before it is killed. Its work survives that. */
const PATIENCE_MS = 1000

const matters = (file: string): boolean => /\.(ts|sql|json)$/.test(file) && !/\.(test|fixture)\.ts$/.test(file)

/**
 * Runs a program and restarts it when a source file below `folders` changes. If it ends by itself, for example after a
 * syntax error, it waits for the next change. `ended` resolves only after `stop`.
 */
export function restartOnChange(start: () => Program, folders: string[]): Program {
  let current = start()
  let stopping = false
  let restarting: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let changed = ''
  const { promise: ended, resolve: end } = Promise.withResolvers<number | null>()

  const follow = async (program: Program) => {
    const code = await program.ended
    if (!stopping && !restarting && program === current)
      console.error(`${program.name} ended (${code ?? 'killed'}). It starts again when a file changes.`)
  }
  void follow(current)

  const restart = async () => {
    await current.stop(PATIENCE_MS)
    if (stopping) return
    console.log(`${current.name} starts again: ${changed} changed`)
    current = start()
    void follow(current)
  }
  const schedule = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      // A change during a restart causes another one.
      if (restarting) return schedule()
      restarting = restart().finally(() => (restarting = undefined))
    }, SETTLE_MS)
  }
  const watchers = folders.map(folder =>
    watchFolder(resolve(root, folder), file => {
      if (stopping || !matters(file)) return
      changed = relative(root, file)
      schedule()
    })
  )

  return {
    name: current.name,
    ended,
    runs: () => !stopping,
    async stop(patienceMs) {
      stopping = true
      clearTimeout(timer)
      for (const close of watchers) close()
      await restarting
      await current.stop(patienceMs)
      end(0)
    }
  }
}

/** One watcher per folder: Node's recursive watcher loses files that an editor replaces by renaming. */
function watchFolder(folder: string, changed: (file: string) => void): () => void {
  const watchers = new Map<string, FSWatcher>()
  const add = (path: string) => {
    if (watchers.has(path)) return
    const watcher = watch(path, (_, name) => {
      if (name === null) return
      const file = join(path, name)
      if (isFolder(file)) add(file)
      changed(file)
    })
    // The folder was removed.
    watcher.on('error', () => {
      watcher.close()
      watchers.delete(path)
    })
    watchers.set(path, watcher)
    for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) add(join(path, entry.name))
  }
  add(folder)
  return () => {
    for (const watcher of watchers.values()) watcher.close()
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
