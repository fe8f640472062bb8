import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser'
import config from '../../dependency-cruiser.config.ts'
import { NOT_SHIPPED } from './layers.ts'
import { sourcesIn, type Violation } from './plain-words.ts'

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

const FROM_ROOT = /(?<![\w./@-])(?:apps|packages|scripts|bench|e2e)\/[\w./-]+\.(?:[cm]?[jt]sx?|sql|css)\b/g
const BESIDE = /(?<=new URL\(\s*')\.{1,2}\/[\w./-]+\.[cm]?[jt]sx?(?=',\s*import\.meta\.url)/g

/** Files that code or comments name by a path that does not exist. The compiler checks only imports. */
export function namedFileViolations(root: string): Violation[] {
  return sourcesIn(root)
    .filter(({ file }) => !/\.(?:test|spec|fixture)\./.test(file))
    .flatMap(({ file, path }) => {
      const text = readFileSync(path, 'utf8')
      const missing = (pattern: RegExp, folder: string) =>
        [...text.matchAll(pattern)].filter(([name]) => !existsSync(join(folder, name)))
      return [...missing(FROM_ROOT, root), ...missing(BESIDE, dirname(path))].map(({ 0: name, index }) => ({
        rule: 'named-files',
        where: `${file}:${text.slice(0, index).split('\n').length}`,
        what: `names ${name}, which does not exist.`
      }))
    })
}
