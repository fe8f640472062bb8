import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser'
import config from '../../dependency-cruiser.config.ts'
import { NOT_SHIPPED } from './layers.ts'

import type { Violation } from './violation.ts'

const FOLDERS = ['apps', 'packages', 'scripts', 'bench', 'e2e']
const DOMAIN_FOLDER = 'apps/server/src/domains'

/** Reads all imports below `root` and checks them against dependency-cruiser.config.ts. */
export const readImports = (root: string): Promise<ICruiseResult> =>
  read(root, FOLDERS, { ruleSet: { forbidden: config.forbidden }, validate: true })

/** Reads the imports between the server's domains, which takes a fraction of the time of all imports. */
export const readDomainImports = (root: string): Promise<ICruiseResult> =>
  read(root, [DOMAIN_FOLDER], { includeOnly: `^${DOMAIN_FOLDER}/`, exclude: NOT_SHIPPED })

async function read(root: string, folders: string[], more: ICruiseOptions): Promise<ICruiseResult> {
  const { enhancedResolveOptions, ...options } = config.options ?? {}
  const { output } = await cruise(
    folders.filter(folder => existsSync(join(root, folder))),
    { ...options, baseDir: root, ...more },
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
