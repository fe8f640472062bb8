import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { settled } from './settled.ts'

/** The minified build: comments and long names are more than half of axe. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const OPTIONS = {
  resultTypes: ['violations'],
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
}

/**
 * Violations of WCAG 2.2 AA once the page is still, because a fading dialog has other contrasts.
 * @param exclude selectors of elements to skip
 */
export async function violations(page: Page, exclude: readonly string[] = []): Promise<string[]> {
  await settled(page)
  // Inject it once per document.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(AXE)
  const found = await page.evaluate<{ id: string; nodes: { target: string[] }[] }[]>(
    `axe.run(${JSON.stringify({ exclude })}, ${JSON.stringify(OPTIONS)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target }) => ({ target })) })))`
  )
  return found.map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).join(', ')}`)
}
