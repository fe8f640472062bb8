import { expect, test } from 'vitest'
import { withoutPersonIn } from './forget-in-audit-log.ts'

const person = { username: 'state', email: 'a.b+c@b.com', replacement: 'deleted-3' }
const without = (value: unknown) => withoutPersonIn(value, ['username'], person)

test('a name is replaced only as the whole value of a name field, at any depth', () => {
  expect(
    without({
      username: 'State',
      state: 'state',
      names: ['state'],
      by: [{ username: 'state' }, { username: 'states' }]
    })
  ).toEqual({
    username: 'deleted-3',
    state: 'state',
    names: ['state'],
    by: [{ username: 'deleted-3' }, { username: 'states' }]
  })
})

test('a mail address is replaced, but not inside a longer address', () => {
  const words = {
    whole: 'A.B+C@b.com',
    list: ['<a.b+c@b.com>, "a.b+c@b.com" and \'a.b+c@b.com\'.', 'mailto:a.b+c@b.com?x', 'Write to a.b+c@b.com.'],
    others: ["mari.a.b+c@b.com o'a.b+c@b.com x-a.b+c@b.com a.b+c@b.com.org a.b+c@b.community aXb+c@b.com"],
    'a.b+c@b.com': 1,
    none: null,
    not: false
  }
  expect(without(words)).toEqual({
    ...words,
    whole: 'deleted-3',
    list: ['<deleted-3>, "deleted-3" and \'deleted-3\'.', 'mailto:deleted-3?x', 'Write to deleted-3.']
  })
})
