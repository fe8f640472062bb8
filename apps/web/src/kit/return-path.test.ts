import { expect, it } from 'vitest'
import { guardedPath, leaveForGood, loginPath, safePath } from './return-path.ts'

it('comes back to paths of this site', () => {
  expect(safePath('/product?id=2&acl=1,2')).toBe('/product?id=2&acl=1,2')
  expect(safePath(new URLSearchParams(loginPath('/a?b=c&d').split('?')[1]).get('return'))).toBe('/a?b=c&d')
})

it('does not return to a page where the user logged out', () => {
  expect(guardedPath('/dashboard')).toBe(loginPath('/dashboard'))
  leaveForGood('/dashboard')
  expect(guardedPath('/dashboard')).toBe('/login')
  expect(guardedPath('/dashboard')).toBe(loginPath('/dashboard'))
  leaveForGood('/dashboard', '/')
  expect(guardedPath('/dashboard')).toBe('/')
  leaveForGood('/product')
  expect(guardedPath('/dashboard')).toBe(loginPath('/dashboard'))
})

it.each([
  null,
  '',
  'product',
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/./\\evil.example',
  '/.//evil.example',
  '/login?return=/x'
])('does not leave for %j', value => expect(safePath(value)).toBeUndefined())
