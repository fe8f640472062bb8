import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

/** What of the page fades or slides, once what was asked for has been drawn. What goes on without end, as a spinner does, does not count. */
const moving = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(document.getAnimations().filter(one =>
      one.playState === 'running' && one.effect.getComputedTiming().endTime !== Infinity).length))))`)

/** What WCAG 2.2 AA finds wrong with the page as it is once nothing moves: a dialog that is fading in has other contrasts. */
export async function violations(page: Page): Promise<string[]> {
  await expect.poll(() => moving(page), { message: 'what moves' }).toBe(0)
  const { violations: found } = await new AxeBuilder({ page })
    .options({ resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    // Else each look opens a page of its own to put the results of frames of other origins together: there are none.
    .setLegacyMode()
    .analyze()
  return found.map(one => `${one.id}: ${one.nodes.map(node => node.target.join(' ')).join(', ')}`)
}
