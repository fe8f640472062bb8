import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { parseSync, Visitor, type Node, type ParseResult, type TemplateLiteral } from 'oxc-parser'
import { NOT_SHIPPED } from './layers.ts'
import type { Violation } from './violation.ts'

const SERVER = 'apps/server/src'
const RULE = 'owner-writes-its-tables'
const COMMANDS_ONLY = 'commands-write'

/** The owner of a table or write: the domain's folder, or `infra`. Other files own nothing. */
const ownerOf = (file: string): string | undefined =>
  new RegExp(`^${SERVER}/(?:domains/([^/]+)|(infra))/`).exec(file)?.slice(1).find(Boolean)

type Table = { owner: string; table: string }
type Source = { file: string; text: string; parsed: ParseResult }

/**
 * Finds writes outside commands: transactions not opened by `command`, and writes on anything but a command's `tx`.
 * Also finds writes to a table by a domain that does not declare it: `.insert(table)`, `.update(table)`,
 * `.delete(table)`, and SQL text that inserts, updates, deletes or truncates. It follows tables through renamed and
 * namespace imports, re-exports and variables.
 */
export function tableWriteViolations(root: string): Violation[] {
  const sources = sourcesBelow(root)
  const exported = new ExportedTables(sources)
  return sources
    .filter(({ file }) => !NOT_SHIPPED.some(pattern => new RegExp(pattern).test(file)))
    .flatMap(source => writesOf(source, exported))
}

function sourcesBelow(root: string): Source[] {
  return readdirSync(join(root, SERVER), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .toSorted()
    .map(name => {
      const path = join(root, SERVER, name)
      const text = readFileSync(path, 'utf8')
      return { file: relative(root, path).replaceAll(sep, '/'), text, parsed: parseSync(path, text) }
    })
}

/** Exports that are tables, directly or through re-exports. */
class ExportedTables {
  readonly #sources: Map<string, Source>
  /** By the name in the database. */
  readonly byName = new Map<string, Table>()

  constructor(sources: Source[]) {
    this.#sources = new Map(sources.map(source => [source.file, source]))
    for (const source of sources) for (const [name, table] of declaredTables(source)) this.byName.set(name, table)
  }

  /** The table that `file` exports as `name`. */
  find(file: string, name: string, seen = new Set<string>()): Table | undefined {
    const source = this.#sources.get(file)
    if (!source || seen.has(`${file} ${name}`)) return undefined
    seen.add(`${file} ${name}`)
    const own = declaredTables(source).find(([, { table }]) => table === name)
    if (own) return own[1]
    for (const entry of source.parsed.module.staticExports.flatMap(({ entries }) => entries)) {
      if (entry.moduleRequest) {
        const from = resolve(file, entry.moduleRequest.value)
        const kind: string = entry.importName.kind
        const all = kind === 'AllButDefault'
        if (!all && entry.exportName.name !== name) continue
        const found = this.find(from, all ? name : (entry.importName.name ?? ''), seen)
        if (found) return found
      } else if (entry.exportName.name === name && entry.localName.name) {
        const found = this.#imported(source, entry.localName.name, seen)
        if (found) return found
      }
    }
    return undefined
  }

  #imported({ file, parsed }: Source, local: string, seen: Set<string>): Table | undefined {
    for (const { moduleRequest, entries } of parsed.module.staticImports)
      for (const { localName, importName } of entries)
        if (localName.value === local && importName.name)
          return this.find(resolve(file, moduleRequest.value), importName.name, seen)
    return undefined
  }
}

const resolve = (file: string, specifier: string): string =>
  specifier.startsWith('.') ? join(dirname(file), specifier).replaceAll(sep, '/') : specifier

/** Pairs of a table's name in the database and its constant. */
function declaredTables({ file, text }: Source): [string, Table][] {
  const owner = ownerOf(file)
  if (!owner || !file.endsWith('/tables.ts')) return []
  return [...text.matchAll(/export const (\w+) = pgTable\(\s*'(\w+)'/g)].map(([, table = '', name = '']) => [
    name,
    { owner, table }
  ])
}

const WRITES = new Set(['insert', 'update', 'delete'])
const SQL_WRITE = /\b(?:insert\s+into|update|delete\s+from|truncate(?:\s+table)?|merge\s+into)\s+(?:only\s+)?"?/.source
/** The files that open transactions: the command, and the database client it uses. */
const OPENS_TRANSACTIONS = new Set([`${SERVER}/infra/command.ts`, `${SERVER}/infra/db/client.ts`])
const BEFORE_TABLE = new RegExp(`${SQL_WRITE}$`, 'i')
const NAMED_TABLE = new RegExp(`${SQL_WRITE}(?:public"?\\."?)?(\\w+)`, 'gi')
/** Calls whose text is SQL. */
const TAKES_SQL = new Set(['raw', 'query', 'execute'])

function writesOf(source: Source, exported: ExportedTables): Violation[] {
  const { file, text, parsed } = source
  const owner = ownerOf(file)
  const violations: Violation[] = []
  const known = tablesInScope(source, exported)
  const report = (table: Table | undefined, at: number, how: string) => {
    if (!table || table.owner === owner) return
    const line = text.slice(0, at).split('\n').length
    const what = `${how} ${table.table}, which only ${table.owner} may write: call a command of its index.ts.`
    violations.push({ rule: RULE, where: `${file}:${line}`, what })
  }
  const transactions = transactionsOf(parsed)
  const reportOutside = (node: Node, method: string) => {
    if (transactions(receiverOf(node))) return
    const line = text.slice(0, node.start).split('\n').length
    const what = `calls ${method} outside of a command: write on the transaction of its unit.`
    violations.push({ rule: COMMANDS_ONLY, where: `${file}:${line}`, what })
  }
  const writesInSql = ({ quasis, expressions }: TemplateLiteral): boolean =>
    quasis.some(
      ({ value: { raw } }, at) =>
        [...raw.matchAll(NAMED_TABLE)].some(([, name = '']) => exported.byName.has(name.toLowerCase())) ||
        (BEFORE_TABLE.test(raw) && expressions[at] !== undefined && known(expressions[at]) !== undefined)
    )
  const reportNamed = (words: string, at: number) => {
    for (const [, name = ''] of words.matchAll(NAMED_TABLE))
      report(exported.byName.get(name.toLowerCase()), at, 'writes in SQL')
  }
  new Visitor({
    CallExpression(node) {
      const method = propertyName(node.callee)
      const [first] = node.arguments
      if (!method || !first) return
      if (method === 'transaction' && !OPENS_TRANSACTIONS.has(file)) reportOutside(node, method)
      if (WRITES.has(method) && known(first)) reportOutside(node, method)
      if (method === 'execute' && first.type === 'TaggedTemplateExpression' && writesInSql(first.quasi))
        reportOutside(node, method)
      if (WRITES.has(method)) report(known(first), node.start, `calls ${method} on`)
      if (TAKES_SQL.has(method) && first.type === 'Literal' && typeof first.value === 'string')
        reportNamed(first.value, node.start)
      if (TAKES_SQL.has(method) && first.type === 'TemplateLiteral') readTemplate(first)
    },
    TaggedTemplateExpression(node) {
      const { tag } = node
      if ((tag.type === 'Identifier' ? tag.name : propertyName(tag)) === 'sql') readTemplate(node.quasi)
    }
  }).visit(parsed.program)
  return violations

  function readTemplate({ quasis, expressions }: TemplateLiteral): void {
    for (const [at, quasi] of quasis.entries()) {
      const words = quasi.value.raw
      reportNamed(words, quasi.start)
      const expression = expressions[at]
      if (expression && BEFORE_TABLE.test(words)) report(known(expression), expression.start, 'writes in SQL')
    }
  }
}

/** The start of a call chain: `tx` in `tx.with(a).update(b)`. */
function receiverOf(call: Node): Node | undefined {
  if (call.type !== 'CallExpression') return undefined
  const callee = call.callee.type === 'ChainExpression' ? call.callee.expression : call.callee
  if (callee.type !== 'MemberExpression') return undefined
  return receiverOf(callee.object) ?? callee.object
}

/** Whether an expression is a command's transaction: `tx`, `unit.tx`, or the variable of a savepoint. */
function transactionsOf({ program }: ParseResult) {
  const savepoints = new Set<string>()
  const isTransaction = (node: Node | undefined): boolean => {
    if (node?.type === 'Identifier') return node.name === 'tx' || savepoints.has(node.name)
    return node?.type === 'MemberExpression' && propertyName(node) === 'tx'
  }
  new Visitor({
    CallExpression(node) {
      const [work] = node.arguments
      if (propertyName(node.callee) !== 'transaction' || !isTransaction(receiverOf(node))) return
      const [parameter] = work?.type === 'ArrowFunctionExpression' ? work.params : []
      if (parameter?.type === 'Identifier') savepoints.add(parameter.name)
    }
  }).visit(program)
  return isTransaction
}

/** Returns a function that resolves an expression of this file to a table. */
function tablesInScope({ file, parsed }: Source, exported: ExportedTables) {
  const tables = new Map<string, Table>()
  const namespaces = new Map<string, string>()
  for (const { moduleRequest, entries } of parsed.module.staticImports) {
    const from = resolve(file, moduleRequest.value)
    for (const { importName, localName } of entries) {
      const kind: string = importName.kind
      if (kind === 'NamespaceObject') namespaces.set(localName.value, from)
      const table = importName.name ? exported.find(from, importName.name) : undefined
      if (table) tables.set(localName.value, table)
    }
  }
  const known = (node: Node): Table | undefined => {
    if (node.type === 'Identifier') return tables.get(node.name)
    const name = propertyName(node)
    if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier' || !name) return undefined
    const from = namespaces.get(node.object.name)
    return from ? exported.find(from, name) : tables.get(`${node.object.name}.${name}`)
  }
  const remember = (name: string, init: Node | null): void => {
    if (!init) return
    if (init.type === 'ConditionalExpression') {
      remember(name, init.consequent)
      if (!tables.has(name)) remember(name, init.alternate)
    }
    if (init.type === 'ObjectExpression')
      for (const property of init.properties)
        if (property.type === 'Property' && property.key.type === 'Identifier')
          remember(`${name}.${property.key.name}`, property.value)
    const table = known(init)
    if (table && !tables.has(name)) tables.set(name, table)
  }
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier') remember(id.name, init)
    },
    ForOfStatement({ left, right }) {
      if (left.type !== 'VariableDeclaration' || right.type !== 'ArrayExpression') return
      const [declared] = left.declarations
      const foreign = right.elements.find(element => element && known(element))
      if (declared?.id.type === 'Identifier' && foreign) remember(declared.id.name, foreign)
    }
  }).visit(parsed.program)
  return known
}

/** The name in `x.name`, `x['name']` or `x?.name`. */
function propertyName(node: Node): string | undefined {
  if (node.type === 'ChainExpression') return propertyName(node.expression)
  if (node.type !== 'MemberExpression') return undefined
  const { property } = node
  if (!node.computed && property.type === 'Identifier') return property.name
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined
}
