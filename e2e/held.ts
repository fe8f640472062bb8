import type { Page } from '@playwright/test'
import { settled } from './settled.ts'
import { expect } from './shop.ts'

/** After two frames, earlier changes are on the screen. */
const drawn = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')

/** Runs in the page: a Playwright route would disable the cache, and each page would reload all of its files. */
const HOLD = `{
  const { fetch } = window
  window.held = CALLS.map(source => {
    const one = { call: new RegExp(source), replies: [] }
    one.opened = new Promise(open => (one.open = open))
    return one
  })
  window.fetch = (...call) => {
    const one = window.held.find(({ call: of }) => of.test(call[0].url ?? call[0]))
    const reply = fetch(...call)
    if (!one) return reply
    one.replies.push(reply.then(whole => whole.clone().arrayBuffer()))
    return one.opened.then(() => reply)
  }
}`

/**
 * Opens a page and holds the answers of these calls. Each is released when those before it in the list are rendered.
 * All calls must be made before the first answer.
 */
export async function openInOrder(page: Page, address: string, calls: readonly RegExp[]): Promise<void> {
  const hold = await page.addInitScript(HOLD.replace('CALLS', JSON.stringify(calls.map(({ source }) => source))))
  await page.goto(address)
  const asked = () => page.evaluate<boolean[]>('held.map(({ replies }) => replies.length > 0)')
  await expect.poll(asked).toEqual(calls.map(() => true))
  await drawn(page)
  for (const at of calls.keys()) {
    await page.evaluate(`Promise.all(held[${at}].replies).then(held[${at}].open)`)
    await drawn(page)
  }
  await settled(page)
  await hold.dispose()
}
