import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import config from '../../dependency-cruiser.config.ts'
import type { Violation } from './violation.ts'

const FOLDERS = ['apps', 'packages', 'scripts', 'bench', 'e2e']

/** Reads all imports below `root` and checks them against dependency-cruiser.config.ts. */
export async function readImports(root: string): Promise<ICruiseResult> {
  const { enhancedResolveOptions, ...options } = config.options ?? {}
  const { output } = await cruise(
    FOLDERS.filter(folder => existsSync(join(root, folder))),
    { ...options, baseDir: root, ruleSet: { forbidden: config.forbidden }, validate: true },
    enhancedResolveOptions
  )
  if (typeof output === 'string') throw new Error(output)
  return output
}

export function importViolations({ summary }: ICruiseResult): Violation[] {
  return summary.violations.map(({ rule, from, to }) => {
    const comment = config.forbidden?.find(({ name }) => name === rule.name)?.comment
    return { rule: rule.name, where: from, what: `imports ${to}. ${comment ?? ''}`.trim() }
  })
}
