import type { Page } from '@playwright/test'
import axe from 'axe-core'
import { settled } from './settled.ts'

const OPTIONS = {
  resultTypes: ['violations'],
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
}

/** What WCAG 2.2 AA finds wrong with the page once it stands still: a dialog that is fading in has other contrasts. */
export async function violations(page: Page): Promise<string[]> {
  await settled(page)
  // Half a megabyte of code: once for each document, not at each look.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  const found = await page.evaluate<{ id: string; nodes: { target: string[] }[] }[]>(
    `axe.run(document, ${JSON.stringify(OPTIONS)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target }) => ({ target })) })))`
  )
  return found.map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).join(', ')}`)
}
