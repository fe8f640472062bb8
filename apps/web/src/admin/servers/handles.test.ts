import { expect, it } from 'vitest'
import { handles, type HandleName, type Values } from './handles.ts'

const values: Values = { username: '', prefix: '', acl_group: '', cidrs: '', uri: '', json_input: '', target: '' }
const ask = (name: HandleName, { cidrs = '', users = null as number | null, ranges = [] as string[] }) =>
  handles
    .find(handle => handle.name === name)
    ?.confirm?.((key: string) => key, { ...values, cidrs }, { name: 'paris', users, ranges })
const ranges = Array.from({ length: 12 }, (_, n) => `192.0.${n}.0/24`)

it('asks to type how many users go with all of them, above ten', () => {
  expect(ask('delete_all_user', { users: 11 })).toMatchObject({ danger: true, typed: 11 })
  for (const users of [10, 0, null]) expect(ask('delete_all_user', { users })).not.toHaveProperty('typed')
})

it('asks to type how many ranges go with a reset, above ten, those that are kept apart', () => {
  expect(ask('reset_all_proxy', { ranges })).toMatchObject({ danger: true, typed: 12 })
  expect(ask('reset_all_proxy', { ranges, cidrs: '192.0.0.0/24' })).toMatchObject({ typed: 11 })
  expect(ask('reset_all_proxy', { ranges, cidrs: '192.0.0.0/24 192.0.1.0/24' })).not.toHaveProperty('typed')
})
