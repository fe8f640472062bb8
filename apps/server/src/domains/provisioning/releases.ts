import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { LEVELS, type ProxyLevel } from '../convergence/index.ts'
import { quote, type Layout } from './layout.ts'
import { StepFailed, type Content, type Machine } from './machine.ts'

/**
 * The release that last passed its check, or whose proxy could not be tried. `level`: how far a request through it got;
 * null: unknown. `runs`: it is current, and its program runs.
 */
export type GoodRelease = { folder: string; level: ProxyLevel | null; runs: boolean }

/** A file of a release: its path in it, its mode and its content. */
export type ReleaseFile = readonly [path: string, mode: '600' | '644' | '755', content: Content]

const MB = 1024 * 1024

/** A link is replaced in one step. */
const SWITCH = 'switch() { ln -sfn "$1" "$2.new" && mv -fT "$2.new" "$2"; }'

/** Removes every release that no link names. */
const PRUNE =
  'for one in releases/*; do [ "$one" -ef current ] || [ "$one" -ef good ] || [ "$one" -ef previous ] || rm -rf "$one"; done'

/** Runs this in the agent's folder. */
const inHome = (machine: Machine, { home }: Layout, command: string): Promise<string> =>
  machine.run(`cd ${quote(home)} && ${SWITCH} && ${command}`)

/**
 * Removes what installations that broke off left. An installation of an earlier console, which had one program and a
 * copy of the last good one, becomes a release, and goes on running.
 */
export async function prepareReleases(machine: Machine, layout: Layout): Promise<void> {
  const [environment, unit] = [quote(layout.environment), quote(layout.unit)]
  await machine.run(`mkdir -p ${quote(layout.home)}/releases ${quote(layout.settings)}`)
  const adopt = [
    'rm -rf releases/former',
    'mkdir -m 700 releases/former',
    `for one in package.json ${environment} ${unit}; do [ ! -e "$one" ] || cp -p "$one" releases/former/ || exit 1; done`,
    '{ [ ! -d good ] || [ -s unstarted ] || [ "$(sha256sum < bin/agent.mjs)" != "$(sha256sum < good/agent.mjs)" ] || cat good/level > releases/former/level || true; }',
    'switch releases/former current',
    'mv -T bin releases/former/bin'
  ].join(' && ')
  // The service and running agents know the program and its settings by these paths.
  const steps = [
    `{ [ -L bin ] || [ ! -d bin ] || { ${adopt}; }; }`,
    '{ [ -L bin ] || ln -s current/bin bin; }',
    `{ [ -L ${environment} ] || switch ${quote(`${layout.home}/current/agent.env`)} ${environment}; }`,
    '{ [ -L good ] || rm -rf good unstarted package.json; }',
    // Also after an operator went back by hand.
    '{ [ ! -e current/level ] || switch "$(readlink current)" good; }',
    PRUNE
  ]
  await inHome(machine, layout, steps.join(' && '))
}

/** The release to go back to; null if none has passed its check. */
export async function readGood(machine: Machine, layout: Layout, systemd: boolean): Promise<GoodRelease | null> {
  const pid = systemd ? 'systemctl show -p MainPID --value netlet-agent' : `cat ${quote(layout.pid)}`
  const { code, stdout } = await machine.attempt(
    `cd ${quote(layout.home)} && readlink -e good && cat good/level && case "$(readlink "/proc/$(${pid})/exe")" in "$(readlink -e current)"/*) [ current -ef good ] && echo runs ;; esac; [ -e good ]`
  )
  const [folder = '', ...lines] = stdout.split('\n')
  if (code !== 0) return null
  return { folder, level: LEVELS.find(level => lines.includes(level)) ?? null, runs: lines.includes('runs') }
}

/**
 * A new release, which begins as the good one. No file of a release but `level` changes, so equal files are one.
 * @returns its folder
 */
export async function makeRelease(machine: Machine, layout: Layout, name: string): Promise<string> {
  const begin = '[ ! -e "$from" ] || cp -al "$from/." "$folder" || cp -a "$from/." "$folder"'
  const made = await inHome(
    machine,
    layout,
    `from=good && { [ -e good ] || from=current; } && folder=$(mktemp -d ${quote(`${layout.home}/releases/${name}.XXXXXX`)}) && { ${begin}; } && rm -f "$folder/level" && echo "$folder"`
  )
  return made.trim()
}

/**
 * Writes these files of a new release.
 * @returns the paths of those that changed
 * @throws StepFailed if there is too little room: an agent that cannot write takes no changes
 */
export async function fillRelease(machine: Machine, folder: string, files: readonly ReleaseFile[]): Promise<string[]> {
  const { stdout } = await machine.attempt(`df -Pk ${quote(folder)} | tail -n 1`)
  // A machine that does not say passes.
  const free = Number(/^\S+\s+\d+\s+\d+\s+(\d+)\s/.exec(stdout)?.[1] ?? Number.NaN) * 1024
  const changed: ReleaseFile[] = []
  let needed = 0
  for (const file of files) {
    const [path, , content] = file
    if (await machine.has(`${folder}/${path}`, content)) continue
    changed.push(file)
    needed += content.file === undefined ? Buffer.byteLength(content.text ?? '') : (await stat(content.file)).size
  }
  if (free < needed) {
    throw new StepFailed('no_room', {
      folder: posix.dirname(folder),
      free: Math.floor(free / MB),
      needed: Math.ceil(needed / MB)
    })
  }
  for (const [path, mode, content] of changed) await machine.put(`${folder}/${path}`, mode, content)
  return changed.map(([path]) => path)
}

/** Switches to a release, and restarts or reloads the agent. Repeating it is harmless. */
export async function switchTo(
  machine: Machine,
  layout: Layout,
  { folder, systemd, start }: { folder: string; systemd: boolean; start: 'restart' | 'reload' | null }
): Promise<void> {
  const unit = [
    `cp -p current/netlet-agent.service ${quote(`${layout.unit}.new`)}`,
    `mv -f ${quote(`${layout.unit}.new`)} ${quote(layout.unit)}`
  ]
  const steps = [
    `switch ${quote(`releases/${posix.basename(folder)}`)} current`,
    ...(systemd ? [...unit, 'systemctl daemon-reload', 'systemctl enable netlet-agent'] : []),
    ...(start === null ? [] : [systemd ? `systemctl ${start} netlet-agent` : `${quote(layout.control)} ${start}`])
  ]
  await inHome(machine, layout, steps.join(' && '))
}

/**
 * The current release has passed its check. The good one before it stays for an operator to go back to; older ones go.
 * @param level how far a request through it got; null: unknown
 */
export async function markGood(machine: Machine, layout: Layout, level: ProxyLevel | null): Promise<void> {
  const links = '{ [ ! -e good ] || switch "$(readlink good)" previous; } && switch "$(readlink current)" good'
  await inHome(
    machine,
    layout,
    `echo ${level ?? ''} > current/level && { [ current -ef good ] || { ${links}; }; } && ${PRUNE}`
  )
}

const rank = (level: ProxyLevel | null): number => (level === null ? -1 : LEVELS.indexOf(level))

/**
 * How far a request through a new program must get. The level just measured counts if the good release ran. Otherwise,
 * as after an installation that died or was cancelled, the good release's stored level counts.
 */
export function requiredLevel(good: GoodRelease | null, before: ProxyLevel | null): ProxyLevel | null {
  if (good === null || good.level === null) return before
  return good.runs ? (before ?? good.level) : good.level
}

/** A silent program never replaces one that served. */
export const canReplaceGood = (good: GoodRelease | null, after: ProxyLevel | null): boolean =>
  after !== 'silent' || rank(good?.level ?? null) <= rank('silent')
