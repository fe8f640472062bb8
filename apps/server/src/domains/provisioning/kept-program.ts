import { LEVELS, type ProxyLevel } from '../convergence/index.ts'
import { quote, type Layout } from './layout.ts'
import type { Machine } from './machine.ts'

/** How the agent is kept on a machine: its service file, and the command that restarts it. */
export type Service = { file: string; restart: string }

/** A program that last worked, kept for a rollback. `runs`: it is identical to what is installed and started. */
export type KeptProgram = { level: ProxyLevel | null; runs: boolean }

const nameOf = (file: string): string => file.split('/').at(-1) ?? ''

/** The runtime comes first, because it is large and operators do not edit it. */
const filesOf = (layout: Layout, service: Service): string[] => [
  layout.node,
  layout.agent,
  layout.manifest,
  layout.environment,
  service.file
]

const keptPath = (layout: Layout, file: string): string => quote(`${layout.kept}/${nameOf(file)}`)

/** How far a request through its proxy got, stored beside the program. */
const levelFile = (folder: string): string => quote(`${folder}/level`)

/** Copies one file. Only the runtime is linked, because later edits of a linked file would change both. */
function copy(layout: Layout, file: string, from: string, to: string): string {
  const whole = `cp -p ${from} ${to}`
  return file === layout.node ? `{ ln -f ${from} ${to} 2> /dev/null || ${whole}; }` : whole
}

/**
 * Keeps a copy of what is installed, as the program and settings that last worked. All or nothing.
 * @param level how far a request through it got; null: unknown
 */
export async function keepProgram(
  machine: Machine,
  layout: Layout,
  service: Service,
  level: ProxyLevel | null
): Promise<void> {
  const fresh = `${layout.kept}.new`
  const steps = [
    `rm -rf ${quote(fresh)}`,
    `mkdir -p ${quote(fresh)}`,
    `chmod 700 ${quote(fresh)}`,
    ...filesOf(layout, service).map(file => copy(layout, file, quote(file), quote(`${fresh}/${nameOf(file)}`))),
    ...(level === null ? [] : [`echo ${level} > ${levelFile(fresh)}`]),
    `rm -rf ${quote(layout.kept)}`,
    `mv ${quote(fresh)} ${quote(layout.kept)}`
  ]
  await machine.run(steps.join(' && '))
}

/**
 * The kept program; null if there is none. If an older installation kept none, the running program is kept now. A
 * better level replaces the stored one.
 * @param options.before how far a request through the running program got
 * @param options.isStarted what is installed is what runs: nothing was written since its start
 */
export async function ensureKept(
  machine: Machine,
  layout: Layout,
  service: Service,
  { before, isStarted }: { before: ProxyLevel | null; isStarted: boolean }
): Promise<KeptProgram | null> {
  const found = await readKept(machine, layout, service)
  // What is installed has not served yet, so it is not worth keeping.
  if (!isStarted) return found && { ...found, runs: false }
  if (found === null) {
    const all = filesOf(layout, service).map(file => `test -e ${quote(file)}`)
    if ((await machine.attempt(all.join(' && '))).code !== 0) return null
    await keepProgram(machine, layout, service, before)
    return { level: before, runs: true }
  }
  if (!found.runs || before === null || rank(before) <= rank(found.level)) return found
  await machine.run(`echo ${before} > ${levelFile(layout.kept)}`)
  return { level: before, runs: true }
}

async function readKept(machine: Machine, layout: Layout, service: Service): Promise<KeptProgram | null> {
  const same = filesOf(layout, service).map(file => {
    const [one, other] = [keptPath(layout, file), quote(file)]
    return `{ test ${one} -ef ${other} || test "$(sha256sum < ${one})" = "$(sha256sum < ${other})"; }`
  })
  const { code, stdout } = await machine.attempt(
    `test -d ${quote(layout.kept)} || exit 1; cat ${levelFile(layout.kept)} 2> /dev/null; { ${same.join(' && ')}; } 2> /dev/null && echo same; exit 0`
  )
  if (code !== 0) return null
  const lines = stdout.split('\n')
  return { level: LEVELS.find(level => lines.includes(level)) ?? null, runs: lines.includes('same') }
}

const rank = (level: ProxyLevel | null): number => (level === null ? -1 : LEVELS.indexOf(level))

/**
 * How far a request through a new program must get. The level just measured counts if the kept program ran. Otherwise,
 * as after an installation that died or was cancelled, the kept program's stored level counts.
 */
export function requiredLevel(found: KeptProgram | null, before: ProxyLevel | null): ProxyLevel | null {
  if (found === null || found.level === null) return before
  return found.runs ? (before ?? found.level) : found.level
}

/** A silent program never replaces one that served. */
export const canReplaceKept = (found: KeptProgram | null, after: ProxyLevel | null): boolean =>
  after !== 'silent' || rank(found?.level ?? null) <= rank('silent')

/**
 * Restores the kept program and its settings. Each file is replaced in one step.
 * @param options.restart restarts the agent
 * @param options.isStarted the restored program runs then; otherwise the next installation starts it
 */
export async function restoreKept(
  machine: Machine,
  layout: Layout,
  service: Service,
  { restart, isStarted }: { restart: boolean; isStarted: boolean }
): Promise<void> {
  const puts = filesOf(layout, service).map(file => {
    const [from, fresh] = [keptPath(layout, file), quote(`${file}.new`)]
    // A runtime that did not change is the same file as the kept one, and cannot be moved over itself.
    return `{ test ${from} -ef ${quote(file)} || { rm -f ${fresh}; ${copy(layout, file, from, fresh)} && mv -f ${fresh} ${quote(file)}; }; }`
  })
  // If this breaks off, the next installation starts what is there then.
  const mark = quote(layout.unstarted)
  const start = restart ? [service.restart] : []
  await machine.run(
    [
      `{ echo restored >> ${mark} || true; } 2> /dev/null`,
      ...puts,
      ...start,
      ...(isStarted ? [`rm -f ${mark}`] : [])
    ].join(' && ')
  )
}
