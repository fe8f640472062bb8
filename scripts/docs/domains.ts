import type { ICruiseResult } from 'dependency-cruiser'
import { DOMAINS, NOT_SHIPPED } from '../rules/layers.ts'

const DOMAIN = /^apps\/server\/src\/domains\/([^/]+)\/(?:.*\/)?([^/]+)\.ts$/

/**
 * Draws the domains from the real imports. A solid arrow means use of commands, a dotted one only joins of tables.
 * Arrows implied by others (a > b > c implies a > c) are omitted, but listed below.
 */
export function domainPicture({ modules }: ICruiseResult): string {
  const uses = new Map<string, Map<string, 'commands' | 'tables'>>()
  for (const { source, dependencies } of modules) {
    const from = DOMAIN.exec(source)?.[1]
    if (!from || NOT_SHIPPED.some(pattern => new RegExp(pattern).test(source))) continue
    const targets = uses.get(from) ?? new Map<string, 'commands' | 'tables'>()
    uses.set(from, targets)
    for (const { resolved } of dependencies) {
      const [, to, file] = DOMAIN.exec(resolved) ?? []
      if (!to || to === from) continue
      if (file !== 'tables') targets.set(to, 'commands')
      else if (!targets.has(to)) targets.set(to, 'tables')
    }
  }
  const place = (domain: string) => (DOMAINS as readonly string[]).indexOf(domain)
  const names = [...uses.keys()].toSorted((a, b) => place(a) - place(b))
  const targetsOf = (from: string) => [...(uses.get(from)?.keys() ?? [])].toSorted((a, b) => place(a) - place(b))
  const below = (from: string) => targetsOf(from).filter(to => place(to) > place(from))
  const reaches = (from: string, to: string): boolean => below(from).some(next => next === to || reaches(next, to))
  // Always draw an arrow upwards, because it violates the rules.
  const follows = (from: string, to: string) => below(from).some(between => between !== to && reaches(between, to))
  const arrows = names.flatMap(from =>
    targetsOf(from)
      .filter(to => !follows(from, to))
      .map(to => `  ${from} ${uses.get(from)?.get(to) === 'tables' ? '-.->' : '-->'} ${to}`)
  )
  const rows = names.map(from => {
    const list = (kind: string) =>
      targetsOf(from)
        .filter(to => uses.get(from)?.get(to) === kind)
        .join(', ') || '–'
    return `| ${from} | ${list('commands')} | ${list('tables')} |`
  })
  return [
    '```mermaid',
    'flowchart TD',
    ...arrows,
    '```',
    '',
    '| domain | uses the commands of | only joins the tables of |',
    '| --- | --- | --- |',
    ...rows
  ].join('\n')
}
