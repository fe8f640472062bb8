import { LEVELS, type ProxyLevel } from '../convergence/index.ts'
import { quote, type Layout } from './layout.ts'
import type { Machine } from './machine.ts'

/** How the agent is kept on a machine: its service file, and the command that restarts it. */
export type Service = { file: string; restart: string }

/** What was kept. `runs`: it is identical to what is installed and started. */
export type Kept = { level: ProxyLevel | null; runs: boolean }

const nameOf = (file: string): string => file.split('/').at(-1) ?? ''

/** The runtime comes first, because it is large and operators do not edit it. */
const filesOf = (layout: Layout, service: Service): string[] => [
  layout.node,
  layout.agent,
  layout.manifest,
  layout.environment,
  service.file
]

const kept = (layout: Layout, file: string): string => quote(`${layout.good}/${nameOf(file)}`)

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
export async function keepGood(
  machine: Machine,
  layout: Layout,
  service: Service,
  level: ProxyLevel | null
): Promise<void> {
  const fresh = `${layout.good}.new`
  const steps = [
    `rm -rf ${quote(fresh)}`,
    `mkdir -p ${quote(fresh)}`,
    `chmod 700 ${quote(fresh)}`,
    ...filesOf(layout, service).map(file => copy(layout, file, quote(file), quote(`${fresh}/${nameOf(file)}`))),
    ...(level === null ? [] : [`echo ${level} > ${levelFile(fresh)}`]),
    `rm -rf ${quote(layout.good)}`,
    `mv ${quote(fresh)} ${quote(layout.good)}`
  ]
  await machine.run(steps.join(' && '))
}

/**
 * What was kept; null if nothing. If an older installation kept nothing, what runs is kept now. A better level replaces
 * the stored one.
 * @param options.before how far a request through the running program got
 * @param options.isStarted what is installed is what runs: nothing was written since its start
 */
export async function ensureKept(
  machine: Machine,
  layout: Layout,
  service: Service,
  { before, isStarted }: { before: ProxyLevel | null; isStarted: boolean }
): Promise<Kept | null> {
  const found = await readGood(machine, layout, service)
  // What is installed has not served yet, so it is not worth keeping.
  if (!isStarted) return found && { ...found, runs: false }
  if (found === null) {
    const all = filesOf(layout, service).map(file => `test -e ${quote(file)}`)
    if ((await machine.attempt(all.join(' && '))).code !== 0) return null
    await keepGood(machine, layout, service, before)
    return { level: before, runs: true }
  }
  if (!found.runs || before === null || rank(before) <= rank(found.level)) return found
  await machine.run(`echo ${before} > ${levelFile(layout.good)}`)
  return { level: before, runs: true }
}

async function readGood(machine: Machine, layout: Layout, service: Service): Promise<Kept | null> {
  const same = filesOf(layout, service).map(file => {
    const [one, other] = [kept(layout, file), quote(file)]
    return `{ test ${one} -ef ${other} || test "$(sha256sum < ${one})" = "$(sha256sum < ${other})"; }`
  })
  const { code, stdout } = await machine.attempt(
    `test -d ${quote(layout.good)} || exit 1; cat ${levelFile(layout.good)} 2> /dev/null; { ${same.join(' && ')}; } 2> /dev/null && echo same; exit 0`
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
export function requiredLevel(found: Kept | null, before: ProxyLevel | null): ProxyLevel | null {
  if (found === null || found.level === null) return before
  return found.runs ? (before ?? found.level) : found.level
}

/** A silent program never replaces one that served. */
export const mayReplaceKept = (found: Kept | null, after: ProxyLevel | null): boolean =>
  after !== 'silent' || rank(found?.level ?? null) <= rank('silent')

/**
 * Restores what was kept. Each file is replaced in one step.
 * @param options.restart restarts the agent
 * @param options.isStarted the restored program runs then; otherwise the next installation starts it
 */
export async function restoreGood(
  machine: Machine,
  layout: Layout,
  service: Service,
  { restart, isStarted }: { restart: boolean; isStarted: boolean }
): Promise<void> {
  const puts = filesOf(layout, service).map(file => {
    const [from, fresh] = [kept(layout, file), quote(`${file}.new`)]
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
