import { screen } from '@testing-library/react'
import { beforeEach, expect, it } from 'vitest'
import { catalog } from '../../api/routes.ts'
import { answer, requestsOf } from '../../testing/answers.ts'
import { renderAt } from '../../testing/render.tsx'
import { AskedRules, useProductPath } from './asked-rules.tsx'

const rule = (id: number, name: string) => ({
  acl_id: id,
  acl_name: name,
  price: '0.25',
  domains: [],
  domain_count: 0,
  product_count: 1
})

function Shown({ collection }: { collection?: number }) {
  const pathTo = useProductPath()
  return (
    <>
      <AskedRules collection={collection} />
      <output>{[pathTo({}), pathTo({ collection: 2 }), pathTo({ collection: 2, id: 5 })].join(' ')}</output>
    </>
  )
}

beforeEach(() => answer(catalog.rules, [rule(7, 'Netflix'), rule(9, 'Nike')]))

it('names the rules that the address chose, keeps them in the addresses of products, and leads on without them', async () => {
  renderAt(<Shown collection={2} />, { at: '/product?acl=9,7,x&utm=1', user: null })
  expect(await screen.findByText(/Chosen for your order: Netflix, Nike\./)).toBeTruthy()
  expect(screen.getByRole('link').getAttribute('href')).toBe('/product?parId=2')
  expect(screen.getByRole('status').textContent).toBe(
    '/product?acl=9,7 /product?parId=2&acl=9,7 /product?parId=2&id=5&acl=9,7'
  )
})

it('says nothing, and asks for nothing, where the address chose none', () => {
  renderAt(<Shown />, { at: '/product?acl=', user: null })
  expect(screen.queryByRole('link')).toBeNull()
  expect(screen.getByRole('status').textContent).toBe('/product /product?parId=2 /product?parId=2&id=5')
  expect(requestsOf(catalog.rules)).toEqual([])
})
