import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { type Node, parseSync, Visitor } from 'oxc-parser'
import { readFileSync } from 'node:fs'

/** The test files, as paths below the root with forward slashes. */
export type TestFiles = {
  paths: string[]
  read(path: string): string
}

/** What `npm test` runs: whole stages, or single files and tests. */
export type Selection = {
  stages: string[]
  files: string[]
  /** Runs only tests of `files` whose name contains this. */
  name?: string
}

const normalise = (word: string, root: string): string =>
  (isAbsolute(word) ? relative(root, word) : word)
    .replaceAll(sep, '/')
    .replace(/^(\.\/)+/, '')
    .replace(/\/+$/, '')

/**
 * Parses the arguments of `npm test`: stages, paths of test files or folders (part of a path is enough; a source file
 * selects the test beside it), or part of a test's name.
 * @returns the selection, or a message with the possible choices
 */
export function select(words: string[], stages: string[], tests: TestFiles, root: string): Selection | string {
  const selection: Selection = { stages: [], files: [] }
  const unknown: string[] = []
  for (const word of words) {
    const files = stages.includes(word) ? [] : filesOf(normalise(word, root), tests.paths)
    if (stages.includes(word)) selection.stages.push(word)
    else if (files.length > 0) selection.files.push(...files)
    else unknown.push(word)
  }
  if (unknown.length > 0) {
    // Words that are neither a stage nor a path form one name.
    const name = unknown.join(' ')
    const named = tests.paths.filter(path => hasTest(path, tests.read(path), name.toLowerCase()))
    const within = selection.files.length > 0 ? named.filter(path => selection.files.includes(path)) : named
    if (name.startsWith('-') || within.length === 0 || selection.stages.length > 0) return nothing(name, stages)
    selection.files = within
    selection.name = name
  }
  selection.files = [...new Set(selection.files)]
  return selection
}

function filesOf(word: string, paths: string[]): string[] {
  if (word === '') return []
  if (paths.includes(word)) return [word]
  const beside = paths.filter(path => path.replace(/\.(test|spec)\.tsx?$/, '') === word.replace(/\.tsx?$/, ''))
  if (beside.length > 0) return beside
  const below = paths.filter(path => path.startsWith(`${word}/`))
  return below.length > 0 ? below : paths.filter(path => path.includes(word))
}

/** Does the file have a test, or a group, whose name contains this? */
function hasTest(path: string, text: string, name: string): boolean {
  if (!text.toLowerCase().includes(name)) return false
  let found = false
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      if (title && isTestFunction(callee)) found ||= wordsOf(title).some(words => words.toLowerCase().includes(name))
    }
  }).visit(parseSync(path, text).program)
  return found
}

/** `test`, `describe.skip`, `test.each([…])` and similar. */
function isTestFunction(node: Node): boolean {
  if (node.type === 'Identifier') return ['test', 'it', 'describe'].includes(node.name)
  if (node.type === 'MemberExpression') return isTestFunction(node.object)
  return node.type === 'CallExpression' && isTestFunction(node.callee)
}

function wordsOf(node: Node): string[] {
  if (node.type === 'Literal' && typeof node.value === 'string') return [node.value]
  return node.type === 'TemplateLiteral' ? node.quasis.map(quasi => quasi.value.raw) : []
}

const nothing = (name: string, stages: string[]): string =>
  `No stage, test file or test is called "${name}".
Stages: ${stages.join(', ')}.
Or give (a part of) a path:        npm test -- apps/server/src/domains/orders/states.test.ts
Or a part of the name of a test:   npm test -- "a paid order"`

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
