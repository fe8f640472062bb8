import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseSync } from 'oxc-parser'

/** Does one of these files, or a file it imports, use the run's database? */
export function needsDatabase(files: string[]): boolean {
  const seen = new Set<string>()
  const queue = [...files]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file) || !/\.tsx?$/.test(file)) continue
    seen.add(file)
    const text = readFileSync(file, 'utf8')
    const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module
    const asksRun = staticImports.some(
      ({ moduleRequest, entries }) =>
        moduleRequest.value === 'vitest' && entries.some(({ importName }) => importName.name === 'inject')
    )
    if (asksRun) return true
    const specifiers = [
      ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...staticExports.flatMap(({ entries }) => entries.flatMap(entry => entry.moduleRequest?.value ?? [])),
      ...dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start + 1, moduleRequest.end - 1))
    ]
    for (const specifier of specifiers) if (specifier.startsWith('.')) queue.push(resolve(dirname(file), specifier))
  }
  return false
}
