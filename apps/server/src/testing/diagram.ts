import { readFile } from 'node:fs/promises'

/** The transitions in the diagram under a heading of docs/ORDERS.md, each as 'from event to', sorted. */
export async function drawnTransitions(heading: string): Promise<string[]> {
  const text = await readFile(new URL('../../../../docs/ORDERS.md', import.meta.url), 'utf8')
  const section = text.split(/^#+ /m).find(part => part.startsWith(`${heading}\n`)) ?? ''
  const diagram = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(section)?.[1] ?? ''
  return [...diagram.matchAll(/^ *(\w+|\[\*\]) --> (\w+|\[\*\])(?:: *(\w+))?$/gm)]
    .map(([, from, to, event]) => `${from} ${event ?? ''} ${to}`)
    .toSorted()
}

/** The same for a table of states and transitions. */
export const transitionsOf = (table: Record<string, { from: readonly string[]; to: string }>): string[] =>
  Object.entries(table)
    .flatMap(([event, { from, to }]) => from.map(state => `${state} ${event} ${to}`))
    .toSorted()
