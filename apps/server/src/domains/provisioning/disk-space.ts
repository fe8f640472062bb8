import { type Content, type Machine, StepFailed } from './machine.ts'
import { stat } from 'node:fs/promises'
import { type Layout, layoutFiles, quote } from './layout.ts'

const MB = 1024 * 1024

/** Removes files left by interrupted uploads, to free disk space for the new ones. */
export async function removeLeftovers(machine: Machine, layout: Layout): Promise<void> {
  const files = layoutFiles(layout).map(file => quote(`${file}.new`))
  await machine.attempt(`rm -f ${files.join(' ')}; rm -rf ${quote(`${layout.kept}.new`)}`)
}

const sizeOf = async ({ text, file }: Content): Promise<number> =>
  file === undefined ? Buffer.byteLength(text ?? '') : (await stat(file)).size

/**
 * Checks that there is room for these files twice, because the program that last worked is kept. A machine that does not say
 * passes.
 * @throws StepFailed if there is too little: an agent that cannot write takes no changes
 */
export async function requireDiskSpace(
  machine: Machine,
  folder: string,
  contents: readonly (readonly [path: string, content: Content])[]
): Promise<void> {
  // Before the first installation only some parents of the folder exist.
  const { stdout } = await machine.attempt(
    `d=${quote(folder)}; while [ ! -d "$d" ]; do d=$(dirname "$d"); done; df -Pk "$d" | tail -n 1`
  )
  const free = Number(/^\S+\s+\d+\s+\d+\s+(\d+)\s/.exec(stdout)?.[1] ?? Number.NaN) * 1024
  let needed = 0
  for (const [path, content] of contents) {
    const needs = 2 * (await sizeOf(content))
    // Usually there is room for everything, and no large file has to be compared.
    if (free < needed + needs && (await machine.has(path, content))) continue
    needed += needs
  }
  if (!(free < needed)) return
  throw new StepFailed('no_room', { folder, free: Math.floor(free / MB), needed: Math.ceil(needed / MB) })
}
