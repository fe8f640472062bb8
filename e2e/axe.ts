import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from '@playwright/test'

/** What WCAG 2.2 AA finds wrong with the page as it is. */
export async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page })
    .options({ resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    // Else each look opens a page of its own to put the results of frames of other origins together: there are none.
    .setLegacyMode()
    .analyze()
  return found.map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).join(', ')}`)
}
