import type { Page, Request, Route } from '@playwright/test'
import { settled } from './settled.ts'
import { expect } from './shop.ts'

/** Two pictures were drawn: what was known before them is on the screen. */
const drawn = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')

/**
 * Opens a page and keeps the answers of these calls back, each until those before it in the list are drawn. All of them
 * are to be asked for at once, before the first answer.
 */
export async function openInOrder(page: Page, address: string, calls: readonly RegExp[]): Promise<void> {
  const held = new Map<RegExp, { route: Route; request: Request }[]>(calls.map(call => [call, []]))
  const open = new Set<RegExp>()
  const isCall = ({ pathname, search }: URL) => calls.some(call => call.test(pathname + search))
  await page.route(isCall, (route, request) => {
    const call = calls.find(one => one.test(request.url()))
    return !call || open.has(call) ? route.continue() : void held.get(call)?.push({ route, request })
  })
  await page.goto(address)
  await expect.poll(() => [...held.values()].map(asked => asked.length > 0)).toEqual(calls.map(() => true))
  await drawn(page)
  for (const call of calls) {
    open.add(call)
    for (const { route, request } of held.get(call) ?? []) {
      await route.continue()
      await (await request.response())?.finished()
    }
    await drawn(page)
  }
  await settled(page)
  await page.unroute(isCall)
}
