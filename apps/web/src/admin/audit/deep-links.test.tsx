import { RESOURCES, routes, type Route } from '@netlet/contract'
import type { ComponentType } from 'react'
import { expect, it } from 'vitest'
import type { Endpoint } from '../../api/client.ts'
import { screenAt } from '../../app/manifest.ts'
import { TARGETS } from './cells.tsx'

type Listed = { resource?: { list: Endpoint; find?: unknown; form?: { update?: unknown } } }
const calls = Object.values(routes).flatMap(domain => Object.values(domain) as Route[])
const takesId = (list: Endpoint) => {
  const route = calls.find(({ method, path }) => method === list.method && path === list.path)
  return route?.query?.safeParse({ id: '77' }).success && JSON.stringify(route.query.parse({ id: '77' })).includes('77')
}
const forms = RESOURCES.filter(kind => TARGETS[kind]?.('77').includes('form=edit.'))

it.each(forms)('the audit log leads from a %s to a screen that finds one by its id and edits it', async kind => {
  const { pathname } = new URL(TARGETS[kind]?.('77') ?? '', 'http://shop.test')
  const { default: Page } = ((await screenAt(pathname)?.page.preload?.()) ?? {}) as { default?: ComponentType & Listed }
  expect(Page?.resource?.form?.update).toBeTruthy()
  expect(Page?.resource?.find !== undefined || (Page?.resource && takesId(Page.resource.list))).toBe(true)
})
