import { describe, expect, it } from 'vitest'
import { rewards } from '../../api/routes.ts'
import en from '../../i18n/admin.en.json'
import { GiftCardForm } from '../../kit/schemas.ts'
import GiftCards from '../gift-cards/page.tsx'
import LevelCodes from '../level-codes/page.tsx'
import Users from '../users/page.tsx'
import { Orders } from '../orders/orders.tsx'
import ProductTags from '../product-tags/page.tsx'
import ProductTypes from '../product-types/page.tsx'
import { Products } from '../products/list.tsx'
import PromoCodes from '../promo-codes/page.tsx'
import { date, defineResource, integer, money, textField, textFilter, yesNo } from './index.ts'

const base = { key: 'gift-cards', list: rewards.giftCards, nameOf: () => '' } as const

describe('a resource', () => {
  it('takes only what the contract has, each of its kind and with a word', () => {
    const right = defineResource({
      ...base,
      columns: [money('mount'), integer('point'), date('created_at')],
      sort: ['id']
    })
    const wrong = [
      // @ts-expect-error -- no row has such a value
      defineResource({ ...base, columns: [integer('colour')] }),
      // @ts-expect-error -- an amount is no whole number
      defineResource({ ...base, columns: [integer('mount')] }),
      // @ts-expect-error -- nor is a code a yes or a no
      defineResource({ ...base, columns: [yesNo('code')] }),
      // @ts-expect-error -- the server does not sort by it
      defineResource({ ...base, columns: [], sort: ['code'] }),
      // @ts-expect-error -- nor filter by it
      defineResource({ ...base, columns: [], filters: [textFilter('code')] }),
      // @ts-expect-error -- the form's schema has no such field
      defineResource({ ...base, columns: [], form: { schema: GiftCardForm, fields: [textField('is_exchanged')] } }),
      // @ts-expect-error -- the catalogue has no words for it
      defineResource({ ...base, key: 'colours', columns: [] })
    ]
    expect([right, ...wrong].map(({ resource }) => resource.list.path)).toEqual(
      Array.from({ length: 8 }, () => '/api/rewards/gift_card/')
    )
  })

  it.each([
    ['gift cards', GiftCards.resource],
    ['orders', Orders.resource],
    ['promo codes', PromoCodes.resource],
    ['level codes', LevelCodes.resource],
    ['products', Products.resource],
    ['product types', ProductTypes.resource],
    ['product tags', ProductTags.resource],
    ['users', Users.resource]
  ])('%s: everything that the screen says has a word', (_, resource) => {
    const names = [
      'label',
      'one',
      'search',
      'none',
      'noneHint',
      'noMatch',
      'noMatchHint',
      ...(resource.form?.create ? ['add'] : []),
      ...resource.columns.map(({ key }) => key),
      ...resource.sort,
      ...resource.filters.map(({ key }) => key),
      ...resource.rowActions.map(({ name }) => name),
      ...(resource.form?.fields ?? []).map(({ name, translates }) => translates?.like ?? name)
    ].map(name => `${resource.key}.${name}`)
    for (const key of [...names, ...(resource.batch ?? []).map(({ name }) => `bulk.${name}`)])
      expect(en, key).toHaveProperty([key])
  })
})
