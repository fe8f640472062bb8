import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A place in the server's code that writes an audit entry. */
export type AuditCall = {
  file: string
  /** Source text: a string literal or an expression. */
  action: string
  /** Fields of `before` and `after` that are written out by name. */
  fields: string[]
}

const SERVER = join(import.meta.dirname, '../../../../server/src')

/** Splits a text at its top-level commas, outside brackets and strings. */
function parts(text: string): string[] {
  const found: string[] = []
  let depth = 0
  let quote = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (quote) quote = char === quote && text[at - 1] !== '\\' ? '' : quote
    else if ('\'"`'.includes(char)) quote = char
    else if ('([{'.includes(char)) depth++
    else if (')]}'.includes(char)) depth--
    else if (char === ',' && depth === 0) {
      found.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...found, text.slice(from)].map(part => part.trim()).filter(Boolean)
}

/** The text between the bracket at `at` and its closing bracket. */
function inside(text: string, at: number): string {
  let depth = 0
  for (let end = at; end < text.length; end++) {
    if ('([{'.includes(text[end] ?? '')) depth++
    else if (')]}'.includes(text[end] ?? '') && --depth === 0) return text.slice(at + 1, end)
  }
  throw new Error('a bracket is never closed')
}

const isLiteral = (text: string) => text.startsWith('{') && text.endsWith('}')

const fieldsOf = (value: string): string[] =>
  !isLiteral(value)
    ? []
    : parts(value.slice(1, -1))
        .filter(part => !part.startsWith('...'))
        .map(part => part.split(':')[0]?.trim() ?? '')

function callAt(file: string, text: string, at: number): AuditCall | null {
  const [action = '', , change = ''] = parts(inside(text, at))
  if (!/^['`]|\?|^action$/.test(action)) return null
  const sides = isLiteral(change) ? parts(change.slice(1, -1)) : []
  const fields = sides.flatMap(side => fieldsOf(side.includes(':') ? side.slice(side.indexOf(':') + 1).trim() : side))
  return { file, action, fields: [...new Set(fields)] }
}

/** Every call in the server's code that writes an audit entry. */
export const auditCalls = (): AuditCall[] =>
  readdirSync(SERVER, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !/\.(test|fixture)\.ts$|infra.command\.ts$|api.examples/.test(file))
    .flatMap(file => {
      const text = readFileSync(join(SERVER, file), 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')
      return [...text.matchAll(/\baudit\(/g)].flatMap(({ index }) => callAt(file, text, index + 'audit'.length) ?? [])
    })
