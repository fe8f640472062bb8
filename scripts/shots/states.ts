import { readFile } from 'node:fs/promises'
import type { BrowserContext, Page } from '@playwright/test'
import { orders } from '../../packages/contract/src/orders.ts'
import { pageAt } from '../../packages/contract/src/pages.ts'
import { DEMO_CUSTOMER } from '../demo/demo-texts.ts'
import type { Ids, Role } from './screens.ts'

export type Stage = {
  page: Page
  context: BrowserContext
  ids: Ids
  /** The word for a key, in the page's language. */
  word: (key: string) => string
  /** Takes a picture of the page. */
  shoot: (name: string) => Promise<void>
}
/** A screen after a user's actions. Each gets its own page. */
export type State = { name: string; role: Role; show: (stage: Stage) => Promise<void> }

/** The words of all lists in a language, which the app loads separately. */
export async function wordsOf(lang: string): Promise<(key: string) => string> {
  const lists = ['', 'account.', 'landing.', 'login.', 'product.', 'proxies.', 'receipts.', 'reference.']
  const texts = await Promise.all(
    lists.map(name => readFile(new URL(`../../apps/web/src/i18n/${name}${lang}.json`, import.meta.url), 'utf8'))
  )
  const words = Object.assign({}, ...texts.map(text => JSON.parse(text) as object)) as Record<string, string>
  return key => {
    const word = words[key]
    if (word === undefined) throw new Error(`there are no words for ${key} in ${lang}`)
    return word
  }
}

/** The text before the first placeholder. */
const before = (text: string) => text.split('{')[0]?.trim() ?? ''
const button = ({ page, word }: Stage, key: string) => page.getByRole('button', { name: word(key), exact: true })
const narrow = (page: Page) => (page.viewportSize()?.width ?? 0) <= 768

export const states: State[] = [
  {
    name: 'menu',
    role: 'public',
    show: async stage => {
      const { page, shoot } = stage
      await page.goto(pageAt('home'))
      await button(stage, narrow(page) ? 'nav.menu' : 'nav.support').click()
      await shoot('menu')
    }
  },
  {
    name: 'login-errors',
    role: 'public',
    show: async stage => {
      const { page, word, shoot } = stage
      await page.goto(pageAt('login'))
      await page
        .locator('main form')
        .getByRole('button', { name: word('login.title'), exact: true })
        .click()
      await shoot('login-empty')
      await page.getByRole('textbox', { name: word('login.username') }).fill('nobody')
      await page.getByRole('textbox', { name: word('login.password'), exact: true }).fill('Wrong#2026')
      await page
        .locator('main form')
        .getByRole('button', { name: word('login.title'), exact: true })
        .click()
      await page.getByRole('alert').first().waitFor()
      await shoot('login-refused')
    }
  },
  {
    name: 'sign-up-errors',
    role: 'public',
    show: async stage => {
      const { page, shoot } = stage
      await page.goto(pageAt('createAccount'))
      await button(stage, 'signUp.submit').click()
      await shoot('sign-up-empty')
    }
  },
  {
    name: 'support-errors',
    role: 'public',
    show: async stage => {
      const { page, word, shoot } = stage
      await page.goto(pageAt('support'))
      await button(stage, 'support.submit').click()
      await shoot('support-empty')
      await page.getByRole('searchbox', { name: word('support.searchLabel') }).fill('no such words')
      await button(stage, 'support.search').click()
      await page.getByText(word('support.none')).waitFor()
      await shoot('support-nothing-found')
    }
  },
  {
    name: 'offline',
    role: 'public',
    show: async stage => {
      const { page, context, word, shoot } = stage
      await page.goto(pageAt('product'), { waitUntil: 'networkidle' })
      await context.setOffline(true)
      await page.locator('main a[href*="id="]').first().click()
      await page.getByRole('button', { name: word('retry') }).waitFor()
      await shoot('offline')
      await context.setOffline(false)
    }
  },
  {
    name: 'rules',
    role: 'customer',
    show: async stage => {
      const { page, shoot } = stage
      await openRules(stage)
      await shoot('rules')
      await confirmRules(stage, 3)
      await shoot('rules-chosen')
      await page.locator('footer').scrollIntoViewIfNeeded()
      await shoot('rules-chosen-end')
    }
  },
  {
    name: 'payment',
    role: 'customer',
    show: async stage => {
      const { page, word, shoot } = stage
      await page.clock.install()
      await order(stage)
      await shoot('payment')
      await page
        .getByRole('dialog')
        .getByRole('button', { name: word('close'), exact: true })
        .click()
      const question = page.getByRole('dialog', { name: word('pay.closeTitle') })
      await question.waitFor()
      await shoot('payment-close')
      await page.keyboard.press('Escape')
      await question.waitFor({ state: 'hidden' })
      await page.clock.fastForward('10:10')
      await shoot('payment-late')
      await page.clock.fastForward('20:10')
      await page.getByRole('dialog', { name: word('pay.titleOver') }).waitFor()
      await shoot('payment-timeout')
      await cancelOpen(stage)
    }
  },
  {
    name: 'paid',
    role: 'customer',
    show: async stage => {
      const { page, context, shoot } = stage
      // Read the link to the checkout instead of opening it: the picture is of this page.
      await page.addInitScript('window.open = () => null')
      await order(stage)
      const way = await page.getByRole('dialog').locator('a[href*="cart"]').getAttribute('href')
      const checkout = await context.newPage()
      await checkout.goto(way ?? '')
      await checkout.getByRole('button', { name: /Pay/ }).click()
      await checkout.waitForLoadState('networkidle')
      await checkout.close()
      await page.waitForURL(/proxies\?order=/)
      await page.locator('section[data-tone]').waitFor()
      await shoot('paid-first')
      await page.locator('section[data-tone="good"]').waitFor()
      await shoot('paid-live')
    }
  },
  {
    name: 'proxies-tools',
    role: 'customer',
    show: async stage => {
      const { page, word, shoot } = stage
      await page.goto(pageAt('Proxies'), { waitUntil: 'networkidle' })
      await button(stage, 'proxy.show').click()
      await shoot('proxies-shown')
      await page.getByRole('combobox', { name: word('format.label') }).selectOption('template')
      await shoot('proxies-template')
      await button(stage, 'note.add').click()
      await shoot('proxies-note')
      await button(stage, 'code.open').click()
      await page.getByRole('dialog').waitFor()
      await shoot('proxies-code')
      await page.keyboard.press('Escape')
      await button(stage, 'clients.open').click()
      await page.getByRole('dialog').getByRole('combobox').selectOption('address')
      await shoot('proxies-clients')
    }
  },
  {
    name: 'bulk-renewal',
    role: 'customer',
    show: async stage => {
      const { page, word, shoot } = stage
      await page.goto(pageAt('Proxies'), { waitUntil: 'networkidle' })
      const boxes = page.getByRole('checkbox', { name: before(word('orders.pick')) })
      for (const box of await boxes.all()) if (await box.isEnabled()) await box.check()
      await shoot('orders-picked')
      await page
        .getByRole('group', { name: word('bulk.title') })
        .getByRole('button')
        .first()
        .click()
      await page.getByRole('dialog').locator('li').first().waitFor()
      await shoot('bulk-renewal')
    }
  },
  {
    name: 'orders-by-state',
    role: 'customer',
    show: async ({ page, context, shoot }) => {
      const one = new Map((await ordersOf(context)).map(order => [order.state, order.id]))
      for (const [state, id] of one) {
        await page.goto(`${pageAt('Proxies')}?order=${id}`, { waitUntil: 'networkidle' })
        await shoot(`order-${state}`)
      }
    }
  },
  {
    name: 'receipt-print',
    role: 'customer',
    show: async ({ page, ids, shoot }) => {
      await page.goto(pageAt('receipts', { order: ids.own }), { waitUntil: 'networkidle' })
      await page.emulateMedia({ media: 'print' })
      await shoot('receipt-print')
    }
  },
  {
    name: 'settings-errors',
    role: 'customer',
    show: async stage => {
      const { page, word, shoot } = stage
      await page.goto(pageAt('userSettings'), { waitUntil: 'networkidle' })
      await page.getByRole('button', { name: word('settings.change'), exact: true }).click()
      await shoot('settings-password-empty')
    }
  },
  {
    name: 'second-step',
    role: 'public',
    show: async stage => {
      const { page, shoot } = stage
      // Without a ticket of the server, the page shows the same.
      await page.goto(`${pageAt('login')}#ticket=none&second_factor=totp,passkey,recovery`)
      await shoot('second-step-code')
      await button(stage, 'login.use.recovery').click()
      await shoot('second-step-recovery')
    }
  },
  {
    name: 'second-factor',
    role: 'customer',
    show: async stage => {
      const { page, word, shoot } = stage
      await page.goto(pageAt('userSettings'), { waitUntil: 'networkidle' })
      await button(stage, 'factors.addTotp').click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox', { name: word('settings.confirm') }).fill(DEMO_CUSTOMER.password)
      await shoot('second-factor-confirm')
      await dialog.getByRole('button', { name: word('factors.next'), exact: true }).click()
      await dialog.getByRole('img', { name: word('factors.scanAlt') }).waitFor()
      await shoot('second-factor-app')
    }
  }
]

async function openRules(stage: Stage): Promise<void> {
  const { page, ids } = stage
  await page.goto(`${pageAt('product')}?id=${ids.product}`, { waitUntil: 'networkidle' })
  await button(stage, 'purchase').last().click()
  await page.getByRole('dialog').getByRole('checkbox').first().waitFor()
}

async function confirmRules({ page, word }: Stage, count: number): Promise<void> {
  const dialog = page.getByRole('dialog')
  for (let nth = 0; nth < count; nth++) await dialog.getByRole('checkbox').nth(nth).check()
  await dialog.getByRole('button', { name: word('confirm'), exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
}

async function order(stage: Stage): Promise<void> {
  await openRules(stage)
  await confirmRules(stage, 1)
  await button(stage, 'purchase').last().click()
  await stage.page.getByRole('dialog').waitFor()
}

async function ordersOf({ request }: BrowserContext): Promise<{ id: number; state: string }[]> {
  const reply = await request.get(`${orders.list.path}?limit=100`)
  return ((await reply.json()) as { data: { data: { id: number; state: string }[] } }).data.data
}

/** Cancels unpaid orders, because a customer may have only a limited number. */
async function cancelOpen({ context, page }: Stage): Promise<void> {
  for (const { id, state } of await ordersOf(context))
    if (state === 'placed')
      await context.request.post(orders.cancel.path.replace(':id', String(id)), {
        headers: { origin: new URL(page.url()).origin },
        data: {}
      })
}
